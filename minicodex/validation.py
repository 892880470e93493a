"""Arguments against the schema that the tool's author wrote, not against the compacted one that the model saw.

Why the author's own: compiling widens a schema (limits and patterns are lost), and the tool behind it still means every
word. Where the author's schema cannot be used, the compiled one is used in its place, and `finding` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from minicodex.arguments import (
    LIMITS,
    MAX_FAULTS_FOUND,
    as_list,
    describe,
    missing_field,
    not_allowed,
    noun,
    outside_limits,
    unknown_field,
    wrapped_fields,
    wrong_type,
)
from minicodex.errors import ArgumentError, ArgumentFault, Rank, ToolAuthorError
from minicodex.guarded_validator import Budget, GuardedValidator, TooMuchWork, Unjudgeable, UnusableSchema
from minicodex.json_text import canonical_text, pointer_of, shorten

__all__ = ["MAX_CHECK_STEPS", "ArgumentValidator"]

MAX_CHECK_STEPS = 50_000
"""Keywords checked for one call before the schema counts as one that grows without end; large arguments get more."""

CHECK_STEPS_PER_VALUE = 50
"""Further keywords allowed for each value inside the arguments."""

FEW_VALUES, FEW_CHARS = 10, 10_000
"""A schema that takes too long for arguments as small as this is a trap; larger ones are to blame themselves."""


class ArgumentValidator:
    """Judges arguments by the author's schema, or by the compiled one where that cannot be used.

    Args:
        schema: the author's JSON Schema, untouched.
        compiled: gives the compiled schema as plain data, what the model was shown. Asked only when needed.
    """

    def __init__(self, schema: Any, compiled: Callable[[], dict[str, Any]]) -> None:
        self._schema, self._compiled = schema, compiled
        self._own: GuardedValidator | None = None
        self._fallback: GuardedValidator | None = None
        self.finding: str | None = None
        """Why the author's schema could not be used; None while it could."""

    def check(self, arguments: dict[str, Any]) -> None:
        """Accept the arguments or say what is wrong with them.

        Raises:
            ArgumentError: the arguments do not fit.
            ToolAuthorError: neither schema can judge; the tool cannot be used with such arguments.
        """
        if self.finding is None:
            try:
                self._own = self._own or GuardedValidator(self._schema, dialect_of=self._schema)
                return _judge(self._own, arguments)
            except UnusableSchema as reason:
                self.finding = f"the author's schema cannot be used ({reason}); the compiled one checks in its place"
        if self._fallback is None:
            # What is left of a reference that leads nowhere told the model nothing: anything goes there.
            self._fallback = GuardedValidator(self._compiled(), dialect_of=None, forgives_references=True)
        try:
            _judge(self._fallback, arguments)
        except UnusableSchema as reason:
            raise ToolAuthorError(f"no schema of this tool can judge the arguments ({reason})") from None


def _judge(validator: GuardedValidator, arguments: dict[str, Any]) -> None:
    """Accept the arguments or say what is wrong with them.

    Raises:
        ArgumentError: they do not fit, or cannot be judged by a schema that is fine. That must not switch it off.
        UnusableSchema: the schema cannot judge, and not for what the arguments hold.
    """
    try:
        errors = _errors(validator, arguments)
    except Unjudgeable as reason:
        if isinstance(reason, TooMuchWork) and _is_trap(validator, arguments):
            raise UnusableSchema(str(reason)) from None
        fault = ArgumentFault(f"cannot be checked: {reason}", hint="send a smaller value", rank=Rank.LIMIT)
        raise ArgumentError(fault) from None
    if errors:
        faults = _distinct(fault for error in _once(errors) for fault in _faults(error, arguments))
        raise ArgumentError(*faults[:MAX_FAULTS_FOUND])


def _errors(validator: GuardedValidator, arguments: dict[str, Any]) -> list[Any]:
    # Arguments of a hundred thousand values may need many steps; small ones that do are a trap.
    budget = Budget(MAX_CHECK_STEPS, more=lambda: CHECK_STEPS_PER_VALUE * _count_values(arguments))
    return list(islice(validator.errors(arguments, budget), MAX_FAULTS_FOUND))


def _is_trap(validator: GuardedValidator, arguments: dict[str, Any]) -> bool:
    """Whether a schema that took too long does so for next to nothing as well."""
    if _count_values(arguments) <= FEW_VALUES and len(canonical_text(arguments)) <= FEW_CHARS:
        return True
    try:
        _errors(validator, {})
    except UnusableSchema:
        return True
    return False


