"""What a compilation lost: the notes of the stages as a list of losses, each with its place and its effect.

The stages note which rule they applied to which node. Here the nodes get their places, the keywords that no stage even
looks at are added, and what follows from several changes together is found. Whether a loss can be felt is proved in
`witness`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from minicodex.json_text import pointer_of
from minicodex.schema.draft import Change, Draft, Node, Rule
from minicodex.schema.keywords import LOST_KEYWORDS, TABLE_KEYWORDS, Effect
from minicodex.schema.literals import parse_plain, write_number
from minicodex.schema.normalize import NODE_CLEARED

__all__ = ["LOSS_RULES", "Loss", "losses_of_changes", "losses_of_ignored", "new_contradictions", "places_of"]

DEMAND_LOST: Final = Rule(
    "demand_lost", Effect.WIDER, "The subset has no such keyword: what it demands is no longer said."
)
WORDS_LOST: Final = Rule(
    "words_lost", Effect.TEXT_LOST, "The subset has no such keyword: the model no longer reads it."
)
BOOKKEEPING_LOST: Final = Rule(
    "bookkeeping_lost", Effect.KEPT, "The keyword tells programs how to read the schema, not what to send."
)
CONDITION_LOST: Final = Rule(
    "condition_lost", Effect.WIDER, "The subset has no conditions: what holds only at times is no longer said."
)
CLOSED_WITHOUT_PATTERNS: Final = Rule(
    "closed_without_patterns",
    Effect.NARROWER,
    "The name patterns are lost, the closing rule stays: names that matched are refused now.",
)
POSITIONS_LOST: Final = Rule(
    "positions_lost",
    Effect.NARROWER,
    "The rules for single positions are lost, so the rule for the rest now holds for every member.",
)
ALTERNATIVES_ALIKE: Final = Rule(
    "alternatives_alike",
    Effect.CONTRADICTORY,
    "Exactly one alternative must fit, but several became `{}`, which everything fits: nothing is allowed.",
)
LOSS_RULES: Final = (
    DEMAND_LOST,
    WORDS_LOST,
    BOOKKEEPING_LOST,
    CONDITION_LOST,
    CLOSED_WITHOUT_PATTERNS,
    POSITIONS_LOST,
    ALTERNATIVES_ALIKE,
)

_CONDITIONS: Final = ("if", "then", "else")
_KEYWORD_RULES: Final = {
    Effect.WIDER: DEMAND_LOST,
    Effect.TEXT_LOST: WORDS_LOST,
    Effect.KEPT: BOOKKEEPING_LOST,
}
_KEPT_KEYWORDS_WHEN_CLEARED: Final = {
    "description": Effect.TEXT_LOST,
    "encrypted": Effect.TEXT_LOST,
    "minItems": Effect.WIDER,
    "type": Effect.KEPT,
    **dict.fromkeys(TABLE_KEYWORDS, Effect.KEPT),
}


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a stage changed."""

    pointer: str
    """JSON pointer of the node in the author's schema; `""` is the root."""
    keyword: str | None
    """The keyword of the node that is concerned; None: the node as a whole."""
    before: Any
    after: Any
    effect: Effect
    rule: str
    """Name of the rule: a short fixed word, for programs."""
    sentence: str
    """The same for people."""

    @property
    def is_felt(self) -> bool:
        """Whether there may be arguments that are judged differently now."""
        return self.effect not in (Effect.KEPT, Effect.TEXT_LOST)

    @property
    def at(self) -> str:
        """JSON pointer of the place itself: the keyword if there is one, else the node."""
        return self.pointer if self.keyword is None else self.pointer + pointer_of(self.keyword)


Places = dict[int, str]
"""JSON pointer of each object of a schema, by identity."""


def places_of(*schemas: Any) -> Places:
    """Where each object stands, for all these schemas together. Linear; no recursion."""
    places: Places = {}
    stack = [(schema, "") for schema in schemas]
    while stack:
        value, pointer = stack.pop()
        if isinstance(value, (dict, list)):
            places.setdefault(id(value), pointer)
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            stack.extend(
                (child, pointer + pointer_of(step)) for step, child in pairs if isinstance(child, (dict, list))
            )
    return places


