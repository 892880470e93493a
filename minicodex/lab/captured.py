"""A captured request: where it carries its tools, and everything else that tells one API mode from the other.

A request may come from anywhere: from our encoder, from a recording, from a reader's clipboard. So nothing about its
form is taken for granted, and what is looked at is JSON, never an object of ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from minicodex.errors import JsonTextError
from minicodex.json_text import parse_strict, shorten, to_compact_bytes
from minicodex.lab.view import counted
from minicodex.printable import printable
from minicodex.request import FUNCTIONS_NAMESPACE, ApiMode, ApiRequest
from minicodex.tool_updates import declared_names

__all__ = ["ALL_TOOLS", "Captured", "listed"]

MAX_TEXT_CHARS = 1_000_000
"""Longest text that is read, in characters."""

MAX_NAMES, MAX_NAME_CHARS, MAX_PLACES = 50, 160, 5
"""How much of a list is said in one answer. The longest name that Codex sends has 128 characters."""

ALL_TOOLS = "tools, all in all"

MARKER = next(iter(ApiMode.RESPONSES_LITE.headers))


@dataclass(frozen=True)
class Captured:
    """A request on its way: its headers, and its body as JSON."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ApiRequest) -> Captured:
        """One of our own, as the other side reads it."""
        return cls(request.to_json(), request.headers)

    @classmethod
    def read(cls, text: str) -> Captured:
        """From a text: the body, or an object with the keys `headers` and `body`.

        A body is known by its `input`. Other APIs have tools, too, in places of their own: what is said here would be
        wrong about them.

        Raises:
            ValueError: it is neither; the message says where and why.
        """
        if len(text) > MAX_TEXT_CHARS:
            raise ValueError(f"the text is longer than {MAX_TEXT_CHARS:,} characters")
        try:
            value = parse_strict(text)
        except JsonTextError as error:
            raise ValueError(f"this is no JSON: {error}; {error.hint}") from None
        match value:
            case {"headers": dict(headers), "body": dict(body)}:
                pass
            case dict():
                headers, body = {}, value
            case _:
                raise ValueError(f"a request is an object, and this is {shorten(value, 40)}")
        if "input" not in body:
            keys = f"its keys are {listed(body)}" if body else "it is empty"
            raise ValueError(f"this object is no request to the Responses API: it has no `input`; {keys}")
        return cls(body, {name: str(text) for name, text in headers.items()})

    # --- what the picture shows ---------------------------------------------------------------------------------

    @property
    def items(self) -> list[Any]:
        """The items of `input`; a text in its place holds none."""
        items = self.body.get("input")
        return items if isinstance(items, list) else []

    @cached_property
    def top_level(self) -> list[str] | None:
        """Names of the tools under the key `tools`, or None where there is no such key."""
        return _names(self.body["tools"]) if "tools" in self.body else None

    @cached_property
    def carriers(self) -> tuple[int, ...]:
        """Where the `additional_tools` items stand in `input`."""
        return tuple(index for index, _ in _of_type(self.items, "additional_tools"))

    @cached_property
    def tools(self) -> list[str]:
        """What the model may call, all in all: later declarations and removals are counted."""
        return sorted({*(self.top_level or []), *map(_without_wrapper, declared_names(self.items))})

    @cached_property
    def found(self) -> list[str]:
        """Names of the tools that a search has brought."""
        outputs = _of_type(self.items, "tool_search_output")
        return sorted({name for _, item in outputs for name in _names(item.get("tools"))})

    @property
    def marker(self) -> str | None:
        """The header by which Lite says what it is, as it was sent."""
        return next((f"{name}: {text}" for name, text in self.headers.items() if name.lower() == MARKER), None)

    @property
    def verdict(self) -> str:
        """Where the tools are, and which mode writes them there."""
        count, later = counted(len(self.tools), "tool"), len(self.carriers) - (0 in self.carriers)
        is_marked = (self.marker or "").endswith(": true")
        but = ", although the header says Responses Lite" if is_marked else ""
        if self.top_level is not None and self.carriers:
            return f"{count}, in two places, `tools` and `additional_tools`: neither mode writes both."
        if self.top_level is not None:
            return f"{count}, under the key `tools`: this is ordinary Responses{but}."
        if 0 in self.carriers:
            also = f" and in {counted(later, 'later update')}" if later else ""
            return f"{count}, in the first item of `input`{also}: this is Responses Lite."
        if self.carriers:
            return f"{count}, in {counted(later, 'update')}: this is Responses Lite, but its first item is missing."
        return f"No tools: there is neither a key `tools` nor an item `additional_tools`{but}."

    @cached_property
    def organs(self) -> Mapping[str, str]:
        """What to compare, as question and answer."""
        return {
            "marker header": f"`{_one_line(self.marker)}`" if self.marker else "none",
            "key `tools`": "no such key" if self.top_level is None else _entries(self.body["tools"]),
            "item `additional_tools`": self._carried(),
            ALL_TOOLS: listed(self.tools),
            "brought by a search": listed(self.found),
            "instructions": self._instructions(),
            "parallel calls": _shown(self.body, "parallel_tool_calls"),
        }

    def _carried(self) -> str:
        some = self.carriers[:MAX_PLACES]
        places = [f"`/input/{index}`: {_entries(self.items[index].get('tools'))}" for index in some]
        return "; ".join(places + _and_more(len(self.carriers) - len(some))) or "none"

    def _instructions(self) -> str:
        told = [f"a developer message, `/input/{index}`" for index in _first_developer_message(self.items)]
        key = self.body.get("instructions")
        if key:
            return "the key `instructions`"
        return " and ".join([*told, *(["an empty key"] if "instructions" in self.body else [])]) or "none"


def _names(entries: Any) -> list[str]:
    """Names of tools, wherever they are declared: `update_plan`, `mcp__calendar.create_event`, `web_search`."""
    return [_without_wrapper(name) for name in declared_names([{"type": "additional_tools", "tools": entries}])]


def _without_wrapper(name: str) -> str:
    """Lite's namespace `functions` is no namespace: it only holds what has none."""
    return name.removeprefix(f"{FUNCTIONS_NAMESPACE}.")


def _of_type(items: Sequence[Any], kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return ((index, item) for index, item in enumerate(items) if isinstance(item, dict) and item.get("type") == kind)


def _first_developer_message(items: Sequence[Any]) -> list[int]:
    return [index for index, item in _of_type(items, "message") if item.get("role") == "developer"][:1]


def _entries(entries: Any) -> str:
    if not isinstance(entries, list):
        return f"no list: {shorten(entries, 40)}"
    return f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {len(to_compact_bytes(entries)):,} bytes"


def listed(names: Collection[str]) -> str:
    """Names as code, or `none`; of very many only the first."""
    some = [f"`{_one_line(name)}`" for name in islice(names, MAX_NAMES)]
    return ", ".join(some + _and_more(len(names) - len(some))) or "none"


def _and_more(number: int) -> list[str]:
    return [f"and {number:,} more"] if number else []


def _one_line(text: str) -> str:
    """A text from outside as a part of one line."""
    line = printable(text[: MAX_NAME_CHARS + 1])
    return line if len(line) <= MAX_NAME_CHARS else line[: MAX_NAME_CHARS - 1] + "…"


def _shown(body: Mapping[str, Any], key: str) -> str:
    return shorten(body[key], 40) if key in body else "no such key"
