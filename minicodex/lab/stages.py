"""What the two schema widgets share: a compilation as pages to turn, a rail of its stages, and its losses in words.

Page 0 is the author's schema; then one page for each stage that was reached, a stage that was not needed included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from minicodex.json_text import shorten, to_compact_bytes
from minicodex.lab.html import FAINT, LINE, Html, Pill, prose, tag
from minicodex.lab.json_diff import ABSENT
from minicodex.lab.stage_json import EFFECTS, GRAVITY, StageJson
from minicodex.lab.view import View
from minicodex.printable import printable
from minicodex.schema import Loss, SchemaTrace, StageTrace

__all__ = ["Losses", "Page", "Pages", "Rail", "columns"]

MAX_PLACES = 5
"""Places that are listed for one rule; the rest is counted."""

_RAN = Pill("●", "ran", ground="#c8efdc", ink="#06361f")
_SKIPPED = Pill("○", "not needed", ground="#e6e6e6", ink="#333333")
_BAR, _BAR_HERE, _LINE = "#7aa6c9", "#0b4f8a", "#c0392b"
_STRIPES = "repeating-linear-gradient(135deg, #d99a8f 0 3px, transparent 3px 7px)"


@dataclass(frozen=True, eq=False)
class Page:
    """One state of the schema and what led to it."""

    title: str
    sentence: str
    why: str
    ran: bool
    size_bytes: int
    losses: tuple[Loss, ...]
    json: StageJson


@dataclass(frozen=True, eq=False)
class Pages:
    """A compilation, ready to be turned page by page. It is kept while one looks: nothing is compiled twice."""

    trace: SchemaTrace

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """The author's schema and the stages; none where there is no JSON."""
        return () if self.trace.source is None and not self.trace.stages else tuple(self._made())

    def _made(self) -> Iterator[Page]:
        source = self.trace.source
        size = len(to_compact_bytes(source))
        yield Page(
            "as it came",
            "what the author wrote",
            "nothing has been done yet",
            ran=True,
            size_bytes=size,
            losses=(),
            json=StageJson(source),
        )
        before = source
        for stage in self.trace.stages:
            json = StageJson(stage.schema, before if stage.ran else ABSENT, losses=stage.losses)
            yield _page(stage, json)
            before = stage.schema


def _page(stage: StageTrace, json: StageJson) -> Page:
    return Page(stage.name, stage.sentence, stage.why, stage.ran, stage.size_bytes, stage.losses, json)


@dataclass(frozen=True, repr=False, eq=False)
class Rail(View):
    """The pages in a row from top to bottom, each with its size as a bar."""

    pages: Sequence[Page]
    here: int
    budget_bytes: int | None = None
    """Drawn as a line across the bars, where there is one."""

    def text(self) -> str:
        return "\n".join(self._line(number, page) for number, page in enumerate(self.pages))

    def _line(self, number: int, page: Page) -> str:
        state = "" if number == 0 else "ran" if page.ran else "not needed"
        here = ">" if number == self.here else " "
        return f"{here} {number} {page.title:<30}{page.size_bytes:>8,} bytes{self._change(number):>9}  {state}".rstrip()

    def _change(self, number: int) -> str:
        change = self.pages[number].size_bytes - self.pages[number - 1].size_bytes if number else 0
        return f"{change:+,}" if change else ""

    def html(self) -> Html:
        columns = "display: grid; grid-template-columns: max-content minmax(6em, 1fr) max-content max-content"
        style = f"{columns}; gap: .15em .8em; align-items: center"
        cells = [cell for number, page in enumerate(self.pages) for cell in self._cells(number, page)]
        legend = "striped: what the stage took away"
        if self.budget_bytes is not None:
            legend += f"; dashed line: the budget, {self.budget_bytes:,} bytes"
        note = tag("div", legend, style=f"color: {FAINT}; font-size: 90%; margin-top: .3em")
        return tag("div", tag("div", *cells, style=style), note)

    def _cells(self, number: int, page: Page) -> Iterator[Html]:
        here = number == self.here
        name = f"{'▶ ' if here else ''}{number} {page.title}"
        weight = "font-weight: 600" if here else "padding-left: 1.1em"
        state = Html("") if number == 0 else (_RAN if page.ran else _SKIPPED).html(small=True)
        sizes = f"{page.size_bytes:,} bytes"
        change = self._change(number)
        yield tag("div", name, aria_current="step" if here else None, style=weight)
        yield self._bar(number, page.size_bytes)
        yield tag(
            "div",
            sizes,
            tag("span", f" {change}" if change else "", style=f"color: {FAINT}"),
            style="text-align: right",
        )
        yield tag("div", state)

    def _bar(self, number: int, size: int) -> Html:
        """What is there, solid; what this stage took away, striped; the budget as a line."""
        most = max(self.budget_bytes or 0, *(page.size_bytes for page in self.pages), 1)
        gone = max(self.pages[number - 1].size_bytes - size, 0) if number else 0
        solid = _BAR_HERE if number == self.here else _BAR
        parts = [
            tag("div", style=f"width: {100 * part / most:.1f}%; height: .8em; background: {ground}")
            for part, ground in ((size, solid), (gone, _STRIPES))
        ]
        if self.budget_bytes is not None:
            place = f"left: {100 * self.budget_bytes / most:.1f}%; top: -.25em; bottom: -.25em"
            parts.append(tag("div", style=f"position: absolute; {place}; border-left: 2px dashed {_LINE}"))
        return tag("div", *parts, aria_hidden="true", style="position: relative; display: flex")


