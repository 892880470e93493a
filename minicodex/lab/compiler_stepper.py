"""The compiler stepper: one schema, stage by stage.

For each stage: the schema with what the stage changed, the list of what it lost, and for a loss the reader picks
arguments that prove it. The schema may be the reader's own. A bad one is an answer, not an accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import ipywidgets as w

from minicodex.json_text import shorten
from minicodex.lab.html import Html, heading, panel, prose, tag
from minicodex.lab.refusal import Refusal
from minicodex.lab.stage_json import EFFECTS
from minicodex.lab.stages import Losses, Page, Pages, Rail, columns
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, row
from minicodex.printable import printable
from minicodex.schema import (
    BUDGET_BYTES,
    Loss,
    Witness,
    adapt_mcp_schema,
    find_witness,
    trace_mcp_schema_json,
    trace_tool_schema,
)

__all__ = ["OWN", "CompilerStepper", "Proof", "compiler_stepper"]

OWN = "your own"
"""The name under which a pasted schema is offered."""

MAX_OWN_CHARS = 1_000_000
"""Longest text that is compiled here."""

MAX_OFFERED = 60
"""Losses that are offered for proof."""

NO_LOSS = "none"


@dataclass(frozen=True, repr=False, eq=False)
class Proof(View):
    """Arguments on which the author's schema and the compiled one disagree because of one loss."""

    loss: Loss
    witness: Witness | None

    @property
    def sentence(self) -> str:
        if self.witness is None:
            return "No arguments were found that show it. That is no proof that there are none."
        words = {"accept": "allows", "reject": "refuses", "error": "cannot judge"}
        return (
            f"The author's schema {words[self.witness.source]} it, the compiled one {words[self.witness.compiled]} it."
        )

    @property
    def place(self) -> str:
        return printable(self.loss.at) or "the root"

    @property
    def arguments(self) -> str:
        return "" if self.witness is None else shorten(self.witness.arguments, 400)

    def text(self) -> str:
        lines = [f"{EFFECTS[self.loss.effect].word} at {self.place}", self.arguments, self.sentence]
        return "\n".join(line for line in lines if line)

    def html(self) -> Html:
        head = tag("div", EFFECTS[self.loss.effect].html(), " ", prose(f"`{self.place}`"))
        shown = [tag("div", prose(f"`{self.arguments}`"), style="margin: .3em 0")] if self.arguments else []
        return tag("div", head, *shown, tag("div", self.sentence))


