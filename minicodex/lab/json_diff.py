"""What is different between two JSON values, place by place.

The comparison is a tree that holds both values. Inside a JSON Schema it also knows what some changes mean: a longer
`enum` accepts more (wider), a longer `required` accepts less (narrower). Only what one keyword shows by itself is
judged; `losses` of the schema compiler proves more, with arguments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

from minicodex.json_text import pointer_of
from minicodex.lab.html import Pill

__all__ = ["ABSENT", "Mark", "Node", "compare", "one_line"]


SHORT_MEMBERS, SHORT_CHARS = 6, 64
"""An object or list with no more members and characters stands on one line, unless something in it changed."""


_T = TypeVar("_T")


class _Absent(Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""Stands where one of the two values has nothing; null is something."""


class Mark(Enum):
    """What became of a value. Each has a sign, a word and a colour of its own."""

    SAME = Pill("", "", "", "")
    NEW = Pill("+", "new", ground="#c8efdc", ink="#06361f")
    GONE = Pill("-", "gone", ground="#fadbd5", ink="#5c1206")
    CHANGED = Pill("~", "changed", ground="#fdebb2", ink="#453300")
    WIDER = Pill("<>", "wider", ground="#d3e6fb", ink="#062c57")
    NARROWER = Pill("><", "narrower", ground="#e8daf8", ink="#35105e")


@dataclass(frozen=True, eq=False)
class Node:
    """One place of the comparison. `after` is what stands there now, `before` what stood there."""

    key: str | int | None
    """Its key in the object or index in the list above; None for the root."""
    pointer: str
    before: Any
    after: Any
    mark: Mark
    children: tuple[Node, ...] = ()
    effect: str = ""
    """`wider` or `narrower`, where a keyword of a schema came or went."""
    more: int = 0
    """At the end of a long object or list: how many members it stands for. Its pointer is its parent's."""

    @property
    def value(self) -> Any:
        """What is shown: the new value, or the old one where nothing is left."""
        return self.before if self.after is ABSENT else self.after

    @cached_property
    def touched(self) -> bool:
        """Whether anything at this place or below is different."""
        return self.mark is not Mark.SAME or any(child.touched for child in self.children)

    @cached_property
    def line_count(self) -> int:
        """Lines it takes when nothing is folded."""
        return 2 + sum(child.line_count for child in self.children) if self.children else 1

    def changes(self) -> Iterator[Node]:
        """Every place that is marked, in order; not the places inside something new or gone."""
        if self.mark is not Mark.SAME:
            yield self
        else:
            for child in self.children:
                yield from child.changes()


def compare(before: Any, after: Any, *, schema_at: str | None = None, max_members: int | None = None) -> Node:
    """Compare two values.

    Args:
        schema_at: pointer of the place that holds a JSON Schema (`""` for the whole): changes of its keywords are
            called wider or narrower where that is certain.
        max_members: of a longer object or list the first so many get nodes, and the rest is counted, mark by mark.
    """
    return _Comparison(schema_at, max_members).node(None, "", before, after, _Role.VALUE)


class _Role(Enum):
    """How to read an object: its keys are keywords, names the author chose, or anything."""

    SCHEMA = "schema"
    TABLE = "table"
    VALUE = "value"


_TABLES = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_SUBSCHEMAS = frozenset({"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not"})


@dataclass(frozen=True)
class _Comparison:
    schema_at: str | None
    max_members: int | None

    def node(self, key: str | int | None, pointer: str, before: Any, after: Any, role: _Role) -> Node:
        if before is after and not isinstance(after, (dict, list)):
            return Node(key, pointer, before, after, Mark.SAME)
        role = _Role.SCHEMA if pointer == self.schema_at else role
        children: tuple[Node, ...] = ()
        mark = _mark(before, after)
        kinds = {type(side) for side in (before, after) if side is not ABSENT}
        if before is after:
            children = tuple(self._unchanged(pointer, after))
        elif kinds == {dict}:
            children = tuple(self._members(pointer, before, after, role))
        elif kinds == {list}:
            children = tuple(self._items(pointer, before, after, role))
        whole = mark in (Mark.NEW, Mark.GONE) or not any(child.touched for child in children)
        if children and whole and _is_short(before if after is ABSENT else after):
            children = ()
        return Node(key, pointer, before, after, mark, children)

    def _unchanged(self, pointer: str, value: Any) -> Iterator[Node]:
        """The way through what is only shown: nothing to merge, nothing to judge."""
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in islice(members, self.max_members):
            yield self.node(key, pointer + pointer_of(key), child, child, _Role.VALUE)
        yield from self._rest(pointer, [(child, child) for child in self._beyond(_values(value))])

    def _members(self, pointer: str, before: Any, after: Any, role: _Role) -> Iterator[Node]:
        old, new = _object(before), _object(after)
        keys = _merged_keys(old, new)
        for key in keys[: self.max_members]:
            left, right = old.get(key, ABSENT), new.get(key, ABSENT)
            child = self.node(key, pointer + pointer_of(key), left, right, _role_below(role, key))
            effect = _effect(key, left, right) if role is _Role.SCHEMA else ""
            if effect and child.mark in (Mark.NEW, Mark.GONE):
                child = replace(child, effect=effect)
            elif effect:  # one line that says it is better than a list whose members came and went
                child = replace(child, mark=Mark[effect.upper()], children=())
            yield child
        yield from self._rest(pointer, [(old.get(key, ABSENT), new.get(key, ABSENT)) for key in self._beyond(keys)])

    def _items(self, pointer: str, before: Any, after: Any, role: _Role) -> Iterator[Node]:
        pairs = _aligned(_list(before), _list(after))
        for index, (left, right) in enumerate(pairs[: self.max_members]):
            yield self.node(index, pointer + pointer_of(index), left, right, role)
        yield from self._rest(pointer, self._beyond(pairs))

    def _beyond(self, members: list[_T]) -> list[_T]:
        return [] if self.max_members is None else members[self.max_members :]

    def _rest(self, pointer: str, pairs: list[tuple[Any, Any]]) -> Iterator[Node]:
        """What is beyond the limit: one node for each mark, which says how many members have it."""
        for mark, count in Counter(_difference(left, right) for left, right in pairs).items():
            yield Node(None, pointer, ABSENT, ABSENT, mark, more=count)


