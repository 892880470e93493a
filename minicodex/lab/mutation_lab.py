"""The mutation lab: a switch breaks the runtime, and eight checks say who notices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from minicodex.lab.behaviours import BEHAVIOURS, Outcome
from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.json_view import JsonView
from minicodex.lab.sabotage import SWITCHES, sabotaged
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row

__all__ = ["MutationLab", "mutation_lab"]

GREEN = Pill("✓", "kept", ground="#c8efdc", ink="#06361f")
RED = Pill("✗", "broken", ground="#fadbd5", ink="#5c1206")

HEALTHY = "(nothing is broken)"


@dataclass(frozen=True, repr=False)
class MutationLab(View):
    """The eight checks, run on the runtime with one switch on."""

    switch: str | None = None
    """A key of `SWITCHES`; None breaks nothing."""

    def turn_on(self, switch: str | None) -> MutationLab:
        """Another switch, or none.

        Raises:
            ValueError: there is no such switch.
        """
        if switch is not None and switch not in SWITCHES:
            raise ValueError(f"no switch is called {switch!r}; they are {', '.join(SWITCHES)}")
        return replace(self, switch=switch)

    @cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """Every check with what it found. They are really run."""
        with sabotaged(self.switch):
            return {name: behaviour.check() for name, behaviour in BEHAVIOURS.items()}

    @property
    def red(self) -> list[str]:
        """The names of the checks that failed."""
        return [name for name, outcome in self.outcomes.items() if not outcome.is_kept]

    @property
    def excuse(self) -> str:
        return HEALTHY if self.switch is None else SWITCHES[self.switch].excuse

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        lines = [f"switch: {self.switch or HEALTHY}"]
        if self.switch is not None:
            lines += [f"  {self.excuse}", f"  replaced: {SWITCHES[self.switch].place}"]
        for name, outcome in self.outcomes.items():
            pill = GREEN if outcome.is_kept else RED
            lines.append(f"{pill.sign} {name:<24}{BEHAVIOURS[name].promise}")
            if not outcome.is_kept:
                lines += [f"      {line}" for line in JsonView(outcome.actual, outcome.expected).text().split("\n")]
        return "\n".join(lines).replace("`", "")

    def html(self) -> Html:
        head = [tag("p", prose(self.excuse), style="margin: 0 0 .3em")]
        if self.switch is not None:
            place = tag("span", "replaced: ", prose(f"`{SWITCHES[self.switch].place}`"), style=f"color: {FAINT}")
            head.append(tag("p", place, style="margin: 0 0 .6em"))
        rows = [self._row(name, outcome) for name, outcome in self.outcomes.items()]
        table = tag("table", tag("tbody", *rows), style="border-collapse: collapse; width: 100%; margin: 0")
        count = f"{len(self.red)} of {len(self.outcomes)} checks are red"
        return panel(heading("Mutation lab", count), *head, table, label="Mutation lab")

    def _row(self, name: str, outcome: Outcome) -> Html:
        cell = f"padding: .3em .9em .3em 0; vertical-align: top; border-bottom: 1px solid {LINE}; text-align: left"
        pill = GREEN if outcome.is_kept else RED
        title = tag("th", prose(f"`{name}`"), scope="row", style=f"{cell}; font-weight: normal; white-space: nowrap")
        told = [tag("div", BEHAVIOURS[name].promise.replace("`", ""))]
        if not outcome.is_kept:
            told.append(tag("div", JsonView(outcome.actual, outcome.expected).html(), style="margin-top: .4em"))
        mark = tag("td", pill.html(), style=f"{cell}; white-space: nowrap")
        return tag("tr", mark, title, tag("td", *told, style=f"{cell}; width: 100%"))


def mutation_lab() -> Live[MutationLab]:
    """One switch at a time."""
    live: Live[MutationLab] = Live(MutationLab())
    options = {HEALTHY: None, **{name: name for name in SWITCHES}}
    switch = picker("switch", options, lambda name: live.do(lambda now: now.turn_on(name)))

    def sync(now: MutationLab) -> None:
        switch.value = now.switch or HEALTHY

    return live.driven_by(row(switch), sync=sync)
