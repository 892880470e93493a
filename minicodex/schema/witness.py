"""The proof of a loss: concrete arguments that the author's schema and the compiled one judge differently.

The first of the `probes` on which the two schemas disagree is the witness. Everything is counted, nothing is
random: the same schema gives the same witness, and a schema that cannot be judged gives none.

Why no generator from a library: one that samples from any JSON Schema is large, random, and has no bound in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from minicodex.schema.keywords import Effect
from minicodex.schema.losses import Loss
from minicodex.schema.probes import Maker
from minicodex.schema.verdict import Verdict, Work

__all__ = ["MAX_PROBES", "Witness", "find_witness"]

MAX_PROBES: Final = 400
"""Arguments that are tried in one search."""

MAX_LOSSES: Final = 20
"""Losses that a search tries to prove, one after the other."""

MAX_PER_LOSS: Final = 80
"""Arguments that are tried for one loss, so that a hopeless one does not use up the search."""


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
    """The first probe on which the author's schema and the compiled one disagree; None where none was found.

    Args:
        source: the author's schema, as plain data.
        compiled: the compiled schema, as plain data.
        losses: what to prove, such as `SchemaTrace.losses` or one of them; the gravest are tried first.
    """
    felt = [loss for loss in losses if loss.effect in _GRAVITY]
    felt.sort(key=lambda loss: (_GRAVITY[loss.effect], loss.pointer.count("/")))
    if not felt:
        return None
    work, tried = Work(), 0
    judge_source, judge_compiled = work.judge_of(source, source), work.judge_of(compiled, source)
    maker = Maker(source)
    for loss in felt[:MAX_LOSSES]:
        wanted = ("reject", "accept") if loss.effect is Effect.WIDER else ("accept", "reject")
        for place, arguments in islice(maker.probes(loss.at), MAX_PER_LOSS):
            verdicts = judge_source(arguments), judge_compiled(arguments)
            if verdicts == wanted:
                return Witness(arguments, *verdicts, at=place)
            tried += 1
            if work.is_done or tried > MAX_PROBES:
                return None
    return None


_GRAVITY: Final = {Effect.CONTRADICTORY: 0, Effect.NARROWER: 1, Effect.WIDER: 2}