def losses_of_changes(changes: list[Change], places: Places) -> Iterator[Loss]:
    """The applied rules with their places; a cleared node loses each of its keywords."""
    for rule, node, steps, before, after, effect in changes:
        pointer = places[id(node)] + pointer_of(*steps[:-1])
        keyword = str(steps[-1]) if steps else None
        if len(steps) > 1 or rule.name == "boolean_becomes_string":  # a child, not a keyword
            pointer, keyword = places[id(node)] + pointer_of(*steps), None
        yield Loss(pointer, keyword, plain(before), plain(after), effect, rule.name, rule.sentence)
        if rule is NODE_CLEARED:
            yield from _losses_of_keywords(node, tuple(node), pointer)


def losses_of_ignored(nodes: list[Node], changes: list[Change], places: Places) -> Iterator[Loss]:
    """The keywords that the subset does not have, node by node; a cleared node has lost them all already."""
    cleared = {id(change.node) for change in changes if change.rule is NODE_CLEARED}
    for raw, _, _, shape in nodes:
        if shape.ignored and id(raw) not in cleared:
            yield from _losses_of_keywords(raw, shape.ignored, places[id(raw)])


def _losses_of_keywords(raw: dict[str, Any], keywords: tuple[str, ...], pointer: str) -> Iterator[Loss]:
    if any(keyword in raw for keyword in _CONDITIONS if keyword in keywords):
        before = {keyword: raw[keyword] for keyword in _CONDITIONS if keyword in raw}
        yield _loss(pointer, None, before, CONDITION_LOST)
    for keyword in keywords:
        if keyword in _CONDITIONS:
            continue
        if keyword == "patternProperties" and raw.get("additionalProperties") is False:
            yield _loss(pointer, None, raw[keyword], CLOSED_WITHOUT_PATTERNS)
        elif keyword == "prefixItems" and "items" in raw:
            yield _loss(pointer, keyword, raw[keyword], POSITIONS_LOST)
        else:
            effect = LOST_KEYWORDS.get(keyword) or _KEPT_KEYWORDS_WHEN_CLEARED.get(keyword, Effect.TEXT_LOST)
            yield _loss(pointer, keyword, raw[keyword], _KEYWORD_RULES[_felt(keyword, raw[keyword], effect)])


def _felt(keyword: str, value: Any, effect: Effect) -> Effect:
    """A demand that demands nothing is no loss."""
    demands_nothing = value is None or (keyword in _NOTHING_AT and value == _NOTHING_AT[keyword])
    return Effect.KEPT if effect is Effect.WIDER and demands_nothing else effect


_NOTHING_AT: Final[dict[str, Any]] = {
    "uniqueItems": False,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
    "patternProperties": {},
    "dependentRequired": {},
    "unevaluatedProperties": True,
}


def _loss(pointer: str, keyword: str | None, before: Any, rule: Rule) -> Loss:
    return Loss(pointer, keyword, plain(before), None, rule.effect, rule.name, rule.sentence)


def new_contradictions(draft: Draft, places: Places, known: set[str]) -> Iterator[Loss]:
    """Nodes whose `oneOf` can no longer be met, because several alternatives now allow everything."""
    for raw, node, *_ in draft.nodes:
        members = node.get("oneOf")
        pointer = places[id(raw)]
        if members and members.count({}) > max(1, raw["oneOf"].count({})) and pointer not in known:
            known.add(pointer)
            rule = ALTERNATIVES_ALIKE
            yield Loss(pointer, "oneOf", plain(raw["oneOf"]), plain(members), rule.effect, rule.name, rule.sentence)


def plain(value: Any) -> Any:
    """A value as plain Python data of its own, number literals as Python's numbers."""
    return parse_plain(orjson.dumps(value, default=write_number))
