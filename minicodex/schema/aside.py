"""What stands in places that the walk does not enter: enum values, ignored keywords, what is cleared.

It must be JSON all the same, and two rules of the real Codex look there: inside a definition any mention of another one
counts, and below `additionalProperties` some integers are refused.

Source: measured on Codex CLI 0.171.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from minicodex.schema.draft import Draft
from minicodex.schema.keywords import ADDITIONAL, MEMBER_KEYWORDS, TABLE_KEYWORDS, known_names, shape_of
from minicodex.schema.literals import NumberLiteral
from minicodex.schema.model import Misfit

__all__ = ["WRITTEN_ALIKE", "look_aside", "refuse_wide_integers", "values_inside"]

Json = dict[str, Any]

WRITTEN_ALIKE: Final = frozenset({str, int, bool, type(None)})
"""Types whose values can be written in one way only; a float can in many, and a list or object may hold one."""


def look_aside(draft: Draft, value: Any, *, as_node: bool) -> None:
    """Note what the walk does not enter: it must be JSON, and inside a definition any `$ref` in it counts."""
    draft.unseen.append(value)
    if draft.inside_definition:
        _note_mentions(draft, value, as_node=as_node)


def _note_mentions(draft: Draft, value: Any, *, as_node: bool) -> None:
    for part in values_inside(value, as_node=as_node):
        if isinstance(part, dict) and isinstance(part.get("$ref"), str):
            draft.references.append(part["$ref"])


def refuse_wide_integers(draft: Draft) -> None:
    """Refuse integers of 65 to 128 bits below an `additionalProperties` object, under any keyword.

    Elsewhere they are fine. Source: measured on Codex CLI 0.171.0, whose decoder reads that place in another way.

    Raises:
        Misfit: there is one.
    """
    for schema in draft.maps:
        for value in values_inside(schema, as_node=True):
            number = value.integer if isinstance(value, NumberLiteral) else None
            if number is not None and -(2**127) <= number < 2**128:
                raise Misfit("wide_integer", schema, actual=value)


def values_inside(value: Any, *, as_node: bool) -> Iterator[Any]:
    """Every object and scalar that is inside a value once it is normalised.

    As a node, a value loses what normalisation takes away: all of it where nothing suggests a type, a replaced
    `enum` or `type`. Anywhere else a value stays whole.
    """
    stack = [(value, as_node)]
    while stack:
        value, as_node = stack.pop()
        if isinstance(value, list):
            stack.extend((member, as_node) for member in value)
            continue
        yield value
        if not isinstance(value, dict) or (as_node and _is_cleared(value)):
            continue
        for keyword, child in value.items():
            if as_node and keyword in _TABLES_OF_NODES and isinstance(child, dict):
                stack.extend((named, True) for named in child.values())
            elif not (as_node and _is_replaced(value, keyword)):
                stack.append((child, as_node and keyword in _NODES))


_TABLES_OF_NODES: Final = frozenset({"properties", *TABLE_KEYWORDS})
_NODES: Final = frozenset({"items", "prefixItems", ADDITIONAL, *MEMBER_KEYWORDS})


def _is_cleared(raw: Json) -> bool:
    shape = shape_of(raw)
    return shape.inferred is None and not shape.is_left_alone and known_names(raw.get("type")) is None


def _is_replaced(raw: Json, keyword: str) -> bool:
    """Whether normalisation puts something else in the place of this keyword's value, or nothing."""
    if keyword == "type":
        return known_names(raw["type"]) is None and not shape_of(raw).is_left_alone
    return (keyword == "enum" and "const" in raw) or (keyword in TABLE_KEYWORDS and not isinstance(raw[keyword], dict))
