"""Predict, then run: a question with two to four answers, each of which is explained once the reader has chosen.

Why commit first: who has said "a" aloud reads the next output with other eyes. The explanations stand here and not in
the notebook, where one would read them before choosing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from minicodex.lab.html import FAINT, Html, Pill, heading, joined, panel, prose, tag
from minicodex.lab.view import View

__all__ = ["Choice", "Prediction"]

_RIGHT = Pill("✓", "right", ground="#c8efdc", ink="#06361f")
_WRONG = Pill("✗", "not so", ground="#fadbd5", ink="#5c1206")


@dataclass(frozen=True)
class Choice:
    """One answer: what it claims, and what to know about it afterwards."""

    claim: str
    explanation: str
    right: bool = False


@dataclass(frozen=True, repr=False)
class Prediction(View):
    """A question to the reader. Its choices are lettered from `a`."""

    question: str
    choices: tuple[Choice, ...]
    chosen: str | None = None

    def __post_init__(self) -> None:
        assert len(self.choices) in range(2, 5), "two to four choices"
        assert any(choice.right for choice in self.choices), "at least one choice is right"

    @property
    def letters(self) -> str:
        return "abcd"[: len(self.choices)]

    @property
    def is_right(self) -> bool:
        """Whether a right answer was chosen."""
        return self.chosen is not None and self.choices[self.letters.index(self.chosen)].right

    def answer(self, letter: str) -> Prediction:
        """The same question with your answer, and with every choice explained.

        Raises:
            ValueError: there is no such choice.
        """
        if letter not in tuple(self.letters):
            raise ValueError(f"choose one of {', '.join(self.letters)}")
        return replace(self, chosen=letter)

    def text(self) -> str:
        lines = [f"Predict: {self.question}"]
        for letter, choice in zip(self.letters, self.choices, strict=True):
            lines.append(f"{'>' if letter == self.chosen else ' '} {letter}) {choice.claim}")
            if self.chosen is not None:
                lines.append(f"     {_verdict(choice).word}: {choice.explanation}")
        return "\n".join(lines)

    def html(self) -> Html:
        title = heading("Predict", "choose before you go on" if self.chosen is None else f"you chose {self.chosen}")
        return panel(title, self.body(), label=f"Prediction: {self.question}")

    def body(self) -> Html:
        """Question and choices, without the box around them."""
        items = [self._item(letter, choice) for letter, choice in zip(self.letters, self.choices, strict=True)]
        question = tag("p", prose(self.question), style="margin: 0 0 .4em")
        return joined(question, tag("ul", *items, style="list-style: none; margin: 0; padding: 0"))

    def _item(self, letter: str, choice: Choice) -> Html:
        mine = letter == self.chosen
        claim = tag("span", f"{letter}) ", prose(choice.claim), style="font-weight: 600" if mine else None)
        style = "margin: .25em 0; padding-left: 1.5em; text-indent: -1.5em"
        if self.chosen is None:
            return tag("li", claim, style=style)
        note = tag("div", _verdict(choice).html(), " ", prose(choice.explanation), style=f"color: {FAINT}")
        yours = tag("span", " (your choice)") if mine else ""
        return tag("li", claim, yours, note, style=style)


def _verdict(choice: Choice) -> Pill:
    return _RIGHT if choice.right else _WRONG
