"""The self-test: one question after the other, each explained once it is answered, and what to read again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from minicodex.lab.html import FAINT, LINE, Html, heading, panel, tag
from minicodex.lab.predict import Prediction
from minicodex.lab.questions import QUESTIONS
from minicodex.lab.view import View, counted
from minicodex.lab.widgets import Live, button, row

__all__ = ["SelfTest", "self_test"]


@dataclass(frozen=True, repr=False)
class SelfTest(View):
    """All questions with the answers so far; one of them is on show."""

    questions: tuple[Prediction, ...] = tuple(question for _, question in QUESTIONS)
    at: int = 0

    # --- reducers -----------------------------------------------------------------------------------------------

    def go(self, number: int) -> SelfTest:
        """Show a question by its number, from 1; beyond either end it stays there."""
        return replace(self, at=max(0, min(number - 1, len(self.questions) - 1)))

    def answer(self, letter: str) -> SelfTest:
        """Answer the question on show. The first answer counts.

        Raises:
            ValueError: there is no such choice.
        """
        now = self.questions[self.at]
        if now.chosen is not None:
            return self
        return replace(self, questions=(*self.questions[: self.at], now.answer(letter), *self.questions[self.at + 1 :]))

    def with_answers(self, letters: str) -> SelfTest:
        """Answer from the first question on, one letter each; a blank leaves a question open.

        Raises:
            ValueError: there is no such choice, or no such question.
        """
        if len(letters) > len(self.questions):
            raise ValueError(f"{len(letters)} answers for {len(self.questions)} questions")
        state = self
        for number, letter in enumerate(letters, 1):
            state = state.go(number) if letter == " " else state.go(number).answer(letter)
        return state

    # --- what is on show ----------------------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        return sum(question.chosen is not None for question in self.questions)

    @property
    def score(self) -> int:
        """How many answers are right."""
        return sum(question.is_right for question in self.questions)

    @property
    def read_again(self) -> list[int]:
        """The chapters in which an answer was wrong."""
        wrong = [q.chosen is not None and not q.is_right for q in self.questions]
        return sorted({chapter for (chapter, _), missed in zip(QUESTIONS, wrong, strict=True) if missed})

    @property
    def verdict(self) -> str:
        """Score and advice, in one or two sentences."""
        score = f"{self.score} right of {counted(self.answered, 'answer')}."
        if self.read_again:
            return f"{score} Read again: {_chapters(self.read_again)}."
        if self.answered < len(self.questions):
            return f"{score} {counted(len(self.questions) - self.answered, 'question')} to go."
        return f"{score} You could give this course."

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        return f"{self._title}\n{_words(self.questions[self.at])}\n\n{self.verdict}"

    @property
    def _title(self) -> str:
        return f"Question {self.at + 1} of {len(self.questions)} · chapter {QUESTIONS[self.at][0]}"

    def sheet(self) -> str:
        """All questions at once, for paper; those that are answered are explained."""
        numbered = [(chapter, number) for number, (chapter, _) in enumerate(QUESTIONS)]
        parts = []
        for chapter, group in groupby(numbered, key=lambda pair: pair[0]):
            parts.append(f"Chapter {chapter}")
            parts += [f"{number + 1}. {_words(self.questions[number])}" for _, number in group]
        return "\n\n".join([*parts, self.verdict])

    def html(self) -> Html:
        verdict = tag("p", self.verdict, style=f"margin: .6em 0 0; padding-top: .5em; border-top: 1px solid {LINE}")
        note = "choose an answer" if self.questions[self.at].chosen is None else ""
        body = self.questions[self.at].body()
        marks = tag("div", " ".join(map(_mark, self.questions)), style=f"color: {FAINT}; letter-spacing: .1em")
        return panel(heading(self._title, note), body, verdict, marks, label="Self-test")


def _words(question: Prediction) -> str:
    return question.text().removeprefix("Predict: ")


def _mark(question: Prediction) -> str:
    return "○" if question.chosen is None else "✓" if question.is_right else "✗"


def _chapters(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"chapters {', '.join(most)} and {last}" if most else f"chapter {last}"


def self_test() -> Live[SelfTest]:
    """The questions with a button for each choice, and two to go back and forth."""
    live: Live[SelfTest] = Live(SelfTest())
    choices = [button(letter, lambda letter=letter: live.do(lambda now: now.answer(letter))) for letter in "abc"]  # type: ignore[misc]
    back = button("back", lambda: live.do(lambda now: now.go(now.at)))
    forth = button("next", lambda: live.do(lambda now: now.go(now.at + 2)))
    return live.driven_by(row(*choices, back, forth))