def _count_values(root: Any) -> int:
    count, stack = 0, [root]
    while stack:
        node = stack.pop()
        if isinstance(node, (dict, list)):
            count += len(node)
            stack.extend(node.values() if isinstance(node, dict) else node)
    return count


# --- from the library's errors to ours ------------------------------------------------------------------------------


def _distinct(faults: Iterator[ArgumentFault]) -> list[ArgumentFault]:
    return list(dict.fromkeys(faults))


_SPEAKS_OF_ALL = ("required", "dependentRequired")
"""Keywords for which the library has an error for each name, and ours speaks of all names at once."""


def _once(errors: Iterable[Any]) -> Iterator[Any]:
    """The errors without those that would be translated into what has been said already, at most `MAX_FAULTS_FOUND`."""
    distinct: dict[Any, Any] = {}
    for error in errors:
        speaks_of_all = error.validator in _SPEAKS_OF_ALL
        distinct.setdefault((id(error.validator_value), id(error.instance)) if speaks_of_all else id(error), error)
    yield from islice(distinct.values(), MAX_FAULTS_FOUND)


def _faults(error: Any, arguments: dict[str, Any]) -> Iterator[ArgumentFault]:
    """Translate one error of the library. Its own message is never shown: it changes between versions."""
    pointer = pointer_of(*error.absolute_path)
    if not pointer and error.validator in ("required", "additionalProperties", "unevaluatedProperties"):
        yield from filter(None, [wrapped_fields(arguments, _properties(error.schema))])
    if error.validator in ("anyOf", "oneOf") and error.context:
        yield from _nearest_branch(error, pointer, arguments)
    else:
        yield from islice(_TRANSLATE.get(error.validator, _other)(error, pointer), MAX_FAULTS_FOUND)


def _properties(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _missing(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    properties = _properties(error.schema)
    for name in error.validator_value:
        if isinstance(name, str) and name not in error.instance:
            yield missing_field(pointer, name, properties.get(name))


def _dependent(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    properties = _properties(error.schema)
    for trigger, names in error.validator_value.items():
        for name in names if trigger in error.instance else ():
            if name not in error.instance:
                yield missing_field(pointer, name, properties.get(name), beside=trigger)


def _unknown(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    known = _properties(error.schema)
    names = list(known)
    for name in error.instance:
        if name not in known:
            yield unknown_field(pointer + pointer_of(name), name, names)


def _type(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    types = as_list(error.validator_value)
    yield wrong_type(pointer, " or ".join(map(noun, types)), error.instance, wants_text="string" in types)


def _enum(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    yield not_allowed(pointer, error.validator_value, error.instance)


def _const(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    yield not_allowed(pointer, [error.validator_value], error.instance)


def _limit(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    yield outside_limits(pointer, error.validator, error.validator_value, error.instance)


def _other(error: Any, pointer: str) -> Iterator[ArgumentFault]:
    rule = shorten(error.validator or "false", 30)
    yield ArgumentFault(
        f"breaks the rule {rule} of the tool's schema",
        pointer,
        got=describe(error.instance, pointer),
        rank=Rank.OTHER,
    )


def _nearest_branch(error: Any, pointer: str, arguments: dict[str, Any]) -> Iterator[ArgumentFault]:
    """Speak of the alternative that fits best: the one whose errors lie deepest and are fewest."""
    branches: dict[Any, list[Any]] = {}
    for child in error.context:
        branches.setdefault(child.schema_path[0], []).append(child)
    own_types = [child for children in branches.values() for child in children if _is_own_type_error(child)]
    typed_out = {child.schema_path[0] for child in own_types}
    if len(typed_out) == len(branches):
        nouns = dict.fromkeys(noun(t) for c in own_types for t in as_list(c.validator_value))
        yield wrong_type(pointer, " or ".join(nouns), error.instance, wants_text=noun("string") in nouns)
        return
    open_branches = [children for index, children in branches.items() if index not in typed_out]
    best = min(open_branches, key=lambda children: (-max(len(c.path) for c in children), len(children)))
    for child in _once(best):
        yield from _faults(child, arguments)


def _is_own_type_error(child: Any) -> bool:
    return child.validator == "type" and not child.path and list(child.schema_path)[1:] == ["type"]


_TRANSLATE: dict[str, Callable[[Any, str], Iterator[ArgumentFault]]] = {
    "required": _missing,
    "dependentRequired": _dependent,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "type": _type,
    "enum": _enum,
    "const": _const,
    **dict.fromkeys(LIMITS, _limit),
}
