"""The repair loop: a model that knows only what feedback tells it tries again, and we take words away from it.

The measure of feedback is not how it reads but what it mends. So each case is tried with the whole text, and then with
a part of it left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from minicodex.dispatch import ModelFunctionCall, dispatch_function_call
from minicodex.lab.clinic import STEP, Ward, shown
from minicodex.lab.clinic_cases import CASES, Case
from minicodex.lab.figures import Figure, bars
from minicodex.lab.html import MONO, Html, Pill, heading, panel, tag
from minicodex.lab.view import View, counted
from minicodex.models.obedient import mend

__all__ = ["EARS", "Attempt", "Repair", "mended_by", "repair"]

MAX_ATTEMPTS = 7
"""After so many attempts a case counts as not mended."""

EARS: dict[str, Callable[[str], str]] = {
    "everything": lambda words: words,
    "no expectation": lambda words: re.sub(r"; expected .*", "", words),
    "no place": lambda words: re.sub(r"^- at /\S*: ", "- ", words, flags=re.MULTILINE),
    "only “invalid arguments”": lambda _words: "invalid arguments",
}
"""What reaches the model of the feedback."""


@dataclass(frozen=True)
class Attempt:
    """One text that the model wrote, and the answer to it."""

    text: str
    ok: bool
    answer: str


@dataclass(frozen=True, repr=False)
class Repair(View):
    """All attempts of one case."""

    case: Case
    attempts: tuple[Attempt, ...]

    @property
    def mended(self) -> bool:
        return self.attempts[-1].ok

    def text(self) -> str:
        lines = []
        for number, attempt in enumerate(self.attempts, 1):
            pill = _pill(attempt)
            lines += [f"{pill.sign} attempt {number}, {pill.word}: {shown(attempt.text, 120)}"]
            lines += [f"      {line}" for line in attempt.answer.splitlines()]
        return "\n".join(lines)

    def html(self) -> Html:
        items = []
        for attempt in self.attempts:
            wrote = tag("div", _pill(attempt).html(), " ", tag("span", shown(attempt.text, 120), style=MONO))
            answer = tag("div", attempt.answer, style=f"{MONO}; white-space: pre-wrap; margin: .2em 0 .6em 1.2em")
            items.append(tag("li", wrote, answer))
        title = heading(f"Repair: {self.case.name}", counted(len(self.attempts), "attempt"))
        return panel(title, tag("ol", *items, style="margin: 0; padding-left: 1.6em"), label="The repair loop")


def _pill(attempt: Attempt) -> Pill:
    return _TOOK if attempt.ok else _REFUSED


_TOOK = Pill("✓", "taken", ground="#c8efdc", ink="#06361f")
_REFUSED = Pill("✗", "refused", ground="#fadbd5", ink="#5c1206")


def repair(case: Case, hear: Callable[[str], str] = EARS["everything"], ward: Ward | None = None) -> Repair:
    """Let a model that sees no schema call again until the tool takes its arguments.

    Args:
        hear: what reaches the model of each feedback.
        ward: the tools; fresh ones by default.
    """
    plan = (ward or Ward()).plan
    text, attempts = case.text, []
    for number in range(1, MAX_ATTEMPTS + 1):
        result = dispatch_function_call(ModelFunctionCall(f"call_{number}", case.tool, text, STEP), plan)
        attempts.append(Attempt(text, result.ok, str(result.output)))
        before, text = text, text if result.ok else mend(text, hear(str(result.output)))
        if text == before:
            break  # taken, or the model has no further idea
    return Repair(case, tuple(attempts))


def mended_by(cases: Iterable[Case] = CASES) -> Figure:
    """How many of the cases are mended, by what reaches the model."""
    listed = list(cases)
    ward = Ward()
    rows: list[tuple[str, tuple[float, ...]]] = []
    for name, hear in EARS.items():
        mended = sum(repair(case, hear, ward).mended for case in listed)
        rows.append((name, (mended, len(listed) - mended)))
    caption = "The same model, the same mistakes. Only what it is told is different."
    return bars(rows, ("mended", "not mended"), unit="texts", caption=caption)
