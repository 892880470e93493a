"""A schema that was refused: the reason, where it stands in what was written, whose mistake it is.

For a text that is no JSON the place is a line and a column. For a schema it is a JSON pointer: the way to it is shown
open, everything beside it folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from minicodex.errors import InvalidToolSchema, JsonTextError
from minicodex.json_text import shorten
from minicodex.lab.html import MONO, Html, Pill, prose, tag
from minicodex.lab.json_diff import one_line
from minicodex.lab.view import View, counted
from minicodex.schema.literals import parse_exact

__all__ = ["Refusal"]

REFUSED = Pill("✗", "refused", ground="#fadbd5", ink="#5c1206")

AROUND_CHARS = 60
"""Characters of a line that are shown on either side of the place."""


@dataclass(frozen=True, repr=False, eq=False)
class Refusal(View):
    """Why there is no contract."""

    error: InvalidToolSchema
    source: Any = None
    """The schema; not needed for a text that is no JSON."""
    text_given: str = ""
    """The text, where it is no JSON."""

    @property
    def reason(self) -> str:
        error = self.error
        return f"{error.pointer or 'the root'}: expected {error.expected}, found {error.actual}"

    def text(self) -> str:
        hint = [f"Way out: {self.error.hint}."] if self.error.hint else []
        return "\n".join([f"{REFUSED.word} ({self.error.kind}) at {self.reason}", *self._lines(), *hint])

    def html(self) -> Html:
        head = tag("div", REFUSED.html(), " ", prose(self.reason))
        where = tag(
            "pre",
            Html("\n".join(self._html_lines())),
            style=f"{MONO}; margin: .5em 0; white-space: pre-wrap; overflow-wrap: anywhere",
        )
        hint = tag("div", "Way out: ", prose(self.error.hint + "."))
        return tag("div", head, where, *([hint] if self.error.hint else []))

    def _lines(self) -> list[str]:
        return [line + (f"   ← {REFUSED.word}" if here else "") for line, here in self._marked()]

    def _html_lines(self) -> Iterator[str]:
        for line, here in self._marked():
            words = line.lstrip()
            marked = (
                tag("mark", words, style=f"background: {REFUSED.ground}; color: {REFUSED.ink}")
                if here
                else escape(words, quote=False)
            )
            yield line[: len(line) - len(words)] + marked

    def _marked(self) -> Iterator[tuple[str, bool]]:
        if self.error.kind == "not_json":
            yield from _place_in_text(self.text_given)
        elif self.source is not None:
            yield from _way_in(self.source, _steps(self.error.pointer))


def _place_in_text(text: str) -> Iterator[tuple[str, bool]]:
    try:
        parse_exact(text)
    except JsonTextError as flaw:
        line = (text.split("\n") or [""])[flaw.line - 1]
        start = max(flaw.column - 1 - AROUND_CHARS, 0)
        shown = line[start : flaw.column - 1 + AROUND_CHARS]
        yield ("…" if start else "") + shown, True
        yield " " * (flaw.column - 1 - start + bool(start)) + "^", False


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _way_in(value: Any, steps: list[str], depth: int = 0) -> Iterator[tuple[str, bool]]:
    """The lines from the root to the place: keys on the way are open, those beside it are counted."""
    indent = "  " * depth
    if not steps or not isinstance(value, (dict, list)):
        yield f"{indent}{shorten(value, 80)}", True
        return
    step = steps[0]
    is_object = isinstance(value, dict)
    child = value.get(step) if isinstance(value, dict) else value[int(step)]
    key = f"{one_line(step)}: " if is_object else ""
    beside = len(value) - 1
    yield f"{indent}{'{' if is_object else '['}", False
    inner = list(_way_in(child, steps[1:], depth + 1))
    first, here = inner[0]
    yield f"{indent}  {key}{first.lstrip()}", here
    yield from inner[1:]
    if beside:
        yield f"{indent}  … {counted(beside, 'more key' if is_object else 'more item')}", False
    yield f"{indent}{'}' if is_object else ']'}", False
