"""The budget stepper: one schema under any budget, pass by pass.

The reader moves the budget, the depth at which the third pass begins, and the trust; the compiler decides which passes
run. What a pass takes away is seen as bytes, in the schema, and in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ipywidgets as w

from minicodex.lab.html import Html, heading, panel, prose, tag
from minicodex.lab.stage_json import StageJson
from minicodex.lab.stages import Losses, Page, Pages, Rail, columns
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, row, switch
from minicodex.schema import BUDGET_BYTES, COLLAPSE_DEPTH, STAGES, adapt_mcp_schema, trace_tool_schema

__all__ = ["MAX_BUDGET_BYTES", "BudgetStepper", "budget_stepper"]

MAX_BUDGET_BYTES = 10_000
"""Right end of the budget slider."""

MAX_DEPTH = 6


@dataclass(frozen=True, repr=False)
class BudgetStepper(View):
    """A schema, the budget it is under, and the pass on show."""

    schemas: Mapping[str, Any] = field(compare=False)
    name: str = ""
    budget_bytes: int = BUDGET_BYTES
    collapse_depth: int = COLLAPSE_DEPTH
    trusted: bool = False
    index: int = 0
    """0 is the schema before any pass, 1 to 4 are the passes."""
    pages: tuple[Page, ...] = field(default=(), compare=False)
    """Follows from the rest; kept, so that a step does not compile again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or next(iter(self.schemas)))
        if not self.pages:
            object.__setattr__(self, "pages", self._compile())

    def _compile(self) -> tuple[Page, ...]:
        trace = trace_tool_schema(
            adapt_mcp_schema(self.schemas[self.name]),
            trusted=self.trusted,
            budget_bytes=self.budget_bytes,
            collapse_depth=self.collapse_depth,
        )
        measured, *passes = Pages(trace).pages[len(STAGES) :]
        before = replace(
            measured,
            title="before any pass",
            sentence="normalised, without definitions that nothing reaches",
            why="this is what is measured first",
            losses=(),
            json=StageJson(measured.json.value),
        )
        return before, *passes

    # --- reducers -----------------------------------------------------------------------------------------------

    def go(self, index: int) -> BudgetStepper:
        """To a pass by its number; beyond either end is the end."""
        return replace(self, index=max(0, min(index, len(self.pages) - 1)))

    def step(self, count: int) -> BudgetStepper:
        """Forth, or back with a negative count."""
        return self.go(self.index + count)

    def under(self, budget_bytes: int) -> BudgetStepper:
        """The same under another budget."""
        return replace(self, budget_bytes=budget_bytes, pages=())

    def with_(self, **settings: Any) -> BudgetStepper:
        """With another `name`, `collapse_depth` or `trusted`."""
        return replace(self, **settings, pages=())

    # --- what is on show ----------------------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        return self.pages[self.index]

    @property
    def outcome(self) -> str:
        """What is sent in the end, and how it stands to the budget."""
        sent, ran = self.pages[-1].size_bytes, sum(page.ran for page in self.pages[1:])
        after = f"sent: {sent:,} bytes after {ran} {'pass' if ran == 1 else 'passes'}"
        if sent <= self.budget_bytes:
            return f"{after}, {self.budget_bytes - sent:,} below the budget"
        over = f"{sent - self.budget_bytes:,} over the budget"
        return f"{after}, {over}: " + ("it is trusted" if self.trusted else "no pass is left, it is sent all the same")

    @property
    def settings(self) -> str:
        """The position of every control."""
        trust = "trusted" if self.trusted else "not trusted"
        return f"budget {self.budget_bytes:,} bytes, pass 3 from depth {self.collapse_depth}, {trust}"

    def text(self) -> str:
        losses = Losses(self.page.losses)
        lines = [f"{self.name}: {self.settings}", Rail(self.pages, self.index).text(), self.outcome]
        lines.append(f"{self.page.title}: {self.page.sentence} ({self.page.why})")
        lines += ["the schema:", self.page.json.text()]
        lines += [f"losses: {losses.counts}", losses.text()] if self.index else []
        return "\n".join(lines)

    def html(self) -> Html:
        page, losses = self.page, Losses(self.page.losses)
        told = tag("p", prose(f"`{page.title}`"), f" {page.sentence}; {page.why}.", style="margin: .7em 0 .5em")
        outcome = tag("p", self.outcome, style="margin: .7em 0 0; font-weight: 600")
        tree = tag("div", heading("The schema", "what changed is marked" if page.losses else ""), page.json.html())
        lost = tag("div", heading("What was lost", losses.counts if self.index else ""), losses.html())
        rail = Rail(self.pages, self.index, self.budget_bytes)
        label = f"Compaction of {self.name}"
        return panel(heading(self.name, self.settings), rail.html(), outcome, told, columns(tree, lost), label=label)


# --- the widget ------------------------------------------------------------------------------------------------------


def budget_stepper(schemas: Mapping[str, Any]) -> Live[BudgetStepper]:
    """Sliders for the budget, the depth and the pass; a list of schemas and a switch for trust."""
    live: Live[BudgetStepper] = Live(BudgetStepper(schemas))
    names = picker("schema", list(schemas), lambda name: live.do(lambda stepper: stepper.with_(name=name)))
    budget = _slider("budget", BUDGET_BYTES, MAX_BUDGET_BYTES, step=100, width="32em")
    budget.observe(lambda change: live.do(lambda stepper: stepper.under(change["new"])), "value")
    depth = _slider("depth of pass 3", COLLAPSE_DEPTH, MAX_DEPTH, step=1, width="22em")
    depth.observe(lambda change: live.do(lambda stepper: stepper.with_(collapse_depth=change["new"])), "value")
    trusted = switch("trusted", lambda on: live.do(lambda stepper: stepper.with_(trusted=on)))
    back = button("◀ back", lambda: live.do(lambda stepper: stepper.step(-1)), hint="one pass back")
    forth = button("next ▶", lambda: live.do(lambda stepper: stepper.step(1)), hint="one pass forth")
    number = _slider("pass", 0, len(live.state.pages) - 1, step=1, width="18em")
    number.observe(lambda change: live.do(lambda stepper: stepper.go(change["new"])), "value")

    def sync(stepper: BudgetStepper) -> None:
        names.value, trusted.value = stepper.name, stepper.trusted
        budget.value, depth.value, number.value = stepper.budget_bytes, stepper.collapse_depth, stepper.index
        back.disabled, forth.disabled = stepper.index == 0, stepper.index == len(stepper.pages) - 1

    return live.driven_by(row(names, budget, trusted), row(back, forth, number, depth), sync=sync)


def _slider(label: str, value: int, most: int, *, step: int, width: str) -> w.IntSlider:
    style = {"description_width": "initial"}
    return w.IntSlider(
        value=value, max=most, step=step, description=label, style=style, layout=w.Layout(width=width, max_width="100%")
    )
