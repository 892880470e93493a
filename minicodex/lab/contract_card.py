"""The contract card: every field of a manual, who acts on it, and the JSON that is sent, key by key.

Switches make another contract of the same tool. Beside the card stands the wire form, compared with the author's own,
so that each switch shows exactly what it changes there. One of them changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minicodex.contract import FunctionContract
from minicodex.json_text import to_compact_bytes
from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.json_view import JsonView
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row, switch

__all__ = ["DESCRIPTIONS", "ContractCard", "contract_card", "group_sizes"]

GROUPS = {
    "identity": Pill("●", "identity", ground="#d3e6fb", ink="#062c57"),
    "guidance": Pill("▲", "guidance", ground="#c8efdc", ink="#06361f"),
    "protocol control": Pill("■", "protocol control", ground="#fdebb2", ink="#453300"),
    "inside only": Pill("◌", "inside only", ground="#e8daf8", ink="#35105e"),
}

FIELDS: dict[str, tuple[str, str]] = {
    "type": ("identity", "The provider learns what kind of tool it is."),
    "name": ("identity", "The model writes it into its call; our dispatch looks it up."),
    "description": ("guidance", "The model reads it. Nobody enforces it."),
    "parameters": ("guidance", "The model reads the shape of the arguments. The handler checks its own types."),
    "strict": ("protocol control", "Asks the provider to hold the model to `parameters`. It may or may not."),
    "defer_loading": ("protocol control", "Says how the manual got there: by a search. It hides nothing."),
    "output_schema": ("inside only", "Nobody outside. It is in no function tool's JSON."),
}
"""Field of a contract to its group and who acts on it."""

DESCRIPTIONS: dict[str, str | None] = {
    "the author's own": None,
    "none": "",
    "a stern rule": "NEVER call this tool twice in one turn. This rule must not be broken.",
}

OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"updated": {"type": "boolean"}}}


@dataclass(frozen=True, repr=False)
class ContractCard(View):
    """One contract out of several, and the position of each switch."""

    contracts: Mapping[str, FunctionContract]
    name: str
    description: str = "the author's own"
    """A key of `DESCRIPTIONS`."""
    strict: bool = False
    defer_loading: bool | None = None
    output_schema: bool = False

    def with_(self, **switches: Any) -> ContractCard:
        """The card with other switches, for example `card.with_(strict=True)`.

        Raises:
            ValueError: there is no such switch, or it has no such position.
        """
        positions: dict[str, Collection[Any]] = {
            "name": self.contracts,
            "description": DESCRIPTIONS,
            "strict": (False, True),
            "defer_loading": (None, False, True),
            "output_schema": (False, True),
        }
        for switch_, position in switches.items():
            if switch_ not in positions:
                raise ValueError(f"no switch is called {switch_!r}; they are {', '.join(positions)}")
            if not any(position is known or position == known for known in positions[switch_]):
                known = ", ".join(map(repr, positions[switch_]))
                raise ValueError(f"{switch_} cannot be {position!r}; choose one of {known}")
        return replace(self, **switches)

    @property
    def base(self) -> FunctionContract:
        """The author's own contract."""
        return self.contracts[self.name]

    @cached_property
    def contract(self) -> FunctionContract:
        """The contract as the switches make it."""
        wanted = DESCRIPTIONS[self.description]
        return replace(
            self.base,
            description=self.base.description if wanted is None else wanted,
            strict=self.strict,
            defer_loading=self.defer_loading,
            output_schema=OUTPUT_SCHEMA if self.output_schema else self.base.output_schema,
        )

    @cached_property
    def wire(self) -> JsonView:
        """What is sent, beside what the author's own contract sends."""
        return JsonView(self.contract.to_wire(), self.base.to_wire(), schema_at="/parameters")

    @property
    def size_words(self) -> str:
        size, more = len(self.contract.to_bytes()), len(self.contract.to_bytes()) - len(self.base.to_bytes())
        beside = "as many as the author's own" if not more else f"{abs(more)} {'more' if more > 0 else 'fewer'}"
        return f"{size:,} bytes, {beside}"

    def fields(self) -> list[tuple[str, str, str, str]]:
        """Group, field, value in brief and who acts on it; in the order of `FIELDS`."""
        wire, rows = self.contract.to_wire(), []
        for key, (group, who) in FIELDS.items():
            value = wire[key] if key in wire else getattr(self.contract, key)
            unsent = "" if key in wire or value is None else ", not sent"
            rows.append((group, key, _brief(key, value) + unsent, who))
        return rows

    def text(self) -> str:
        lines = [f"{group:<17}{key:<14}{value:<22}{who}" for group, key, value, who in self.fields()]
        return "\n".join([*lines, f"on the wire: {self.size_words}", self.wire.changes_text(), self.wire.text()])

    def html(self) -> Html:
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: 1.2em"
        card = tag("div", heading("The card", self.name), self._table(), style="min-width: 0")
        sent = tag("div", heading("On the wire", self.size_words), self.wire.html(), style="min-width: 0")
        return panel(tag("div", card, sent, style=columns), label=f"Contract of {self.name}")

    def _table(self) -> Html:
        rows = []
        before = ""
        for group, key, value, who in self.fields():
            if group != before:
                rows.append(tag("div", GROUPS[group].html(), style="margin: .6em 0 .2em"))
                before = group
            head = tag("div", prose(f"`{key}`"), " ", tag("span", value, style=f"color: {FAINT}"))
            note = tag("div", prose(who), style="font-size: 92%")
            rows.append(tag("div", head, note, style=f"border-left: 2px solid {LINE}; padding: .1em 0 .3em .7em"))
        return tag("div", *rows)


def _brief(key: str, value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return "not set"
    if key in ("parameters", "output_schema"):
        count = len(value.get("properties", {}))
        return "1 property" if count == 1 else f"{count} properties"
    if key == "description":
        return f"{len(value)} characters"
    return str(value).lower() if isinstance(value, bool) else str(value)


def group_sizes(contract: FunctionContract) -> dict[str, int]:
    """Bytes of the wire form by group; commas and braces count with the member before them."""
    sizes = dict.fromkeys(("identity", "guidance", "protocol control"), 0)
    wire = contract.to_wire()
    for key, value in wire.items():
        sizes[FIELDS[key][0]] += len(to_compact_bytes({key: value})) - len(b"{}") + len(b",")
    sizes["guidance"] += len(b"{}") - len(b",")
    assert sum(sizes.values()) == len(contract.to_bytes())
    return sizes


# --- the widget ------------------------------------------------------------------------------------------------------


def contract_card(*contracts: FunctionContract) -> Live[ContractCard]:
    """A list of tools and one switch for each thing that can be changed."""
    by_name = {contract.name: contract for contract in contracts}
    live: Live[ContractCard] = Live(ContractCard(by_name, contracts[0].name))

    def change(**switches: Any) -> None:
        live.do(lambda card: card.with_(**switches))

    tools = picker("tool", list(by_name), lambda name: change(name=name))
    words = picker("description", list(DESCRIPTIONS), lambda words: change(description=words))
    deferred = {"not set": None, "false": False, "true": True}
    return live.driven_by(
        row(tools, words, picker("defer_loading", deferred, lambda value: change(defer_loading=value))),
        row(
            switch("strict", lambda on: change(strict=on)),
            switch("output schema", lambda on: change(output_schema=on)),
        ),
    )
