"""The ward round: all forty cases one after another, with the same tools, and the counter that must not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from minicodex.lab.clinic import QUESTIONS, Ward, shown
from minicodex.lab.clinic_cases import CASES, Case
from minicodex.lab.html import FAINT, LINE, MONO, Html, heading, panel, tag
from minicodex.lab.view import View, counted

__all__ = ["WardRound"]

ROUND_CHARS = 52
"""Longest argument text that is shown whole in a line."""


@dataclass(frozen=True, repr=False)
class WardRound(View):
    """Every case by the question that stopped it."""

    cases: Sequence[Case] = CASES

    @cached_property
    def _seen(self) -> tuple[dict[str, list[Case]], int]:
        ward = Ward()
        groups: dict[str, list[Case]] = {name: [] for name in (*QUESTIONS, "not stopped")}
        for case in self.cases:
            groups[ward.examine(case.tool, case.text).stopped_at or "not stopped"].append(case)
        return {name: group for name, group in groups.items() if group}, ward.effects

    @property
    def stopped_at(self) -> dict[str, list[Case]]:
        """Question to the cases that it stopped, in the order of the questions."""
        return self._seen[0]

    @property
    def effects(self) -> int:
        """What the tools did, all cases together."""
        return self._seen[1]

    def text(self) -> str:
        lines = []
        for name, group in self.stopped_at.items():
            lines.append(f"{name}: {counted(len(group), 'text')}. {QUESTIONS.get(name, '')}".rstrip())
            lines += [f"   {case.name:<44}{shown(case.text, ROUND_CHARS)}" for case in group]
        return "\n".join([*lines, f"side effects of all {len(self.cases)}: {self.effects}"])

    def html(self) -> Html:
        groups = [self._group_html(name, group) for name, group in self.stopped_at.items()]
        total = tag("p", tag("strong", "Side effects of all together: "), str(self.effects), style="margin: .7em 0 0")
        title = heading(f"{counted(len(self.cases), 'text')}, by the question that stopped them", "open a line")
        return panel(title, *groups, total, label="The ward round")

    def _group_html(self, name: str, group: list[Case]) -> Html:
        question = tag("span", f" {QUESTIONS.get(name, '')}", style=f"color: {FAINT}")
        summary = tag("summary", tag("strong", f"{name}: {len(group)}"), question, style="cursor: pointer")
        cell = f"text-align: left; vertical-align: top; padding: .15em 1em .15em 0; border-bottom: 1px solid {LINE}"
        rows = [
            tag(
                "tr",
                tag("td", case.name, style=cell),
                tag("td", case.tool, style=f"{cell}; color: {FAINT}"),
                tag("td", shown(case.text, ROUND_CHARS), style=f"{cell}; {MONO}"),
            )
            for case in group
        ]
        table = tag("table", tag("tbody", *rows), style="border-collapse: collapse; margin: .3em 0 .6em 1.2em")
        return tag("details", summary, table, style="margin: .2em 0")
