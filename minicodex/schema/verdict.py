"""What a schema says about arguments, asked without any trust in the schema.

`jsonschema` is the judge. A stranger's schema may point at other documents, never end, or hold a pattern that hangs:
the registry is empty, the work is counted, and patterns run in an engine that needs linear time, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from minicodex.patterns import UnusablePattern, refuse_wild, search
from minicodex.reference_judge import load_jsonschema

__all__ = ["MAX_CHECKS", "Verdict", "Work", "judge"]

Verdict = Literal["accept", "reject", "error"]
"""`error`: the schema cannot judge; it is broken, points nowhere, never ends, or has a pattern that could hang."""

MAX_CHECKS: Final = 300_000
"""Keywords that are checked in one search, about a second."""

MAX_CHECKS_PER_VERDICT: Final = 20_000
"""Keywords that are checked for one verdict."""


def judge(schema: Any, arguments: Any) -> Verdict:
    """What a schema says about arguments, under its own dialect (`$schema`; 2020-12 where there is none).

    Nothing is fetched: the registry is empty. No pattern can hang, and the work is bounded.
    """
    return Work().judge_of(schema, schema)(arguments)


class Work:
    """Counts the checks of a search and of one verdict in it."""

    def __init__(self) -> None:
        self.left, self.left_for_verdict = MAX_CHECKS, MAX_CHECKS_PER_VERDICT

    @property
    def is_done(self) -> bool:
        return self.left < 0

    def judge_of(self, schema: Any, dialect_of: Any) -> Callable[[Any], Verdict]:
        """The judge for a schema, under the dialect of another one (a compiled schema names none)."""
        from referencing import Registry

        validators = load_jsonschema().validators
        dialect = _dialect(dialect_of)
        checks = {name: self._counted(check) for name, check in dialect.VALIDATORS.items()}
        checks["pattern"] = self._counted(_check_pattern)
        for name in checks.keys() & {"patternProperties", "additionalProperties", "unevaluatedProperties"}:
            checks[name] = _with_tame_names(checks[name])
        validator = validators.extend(dialect, checks)(schema, registry=Registry())

        def verdict(arguments: Any) -> Verdict:
            self.left_for_verdict = MAX_CHECKS_PER_VERDICT
            try:
                return "reject" if any(True for _ in validator.iter_errors(arguments)) else "accept"
            except Exception:  # noqa: BLE001 (the library trusts schemas; a stranger's breaks it in many ways)
                return "error"

        return verdict

    def _counted(self, check: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            self.left -= 1
            self.left_for_verdict -= 1
            if self.is_done or self.left_for_verdict < 0:
                raise UnusablePattern("it takes too long")
            return check(validator, value, instance, schema)

        return guarded


def _dialect(schema: Any) -> Any:
    from jsonschema import Draft202012Validator, validators

    try:
        return validators.validator_for(schema, default=Draft202012Validator)
    except Exception:  # noqa: BLE001 (`$schema` may be anything)
        return Draft202012Validator


def _check_pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not search(pattern, instance):
        yield ValidationError("pattern")


def _with_tame_names(check: Callable[..., Any]) -> Callable[..., Any]:
    """The library matches patterns of names itself: each must be safe there."""

    def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if isinstance(instance, dict):
            for pattern in schema.get("patternProperties", {}):
                refuse_wild(pattern, max(map(len, instance), default=0))
        return check(validator, value, instance, schema)

    return guarded
