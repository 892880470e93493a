"""Rule cards: what one rule of the compiler does to the smallest schema on which it acts.

A card holds nothing but a schema. The rule, its effect, the result and the proof come from compiling it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from minicodex.lab.compiler_stepper import Proof
from minicodex.lab.html import LINE, Html, heading, panel, prose, tag
from minicodex.lab.json_diff import one_line
from minicodex.lab.stage_json import EFFECTS, StageJson
from minicodex.lab.view import View
from minicodex.schema import Loss, SchemaTrace, find_witness, trace_tool_schema

__all__ = ["RuleCard", "RuleCards"]

AT = "/properties/x"


@dataclass(frozen=True, repr=False, eq=False)
class RuleCard(View):
    """A rule and the schema of a property `x` to which it applies."""

    rule: str
    node: Any

    @cached_property
    def trace(self) -> SchemaTrace:
        return trace_tool_schema({"type": "object", "properties": {"x": self.node}})

    @cached_property
    def loss(self) -> Loss:
        """What the rule did. That there is something is tested for every card."""
        return next(loss for loss in self.trace.losses if loss.rule == self.rule)

    @cached_property
    def result(self) -> Any:
        assert self.trace.schema is not None
        return self.trace.schema.to_json()["properties"]["x"]

    @cached_property
    def json(self) -> StageJson:
        """Before and after in one tree."""
        return StageJson(self.result, self.node, losses=self.trace.losses, below=AT)

    @cached_property
    def proof(self) -> Proof | None:
        """Arguments that prove what the rule did, where it can be felt."""
        if not self.loss.is_felt or self.trace.schema is None:
            return None
        return Proof(self.loss, find_witness(self.trace.source, self.trace.schema.to_json(), [self.loss]))

    def text(self) -> str:
        lines = [f"{self.rule}: {EFFECTS[self.loss.effect].word}", f"    {one_line(self.node)}"]
        lines.append(f"  → {one_line(self.result)}")
        if self.proof is not None and self.proof.witness is not None:
            lines.append(f"    {one_line(self.proof.witness.arguments)}: {_verdicts(self.proof)}")
        return "\n".join(lines)

    def html(self) -> Html:
        head = tag("div", prose(f"`{self.rule}`"), " ", EFFECTS[self.loss.effect].html(small=True))
        sentence = tag("p", prose(self.loss.sentence), style="margin: .3em 0; font-size: 92%")
        parts = [head, sentence, self.json.html()]
        if self.proof is not None and self.proof.witness is not None:
            words = one_line(self.proof.witness.arguments)
            parts.append(
                tag("p", prose(f"`{words}`"), f" {_verdicts(self.proof)}", style="margin: .4em 0 0; font-size: 92%")
            )
        style = f"border: 1px solid {LINE}; border-radius: 5px; padding: .6em .8em; min-width: 0"
        return tag("div", *parts, style=style)


def _verdicts(proof: Proof) -> str:
    assert proof.witness is not None
    words = {"accept": "allowed", "reject": "refused", "error": "not judged"}
    return f"{words[proof.witness.source]} by the author, {words[proof.witness.compiled]} by what is sent"


@dataclass(frozen=True, repr=False, eq=False)
class RuleCards(View):
    """Several cards, as a title and the schemas by the names of the rules."""

    title: str
    nodes: Mapping[str, Any]

    @cached_property
    def cards(self) -> list[RuleCard]:
        return [RuleCard(rule, node) for rule, node in self.nodes.items()]

    def text(self) -> str:
        return "\n".join(card.text() for card in self.cards)

    def html(self) -> Html:
        grid = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22em), 1fr)); gap: .8em"
        return panel(
            heading(self.title), tag("div", *(card.html() for card in self.cards), style=grid), label=self.title
        )
