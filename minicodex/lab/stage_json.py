"""A compiled schema on the page: what a stage changed is marked, and called by the effect that the compiler names.

The comparison of two JSON values sees what came and what went. Only the compiler knows what that does to the arguments:
a `type` that came may change nothing or forbid everything. So the words come from its list of losses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from minicodex.json_text import pointer_of
from minicodex.lab.html import MONO, Html, Pill, tag
from minicodex.lab.json_diff import ABSENT, Mark, Node, compare
from minicodex.lab.json_view import JsonView
from minicodex.lab.view import counted
from minicodex.schema import Effect, Loss

__all__ = ["EFFECTS", "GRAVITY", "StageJson", "effect_word"]

EFFECTS = {
    Effect.CONTRADICTORY: Pill("✗", "contradictory", ground="#fadbd5", ink="#5c1206"),
    Effect.NARROWER: Pill("><", "narrower", ground="#e8daf8", ink="#35105e"),
    Effect.WIDER: Pill("<>", "wider", ground="#d3e6fb", ink="#062c57"),
    Effect.TEXT_LOST: Pill("…", "text lost", ground="#fdebb2", ink="#453300"),
    Effect.KEPT: Pill("=", "kept", ground="#c8efdc", ink="#06361f"),
}
"""Every effect with its mark, the gravest first."""

GRAVITY = {effect: place for place, effect in enumerate(EFFECTS)}

MAX_MEMBERS = 100
"""Members of one object or list that are compared and drawn; the rest is counted."""

MAX_LINES = 1_500
"""A tree with more lines is not drawn; its changes are listed instead."""

MAX_TEXT_LINES = 60
"""The same as text."""

MAX_LISTED = 25
"""Changes that are listed; the rest is counted."""

_CAME_BY_RULE = {"type_inferred": "type", "items_added": "items", "properties_added": "properties"}


def effect_word(effect: Effect) -> str:
    """What people read: `text lost`."""
    return EFFECTS[effect].word


@dataclass(frozen=True, repr=False, eq=False)
class StageJson(JsonView):
    """A schema after a stage, compared with the one before it."""

    fold_lines: int = 3
    losses: Sequence[Loss] = ()
    """What the stage lost, with pointers into the author's schema."""
    below: str = ""
    """Pointer of the part that is shown, where it is not the whole schema."""

    @cached_property
    def root(self) -> Node:
        compares = self.before is not ABSENT
        tree = compare(self.before if compares else self.value, self.value, max_members=MAX_MEMBERS)
        return _with_effects(tree, self._effects()) if self.losses else tree

    @property
    def is_large(self) -> bool:
        return self.root.line_count > MAX_LINES

    def text(self) -> str:
        if self.before is ABSENT:
            return super().text() if self.root.line_count <= MAX_TEXT_LINES else replace(self, open_depth=1).folded()
        lines = super().text().splitlines() if not self.is_large else []
        return "\n".join(lines) if 0 < len(lines) <= MAX_TEXT_LINES else self._listed()

    def folded(self) -> str:
        """The text, long or not."""
        return super().text()

    def html(self) -> Html:
        if not self.is_large:
            return super().html()
        compares = self.before is not ABSENT
        note = f"Drawn as a tree it would have {self.root.line_count:,} lines." + (" What changed:" if compares else "")
        listed = [tag("pre", self._listed(), style=f"{MONO}; white-space: pre-wrap; margin: 0")] if compares else []
        return tag("div", tag("p", note, style="margin: 0 0 .5em"), *listed)

    def _listed(self) -> str:
        lines = self.changes_text().splitlines()
        rest = sum(change.more or 1 for change in self.changes[MAX_LISTED:])
        return "\n".join([*lines[:MAX_LISTED], *([f"and {counted(rest, 'more change')}"] if rest > 0 else [])])

    def _effects(self) -> Mapping[str, Effect]:
        """Effect by place; where several losses meet, the gravest."""
        effects: dict[str, Effect] = {}
        for loss in self.losses:
            came = _CAME_BY_RULE.get(loss.rule)
            place = (loss.pointer + pointer_of(came) if came else loss.at).removeprefix(self.below)
            effects[place] = min(effects.get(place, loss.effect), loss.effect, key=GRAVITY.__getitem__)
        return effects


def _with_effects(node: Node, effects: Mapping[str, Effect], above: Effect | None = None) -> Node:
    """The tree with the effect at every marked place: its own, or that of the node whose keyword it is."""
    own = effects.get(node.pointer, above)
    if node.mark is not Mark.SAME:
        return replace(node, effect=effect_word(own) if own and own is not Effect.KEPT else "")
    if not node.touched:
        return node
    passed_on = effects.get(node.pointer)
    return replace(node, children=tuple(_with_effects(child, effects, passed_on) for child in node.children))