@dataclass(frozen=True, repr=False)
class CompilerStepper(View):
    """The page on show, out of one compilation out of several schemas."""

    schemas: Mapping[str, Any] = field(compare=False)
    """The schemas by the names under which they are offered."""
    name: str = ""
    """The one on show; the first by default."""
    index: int = 0
    loss_at: str = NO_LOSS
    """`Loss.at` of the loss that is to be proved, if it is one of this page."""
    own_text: str = ""
    """What the reader pasted."""
    compiled: Pages | None = field(default=None, compare=False)
    """Follows from the rest; kept, so that a step does not compile again."""

    def __post_init__(self) -> None:
        name = self.name or next(iter(self.schemas))
        object.__setattr__(self, "name", name)
        if self.compiled is None:
            object.__setattr__(self, "compiled", self._compile())

    def _compile(self) -> Pages:
        if self.name == OWN:
            return Pages(trace_mcp_schema_json(self.own_text[:MAX_OWN_CHARS]))
        return Pages(trace_tool_schema(adapt_mcp_schema(self.schemas[self.name])))

    # --- reducers -----------------------------------------------------------------------------------------------

    def go(self, index: int) -> CompilerStepper:
        """To a page by its number; 0 is the author's schema, beyond either end is the end."""
        return replace(self, index=max(0, min(index, len(self.pages) - 1)), loss_at=NO_LOSS)

    def step(self, count: int) -> CompilerStepper:
        """Forth, or back with a negative count."""
        return self.go(self.index + count)

    def pick(self, name: str) -> CompilerStepper:
        """Another schema, from its start."""
        return self if name == self.name else replace(self, name=name, index=0, loss_at=NO_LOSS, compiled=None)

    def own(self, text: str) -> CompilerStepper:
        """The reader's schema, as JSON text. Whatever it is, this does not raise."""
        return replace(self, name=OWN, own_text=text, index=0, loss_at=NO_LOSS, compiled=None).go(1)

    def prove(self, at: str) -> CompilerStepper:
        """Look for arguments that prove a loss of this page, named by its place."""
        return replace(self, loss_at=at)

    # --- what is on show ----------------------------------------------------------------------------------------

    @property
    def pages(self) -> tuple[Page, ...]:
        """None where the schema is refused."""
        assert self.compiled is not None
        return () if self.compiled.trace.error is not None else self.compiled.pages

    @property
    def page(self) -> Page:
        return self.pages[self.index]

    @cached_property
    def provable(self) -> dict[str, Loss]:
        """The losses of this page that arguments could show, by place."""
        felt = [loss for loss in self.page.losses if loss.is_felt] if self.pages else []
        return {loss.at: loss for loss in felt[:MAX_OFFERED]}

    @cached_property
    def proof(self) -> Proof | None:
        """The arguments for the picked loss, judged by the author's schema and by what is sent in the end."""
        assert self.compiled is not None
        trace, loss = self.compiled.trace, self.provable.get(self.loss_at)
        if loss is None or trace.schema is None:
            return None
        return Proof(loss, find_witness(trace.source, trace.schema.to_json(), [loss]))

    @cached_property
    def refusal(self) -> Refusal | None:
        assert self.compiled is not None
        error = self.compiled.trace.error
        return None if error is None else Refusal(error, self.compiled.trace.source, self.own_text)

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        lines = [f"schema: {self.name}"]
        if self.refusal is not None:
            lines.append(self.refusal.text())
        else:
            page = self.page
            lines += [Rail(self.pages, self.index, BUDGET_BYTES).text(), f"{page.title}: {page.sentence} ({page.why})"]
            lines += ["the schema:", page.json.text()]
            lines += [f"losses: {Losses(page.losses).counts}", Losses(page.losses).text()] if self.index else []
        if self.proof is not None:
            lines += ["proof:", self.proof.text()]
        return "\n".join(lines)

    def html(self) -> Html:
        if self.refusal is not None:
            parts = [self.refusal.html()]
        else:
            page = self.page
            told = tag("p", prose(f"`{page.title}`"), f" {page.sentence}; {page.why}.", style="margin: .7em 0 .5em")
            parts = [Rail(self.pages, self.index, BUDGET_BYTES).html(), told, self._columns(page)]
        return panel(heading(self.name), *parts, label=f"Compilation of {self.name}")

    def _columns(self, page: Page) -> Html:
        losses = Losses(page.losses)
        told = [heading("What was lost", losses.counts if self.index else ""), losses.html()]
        if self.proof is not None:
            told = [heading("Proof"), self.proof.html(), tag("div", style="height: .8em"), *told]
        tree = tag("div", heading("The schema", "what changed is marked" if page.losses else ""), page.json.html())
        return columns(tree, tag("div", *told))


# --- the widget ------------------------------------------------------------------------------------------------------


def compiler_stepper(schemas: Mapping[str, Any]) -> Live[CompilerStepper]:
    """A list of schemas, buttons and a slider for the stages, a list of losses to prove, a field for one's own."""
    live: Live[CompilerStepper] = Live(CompilerStepper(schemas))
    names = picker("schema", [*schemas, OWN], lambda name: live.do(lambda stepper: stepper.pick(name)))
    back = button("◀ back", lambda: live.do(lambda stepper: stepper.step(-1)), hint="one stage back")
    forth = button("next ▶", lambda: live.do(lambda stepper: stepper.step(1)), hint="one stage forth")
    stage = w.IntSlider(description="stage", max=1, layout=w.Layout(width="20em"))
    stage.observe(lambda change: live.do(lambda stepper: stepper.go(change["new"])), "value")
    losses = picker("prove the loss at", [NO_LOSS], lambda at: live.do(lambda stepper: stepper.prove(at)))
    text = w.Textarea(
        description="your schema",
        placeholder='{"type": "object", "properties": {"size": {"enum": [1, 2]}}}',
        style={"description_width": "initial"},
        layout=w.Layout(width="min(100%, 46em)", height="6em"),
    )
    go = button("compile it", lambda: live.do(lambda stepper: stepper.own(text.value)), hint="compile your schema")

    def sync(stepper: CompilerStepper) -> None:
        names.value = stepper.name
        last = max(len(stepper.pages) - 1, 0)
        back.disabled, forth.disabled = stepper.index == 0, stepper.index == last
        stage.max = max(last, 1)
        stage.value, stage.disabled = stepper.index, last == 0
        offered = (NO_LOSS, *stepper.provable)
        if losses.options != offered:
            losses.options = offered
        losses.value, losses.disabled = stepper.loss_at, len(offered) == 1

    return live.driven_by(row(names, back, forth, stage), row(losses), row(text, go), sync=sync)
