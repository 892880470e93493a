"""The proof of a loss: concrete arguments that the author's schema and the compiled one judge differently.

Candidates are made from the author's schema: one plausible value, then copies of it that differ in one place, driven
by what stands there (one below the minimum, one item too many, a value of another type). Each is judged by both
schemas, and the first on which they disagree is the witness. Everything is counted, nothing is random: the same schema
gives the same witness, and a schema that cannot be judged gives none.

Why no generator from a library: one that samples from any JSON Schema is large, random, and has no bound in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import unquote

from minicodex.json_text import pointer_of
from minicodex.patterns import UnusablePattern, search
from minicodex.schema.keywords import MEMBER_KEYWORDS, Effect
from minicodex.schema.losses import Loss
from minicodex.schema.verdict import Verdict, Work

__all__ = ["MAX_CANDIDATES", "Witness", "find_witness"]

MAX_CANDIDATES: Final = 400
"""Arguments that are tried in one search."""

MAX_LOSSES: Final = 20
"""Losses that a search tries to prove, one after the other."""

MAX_ITEMS: Final = 40
"""Longest list or string, and largest object, that is made to break a limit."""

MAX_NESTING: Final = 8
"""How deep candidates are made; a schema may refer to itself."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Arguments on which the two schemas disagree."""

    arguments: Any
    source: Verdict
    compiled: Verdict
    at: str
    """JSON pointer of the place in the author's schema that the arguments were made to test."""

    @property
    def effect(self) -> Effect:
        """What the arguments prove."""
        return Effect.WIDER if self.source == "reject" else Effect.NARROWER


def find_witness(source: Any, compiled: Any, losses: Iterable[Loss]) -> Witness | None:
    """The first candidate on which the author's schema and the compiled one disagree; None where none was found.

    Args:
        source: the author's schema, as plain data.
        compiled: the compiled schema, as plain data.
        losses: what to prove, such as `SchemaTrace.losses` or one of them; the gravest are tried first.
    """
    felt = [loss for loss in losses if loss.effect in _GRAVITY]
    felt.sort(key=lambda loss: (_GRAVITY[loss.effect], loss.pointer.count("/")))
    if not felt:
        return None
    work = Work()
    judge_source, judge_compiled = work.judge_of(source, source), work.judge_of(compiled, source)
    tried = 0
    for loss in felt[:MAX_LOSSES]:
        for place, arguments in islice(_Maker(source, loss.at).candidates(), MAX_CANDIDATES):
            verdicts = judge_source(arguments), judge_compiled(arguments)
            if set(verdicts) == {"accept", "reject"}:
                return Witness(arguments, *verdicts, at=place)
            tried += 1
            if work.is_done or tried > MAX_CANDIDATES:
                return None
    return None


_GRAVITY: Final = {Effect.CONTRADICTORY: 0, Effect.NARROWER: 1, Effect.WIDER: 2}


# --- the candidates --------------------------------------------------------------------------------------------------

_TYPICAL: Final = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
_PROBES: Final[tuple[Any, ...]] = ("text", 7, 1.5, True, None, ["text"], [7], {}, {"other": 7}, "", [], [{}], -1)
_WORDS: Final = (
    "text", "a", "A", "ABC", "7", "0.5", "2031-04-05", "a-b", "a_b", "a@b.example", "https://a.example/",
    "/a/b", "#aabbcc",
)  # fmt: skip

Made = Iterator[tuple[str, Any]]
"""Values, each with the pointer of the place in the schema that it tests."""


class _Maker:
    """Makes values from one schema. References are followed inside it only.

    Args:
        root: the author's schema.
        at: the place to test; what leads there comes first.
    """

    def __init__(self, root: Any, at: str) -> None:
        self._root, self._at = root, at

    def candidates(self) -> Made:
        """Whole arguments, which are always an object."""
        made = chain([("", self.example(self._root, 0))], self.variants(self._root, "", 0))
        return ((place, value) for place, value in made if isinstance(value, dict))

    def example(self, schema: Any, depth: int) -> Any:
        """One plausible value, the author's own where there is one."""
        schema, _ = self._resolve(schema, "")
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
        branches = _listed(schema, keyword)
        if keyword == "allOf":
            return _merged(*(self.example(branch, depth + 1) for branch in branches))
        return self.example(branches[0], depth + 1)

    def _object(self, schema: Any, depth: int) -> dict[str, Any]:
        properties, required = _mapping(schema, "properties"), _names(schema)
        wanted = [*required, *(name for name in properties if name not in required)]
        return {name: self.example(properties.get(name), depth + 1) for name in wanted[:MAX_ITEMS]}

    def _array(self, schema: Any, depth: int) -> list[Any]:
        head = [self.example(member, depth + 1) for member in _listed(schema, "prefixItems")[:MAX_ITEMS]]
        rest = max(_count(schema, "minItems", 1) - len(head), 0)
        return head + [self.example(schema.get("items"), depth + 1)] * min(rest, MAX_ITEMS)

    def variants(self, schema: Any, place: str, depth: int) -> Made:
        """Values that differ from the plausible one in one place."""
        schema, place = self._resolve(schema, place)
        if isinstance(schema, dict) and depth <= MAX_NESTING:
            base = self.example(schema, depth)
            yield from self._over_limits(schema, place, base, depth)
            yield from self._in_children(schema, place, base, depth)
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

    def _in_children(self, schema: Any, place: str, base: Any, depth: int) -> Made:
        """The variants of each child, put where the child stands; those that lead to the place come first."""
        children = [*_named_children(schema, place), *_member_children(schema, place)]
        children.sort(key=lambda child: not (self._at + "/").startswith(child[0] + "/"))
        for at, child, put in children[:MAX_ITEMS]:
            for tested, value in self.variants(child, at, depth + 1):
                yield tested, put(base, value)
        if "if" in schema:
            when = self.example(schema["if"], depth + 1)
            for keyword in ("then", "else"):
                for _, value in islice(self.variants(schema.get(keyword, True), "", depth + 1), MAX_ITEMS):
                    yield place, _merged(base, when, value)

    def _resolve(self, schema: Any, place: str) -> tuple[Any, str]:
        """The schema behind a local reference, and where it stands."""
        for _ in range(MAX_NESTING):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                break
            place, schema = unquote(reference[1:]), self._root
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
            yield place + pointer_of(keyword, i), child, _merged


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


def _numbers_over(limit: Any, *steps: float) -> list[Any]:
    return [limit + step for step in steps] if isinstance(limit, (int, float)) and abs(limit) < 2**53 else []


def _copies(count: Any, base: Any, extra: int) -> list[Any]:
    wanted = count + extra if isinstance(count, int) else -1
    if not 0 <= wanted <= MAX_ITEMS * 100:
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
        return [word for word in _WORDS if search(pattern, word)]
    except UnusablePattern:
        return []


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
