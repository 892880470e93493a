"""Arguments that may show a loss, made from the author's schema.

One plausible value, then copies of it that differ in one place, driven by what stands there: one below the minimum, one
item too many, a value of another type. First those that differ at the very place, in arguments that hold no more than
they must; a second fault in them would hide the first.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from minicodex.json_text import pointer_of
from minicodex.patterns import UnusablePattern, search
from minicodex.schema.keywords import MEMBER_KEYWORDS

__all__ = ["Maker"]

MAX_ITEMS: Final = 40
"""Members of the largest plausible value, and children that are varied."""

MAX_LENGTH: Final = 10_000
"""Longest text or list that is made to break a limit."""

MAX_NESTING: Final = 8
"""How deep probes are made; a schema may refer to itself."""

MAX_NODES: Final = 5_000
"""Nodes that are looked at for the way to a place."""

_TYPICAL: Final = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
_PROBES: Final[tuple[Any, ...]] = ("text", 7, 1.5, True, None, {}, {"other": 7}, "", [], [{}], -1)
_WORDS: Final = (
    "text", "a", "A", "ABC", "7", "0.5", "2031-04-05", "2031-04-05T09:30", "a-b", "a_b", "a@b.example", "https://a.example/",
    "/a/b", "#aabbcc",
)  # fmt: skip

Made = Iterator[tuple[str, Any]]
"""Values, each with the pointer of the place in the schema that it tests."""


class Maker:
    """Makes arguments from one schema. References are followed inside it only.

    Args:
        root: the author's schema.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._lean, self._full = _Values(root, is_lean=True), _Values(root, is_lean=False)

    def probes(self, at: str) -> Made:
        """Whole arguments, which are always an object.

        Args:
            at: pointer of the place to test; what differs there comes first.
        """
        everywhere = self._full.variants(self._root, "", 0, at)
        made = chain(self._at(at), [("", self._full.example(self._root, 0))], everywhere)
        return ((place, value) for place, value in made if isinstance(value, dict))

    def _at(self, at: str) -> Made:
        """What differs at the node that holds a place, put into arguments that hold only what they must."""
        place = at
        while place not in self._ways:
            place = place.rpartition("/")[0]
        way = self._ways[place]
        here = chain([(place, self._lean.example(way.schema, 0))], self._lean.variants(way.schema, place, 0, at))
        for tested, value in islice(here, MAX_ITEMS):
            step, whole = way, value
            while step.above is not None:
                step, put = self._ways[step.above], step.put
                base = self._lean.own(step.schema, 0) if put is _instead else self._lean.example(step.schema, 0)
                whole = put(base, whole)
            yield tested, whole

    @cached_property
    def _ways(self) -> dict[str, _Way]:
        """The shortest way from the root to each node, through references."""
        schema, place = _resolve(self._root, self._root, "")
        ways = {"": _Way(schema, None, _merged)}
        ways.setdefault(place, ways[""])
        unread = deque([("", place)])
        while unread and len(ways) < MAX_NODES:
            above, place = unread.popleft()
            parent = ways[above].schema
            if not isinstance(parent, dict):
                continue
            for at, child, put in (*_named_children(parent, place), *_member_children(parent, place)):
                schema, behind = _resolve(self._root, child, at)
                is_new = behind not in ways
                ways.setdefault(at, _Way(schema, above, put))
                ways.setdefault(behind, ways[at])
                if is_new:
                    unread.append((at, behind))
        return ways


class _Way(NamedTuple):
    """A node of the author's schema, behind any reference, and how its value gets into that of the node above."""

    schema: Any
    above: str | None
    put: Put


