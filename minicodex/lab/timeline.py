"""The timeline: a lane for the tool as it changes, one for each step, and a bar for each call from asked to handled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import ipywidgets as w

from minicodex.lab.html import FAINT, LINE, SOFT, Html, Pill, heading, panel, prose, tag
from minicodex.lab.late_calls import LAST_TICK, RUNTIMES, STEPS, Change, Ending, Fate, LateCall, play
from minicodex.lab.slider import slider
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, row

__all__ = ["CALLS", "Timeline", "timeline"]

CALLS = (LateCall("a", "step_1", 2, 5), LateCall("b", "step_1", 3, 11), LateCall("c", "step_2", 7, 8))
"""Late, out of order, and one after the tool has vanished."""

UPGRADES: Mapping[int, Change] = {4: Change.RENAMED, 10: Change.GONE}
IN_PLACE, SNAPSHOTS = RUNTIMES

VERSIONS = {
    Change.FIRST: Pill("①", Change.FIRST.value, ground="#d3e6fb", ink="#062c57"),
    Change.RENAMED: Pill("②", Change.RENAMED.value, ground="#fdebb2", ink="#453300"),
    Change.ADDS: Pill("③", Change.ADDS.value, ground="#e8daf8", ink="#35105e"),
    Change.GONE: Pill("∅", Change.GONE.value, ground="#e4e4e4", ink="#333333"),
}

FATES = {
    Fate.KEPT: Pill("✓", "kept", ground="#c8efdc", ink="#06361f"),
    Fate.HIJACKED: Pill("!", "hijacked", ground="#ffd6a8", ink="#4a2500"),
    Fate.REFUSED: Pill("✗", "refused", ground="#fadbd5", ink="#5c1206"),
    Fate.LOST: Pill("✗", "lost", ground="#fadbd5", ink="#5c1206"),
    Fate.NOT_ASKED: Pill("·", "not asked", ground="#e4e4e4", ink="#333333"),
}


@dataclass(frozen=True, repr=False)
class Timeline(View):
    """Three calls, the upgrades, and the runtime that handles them."""

    runtime: str = IN_PLACE
    """A key of `RUNTIMES`."""
    calls: tuple[LateCall, ...] = CALLS
    upgrades: tuple[tuple[int, Change], ...] = tuple(UPGRADES.items())
    """Tick and version, in the order of the clock."""
    chosen: str = "a"
    """The call whose handling time the slider moves."""

    # --- reducers -----------------------------------------------------------------------------------------------

    def with_(self, **choices: Any) -> Timeline:
        """The timeline with another `runtime` (a key of `RUNTIMES`) or another `chosen` call."""
        return replace(self, **choices)

    def handle(self, call_id: str, tick: int) -> Timeline:
        """Handle a call at a tick; not before it was asked, nor after the end."""
        moved = [
            replace(call, handled=max(call.asked, min(tick, LAST_TICK))) if call.id == call_id else call
            for call in self.calls
        ]
        return replace(self, calls=tuple(moved))

    def upgrade(self, tick: int, version: Change) -> Timeline:
        """Let the tool be this version from a tick on; another upgrade at the same tick is replaced."""
        return replace(self, upgrades=tuple(sorted({**dict(self.upgrades), tick: version}.items())))

    def without_upgrades(self) -> Timeline:
        """The tool stays as it is."""
        return replace(self, upgrades=())

    # --- what is on show ----------------------------------------------------------------------------------------

    @cached_property
    def endings(self) -> tuple[Ending, ...]:
        """What came of each call. Everything is run to find out."""
        return play(RUNTIMES[self.runtime](), self.calls, dict(self.upgrades))

    @property
    def spans(self) -> list[tuple[int, int, Change]]:
        """First tick, last tick and version, for each version in turn."""
        starts = {0: Change.FIRST} | dict(self.upgrades)
        return [(start, end - 1, starts[start]) for start, end in pairwise([*sorted(starts), LAST_TICK + 1])]

    def call(self, call_id: str) -> LateCall:
        """A call by its id."""
        return next(call for call in self.calls if call.id == call_id)

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        lines = [f"runtime: {self.runtime}", "the tool:"]
        lines += [f"  tick {start:>2} to {end:>2}  {_named(version)}" for start, end, version in self.spans]
        for step_id, begins in STEPS.items():
            lines.append(f"{step_id}, planned at tick {begins}:")
            lines += [line for ending in self._of(step_id) for line in _lines(ending)]
        return "\n".join(lines)

    def _of(self, step_id: str) -> list[Ending]:
        return [ending for ending in self.endings if ending.call.step_id == step_id]

    def html(self) -> Html:
        kept = sum(ending.fate is Fate.KEPT for ending in self.endings)
        title = heading("Timeline", f"{self.runtime} · {kept} of {len(self.endings)} calls kept")
        details = tag("ul", *map(_detail, self.endings), style="list-style: none; margin: .9em 0 0; padding: 0")
        return panel(title, self._lanes(), _legend(), details, label="Timeline of late calls")

    def _lanes(self) -> Html:
        rows = [_label(1, "tick"), *(_tick(tick) for tick in range(LAST_TICK + 1)), _label(2, "the tool")]
        rows += [_span(start, end, version) for start, end, version in self.spans]
        line = 3
        for step_id, begins in STEPS.items():
            endings = self._of(step_id)
            rows += [_label(line, step_id), _cell(line, begins, begins, _plan(endings[0].seen))]
            for ending in endings:
                line += 1
                bar = _bar(ending)
                rows += [
                    _label(line, f"call {ending.call.id}", inset=True),
                    _cell(line, ending.call.asked, ending.call.handled, bar),
                ]
            line += 1
        columns = f"grid-template-columns: 5.5em repeat({LAST_TICK + 1}, minmax(2.1em, 1fr))"
        return tag("div", *rows, style=f"display: grid; {columns}; gap: 3px 0; overflow-x: auto; text-align: center")


def _named(version: Change) -> str:
    return f"{VERSIONS[version].sign} {version.value}"


def _lines(ending: Ending) -> list[str]:
    call, fate = ending.call, FATES[ending.fate]
    if ending.fate is Fate.NOT_ASKED:
        return [f"  call {call.id}: {fate.sign} {fate.word}: {ending.answer}"]
    read_by = "nobody" if ending.read_by is None else _named(ending.read_by)
    return [
        f"  call {call.id}: asked at {call.asked}, handled at {call.handled}: {fate.sign} {fate.word}",
        f"    the model saw  {_named(ending.seen)}",
        f"    and wrote      {ending.written}",
        f"    read by        {read_by}",
        f"    answer         {ending.answer}",
    ]


# --- the picture: a grid whose columns are ticks ---------------------------------------------------------------------


def _cell(line: int, start: int, end: int, content: Html, style: str = "") -> Html:
    place = f"grid-row: {line}; grid-column: {start + 2} / {end + 3}"
    return tag("div", content, style=f"{place}; {style}".rstrip("; "))


def _label(line: int, text: str, *, inset: bool = False) -> Html:
    style = f"grid-row: {line}; grid-column: 1; text-align: left; color: {FAINT}"
    return tag("div", text, style=f"{style}; padding-left: 1em" if inset else style)


def _tick(tick: int) -> Html:
    return _cell(1, tick, tick, tag("span", str(tick), style=f"color: {FAINT}"))


def _span(start: int, end: int, version: Change) -> Html:
    pill = VERSIONS[version]
    block = f"{pill.style}; margin: 0 1px"
    return _cell(2, start, end, tag("span", pill.sign), block)


def _plan(seen: Change) -> Html:
    return tag("span", "▣ ", _sign(seen), title="the step is planned", style="white-space: nowrap")


def _bar(ending: Ending) -> Html:
    """From the version that the model saw to the one that read its arguments."""
    fate = FATES[ending.fate]
    if ending.fate is Fate.NOT_ASKED:
        return fate.html(small=True)
    left = tag("span", _sign(ending.seen))
    reader = _sign(ending.read_by) if ending.read_by is not None else Html("")
    right = tag("span", reader, " ", tag("span", fate.sign, title=fate.word, style=fate.style))
    bar = f"display: flex; justify-content: space-between; border: 1px solid {LINE}; border-radius: 9px; padding: 0 3px"
    return tag("div", left, right, style=f"{bar}; background: {SOFT}; white-space: nowrap; min-width: max-content")


def _sign(version: Change) -> Html:
    pill = VERSIONS[version]
    return tag("span", pill.sign, title=version.value, style=pill.style)


def _legend() -> Html:
    names = [tag("span", pill.html(), style="display: inline-block; margin-right: .9em") for pill in VERSIONS.values()]
    signs = tag("div", "▣ the step is planned · left end: asked · right end: handled", style=f"color: {FAINT}")
    return tag("div", *names, signs, style="margin-top: .8em; font-size: 92%; line-height: 1.9")


def _detail(ending: Ending) -> Html:
    call, fate = ending.call, FATES[ending.fate]
    style = f"border-top: 1px solid {LINE}; padding: .25em 0"
    if ending.fate is Fate.NOT_ASKED:
        return tag("li", f"call {call.id} ", fate.html(), f" {ending.answer}", style=style)
    read_by = "nobody" if ending.read_by is None else _sign(ending.read_by)
    story = [" saw ", _sign(ending.seen), ", wrote ", prose(f"`{ending.written}`"), ", was read by ", read_by]
    answer = tag("div", ending.answer, style=f"color: {FAINT}; font-size: 92%")
    return tag("li", f"call {call.id} ", fate.html(), *story, answer, style=style)


# --- the widget ------------------------------------------------------------------------------------------------------

NAMES = {
    "② renamed argument": Change.RENAMED,
    "③ other effect": Change.ADDS,
    "∅ gone": Change.GONE,
    "① as at first": Change.FIRST,
}


def chooser(label: str, options: list[str]) -> w.Dropdown:
    """A list whose choice is read later, when a button is pressed."""
    return picker(label, options, lambda _option: None)


def timeline(state: Timeline | None = None) -> Live[Timeline]:
    """The runtime, the handling time of each call, and upgrades at any tick."""
    live: Live[Timeline] = Live(state or Timeline())
    runtime = picker("runtime", list(RUNTIMES), lambda name: live.do(lambda now: now.with_(runtime=name)))
    call = picker("call", [call.id for call in CALLS], lambda name: live.do(lambda now: now.with_(chosen=name)))
    handled = slider("handled at tick", 0, LAST_TICK, lambda tick: live.do(lambda now: now.handle(now.chosen, tick)))
    version, tick = chooser("upgrade to", list(NAMES)), chooser("at tick", [str(at) for at in range(1, LAST_TICK + 1)])
    version.value, tick.value = "③ other effect", "4"

    def add() -> None:
        live.do(lambda now: now.upgrade(int(tick.value), NAMES[version.value]))

    def sync(now: Timeline) -> None:
        runtime.value, call.value = now.runtime, now.chosen
        chosen = now.call(now.chosen)
        handled.min = min(handled.min, chosen.asked)
        handled.value = chosen.handled
        handled.min = chosen.asked

    return live.driven_by(
        row(runtime, call, handled),
        row(
            version,
            tick,
            button("add the upgrade", add),
            button("remove all upgrades", lambda: live.do(lambda now: now.without_upgrades())),
        ),
        sync=sync,
    )
