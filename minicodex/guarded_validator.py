"""`jsonschema` as a judge that can be asked about strangers' schemas.

Such a schema may point at a remote document, loop, double with every level, or hold a pattern that hangs. So the
registry is empty and nothing is ever fetched, each keyword that is checked is paid for from a budget, a circle of
references ends, and patterns run in an engine that cannot hang. What cannot be judged that way is `UnusableSchema`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from minicodex.errors import MinicodexError
from minicodex.json_text import canonical_text, shorten
from minicodex.patterns import TextTooLong, UnusablePattern, refuse_wild, search
from minicodex.reference_judge import load_jsonschema

__all__ = ["Budget", "GuardedValidator", "TooMuchWork", "Unjudgeable", "UnusableSchema"]

COMPARED_CHARS_PER_STEP = 100
"""A value that is compared costs as much as a keyword, and once more for each so many characters of its JSON."""


COMPARED_PAIRS_PER_STEP = 100
"""Where the library compares each name or place with each other one, so many comparisons cost as much as a keyword."""


class UnusableSchema(MinicodexError):
    """This schema cannot judge these arguments; the text says why, for people."""


class Unjudgeable(UnusableSchema):
    """The schema is fine, these arguments are not: they hold what cannot be compared or matched."""


class TooMuchWork(Unjudgeable):
    """The budget or the stack is spent. Whose doing that is, the arguments' or the schema's, the asker finds out."""


class Budget:
    """Keywords that may be checked for one answer."""

    __slots__ = ("_more", "steps")

    def __init__(self, steps: int, more: Callable[[], int] | None = None) -> None:
        self.steps, self._more = steps, more
        """What is left; `more` is asked once for further steps when they are used up."""

    def pay(self, steps: int = 1) -> None:
        """Pay for one keyword, or for work that takes as long as several.

        Raises:
            TooMuchWork: nothing is left.
        """
        self.steps -= steps
        if self.steps < 0 and self._more is not None:
            self.steps, self._more = self.steps + self._more(), None
        if self.steps < 0:
            raise TooMuchWork("it takes too long")


class GuardedValidator:
    """A schema that can be asked, under its own dialect or another schema's.

    Args:
        schema: any JSON value.
        dialect_of: the schema whose `$schema` counts; 2020-12 where it names none.
        forgives_references: take a reference that leads nowhere for one that allows everything.

    Raises:
        UnusableSchema: the library cannot even begin with it.
    """

    def __init__(self, schema: Any, *, dialect_of: Any, forgives_references: bool = False) -> None:
        from referencing import Registry

        guarded = _guarded(_dialect(dialect_of), forgives_references=forgives_references)
        try:
            self._validator = guarded(schema, registry=Registry())
        except Exception as error:
            raise UnusableSchema(_reason(error)) from None

    def errors(self, arguments: Any, budget: Budget) -> Iterator[Any]:
        """The library's errors, one by one.

        Raises:
            UnusableSchema: while they are read.
        """
        _asking.budget, _asking.followed, _asking.choices = budget, set(), {}
        try:
            yield from self._validator.iter_errors(arguments)
        except UnusableSchema:
            raise
        except OverflowError:
            raise Unjudgeable("a number is too large to compare") from None
        except RecursionError:
            raise TooMuchWork("it goes too deep") from None
        except Exception as error:  # the library trusts schemas; a stranger's breaks it in many ways
            raise UnusableSchema(_reason(error)) from None


_asking = threading.local()
"""Budget, open references and read `enum`s of the question that this thread asks: the library hands nothing through."""

_Check = Callable[[Any, Any, Any, Any], Any]

_known: dict[tuple[Any, bool], Any] = {}


def _dialect(schema: Any) -> Any:
    jsonschema = load_jsonschema()
    try:
        return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    except Exception:  # `$schema` may be anything
        return jsonschema.Draft202012Validator


def _guarded(dialect: Any, *, forgives_references: bool) -> Any:
    if (dialect, forgives_references) not in _known:
        checks = {name: _paid(check) for name, check in dialect.VALIDATORS.items()}
        checks["pattern"] = _paid(_pattern)
        checks["enum"] = _paid(_enum)
        checks["uniqueItems"] = _paid(_unique_items)
        for name in checks.keys() & {"unevaluatedProperties", "unevaluatedItems"}:
            checks[name] = _prepaid(checks[name])
        for name in checks.keys() & {"required", "dependentRequired", "dependencies"}:
            checks[name] = _paid_by_error(checks[name])
        for name in checks.keys() & {"$ref", "$dynamicRef", "$recursiveRef"}:
            checks[name] = _reference(checks[name], forgives=forgives_references)
        for name in checks.keys() & {"patternProperties", "additionalProperties"}:
            checks[name] = _with_tame_names(checks[name])
        _known[dialect, forgives_references] = load_jsonschema().validators.extend(dialect, checks)
    return _known[dialect, forgives_references]


def _paid(check: _Check) -> _Check:
    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _asking.budget.pay()
        return check(validator, value, instance, schema)

    return guarded


def _paid_by_error(check: _Check) -> _Check:
    """A keyword with an error for each name it lists: inside `anyOf` all of them are collected, so each is paid for."""

    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        for error in check(validator, value, instance, schema) or ():
            _asking.budget.pay()
            yield error

    return guarded


def _reference(check: _Check, *, forgives: bool) -> _Check:
    """Follow a reference once per place: a circle on the same value adds nothing."""

    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from referencing.exceptions import Unresolvable

        place = (id(schema), id(instance))
        if place in _asking.followed:
            return
        _asking.followed.add(place)
        try:
            yield from check(validator, value, instance, schema)
        except Unresolvable:
            if not forgives:
                raise UnusableSchema(f"the reference {shorten(value, 60)} leads nowhere") from None
        finally:
            _asking.followed.discard(place)

    return guarded


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _usable(search, pattern, instance):
        yield ValidationError("pattern")


def _enum(_validator: Any, choices: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """As in the library, but the choices are written out once for all the values that are compared with them."""
    from jsonschema import ValidationError

    written = _asking.choices.get(id(choices))
    if written is None:
        written = _asking.choices[id(choices)] = {canonical_text(choice) for choice in choices}
    if _written(instance) not in written:
        yield ValidationError("enum")


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """As in the library, which compares each member with each other one: hours for a long list."""
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({_written(member) for member in instance}) < len(instance):
        yield ValidationError("uniqueItems")


def _written(value: Any) -> str:
    text = canonical_text(value)
    _asking.budget.pay(1 + len(text) // COMPARED_CHARS_PER_STEP)
    return text


def _with_tame_names(check: _Check) -> _Check:
    """Patterns of property names run in Python's engine inside the library: every one must be safe there."""

    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _refuse_wild_names(schema, instance)
        return check(validator, value, instance, schema)

    return guarded


