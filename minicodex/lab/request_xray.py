"""The request x-ray: two requests side by side, organ by organ, with what differs marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import ipywidgets as w

from minicodex.json_text import to_compact_bytes
from minicodex.lab.captured import ALL_TOOLS, Captured, listed
from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.json_view import JsonView
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, row

__all__ = ["Captured", "Xray", "request_xray"]

SAME = Pill("=", "same", ground="#e4e4e4", ink="#333333")
DIFFERENT = Pill("≠", "different", ground="#fdebb2", ink="#453300")

MAX_DRAWN_BYTES = 200_000
"""Largest body that is drawn: a page gets slow with some ten thousand lines."""

OWN = "(a request of your own)"


@dataclass(frozen=True, repr=False)
class Xray(View):
    """Two requests beside each other, organ by organ."""

    requests: Mapping[str, Captured] = field(compare=False)
    left: str = ""
    """Name of the request on the left; the first by default."""
    right: str = ""
    """Name of the request on the right; the second by default."""
    own_text: str = ""
    """What the reader pasted."""

    def __post_init__(self) -> None:
        names = [*self.requests, *list(self.requests)[:1]]
        object.__setattr__(self, "left", self.left or names[0])
        object.__setattr__(self, "right", self.right or names[1])

    # --- reducers -----------------------------------------------------------------------------------------------

    def compare(self, left: str = "", right: str = "") -> Xray:
        """Choose the two requests by their names; a blank leaves one as it is.

        Raises:
            ValueError: no request has this name.
        """
        for name in (left, right):
            if name and name not in (*self.requests, OWN):
                raise ValueError(f"no request is called {name!r}; they are {', '.join(self.requests)}")
        return replace(self, left=left or self.left, right=right or self.right)

    def own(self, text: str) -> Xray:
        """A request of one's own, on the right. Whatever it is, this does not raise."""
        return replace(self, right=OWN, own_text=text)

    # --- what is on show ----------------------------------------------------------------------------------------

    @cached_property
    def pair(self) -> tuple[Captured | str, Captured | str]:
        """The two requests; a text says why there is none."""
        return self._request(self.left), self._request(self.right)

    def _request(self, name: str) -> Captured | str:
        if name != OWN:
            return self.requests[name]
        try:
            return Captured.read(self.own_text) if self.own_text.strip() else "no request yet: paste one into the field"
        except ValueError as problem:
            return str(problem)

    @property
    def verdicts(self) -> tuple[str, str]:
        """Where the tools of each are, or why this is no request."""
        left, right = (side.verdict if isinstance(side, Captured) else side for side in self.pair)
        return left, right

    @cached_property
    def rows(self) -> list[tuple[str, str, str]]:
        """Question, left answer and right answer; none unless there are two requests."""
        left, right = self.pair
        if isinstance(left, str) or isinstance(right, str):
            return []
        return [(question, *_only_differences(question, left, right)) for question in left.organs]

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        left, right = self.verdicts
        lines = [f"left:  {self.left}", f"       {left}", f"right: {self.right}", f"       {right}"]
        for question, left, right in self.rows:
            lines.append(f"{_mark(left, right).sign} {question}")
            lines += [f"    {left}"] if left == right else [f"    left:  {left}", f"    right: {right}"]
        return _plain("\n".join(lines))

    def html(self) -> Html:
        heads = [
            tag("div", tag("b", name), tag("div", prose(sentence), style=f"color: {FAINT}"), role="columnheader")
            for name, sentence in zip((self.left, self.right), self.verdicts, strict=True)
        ]
        table = [_line(tag("div", "question", role="columnheader", style=f"{_QUESTION}; color: {FAINT}"), heads)]
        for question, *answers in self.rows:
            mark = _mark(*answers).html(_plain(question))
            cells = [tag("div", prose(answer), role="cell") for answer in answers]
            if answers[0] == answers[1]:
                cells = [tag("div", prose(answers[0]), role="cell", aria_colspan="2", style="grid-column: 1 / -1")]
            table.append(_line(tag("div", mark, role="rowheader", style=_QUESTION), cells))
        return panel(
            tag("div", *table, role="table", aria_label="answers"), self._bodies(), label="Two requests, compared"
        )

    def _bodies(self) -> Html:
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: 1.2em"
        parts = [
            tag("div", heading(name, "the body"), _drawn(side.body), style="min-width: 0")
            for name, side in zip((self.left, self.right), self.pair, strict=True)
            if isinstance(side, Captured)
        ]
        return tag("div", *parts, style=f"{columns}; margin-top: 1em")


# A table of boxes: where there is no room, a question stands above its two answers, so that both are always seen.
_ROW = f"display: flex; flex-wrap: wrap; gap: .15em .9em; padding: .3em 0; border-bottom: 1px solid {LINE}"
_QUESTION = "flex: 0 0 13em; white-space: nowrap"
_ANSWERS = "flex: 1 1 24em; display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .9em"
_ANSWERS += "; --jp-code-font-size: 12px"  # a whole name of Codex's tools fits into half of a narrow page


def _line(question: Html, answers: Sequence[Html]) -> Html:
    return tag("div", question, tag("div", *answers, role="presentation", style=_ANSWERS), role="row", style=_ROW)


def _only_differences(question: str, left: Captured, right: Captured) -> tuple[str, str]:
    """Both answers. Of two long lists of tools only what is not in the other one is named."""
    if question != ALL_TOOLS or left.tools == right.tools:
        return left.organs[question], right.organs[question]
    both = set(left.tools) & set(right.tools)
    lead = f"{len(both)} in both; only here: " if both else ""
    here, there = ([name for name in side.tools if name not in both] for side in (left, right))
    return lead + listed(here), lead + listed(there)


def _plain(text: str) -> str:
    """A text without the backticks that mean code."""
    return text.replace("`", "")


def _drawn(body: Mapping[str, Any]) -> Html:
    if (size := len(to_compact_bytes(body))) > MAX_DRAWN_BYTES:
        return tag("p", f"{size:,} bytes are too many to be drawn; the table has read all of them.")
    return JsonView(body, open_depth=1).html()


def _mark(left: str, right: str) -> Pill:
    return SAME if left == right else DIFFERENT


# --- the widget ------------------------------------------------------------------------------------------------------


def request_xray(requests: Mapping[str, Captured]) -> Live[Xray]:
    """Two lists of requests, and a field for one's own."""
    live: Live[Xray] = Live(Xray(requests))
    left = picker("left", [*requests, OWN], lambda name: live.do(lambda now: now.compare(left=name)))
    right = picker("right", [*requests, OWN], lambda name: live.do(lambda now: now.compare(right=name)))
    text = w.Textarea(
        description="your request",
        placeholder='the body, or {"headers": {…}, "body": {…}}',
        style={"description_width": "initial"},
        layout=w.Layout(width="min(100%, 46em)", height="6em"),
    )
    go = button("x-ray it", lambda: live.do(lambda now: now.own(text.value)), hint="look at your request")

    def sync(now: Xray) -> None:
        left.value, right.value = now.left, now.right

    return live.driven_by(row(left, right), row(text, go), sync=sync)
