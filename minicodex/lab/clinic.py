"""The clinic: one argument text meets the seven questions of the runtime, and you see at which one it fails.

Nothing is judged here. The call is dispatched by the real dispatcher to the real tool; a chaperone between the two
writes down how far the call came. The lights say what it saw, the counter says what the tool did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import ipywidgets as w

from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_function_call
from minicodex.errors import ArgumentError, ArgumentFault
from minicodex.lab.clinic_cases import CASES, GOOD, Case, case
from minicodex.lab.html import FAINT, LINE, MONO, Html, Pill, heading, panel, tag
from minicodex.lab.json_diff import one_line
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row
from minicodex.planner import StepState, plan_tools
from minicodex.printable import printable, printable_lines
from minicodex.samples import EventBook, create_event_tool
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.tool import Handler

__all__ = ["QUESTIONS", "STEP", "Clinic", "Light", "Ward", "clinic"]

QUESTIONS = {
    "step": "Does the call belong to the step of this plan?",
    "name": "Does the step have a tool of this name?",
    "JSON": "Is the text JSON, and JSON that everybody reads alike?",
    "shape": "Is it one object, with the fields of this tool and no others?",
    "types": "Has every field a value of its type, within its limits?",
    "rule": "Does the tool's own rule allow it?",
    "run": "Did the business code run to its end?",
}
"""The seven questions, in the order in which the runtime asks them."""

STEP = "step_1"
"""The step in which the tools of the clinic are offered."""

SHOWN_CHARS = 240
"""Longest argument text that is shown whole."""


class Light(Enum):
    """The answer to one question."""

    YES = Pill("✓", "yes", ground="#c8efdc", ink="#06361f")
    NO = Pill("✗", "no", ground="#fadbd5", ink="#5c1206")
    NOT_ASKED = Pill("·", "not asked", ground="#eceff1", ink="#37474f")


class _Chaperone:
    """A handler that lets another one work and writes down how far it came."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.fault: ArgumentError | None = None
        self.entered = False

    def decode_arguments(self, raw_arguments: str) -> Any:
        self.fault, self.entered = None, False
        try:
            return self._handler.decode_arguments(raw_arguments)
        except ArgumentError as error:
            self.fault = error
            raise

    def run(self, arguments: Any, *, call_id: str) -> Any:
        self.entered = True
        try:
            return self._handler.run(arguments, call_id=call_id)
        except ArgumentError as error:
            self.fault = error
            raise


@dataclass(frozen=True)
class Examined:
    """What one dispatch showed."""

    result: ToolResult
    lights: Mapping[str, Light]
    effects_before: int
    effects_after: int

    @property
    def stopped_at(self) -> str | None:
        """The first question that was answered with no; None if the call ran."""
        return next((name for name, light in self.lights.items() if light is Light.NO), None)


class Ward:
    """Both tools with their side effects, and a plan that offers them in `STEP`."""

    def __init__(self) -> None:
        self.board, self.book = PlanBoard(), EventBook()
        tools = [update_plan_tool(self.board), create_event_tool(self.book)]
        self._chaperones = {tool.contract.name: _Chaperone(tool.handler) for tool in tools}
        watched = [replace(tool, handler=self._chaperones[tool.contract.name]) for tool in tools]
        self.plan = plan_tools(watched, StepState(STEP))

    @property
    def effects(self) -> int:
        """How often business code has changed anything."""
        return self.board.updates + len(self.book.events)

    def examine(self, tool: str, text: str, step_id: str = STEP) -> Examined:
        """Dispatch a call, and note which questions were asked and how they were answered."""
        before = self.effects
        call = ModelFunctionCall("call_1", tool, text, step_id)
        result = dispatch_function_call(call, self.plan)
        answers = dict(self._answers(call, ok=result.ok))
        lights = {name: _light(answers.get(name)) for name in QUESTIONS}
        return Examined(result, lights, before, self.effects)

    def _answers(self, call: ModelFunctionCall, *, ok: bool) -> Iterator[tuple[str, bool]]:
        """Question and answer, as far as questions were asked."""
        same_step = call.step_id == self.plan.step_id
        yield "step", same_step
        if not same_step:
            return
        chaperone = self._chaperones.get(str(call.canonical_name))
        yield "name", chaperone is not None
        if chaperone is None:
            return
        if chaperone.entered:
            yield from dict.fromkeys(("JSON", "shape", "types"), True).items()
            yield "rule", chaperone.fault is None
            if chaperone.fault is None:
                yield "run", ok
            return
        faults = chaperone.fault.faults if chaperone.fault else ()
        is_json = not any(fault.problem.startswith("not valid JSON") for fault in faults)
        yield "JSON", is_json
        if is_json:
            yield "shape", not any(map(_is_of_shape, faults))
            if all(fault.pointer for fault in faults):  # else there is no object whose values could be looked at
                yield "types", all(map(_is_of_shape, faults))