def _refuse_wild_names(schema: dict[str, Any], instance: Any) -> None:
    if isinstance(instance, dict) and isinstance(patterns := schema.get("patternProperties"), dict):
        longest = max(map(len, instance), default=0)
        for pattern in patterns:
            _usable(refuse_wild, pattern, longest)


def _prepaid(check: _Check) -> _Check:
    """What is unevaluated the library finds on a way of its own, which pays nothing: here it is walked once before."""

    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if isinstance(instance, (dict, list)):
            _asking.budget.pay(1 + len(instance) ** 2 // COMPARED_PAIRS_PER_STEP)
            for part in _in_place(validator, instance, schema):
                _refuse_wild_names(part, instance)
        return check(validator, value, instance, schema)

    return guarded


def _in_place(validator: Any, instance: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """The schemas that speak of the very same value: this one, those it refers to, its alternatives and conditions."""
    stack = [(validator, schema)]
    while stack:
        judge, part = stack.pop()
        _asking.budget.pay()
        if not isinstance(part, dict):
            continue
        yield part
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in part:
                found = judge._resolver.lookup(part[keyword])  # noqa: SLF001 - the library has no other way
                stack.append((judge.evolve(schema=found.contents, _resolver=found.resolver), found.contents))
        inner = [part[keyword] for keyword in ("if", "then", "else") if keyword in part]
        inner += [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in part.get(keyword, ())]
        inner += [branch for name, branch in part.get("dependentSchemas", {}).items() if name in instance]
        stack += [(judge, branch) for branch in inner]


def _usable(ask: Callable[[Any, Any], Any], pattern: Any, about: Any) -> Any:
    try:
        return ask(pattern, about)
    except TextTooLong as error:
        raise Unjudgeable(f"{error}: {shorten(pattern, 60)}") from None
    except UnusablePattern as error:
        raise UnusableSchema(f"{error}: {shorten(pattern, 60)}") from None


def _reason(error: Exception) -> str:
    from jsonschema.exceptions import UnknownType

    if isinstance(error, UnknownType):
        return f"{shorten(error.type, 40)} is no type"
    return f"it is not lawful JSON Schema ({type(error).__name__})"