@dataclass(frozen=True, repr=False, eq=False)
class Losses(View):
    """What one stage lost: rule by rule, the gravest first, each with its places."""

    losses: Sequence[Loss]

    @cached_property
    def groups(self) -> list[tuple[Loss, list[Loss]]]:
        """The first loss of each rule and effect, and all of them."""
        found: dict[tuple[int, str], list[Loss]] = {}
        for loss in self.losses:
            found.setdefault((GRAVITY[loss.effect], loss.rule), []).append(loss)
        return [(members[0], members) for _, members in sorted(found.items())]

    @property
    def counts(self) -> str:
        """`1 contradictory, 3 narrower, 17 wider`."""
        numbers = {effect: sum(loss.effect is effect for loss in self.losses) for effect in EFFECTS}
        return ", ".join(f"{number:,} {EFFECTS[effect].word}" for effect, number in numbers.items() if number) or "none"

    def text(self) -> str:
        lines = []
        for first, members in self.groups:
            lines.append(f"{EFFECTS[first.effect].word}: {first.sentence}")
            lines += [f"    {words}" for words in _places(members)]
        return "\n".join(lines) or "nothing was lost"

    def html(self) -> Html:
        if not self.losses:
            return tag("p", "Nothing was lost here.", style=f"color: {FAINT}; margin: 0")
        return tag("div", *(self._group(first, members) for first, members in self.groups))

    def _group(self, first: Loss, members: list[Loss]) -> Html:
        head = tag("div", EFFECTS[first.effect].html(), " ", prose(first.sentence))
        places = [tag("li", prose(f"`{words}`") if words[0] in "/(" else words) for words in _places(members)]
        listed = tag("ul", *places, style="margin: .15em 0 0; padding-left: 1.4em")
        return tag("div", head, listed, style=f"border-bottom: 1px solid {LINE}; padding: .3em 0")


def _places(members: list[Loss]) -> list[str]:
    shown = [_place(loss) for loss in members[:MAX_PLACES]]
    return shown + ([f"and {len(members) - MAX_PLACES:,} more"] if len(members) > MAX_PLACES else [])


def _place(loss: Loss) -> str:
    change = (
        shorten(loss.before, 40) if loss.after is None else f"{shorten(loss.before, 24)} → {shorten(loss.after, 24)}"
    )
    place = printable(loss.at) or "(the root)"
    return f"{place}  {change if loss.before is not None else '→ ' + shorten(loss.after, 24)}"


def columns(tree: Html, beside: Html) -> Html:
    """The schema and what is said about it side by side; each scrolls by itself, with the keyboard too."""
    grid = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: 1.2em"
    box = "min-width: 0; max-height: 38em; overflow: auto"
    boxes = (("The schema", tree), ("What was lost", beside))
    scrolling = [tag("div", part, role="region", aria_label=name, tabindex="0", style=box) for name, part in boxes]
    return tag("div", *scrolling, style=grid)
