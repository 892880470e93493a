"""What the model has been told about its tools, and what it must be told now.

A Lite conversation declares its tools once, in its first item. Rewriting that item when a tool changes would make all
that follows new to the provider, so the item stays as it is, byte for byte, and the change is *appended*: whole
definitions of what is new or changed, then the names of what is gone. Deferred namespaces are announced in the same
manner, in both modes; the ordinary mode needs no more, since its `tools` array simply changes.

Nothing is remembered beside the history. What was told is read back from it, so a turn that goes on, a conversation
that was stored and loaded, and one that was compacted are one case. Compaction drops the items of this module
(`forget_tools`), and the next request begins with a fresh head.

Source: Codex CLI 0.171.0 (measured). Ours: a namespace whose description changed is declared again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from minicodex.contract import (
    Contract,
    FreeformContract,
    FunctionContract,
    NamespaceContract,
    ToolSearchContract,
    default_namespace_description,
)
from minicodex.errors import HistoryError
from minicodex.history import Ids, Item, Message
from minicodex.json_text import to_compact_bytes
from minicodex.planner import ToolPlan
from minicodex.request import FUNCTIONS_NAMESPACE, AdditionalTools, ContractList, declares_tools
from minicodex.tool import Exposure

__all__ = ["announce_deferred", "declare_changes", "declared_names", "forget_tools", "place_updates"]

UPDATE_INTRODUCTION = (
    "This is an incremental tools update. The tools declared in the next item are added to those declared before; "
    "where one has the name of an earlier tool, it takes that tool's place."
)
TOOLS_GONE = "The following tools are no longer available. Do not call them:"
NAMESPACES_GONE = (
    "The following namespaces are no longer available. "
    "Do not call tools in them unless those tools are declared in a later update:"
)
DEFERRED, DEFERRED_ADDED, DEFERRED_REMOVED = (
    "Deferred tool namespaces:",
    "Added deferred tool namespaces:",
    "Removed deferred tool namespaces:",
)

_BULLET = "\n- "


class _Place(NamedTuple):
    """Where a tool is declared. The empty namespace holds what stands bare, the search tool."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class _Declared(NamedTuple):
    """What the model reads about one tool: its own JSON, and its namespace's description."""

    raw: bytes
    namespace_description: str

    def says_the_same_as(self, other: _Declared) -> bool:
        same_words = self.namespace_description == other.namespace_description
        return same_words and (self.raw == other.raw or _canonical(self.raw) == _canonical(other.raw))


def _canonical(raw: bytes) -> bytes:
    """The same JSON however its keys were ordered: a history may have been stored in between."""
    return orjson.dumps(orjson.loads(raw), option=orjson.OPT_SORT_KEYS)


# --- tools of a Lite conversation -----------------------------------------------------------------------------------


def declare_changes(history: Sequence[Item], contracts: ContractList, ids: Ids) -> list[Item]:
    """Items that tell the model of a Lite conversation what changed; none where nothing did.

    An order of tools and an output schema are in no declaration, so a change of these is none.

    Args:
        history: a history that begins with its head.
        contracts: what the model may see in this step.
    """
    told, now = _told(history), _declarations(contracts)
    changed = {place for place, tool in now.items() if place not in told or not tool.says_the_same_as(told[place])}
    items: list[Item] = []
    if changed:
        items.append(Message("developer", UPDATE_INTRODUCTION, ids("msg")))
        items.append(AdditionalTools(_only(contracts, changed), ids("at")))
    namespaces = {place.namespace for place in now}
    gone = [place for place in told if place not in now]
    for words, names in (
        (TOOLS_GONE, [str(place) for place in gone if not place.namespace or place.namespace in namespaces]),
        (NAMESPACES_GONE, [place.namespace for place in gone if place.namespace not in {"", *namespaces}]),
    ):
        if names:
            items.append(Message("developer", _listed(words, sorted(set(names))), ids("msg")))
    return items


def declared_names(items: Iterable[Item]) -> list[str]:
    """What the input of a Lite request declares all in all: `mcp__p.morph`, `functions.update_plan`, `tool_search`."""
    return sorted(str(place) for place in _told(items))


def forget_tools(history: Iterable[Item]) -> list[Item]:
    """A history without a word about tools, as compaction leaves it: the next request declares all of them afresh."""
    return [item for item in history if not declares_tools(item) and not _is_news(item)]


def _told(items: Iterable[Item]) -> dict[_Place, _Declared]:
    """Fold a history into what it declares: later definitions replace earlier ones, removals take them away."""
    told: dict[_Place, _Declared] = {}
    for item in items:
        if isinstance(item, AdditionalTools):
            told |= _declarations(item.contracts)
        elif declares_tools(item):
            told |= _wire_declarations(item.get("tools"))  # type: ignore[union-attr]
        for words, lines in _lists(item):
            names = set(lines)
            if words == TOOLS_GONE:
                told = {place: tool for place, tool in told.items() if str(place) not in names}
            elif words == NAMESPACES_GONE:
                told = {place: tool for place, tool in told.items() if place.namespace not in names}
    return told


def _declarations(contracts: Iterable[Contract]) -> dict[_Place, _Declared]:
    declared: dict[_Place, _Declared] = {}
    for contract in contracts:
        if isinstance(contract, NamespaceContract):
            for tool in contract.tools:
                declared[_Place(contract.name, tool.name)] = _Declared(tool.to_bytes(), contract.description)
        else:
            declared[_bare(contract)] = _Declared(contract.to_bytes(), "")
    return declared


