"""JSON on the page: what changed is marked, what did not is folded, every place can be named.

One tree of lines is made from the comparison; the text and the HTML are two ways to write those lines. A change is
marked by a sign, a word and a colour, in this order of trust.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from minicodex.lab.html import FAINT, MONO, Html, tag
from minicodex.lab.json_diff import ABSENT, Mark, Node, compare, one_line
from minicodex.lab.view import View

__all__ = ["JsonView"]

FOLD_LINES = 8
"""An unchanged part with more lines than this is folded where something else is to be seen."""

SHOWN_CHARS = 100
"""Longest old value that is quoted beside the new one."""


@dataclass(frozen=True, repr=False, eq=False)
class JsonView(View):
    """A JSON value; with `before`, what changed since then."""

    value: Any
    before: Any = ABSENT
    schema_at: str | None = None
    """Pointer of a JSON Schema inside, whose changes are called wider or narrower."""
    fold_lines: int = FOLD_LINES
    open_at: Sequence[str] = ()
    """Pointers of parts that are never folded."""
    open_depth: int = 2
    """Without `before`: levels that are open from the start."""

    @cached_property
    def root(self) -> Node:
        compares = self.before is not ABSENT
        return compare(self.before if compares else self.value, self.value, schema_at=self.schema_at)

    @property
    def changes(self) -> tuple[Node, ...]:
        """Every marked place, in order."""
        return tuple(self.root.changes())

    def text(self) -> str:
        return "\n".join(f"{sign:<3}{line}".rstrip() for sign, line in self._text_lines(self.root, 0, last=True))

    def html(self) -> Html:
        # Wrapped lines hang: every line starts two characters left of its block.
        style = f"{MONO}; line-height: 1.45; text-indent: -2ch; padding-left: 2ch; overflow-wrap: anywhere"
        lines: list[str] = []
        self._write_html(lines, self.root, 0, last=True)
        return tag("div", Html("".join(lines)), style=style)

    def changes_text(self) -> str:
        """One line for each change, with its pointer: what to read to somebody who cannot see the marks."""
        lines = [
            f"{_sign(node)} {node.pointer or 'the root'}: {f'{_leaf(node)}, ' if node.more else ''}{_note(node)}"
            for node in self.changes
        ]
        return "\n".join(lines) or "nothing changed"

    def _folds(self, node: Node, depth: int) -> bool:
        if node.pointer in self.open_at or node.touched or not node.children or depth == 0:
            return False
        if self.before is ABSENT and depth < self.open_depth:
            return False
        return node.line_count > self.fold_lines

    # --- as text ------------------------------------------------------------------------------------------------

    def _text_lines(self, node: Node, depth: int, *, last: bool, inside: bool = False) -> Iterator[tuple[str, str]]:
        """Pairs of sign and line. `inside` something new or gone the note has been given already."""
        sign, indent, comma = _sign(node), "  " * depth, "" if last else ","
        note = "" if inside or node.mark is Mark.SAME else f"   ← {_note(node)}"
        if not node.children:
            yield sign, f"{indent}{_key(node)}{_leaf(node)}{comma}{note}"
            return
        opening, closing = _brackets(node)
        if self._folds(node, depth):
            yield sign, f"{indent}{_key(node)}{opening} … {_summary(node)} {closing}{comma}"
            return
        yield sign, f"{indent}{_key(node)}{opening}{note}"
        inside = inside or node.mark is not Mark.SAME
        for child in node.children:
            yield from self._text_lines(child, depth + 1, last=child is node.children[-1], inside=inside)
        yield sign, f"{indent}{closing}{comma}"

    # --- as HTML: many short strings, joined once; a large schema has thousands of lines ------------------------

    def _write_html(self, out: list[str], node: Node, depth: int, *, last: bool, inside: bool = False) -> None:
        comma, marks = "" if last else ",", not inside and node.mark is not Mark.SAME
        if not node.children:
            line = f"{_html_key(node)}{_escaped(_leaf(node))}{comma}"
            out.append(f"<div>{_marked(node, line) if marks else line}</div>")
            return
        opening, closing = _brackets(node)
        head = _html_key(node) + opening
        folds = self._folds(node, depth)
        if folds:
            rest = f" … {_summary(node)} {closing}{comma}"
            place = tag("span", rest, title=node.pointer, style=f"color:{FAINT}")
            out.append(f'<details><summary style="cursor:pointer">{head}{place}</summary>')
        else:
            out.append(f"<div>{_marked(node, head) if marks else head}</div>")
        out.append(f'<div style="{_BLOCK}{_EDGE.get(node.mark, _EDGE[Mark.CHANGED]) if marks else ""}">')
        for child in node.children:
            self._write_html(out, child, depth + 1, last=child is node.children[-1], inside=inside or marks)
        out.append(f"</div><div>{closing}{comma}</div>" + ("</details>" if folds else ""))


_BLOCK = "padding-left:2ch"
_EDGE = {
    Mark.NEW: ";border-left:3px solid #1a9e5c;margin-left:-3px",
    Mark.GONE: ";border-left:3px solid #d1442f;margin-left:-3px",
    Mark.CHANGED: ";border-left:3px solid #b58900;margin-left:-3px",
}
"""The side of a whole part that came, went or changed: a middle tone, seen on white and on black."""


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _brackets(node: Node) -> tuple[str, str]:
    return ("{", "}") if isinstance(node.value, dict) else ("[", "]")


def _key(node: Node) -> str:
    return f"{one_line(node.key)}: " if isinstance(node.key, str) else ""


def _html_key(node: Node) -> str:
    return f"<b>{escape(one_line(node.key), quote=False)}</b>: " if isinstance(node.key, str) else ""


def _leaf(node: Node) -> str:
    return f"… and {node.more:,} more" if node.more else one_line(node.value)


def _summary(node: Node) -> str:
    count = sum(child.more or 1 for child in node.children)
    noun = ("key" if isinstance(node.value, dict) else "item") + ("" if count == 1 else "s")
    return f"{count:,} {noun}"


def _sign(node: Node) -> str:
    return node.mark.value.sign


def _note(node: Node) -> str:
    """What happened, in words: `changed, was false`."""
    words = [node.mark.value.word] + ([node.effect] if node.effect else [])
    if node.before is not ABSENT and node.after is not ABSENT and node.mark is not Mark.SAME:
        was = one_line(node.before)
        words.append(f"was {was if len(was) <= SHOWN_CHARS else was[: SHOWN_CHARS - 1] + '…'}")
    return ", ".join(words)


def _marked(node: Node, line: str) -> str:
    """A line of HTML with its mark: `ins` and `del` are read out, a ground is seen."""
    pill = node.mark.value
    element = {Mark.NEW: "ins", Mark.GONE: "del"}.get(node.mark, "mark")
    strike = "line-through" if node.mark is Mark.GONE else "none"
    body = tag(element, Html(line), style=f"{pill.style}; text-decoration: {strike}")
    return f"{body} {pill.html(_note(node), small=True)}"
