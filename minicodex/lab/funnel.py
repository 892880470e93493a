"""The planner's funnel: every tool against the four filters, with the reason why it was stopped.

The columns stand in the order in which the planner asks. The first two decide whether a tool can run, the other two
only whether it is seen at first. Whatever is switched, the step is planned anew by the real planner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.offered_tools import offered
from minicodex.lab.two_tables import TwoTables
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row, switch
from minicodex.planner import (
    Decision,
    Filter,
    ModelAbilities,
    ProviderAbilities,
    StepState,
    ToolMode,
    ToolPlan,
    plan_tools,
)
from minicodex.tool import Candidate

__all__ = ["ASKED", "Funnel", "PlanMatrix", "funnel"]

ASKED = tuple(Filter)
"""The filters in the order in which the planner asks."""

_SHORT = {Filter.EXISTS: "may exist", Filter.NAME: "name free", Filter.SHOWN: "may be shown", Filter.MODE: "mode"}

_PASSED = Pill("✓", "passed", ground="#c8efdc", ink="#06361f")
_STOPPED = Pill("✗", "stopped", ground="#fadbd5", ink="#5c1206")
_NOT_ASKED = Pill("·", "not asked", ground="transparent", ink="inherit")
_SHOWN = Pill("●", "shown", ground="#c8efdc", ink="#06361f")
_RUNS = Pill("◌", "can run", ground="#e8daf8", ink="#35105e")
_OUT = Pill("✗", "cannot run", ground="#fadbd5", ink="#5c1206")


@dataclass(frozen=True, repr=False, eq=False)
class PlanMatrix(View):
    """The decisions of one plan as a matrix: tools by filters."""

    plan: ToolPlan

    def text(self) -> str:
        lines = [f"{'tool':<32}{''.join(f'{_SHORT[asked]:<14}' for asked in ASKED)}"]
        for decision in self.plan.decisions:
            cells = "".join(f"{_cell(decision, asked).sign:<14}" for asked in ASKED)
            lines.append(f"{decision.name!s:<32}{cells}{_fate(decision).sign} {_fate(decision).word}")
            if not decision.visible:
                lines.append(f"    {decision.reason}")
        return "\n".join(lines)

    def html(self) -> Html:
        return panel(self.table(), label="Tools against filters", style="overflow-x: auto")

    def table(self) -> Html:
        """The matrix without a frame."""
        first = _head_row(("", 1), ("can it run?", 2), ("is it seen at first?", 2), ("", 1))
        second = _head_row(("tool", 1), *((_SHORT[asked], 1) for asked in ASKED), ("what comes of it", 1))
        body = [
            tag(
                "tr",
                tag("th", prose(f"`{decision.name}`"), scope="row", style=f"{_CELL}; font-weight: normal; {_WHOLE}"),
                *(tag("td", _mark(_cell(decision, asked)), style=_CELL + "; text-align: center") for asked in ASKED),
                tag("td", _fate(decision).html(), " ", decision.reason, style=_CELL),
            )
            for decision in self.plan.decisions
        ]
        table = "border-collapse: collapse; width: 100%; font-size: inherit; margin: 0"
        return tag("table", tag("thead", first, second), tag("tbody", *body), style=table)


_CELL = f"border-top: 1px solid {LINE}; padding: .25em .9em .25em 0; text-align: left; vertical-align: top"
_WHOLE = "white-space: nowrap; overflow-wrap: normal"


def _head_row(*cells: tuple[str, int]) -> Html:
    """Headings and how many columns each of them spans; an empty one is a plain cell."""
    head = f"padding: 0 .9em .15em 0; text-align: center; color: {FAINT}; font-weight: 600; {_WHOLE}"
    first = last = f"{head}; text-align: left"
    styles = [first, *[head] * (len(cells) - 2), last]
    return tag(
        "tr",
        *(
            tag("th", text, scope="col", colspan=str(span), style=style) if text else tag("td")
            for (text, span), style in zip(cells, styles, strict=True)
        ),
    )


def _mark(pill: Pill) -> Html:
    """A sign alone; its word is there for a screen reader and as a tip."""
    return tag("span", pill.sign, role="img", aria_label=pill.word, title=pill.word, style=pill.style)


def _cell(decision: Decision, asked: Filter) -> Pill:
    if decision.stopped_at is None or ASKED.index(asked) < ASKED.index(decision.stopped_at):
        return _PASSED
    return _STOPPED if asked is decision.stopped_at else _NOT_ASKED


def _fate(decision: Decision) -> Pill:
    return _SHOWN if decision.visible else _RUNS if decision.dispatchable else _OUT


# --- the funnel: the matrix, with everything that can be switched ---------------------------------------------------

Offer = Callable[[StepState], list[Candidate]]


@dataclass(frozen=True, repr=False)
class Funnel(View):
    """What a step is like, and the plan that comes of it."""

    offer: Offer = offered
    search: bool = True
    """Whether the model can search."""
    update_plan: bool = True
    """Whether the configuration leaves `update_plan` on."""
    platform: str = "linux"
    namespaces: bool = True
    """Whether the provider understands namespaces."""
    tool_mode: ToolMode = ToolMode.DIRECT

    def with_(self, **switches: Any) -> Funnel:
        """The funnel with other switches, for example `funnel.with_(search=False)`."""
        return replace(self, **switches)

    @property
    def step(self) -> StepState:
        return StepState(
            "step_1",
            model=ModelAbilities(supports_search=self.search),
            provider=ProviderAbilities(namespaces=self.namespaces),
            tool_mode=self.tool_mode,
            disabled_tools=frozenset() if self.update_plan else frozenset(["update_plan"]),
            platform=self.platform,
        )

    @cached_property
    def plan(self) -> ToolPlan:
        return plan_tools(self.offer(self.step), self.step)

    def text(self) -> str:
        return f"{PlanMatrix(self.plan).text()}\n\n{TwoTables(self.plan).text()}"

    def html(self) -> Html:
        shown = sum(decision.visible for decision in self.plan.decisions)
        title = heading("Four filters", f"{len(self.plan.decisions)} tools, {shown} of them in the first list")
        tables = tag("div", TwoTables(self.plan).columns(), style="margin-top: 1.2em")
        return panel(
            title, PlanMatrix(self.plan).table(), tables, label="The planner's funnel", style="overflow-x: auto"
        )


def funnel(offer: Offer = offered) -> Live[Funnel]:
    """One switch for each thing that a step can be like."""
    live: Live[Funnel] = Live(Funnel(offer))

    def change(**switches: Any) -> None:
        live.do(lambda state: state.with_(**switches))

    modes = {mode.value.replace("_", " "): mode for mode in ToolMode}
    return live.driven_by(
        row(
            picker("platform", ["linux", "windows"], lambda platform: change(platform=platform)),
            picker("tool mode", modes, lambda mode: change(tool_mode=mode)),
        ),
        row(
            switch("the model can search", lambda on: change(search=on), on=True),
            switch("update_plan is turned on", lambda on: change(update_plan=on), on=True),
            switch("the provider knows namespaces", lambda on: change(namespaces=on), on=True),
        ),
    )