def _bare(contract: Contract) -> _Place:
    return _Place("" if isinstance(contract, ToolSearchContract) else FUNCTIONS_NAMESPACE, contract.name)


def _wire_declarations(tools: Any) -> dict[_Place, _Declared]:
    declared: dict[_Place, _Declared] = {}
    for entry in tools if isinstance(tools, list) else []:
        match entry:
            case {"type": "namespace", "name": str(namespace), "tools": [*members]}:
                words = str(entry.get("description", ""))
                named = [tool for tool in members if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)]
                declared |= {_Place(namespace, tool["name"]): _Declared(_raw(tool), words) for tool in named}
            case {"type": str(kind)}:
                declared[_Place("", str(entry.get("name", kind)))] = _Declared(_raw(entry), "")
    return declared


def _raw(tool: Any) -> bytes:
    try:
        return to_compact_bytes(tool)
    except ValueError as error:
        raise HistoryError(f"a tool that the history declares is not JSON: {error}") from None


def _only(contracts: Iterable[Contract], places: set[_Place]) -> ContractList:
    kept: list[Contract] = []
    for contract in contracts:
        if isinstance(contract, NamespaceContract):
            tools: tuple[FunctionContract | FreeformContract, ...] = tuple(
                tool for tool in contract.tools if _Place(contract.name, tool.name) in places
            )
            kept += [NamespaceContract(contract.name, contract.description, tools)] if tools else []
        elif _bare(contract) in places:
            kept.append(contract)
    return ContractList(kept)


# --- deferred namespaces --------------------------------------------------------------------------------------------


def announce_deferred(history: Iterable[Item], plan: ToolPlan, ids: Ids) -> list[Item]:
    """Messages that name the namespaces in which a search can find tools: all of them at first, then the changes.

    Of a description only the first line is shown, and nothing of the default one. A model that cannot search is told
    nothing.
    """
    told, now = _told_deferred(history), _deferred(plan)
    if told is None:
        announced = [(DEFERRED, _with_descriptions(now, now))]
    else:
        announced = [
            (DEFERRED_ADDED, _with_descriptions([name for name in now if name not in told], now)),
            (DEFERRED_REMOVED, sorted(told - now.keys())),
        ]
    return [
        Message("developer", f"<tools>\n{_listed(words, lines)}\n</tools>", ids("msg"))
        for words, lines in announced
        if lines
    ]


def _deferred(plan: ToolPlan) -> dict[str, str]:
    """Namespace to the first line of its description, by name; empty if the model is shown no search tool."""
    if not any(isinstance(contract, ToolSearchContract) for contract in plan.contracts):
        return {}
    found: dict[str, str] = {}
    for tool in plan.implementations.values():
        if tool.exposure is Exposure.DEFERRED and tool.namespace is not None:
            words = tool.namespace_description or ""
            words = "" if words == default_namespace_description(tool.namespace) else words
            found[tool.namespace] = found.get(tool.namespace) or words.split("\n", 1)[0].rstrip("\r")
    return dict(sorted(found.items()))


def _with_descriptions(names: Iterable[str], descriptions: Mapping[str, str]) -> list[str]:
    return [f"{name}: {descriptions[name]}" if descriptions[name] else name for name in names]


def _told_deferred(history: Iterable[Item]) -> set[str] | None:
    """Namespaces that were announced and not taken back; None if none ever was."""
    told: set[str] | None = None
    for item in history:
        for words, lines in _lists(item):
            names = {line.partition(":")[0] for line in lines}
            if words in (DEFERRED, DEFERRED_ADDED):
                told = (told or set()) | names
            elif words == DEFERRED_REMOVED:
                told = (told or set()) - names
    return told


# --- lists in developer messages ------------------------------------------------------------------------------------

_HEADINGS = (TOOLS_GONE, NAMESPACES_GONE, DEFERRED, DEFERRED_ADDED, DEFERRED_REMOVED)


def place_updates(history: Sequence[Item], updates: Sequence[Item]) -> list[Item]:
    """The history with updates behind everything but the newest words of the user, who speaks last."""
    end = len(history)
    while end and _role(history[end - 1]) == "user":
        end -= 1
    return [*history[:end], *updates, *history[end:]]


def _listed(words: str, lines: Iterable[str]) -> str:
    return words + "".join(_BULLET + line for line in lines)


def _lists(item: Item) -> list[tuple[str, list[str]]]:
    """The lists in a developer message that have one of our headings, as (heading, lines)."""
    split = [
        text.removeprefix("<tools>\n").removesuffix("\n</tools>").split(_BULLET)
        for text in (_texts(item) if _role(item) == "developer" else ())
    ]
    return [(words, lines) for words, *lines in split if words in _HEADINGS]


def _is_news(item: Item) -> bool:
    texts = _texts(item) if _role(item) == "developer" else []
    return bool(texts) and (texts == [UPDATE_INTRODUCTION] or len(_lists(item)) == len(texts))


def _role(item: Item) -> str | None:
    role = item.get("role") if isinstance(item, Mapping) else getattr(item, "role", None)
    return role if isinstance(role, str) else None


def _texts(item: Item) -> list[str]:
    if isinstance(item, Message):
        return [item.text]
    parts = item.get("content") if isinstance(item, Mapping) else None
    return [
        part["text"]
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    ]
