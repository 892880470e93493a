"""What a schema says about arguments, asked without any trust in the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from minicodex.guarded_validator import Budget, GuardedValidator, UnusableSchema

__all__ = ["MAX_CHECKS", "Verdict", "Work", "judge"]

Verdict = Literal["accept", "reject", "error"]
"""`error`: the schema cannot judge; it is broken, points nowhere, never ends, or has a pattern that could hang."""

MAX_CHECKS: Final = 300_000
"""Keywords that are checked in one search, about a second."""

MAX_CHECKS_PER_VERDICT: Final = 20_000
"""Keywords that are checked for one verdict."""


def judge(schema: Any, arguments: Any) -> Verdict:
    """What a schema says about arguments, under its own dialect (`$schema`; 2020-12 where there is none)."""
    return Work().judge_of(schema, schema)(arguments)


class Work:
    """Counts the checks of one search over many verdicts."""

    def __init__(self) -> None:
        self.left = MAX_CHECKS

    @property
    def is_done(self) -> bool:
        return self.left <= 0

    def judge_of(self, schema: Any, dialect_of: Any) -> Callable[[Any], Verdict]:
        """The judge for a schema, under the dialect of another one (a compiled schema names none)."""
        try:
            validator = GuardedValidator(schema, dialect_of=dialect_of)
        except UnusableSchema:
            return lambda _: "error"

        def verdict(arguments: Any) -> Verdict:
            allowed = min(MAX_CHECKS_PER_VERDICT, self.left)
            budget = Budget(allowed)
            try:
                return "reject" if any(True for _ in validator.errors(arguments, budget)) else "accept"
            except UnusableSchema:
                return "error"
            finally:
                self.left -= allowed - budget.steps

        return verdict