def _light(answer: bool | None) -> Light:  # noqa: FBT001 - the answer to a question is yes, no or none
    return Light.NOT_ASKED if answer is None else Light.YES if answer else Light.NO


def _is_of_shape(fault: ArgumentFault) -> bool:
    """Whether a fault is about the object and its fields, not about the values in them."""
    return not fault.pointer or fault.problem.startswith(("missing", "unknown field", "the arguments are wrapped"))


# --- what is on show -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Clinic(View):
    """One text for one tool, and how far it came."""

    tool: str
    text_of_call: str
    step_id: str = STEP

    @classmethod
    def of(cls, case: Case) -> Clinic:
        """The clinic with one of its cases."""
        return cls(case.tool, case.text)

    def with_(self, **changes: Any) -> Clinic:
        """The same with another `tool`, `text_of_call` or `step_id`."""
        return replace(self, **changes)

    @cached_property
    def examined(self) -> Examined:
        """What the dispatcher made of the call; each state has tools of its own."""
        return Ward().examine(self.tool, self.text_of_call, self.step_id)

    @property
    def case_name(self) -> str | None:
        """Which case this is; None for a text of the reader's own."""
        mine = (self.tool, self.text_of_call)
        return next((case.name for case in (*GOOD, *CASES) if (case.tool, case.text) == mine), None)

    @property
    def effects_words(self) -> str:
        before, after = self.examined.effects_before, self.examined.effects_after
        return f"{before} before, {after} after"

    @property
    def reply(self) -> str:
        """What the model reads, as it may be shown."""
        return printable_lines(str(self.examined.result.output))

    def text(self) -> str:
        examined = self.examined
        lights = [
            f"{light.value.sign} {name:<7}{light.value.word:<11}{QUESTIONS[name]}"
            for name, light in examined.lights.items()
        ]
        return "\n".join(
            [
                f"{self.case_name or 'a text of your own'}: {printable(self.tool)}, {printable(self.step_id)}",
                f"arguments: {shown(self.text_of_call)}",
                *lights,
                f"side effects: {self.effects_words}",
                "the model reads:",
                self.reply,
            ]
        )

    def html(self) -> Html:
        tool, step = printable(self.tool), printable(self.step_id)
        head = heading(f"{tool}: {self.case_name or 'a text of your own'}", step)
        code = tag("div", shown(self.text_of_call), style=f"{MONO}; white-space: pre-wrap; margin-bottom: .6em")
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24em), 1fr)); gap: 1.2em"
        lights = tag("div", heading("Seven questions"), self._lights_html(), self._counter_html(), style="min-width: 0")
        words = tag("div", self.reply, style=f"{MONO}; white-space: pre-wrap")
        reads = tag("div", heading("The model reads"), words, style="min-width: 0")
        return panel(head, code, tag("div", lights, reads, style=columns), label="The clinic")

    def _lights_html(self) -> Html:
        rows = []
        for name, light in self.examined.lights.items():
            cell = f"padding: .2em .8em .2em 0; vertical-align: top; border-bottom: 1px solid {LINE}"
            mark = tag("td", light.value.html(), style=f"{cell}; white-space: nowrap")
            question = tag("td", QUESTIONS[name], style=f"{cell}; color: {FAINT}")
            rows.append(tag("tr", tag("th", name, scope="row", style=f"{cell}; text-align: left"), mark, question))
        return tag("table", tag("tbody", *rows), style="border-collapse: collapse; margin: 0")

    def _counter_html(self) -> Html:
        return tag("p", tag("strong", "Side effects: "), self.effects_words, style="margin: .7em 0 0")


def shown(text: str, limit: int = SHOWN_CHARS) -> str:
    """A text as it is, cut if it is long; one with characters that cannot be seen is written as a JSON string."""
    cut = text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"
    return cut if text and text.isprintable() else printable(one_line(cut))


# --- the widget ------------------------------------------------------------------------------------------------------

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