class _Values:
    """Values for the nodes of one schema.

    Args:
        root: the author's schema.
        is_lean: leave out whatever is not required.
    """

    def __init__(self, root: Any, *, is_lean: bool) -> None:
        self._root, self._is_lean = root, is_lean

    def example(self, schema: Any, depth: int) -> Any:
        """One plausible value, the author's own where there is one."""
        schema, _ = _resolve(self._root, schema, "")
        if not isinstance(schema, dict) or depth > MAX_NESTING:
            return "text"
        if "const" in schema:
            return schema["const"]
        for keyword in ("enum", "examples"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                return schema[keyword][0]
        kind = _kind_of(schema)
        parts = [self._branch(schema, keyword, depth) for keyword in MEMBER_KEYWORDS if _listed(schema, keyword)]
        if kind == "object":
            return _merged(self._object(schema, depth), *parts)
        if parts:
            return parts[0]
        if kind == "array":
            return self._array(schema, depth)
        return _string(schema) if kind == "string" else _number(schema, _TYPICAL[kind])

    def _branch(self, schema: Any, keyword: str, depth: int) -> Any:
        branches = [self._inside(schema, branch) for branch in _listed(schema, keyword)]
        if keyword == "allOf":
            return _merged(*(self.example(branch, depth + 1) for branch in branches))
        return self.example(branches[0], depth + 1)

    def _inside(self, schema: Any, branch: Any) -> Any:
        """A branch that knows the properties of the object it belongs to: `{"required": ["local"]}` names one."""
        branch, _ = _resolve(self._root, branch, "")
        if not isinstance(branch, dict) or "properties" not in schema or not _names(branch):
            return branch
        return {**branch, "properties": {**_mapping(schema, "properties"), **_mapping(branch, "properties")}}

    def own(self, schema: Any, depth: int) -> Any:
        """The same without any alternative, for one to be put there."""
        return self._object(schema, depth) if _kind_of(schema) == "object" else None

    def _object(self, schema: Any, depth: int) -> dict[str, Any]:
        properties, wanted = _mapping(schema, "properties"), _names(schema)
        if not self._is_lean:
            wanted = [*wanted, *(name for name in properties if name not in wanted)]
        return {name: self.example(properties.get(name), depth + 1) for name in wanted[:MAX_ITEMS]}

    def _array(self, schema: Any, depth: int) -> list[Any]:
        head = [self.example(member, depth + 1) for member in _listed(schema, "prefixItems")[:MAX_ITEMS]]
        rest = max(_count(schema, "minItems", 1) - len(head), 0)
        return head + [self.example(schema.get("items"), depth + 1)] * min(rest, MAX_ITEMS)

    def variants(self, schema: Any, place: str, depth: int, at: str) -> Made:
        """Values that differ from the plausible one in one place, `at` before others."""
        schema, place = _resolve(self._root, schema, place)
        if isinstance(schema, dict) and depth <= MAX_NESTING:
            base = self.example(schema, depth)
            over = list(self._over_limits(schema, place, base, depth))
            yield from sorted(over, key=lambda made: made[0] != at)
            yield from self._in_children(schema, place, base, depth, at)
            yield from ((place, [probe] * _count(schema, "minItems", 1)) for probe in ("text", 7))
        yield from ((place, probe) for probe in _PROBES)

    def _over_limits(self, schema: Any, place: str, base: Any, depth: int) -> Made:
        for keyword, make in _OVER_LIMIT.items():
            if keyword in schema:
                yield from ((place + pointer_of(keyword), value) for value in make(schema[keyword], base))
        for name in _names(schema):
            if isinstance(base, dict):
                yield place + "/required", {key: value for key, value in base.items() if key != name}
        if "not" in schema:
            yield place + "/not", self.example(schema["not"], depth + 1)

    def _in_children(self, schema: Any, place: str, base: Any, depth: int, at: str) -> Made:
        """The variants of each child, put where the child stands; those that lead to the place come first."""
        children = [*_named_children(schema, place), *_member_children(schema, place)]
        children.sort(key=lambda child: not (at + "/").startswith(child[0] + "/"))
        for child_place, child, put in children[:MAX_ITEMS]:
            around = self.own(schema, depth) if put is _instead else base
            for tested, value in self.variants(child, child_place, depth + 1, at):
                yield tested, put(around, value)
        if "if" in schema:
            when = self.example(schema["if"], depth + 1)
            for keyword in ("then", "else"):
                for _, value in islice(self.variants(schema.get(keyword, True), "", depth + 1, at), MAX_ITEMS):
                    yield place, _merged(base, when, value)


def _resolve(root: Any, schema: Any, place: str) -> tuple[Any, str]:
    """The schema behind a local reference, and where it stands."""
    for _ in range(MAX_NESTING):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        place, schema = unquote(reference[1:]), root
        for step in place.split("/")[1:]:
            schema = _step(schema, step.replace("~1", "/").replace("~0", "~"))
    return schema, place


Put = Callable[[Any, Any], Any]
"""Puts a value for a child into a value for its parent."""


def _named_children(schema: Any, place: str) -> Iterator[tuple[str, Any, Put]]:
    for name, child in _mapping(schema, "properties").items():
        yield place + pointer_of("properties", name), child, partial(_put_at, name)
    for pattern, child in _mapping(schema, "patternProperties").items():
        for name in _matching(pattern)[:1]:
            yield place + pointer_of("patternProperties", pattern), child, partial(_put_at, name)
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            yield place + pointer_of(keyword), schema[keyword], partial(_put_at, "other")


def _member_children(schema: Any, place: str) -> Iterator[tuple[str, Any, Put]]:
    for keyword in ("items", "contains"):
        if keyword in schema:
            yield place + pointer_of(keyword), schema[keyword], lambda _base, value: [value]
    for i, child in enumerate(_listed(schema, "prefixItems")):
        yield place + pointer_of("prefixItems", i), child, partial(_put_index, i)
    for keyword in MEMBER_KEYWORDS:
        for i, child in enumerate(_listed(schema, keyword)):
            yield place + pointer_of(keyword, i), child, _merged if keyword == "allOf" else _instead


def _put_at(name: str, base: Any, value: Any) -> Any:
    return {**(base if isinstance(base, dict) else {}), name: value}


def _put_index(index: int, base: Any, value: Any) -> Any:
    members = list(base) if isinstance(base, list) else []
    return [*members[:index], value, *members[index + 1 :]]


def _merged(*values: Any) -> Any:
    """Objects together as one object; where the last value is none, the last value."""
    if values and not isinstance(values[-1], dict):
        return values[-1]
    return {name: value for part in values if isinstance(part, dict) for name, value in part.items()}


def _instead(base: Any, value: Any) -> Any:
    """One alternative, into a value that holds none yet."""
    return _merged(base, value)


def _numbers_over(limit: Any, *steps: float) -> list[Any]:
    return [limit + step for step in steps] if isinstance(limit, (int, float)) and abs(limit) < 2**53 else []


def _copies(count: Any, base: Any, extra: int) -> list[Any]:
    wanted = count + extra if isinstance(count, int) else -1
    if not 0 <= wanted <= MAX_LENGTH:
        return []
    if isinstance(base, str):
        return ["y" * wanted, (base * wanted)[:wanted]]
    if isinstance(base, list):
        return [(base or ["text"]) * wanted][:1] if len(base) <= 1 else [(base * (wanted + 1))[:wanted]]
    if isinstance(base, dict):
        return [dict(islice(base.items(), wanted)), {**base, **{f"other{i}": 7 for i in range(wanted)}}]
    return []


def _lone_fields(dependent: Any) -> list[Any]:
    return [{name: "text"} for name in dependent] if isinstance(dependent, dict) else []


_OVER_LIMIT: Final[dict[str, Callable[[Any, Any], list[Any]]]] = {
    "minimum": lambda limit, _: _numbers_over(limit, -1, -0.5),
    "maximum": lambda limit, _: _numbers_over(limit, 1, 0.5),
    "exclusiveMinimum": lambda limit, _: _numbers_over(limit, 0, -1),
    "exclusiveMaximum": lambda limit, _: _numbers_over(limit, 0, 1),
    "multipleOf": lambda step, _: _numbers_over(step, 1, 0.5, step / 2) if isinstance(step, (int, float)) else [],
    "minLength": lambda count, base: _copies(count, base, -1),
    "maxLength": lambda count, base: _copies(count, base, 1),
    "minItems": lambda count, base: _copies(count, base, -1),
    "maxItems": lambda count, base: _copies(count, base, 1),
    "minProperties": lambda count, base: _copies(count, base, -1),
    "maxProperties": lambda count, base: _copies(count, base, 1),
    "uniqueItems": lambda _, base: [base[:1] * 2] if isinstance(base, list) and base else [],
    "minContains": lambda *_: [[]],
    "pattern": lambda _, base: ["", *_WORDS, base + "!" if isinstance(base, str) else "!"],
    "propertyNames": lambda _, base: [_put_at("", base, 7), _put_at("A b", base, 7)],
    "dependentRequired": lambda names, _: _lone_fields(names),
    "dependencies": lambda names, _: _lone_fields(names),
    "enum": lambda values, _: values[:MAX_ITEMS] if isinstance(values, list) else [],
    "const": lambda value, _: [value],
}
"""Per keyword: values that just break it, given what it says and a plausible value."""


def _string(schema: Any) -> str:
    shortest, longest = _count(schema, "minLength", 0), _count(schema, "maxLength", MAX_ITEMS)
    words = _matching(schema["pattern"]) if isinstance(schema.get("pattern"), str) else list(_WORDS)
    fitting = [word for word in words if shortest <= len(word) <= longest]
    return fitting[0] if fitting else "y" * min(max(shortest, min(4, longest)), MAX_ITEMS * 100)


def _matching(pattern: str) -> list[str]:
    try:
        return [word for word in (*_WORDS, _spelled(pattern)) if search(pattern, word)]
    except UnusablePattern:
        return []


_PIECE: Final = re.compile(r"(\\.|\[(?!\^)[^\]]+\]|[^\\\[\](){}*+?|^$])(?:\{(\d{1,2})[,\d]*\}|([*?])|\+)?")
_OF_CLASS: Final = {"\\d": "7", "\\w": "a", "\\s": " "}


def _spelled(pattern: Any) -> str:
    """A text for a pattern that says piece by piece what comes; for any other pattern any text."""
    text = ""
    for piece, times, optional in _PIECE.findall(pattern if isinstance(pattern, str) else ""):
        letter = piece[1:3] if piece[0] == "[" else piece
        letter = _OF_CLASS.get(letter[:2], letter[1] if letter[0] == "\\" else letter[0])
        text += letter * (0 if optional else int(times or 1))
    return text


def _number(schema: Any, typical: Any) -> Any:
    for keyword, step in (
        ("minimum", 0),
        ("exclusiveMinimum", 1),
        ("maximum", 0),
        ("exclusiveMaximum", -1),
        ("multipleOf", 0),
    ):
        limit = schema.get(keyword)
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            return limit + step
    return typical


def _kind_of(schema: Any) -> str:
    kinds = schema.get("type")
    kind = next((k for k in kinds if k != "null"), "null") if isinstance(kinds, list) else kinds
    if kind in ("object", "array", "string", "integer", "number", "boolean", "null"):
        return str(kind)
    if not schema.keys().isdisjoint(("properties", "required", "patternProperties", "additionalProperties")):
        return "object"
    return "array" if not schema.keys().isdisjoint(("items", "prefixItems")) else "string"


def _step(schema: Any, step: str) -> Any:
    if isinstance(schema, list):
        return schema[int(step)] if step.isdecimal() and int(step) < len(schema) else None
    return schema.get(step) if isinstance(schema, dict) else None


def _mapping(schema: Any, keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _listed(schema: Any, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _names(schema: Any) -> list[str]:
    return [name for name in _listed(schema, "required") if isinstance(name, str)]


def _count(schema: Any, keyword: str, default: int) -> int:
    value = schema.get(keyword)
    return value if isinstance(value, int) and 0 <= value <= MAX_ITEMS * 100 else default
