"""Exercises that check themselves, and say what is still wrong.

A check is a generator that yields one sentence for each thing that is not right yet. No sentence means done:

    @exercise("The dispatcher answers whatever comes.")
    def check_dispatch(answer):
        if not callable(answer):
            yield "it must be a function of a call and a plan"

In a chapter `check_dispatch(my_dispatch)` is the last line of a cell; on the stub it prints `not done yet: …` and
raises nothing. In the solutions the same line is followed by `assert _.done`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import Any

from minicodex.lab.html import Html, Pill, panel, prose, tag
from minicodex.lab.view import View

__all__ = ["Verdict", "exercise"]

MAX_FAULTS = 3
"""More sentences than this at once help nobody; the rest is counted."""

MAX_COUNTED = 50

_DONE = Pill("✓", "done", ground="#c8efdc", ink="#06361f")
_OPEN = Pill("…", "not done yet", ground="#fdebb2", ink="#453300")


@dataclass(frozen=True, repr=False)
class Verdict(View):
    """What a check found."""

    faults: tuple[str, ...]
    lesson: str
    """What the reader has shown, once it is done."""

    @property
    def done(self) -> bool:
        return not self.faults

    def text(self) -> str:
        if self.done:
            return f"{_DONE.word}: {self.lesson}"
        return "\n".join(f"{_OPEN.word}: {fault}" for fault in self.faults)

    def html(self) -> Html:
        pill, sentences = (_DONE, (self.lesson,)) if self.done else (_OPEN, self.faults)
        rows = [tag("div", pill.html(), " ", prose(sentence), style="margin: .2em 0") for sentence in sentences]
        return panel(*rows, label="Check of the exercise")


def exercise(lesson: str) -> Callable[[Callable[..., Iterable[str]]], Callable[..., Verdict]]:
    """Make a check of a generator of faults. Whatever an answer raises becomes a fault, too."""

    def wrap(faults: Callable[..., Iterable[str]]) -> Callable[..., Verdict]:
        @wraps(faults)
        def check(*answers: Any) -> Verdict:
            if any(answer is ... for answer in answers):
                return Verdict(("put your answer in place of the dots in the cell above",), lesson)
            return Verdict(tuple(_first_faults(lambda: faults(*answers))), lesson)

        return check

    return wrap


def _first_faults(faults: Callable[[], Iterable[str]]) -> Iterable[str]:
    found: list[str] = []
    try:
        for fault in islice(faults(), MAX_COUNTED):
            found.append(fault)  # noqa: PERF402 - what was found before an exception counts
    except Exception as error:  # noqa: BLE001 - the answer is a learner's code and may do anything
        found.append(f"checking it raised {type(error).__name__}: {error}")
    hidden = len(found) - MAX_FAULTS
    return found[:MAX_FAULTS] + ([f"and {hidden} more"] if hidden > 0 else [])
