"""Both tables of a plan: what the model sees, and what can run."""

from __future__ import annotations

from dataclasses import dataclass

from minicodex.contract import NamespaceContract
from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.view import View, counted
from minicodex.planner import ToolPlan

__all__ = ["NOT_SHOWN", "TwoTables"]

NOT_SHOWN = Pill("◌", "not shown", ground="#e8daf8", ink="#35105e")


@dataclass(frozen=True, repr=False, eq=False)
class TwoTables(View):
    """The two tables of one plan, side by side."""

    plan: ToolPlan

    @property
    def contracts(self) -> list[tuple[str, str]]:
        """Name and note of each contract, in the order in which they are sent."""
        rows = []
        for contract in self.plan.contracts:
            size = f"{len(contract.to_bytes()):,} bytes"
            if isinstance(contract, NamespaceContract):
                rows.append((contract.name, f"{size}, namespace of {counted(len(contract.tools), 'tool')}"))
                rows += [(f"{contract.name}.{tool.name}", "") for tool in contract.tools]
            else:
                rows.append((contract.name, size))
        return rows

    @property
    def dispatch(self) -> list[tuple[str, str, bool]]:
        """Name, source and whether its contract is shown, for each handler."""
        shown = {decision.name for decision in self.plan.decisions if decision.visible}
        return [(str(name), tool.source, name in shown) for name, tool in self.plan.implementations.items()]

    def text(self) -> str:
        lines = [f"contracts, in the order they are sent ({len(self.plan.contracts)}):"]
        lines += [f"  {name:<34}{note}".rstrip() for name, note in self.contracts] or ["  (none)"]
        lines.append(f"dispatch table, name to handler ({len(self.plan.dispatch)}):")
        lines += [f"  {name:<34}{source:<16}{_mark(shown)}".rstrip() for name, source, shown in self.dispatch]
        return "\n".join(lines if self.dispatch else [*lines, "  (none)"])

    def html(self) -> Html:
        return panel(self.columns(), label="The two tables of the plan")

    def columns(self) -> Html:
        """Both tables without a frame, for views that hold more than them."""
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22em), 1fr)); gap: 1.2em"
        left = [_row(name, tag("span", note)) for name, note in self.contracts]
        right = [
            _row(name, tag("span", source), *([] if shown else [" ", NOT_SHOWN.html()]))
            for name, source, shown in self.dispatch
        ]
        return tag(
            "div",
            _table("Contracts", "what the model sees, in order", left),
            _table("Dispatch table", "what can run, by name", right),
            style=columns,
        )


def _mark(shown: bool) -> str:  # noqa: FBT001 - a cell of the table
    return "" if shown else f"{NOT_SHOWN.sign} {NOT_SHOWN.word}"


def _table(title: str, note: str, rows: list[Html]) -> Html:
    listing = tag("ul", *rows, style="list-style: none; margin: 0; padding: 0") if rows else tag("div", "(none)")
    return tag("div", heading(title, note), listing, style="min-width: 0")


def _row(name: str, *notes: Html | str) -> Html:
    faint = tag("span", *notes, style=f"color: {FAINT}")
    return tag("li", prose(f"`{name}`"), " ", faint, style=f"border-top: 1px solid {LINE}; padding: .15em 0")