def _difference(before: Any, after: Any) -> Mark:
    """The mark of two values as wholes."""
    if before is after or before is ABSENT or after is ABSENT:
        return _mark(before, after)
    return Mark.SAME if _canonical(before) == _canonical(after) else Mark.CHANGED


def _values(value: Any) -> list[Any]:
    return list(value.values() if isinstance(value, dict) else value)


def _is_short(value: Any) -> bool:
    """Whether an object or list reads better on one line: `{"type": "string"}`."""
    if not isinstance(value, (dict, list)):
        return True
    members = value.values() if isinstance(value, dict) else value
    if len(members) > SHORT_MEMBERS or any(isinstance(member, (dict, list)) for member in members):
        return False
    return len(one_line(value)) <= SHORT_CHARS


def _object(side: Any) -> Mapping[str, Any]:
    return side if isinstance(side, dict) else {}


def _list(side: Any) -> list[Any]:
    return side if isinstance(side, list) else []


def _mark(before: Any, after: Any) -> Mark:
    if before is ABSENT:
        return Mark.NEW
    if after is ABSENT:
        return Mark.GONE
    if type(before) is type(after) and (isinstance(before, (dict, list)) or before == after):
        return Mark.SAME
    return Mark.CHANGED


def _role_below(role: _Role, key: str) -> _Role:
    if role is _Role.TABLE:
        return _Role.SCHEMA
    if role is _Role.SCHEMA and key in _TABLES:
        return _Role.TABLE
    return _Role.SCHEMA if role is _Role.SCHEMA and key in _SUBSCHEMAS else _Role.VALUE


def _merged_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The keys of `new` in order, with each key that is gone behind the one it used to follow."""
    followers: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for key in old:
        if key in new:
            anchor = key
        else:
            followers.setdefault(anchor, []).append(key)
    merged = list(followers.get(None, ()))
    for key in new:
        merged += [key, *followers.get(key, ())]
    return merged


def _aligned(old: list[Any], new: list[Any]) -> list[tuple[Any, Any]]:
    """Pair the members of two lists: an equal head, an equal tail, and what is between them in order."""
    old_texts, new_texts = [_canonical(item) for item in old], [_canonical(item) for item in new]
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old_texts[head] == new_texts[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old_texts[-1 - tail] == new_texts[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    longest = max(len(middle_old), len(middle_new))
    padded = [side + [ABSENT] * (longest - len(side)) for side in (middle_old, middle_new)]
    return [
        *zip(old[:head], new[:head], strict=True),
        *zip(*padded, strict=True),
        *zip(old[len(old) - tail :], new[len(new) - tail :], strict=True),
    ]


_WRITE = json.JSONEncoder(ensure_ascii=False, default=str).encode
_WRITE_SORTED = json.JSONEncoder(ensure_ascii=False, default=str, sort_keys=True).encode


def _canonical(value: Any) -> str:
    return _WRITE_SORTED(value)


def one_line(value: Any) -> str:
    """A value as JSON on one line."""
    return _WRITE(value)


# --- what a change of one keyword means -----------------------------------------------------------------------------

_LIMITS = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), "rises"),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), "falls"),
}
"""A limit whose number rises, or falls, accepts less."""

_CONSTRAINTS = frozenset(
    ("type", "enum", "const", "required", "pattern", "format", "uniqueItems", "multipleOf", *_LIMITS)
)
"""Keywords that only ever forbid something."""

_OPPOSITE = {"wider": "narrower", "narrower": "wider", "": ""}


def _effect(key: str, before: Any, after: Any) -> str:
    """`wider` or `narrower`, if this one keyword settles it."""
    if after is ABSENT:
        return _OPPOSITE[_effect(key, ABSENT, before)]
    if before is ABSENT:
        return "narrower" if key in _CONSTRAINTS or (key == "additionalProperties" and after is False) else ""
    if key == "additionalProperties" and isinstance(before, bool) and isinstance(after, bool) and before != after:
        return "wider" if after else "narrower"
    if key in _LIMITS and all(isinstance(side, (int, float)) for side in (before, after)) and before != after:
        return "narrower" if (after > before) == (_LIMITS[key] == "rises") else "wider"
    if key in ("enum", "type", "required"):
        old, new = _members_of(before), _members_of(after)
        growing = "narrower" if key == "required" else "wider"
        return growing if old < new else _OPPOSITE[growing] if new < old else ""
    return ""


def _members_of(value: Any) -> set[str]:
    return {_canonical(item) for item in (value if isinstance(value, list) else [value])}
