"""The clinic as a widget: pick a case or type a text, choose the tool and the step."""

from __future__ import annotations

import ipywidgets as w

from minicodex.lab.clinic import STEP, Clinic
from minicodex.lab.clinic_cases import CASES, GOOD, Case, case
from minicodex.lab.widgets import Live, picker, row

__all__ = ["clinic"]

OWN_TEXT = "(a text of your own)"
TOOLS = ("update_plan", "create_event", "delete_event")
"""The last one exists in no step."""
STEPS = (STEP, "step_0")
"""This step, and the one before it."""


def clinic(first: Case = CASES[0]) -> Live[Clinic]:
    """Pick one of forty cases, or change the text and watch the lights while you type."""
    live: Live[Clinic] = Live(Clinic.of(first))

    def take(name: str) -> None:
        if name not in (OWN_TEXT, live.state.case_name):
            live.show(Clinic.of(case(name)).with_(step_id=live.state.step_id))

    cases = picker("case", [OWN_TEXT, *(case.name for case in (*GOOD, *CASES))], take)
    tools = picker("tool", TOOLS, lambda name: live.do(lambda state: state.with_(tool=name)))
    steps = picker("step", STEPS, lambda name: live.do(lambda state: state.with_(step_id=name)))
    text = w.Textarea(
        description="text",
        rows=3,
        style={"description_width": "initial"},
        layout=w.Layout(width="100%", max_width="60em"),
    )
    text.observe(lambda change: live.do(lambda state: state.with_(text_of_call=change["new"])), "value")

    def sync(state: Clinic) -> None:
        tools.value, steps.value, text.value = state.tool, state.step_id, state.text_of_call
        cases.value = state.case_name or OWN_TEXT

    return live.driven_by(row(cases, tools, steps), text, sync=sync)
