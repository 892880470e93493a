"""A stranger's text as it may be shown: no character of it moves a cursor, changes a colour or turns a line around."""

from __future__ import annotations

__all__ = ["printable", "printable_lines"]


def printable(text: str) -> str:
    """The text on one line, with an escape for everything that a terminal or a reader could trip over."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def printable_lines(text: str) -> str:
    r"""The same for a text of several lines: its `\n` stay."""
    return "\n".join(map(printable, text.split("\n")))
