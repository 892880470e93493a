"""The failure map: the ten places at which a contract's life can end or turn, each of them made to happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from minicodex.errors import FAILURES, Failure, ModelError, ToolAuthorError
from minicodex.lab.html import ACCENT, FAINT, LINE, MONO, SOFT, Html, heading, panel, prose, tag
from minicodex.lab.reproductions import REPRODUCTIONS, Reproduction
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row

__all__ = ["BOUNDARIES", "FailureMap", "failure_map", "whose"]

ROWS: Mapping[str, Failure] = {failure.key: failure for failure in FAILURES}

BOUNDARIES = {
    "build": "there is no contract yet",
    "expose": "a step is planned",
    "encode": "a request is written",
    "return": "a call comes back",
}


def whose(failure: Failure) -> str:
    """Who has to mend something."""
    if failure.error is None:
        return "nobody's: nothing is stopped, it is a way of working"
    if failure.key == "step_mismatch":
        return "the runtime's: it took the wrong plan; the model did nothing wrong"
    if issubclass(failure.error, ToolAuthorError):
        return "the tool's author's"
    return "the model's" if issubclass(failure.error, ModelError) else "the runtime's"


@dataclass(frozen=True, repr=False)
class FailureMap(View):
    """The map with one row picked, which is then run."""

    key: str = FAILURES[0].key

    def pick(self, key: str) -> FailureMap:
        """Another row.

        Raises:
            ValueError: there is no such row.
        """
        if key not in ROWS:
            raise ValueError(f"no row is called {key!r}; they are {', '.join(ROWS)}")
        return replace(self, key=key)

    @property
    def failure(self) -> Failure:
        return ROWS[self.key]

    @cached_property
    def reproduction(self) -> Reproduction:
        """The row as it just happened."""
        return REPRODUCTIONS[self.key]()

    @property
    def facts(self) -> dict[str, str]:
        """The rows of the table behind the one that is picked. What was just run is marked with >."""
        error = self.reproduction.error
        return {
            "done": self.reproduction.done,
            "came of it": f"> {self.reproduction.came}",
            "error": f"`{error.__name__}`" if error else "none",
            "already done": self.failure.already_done,
            "the model sees": self.failure.model_sees,
            "here it reads": f"> {self.reproduction.model_reads}",
            "whose mistake": whose(self.failure),
            "way back": self.failure.way_back,
        }

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        lines = []
        for boundary, when in BOUNDARIES.items():
            lines.append(f"{boundary}: {when}")
            for failure in FAILURES:
                if failure.boundary == boundary:
                    mark = "▶" if failure.key == self.key else " "
                    lines.append(f"  {mark} {failure.key:<24}{failure.where}")
        lines.append("")
        for fact, words in self.facts.items():
            lines += [f"{fact:<16}{line}" for line in words.split("\n")[:1]]
            lines += [f"{'':<16}  {line}" for line in words.split("\n")[1:]]
        return "\n".join(lines).replace("`", "")

    def html(self) -> Html:
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(11em, 1fr)); gap: .6em"
        boxes = [self._boundary(boundary, when) for boundary, when in BOUNDARIES.items()]
        rows = [_fact(fact, words) for fact, words in self.facts.items()]
        table = tag("table", tag("tbody", *rows), style="border-collapse: collapse; width: 100%; margin: .9em 0 0")
        title = heading(self.failure.where, self.key)
        return panel(
            tag("div", *boxes, style=columns),
            tag("div", title, table, style="margin-top: 1em"),
            label="The failure map",
        )

    def _boundary(self, boundary: str, when: str) -> Html:
        head = tag("div", tag("strong", boundary), tag("div", when, style=f"color: {FAINT}; font-size: 92%"))
        rows = [self._place(failure) for failure in FAILURES if failure.boundary == boundary]
        listing = tag("ul", *rows, style="list-style: none; margin: .4em 0 0; padding: 0")
        return tag("div", head, listing, style=f"border-top: 3px solid {LINE}; padding-top: .3em")

    def _place(self, failure: Failure) -> Html:
        here = failure.key == self.key
        style = "padding: .15em .4em; border-radius: 4px; font-size: 92%"
        marked = f"{style}; outline: 2px solid {ACCENT}; background: {SOFT}; font-weight: 600" if here else style
        sign = "▶ " if here else ""
        return tag("li", f"{sign}{failure.where}", style=marked, aria_current="true" if here else None)


def _fact(fact: str, words: str) -> Html:
    cell = f"padding: .25em .9em .25em 0; vertical-align: top; border-bottom: 1px solid {LINE}; text-align: left"
    is_live = words.startswith("> ")
    shown = tag("span", words.removeprefix("> ").replace("`", ""), style=f"{MONO}; white-space: pre-wrap")
    head = tag("th", fact, scope="row", style=f"{cell}; font-weight: normal; color: {FAINT}; white-space: nowrap")
    return tag("tr", head, tag("td", shown if is_live else prose(words), style=f"{cell}; width: 100%"))


def failure_map() -> Live[FailureMap]:
    """A list of the ten rows."""
    live: Live[FailureMap] = Live(FailureMap())
    options = {f"{failure.boundary}: {failure.where}": failure.key for failure in FAILURES}
    rows = picker("row", options, lambda key: live.do(lambda now: now.pick(key)))
    return live.driven_by(row(rows))
