"""What every view-model is: frozen state that can be read as text and as HTML.

The two forms are twins. `text()` is what the tests compare, what a screen reader meets and what a page without widgets
shows; `html()` is the same thing drawn. A reducer is a method that returns a new state; nothing is changed in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from minicodex.lab.html import Html
from minicodex.printable import printable_lines

__all__ = ["View", "counted"]


class View(ABC):
    """Something to look at. As the last line of a cell it is drawn; `print(view.text())` gives its words."""

    @abstractmethod
    def text(self) -> str:
        """Everything that matters, in words."""

    @abstractmethod
    def html(self) -> Html:
        """The same, drawn. Whatever it shows is escaped."""

    def __repr__(self) -> str:
        return printable_lines(self.text())

    def _repr_html_(self) -> str:
        return self.html()


def counted(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
