"""The request: the same contracts in one of two layouts.

An API mode is a record, not a branch. The ordinary mode writes the contracts at the top level, under `tools`. Responses
Lite has no such key: its first input item carries them, from the developer, with tools outside a namespace wrapped in
one called `functions`. Both embed the same bytes; only the place differs.

`instructions` follows the documented API: a top-level field, empty in Lite, where the text is a developer message.
Codex CLI 0.171.0 has no such key in either mode; `ApiMode.in_codex_form` gives its form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import orjson

from minicodex.contract import Contract, NamespaceContract, ToolSearchContract, json_array
from minicodex.errors import HistoryError
from minicodex.json_text import pointer_of, to_compact_bytes, unencodable

__all__ = [
    "AdditionalTools",
    "ApiMode",
    "ApiRequest",
    "ContractList",
    "PromptSnapshot",
    "SharedRawJson",
    "encode_model_request",
]

FUNCTIONS_NAMESPACE = "functions"
"""The namespace that Lite puts around tools without one."""


@dataclass(frozen=True)
class ApiMode:
    """Where things stand in a request. Source: Codex CLI 0.171.0 (measured), but for the key `instructions`."""

    name: str
    tools_at_top_level: bool
    """False: a developer item at the head of the input carries them."""
    allows_parallel_calls: bool
    """False: the request says no, whatever the prompt wants. Calls that come in parallel are still run."""
    instructions_as_message: bool
    """True: a developer message carries the instructions."""
    keeps_instructions_key: bool = True
    """Whether the key `instructions` is there, empty, when a message carries the text."""
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Marker headers."""
    reasoning: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the mode wants in the request's `reasoning`; whoever sends the request adds it."""

    RESPONSES: ClassVar[ApiMode]
    RESPONSES_LITE: ClassVar[ApiMode]

    def in_codex_form(self) -> ApiMode:
        """The same mode as Codex CLI 0.171.0 sends it: the instructions are a message, and there is no such key."""
        return replace(self, instructions_as_message=True, keeps_instructions_key=False)


ApiMode.RESPONSES = ApiMode(
    "responses", tools_at_top_level=True, allows_parallel_calls=True, instructions_as_message=False
)
ApiMode.RESPONSES_LITE = ApiMode(
    "responses_lite",
    tools_at_top_level=False,
    allows_parallel_calls=False,
    instructions_as_message=True,
    headers=MappingProxyType({"x-openai-internal-codex-responses-lite": "true"}),
    reasoning=MappingProxyType({"context": "all_turns"}),
)


@dataclass(frozen=True)
class SharedRawJson:
    """JSON that is encoded once and embedded untouched in every request that shares it."""

    raw: bytes

    def fragment(self) -> orjson.Fragment:
        return orjson.Fragment(self.raw)

    def decoded(self) -> Any:
        return orjson.loads(self.raw)


class ContractList(tuple[Contract, ...]):  # noqa: SLOT001 - the encoded forms are kept in its __dict__
    """The contracts of one plan, with their encoded forms. A tuple in every other way."""

    @cached_property
    def top_level(self) -> SharedRawJson:
        """The array for the key `tools`."""
        return SharedRawJson(json_array(contract.to_bytes() for contract in self))

    @cached_property
    def developer_item(self) -> SharedRawJson:
        """The array for Lite's first input item: bare tools are wrapped, except the search tool."""
        return SharedRawJson(json_array(contract.to_bytes() for contract in _wrapped(self)))


def _wrapped(contracts: Iterable[Contract]) -> list[Contract]:
    bare = [c for c in contracts if not isinstance(c, (NamespaceContract, ToolSearchContract))]
    functions: list[Contract] = [NamespaceContract(FUNCTIONS_NAMESPACE, "", tuple(bare))] if bare else []  # type: ignore[arg-type]
    return functions + [c for c in contracts if isinstance(c, (NamespaceContract, ToolSearchContract))]


@dataclass(frozen=True)
class AdditionalTools:
    """An input item that declares tools: the head of a Lite conversation, or a later update of it.

    The head's id is fixed, so that the head of the conversation stays byte-identical.
    """

    contracts: ContractList
    id: str = "at_0"

    def to_wire(self) -> dict[str, Any]:
        return self._members(self.contracts.developer_item.decoded())

    def embeddable(self) -> dict[str, Any]:
        """The item with the shared bytes of its contracts as a fragment: they are copied once, into the body."""
        return self._members(self.contracts.developer_item.fragment())

    def _members(self, tools: Any) -> dict[str, Any]:
        return {"type": "additional_tools", "id": self.id, "role": "developer", "tools": tools}


def declares_tools(item: Any) -> bool:
    """Whether an item of a history is an `additional_tools` item, ours or a wire dict."""
    return isinstance(item, AdditionalTools) or (isinstance(item, Mapping) and item.get("type") == "additional_tools")


@dataclass(frozen=True)
class PromptSnapshot:
    """All that one request says, frozen."""

    instructions: str = ""
    history: Sequence[Any] = ()
    """Items of the conversation: objects with `to_wire()`, or wire dicts."""
    tool_contracts: Sequence[Contract] = ()
    parallel_tool_calls: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "history", tuple(self.history))
        if not isinstance(self.tool_contracts, ContractList):
            object.__setattr__(self, "tool_contracts", ContractList(self.tool_contracts))

    def with_history(self, *items: Any) -> PromptSnapshot:
        return replace(self, history=(*self.history, *items))


@dataclass(frozen=True, eq=False)
class ApiRequest:
    """What is sent: a body whose contracts are encoded already, and the mode's marker headers."""

    mode: ApiMode
    headers: Mapping[str, str]
    members: Mapping[str, Any]
    """The body's members in order. Encoded parts are `orjson.Fragment`s; use `to_json` to look inside."""

    def to_bytes(self) -> bytes:
        """The body as compact UTF-8."""
        return orjson.dumps(dict(self.members))

    def to_json(self) -> dict[str, Any]:
        """The body as plain data, as the other side will read it."""
        decoded: dict[str, Any] = orjson.loads(self.to_bytes())
        return decoded


def encode_model_request(prompt: PromptSnapshot, mode: ApiMode) -> ApiRequest:
    """Lay out one request. Everything is encoded here: if it fails, nothing has been sent.

    Where the history begins with an `additional_tools` item, that item is the head of a Lite request as it is, and the
    prompt's contracts are not declared a second time.

    Raises:
        ContractEncodingError: a contract holds what JSON cannot say.
        HistoryError: the history or the instructions do.
    """
    contracts = prompt.tool_contracts
    assert isinstance(contracts, ContractList)  # PromptSnapshot makes it one
    items = list(prompt.history)
    head: list[Any] = []
    if not mode.tools_at_top_level:
        if items and declares_tools(items[0]):
            head.append(items.pop(0))
        elif contracts:
            head.append(AdditionalTools(contracts))
    if mode.instructions_as_message and prompt.instructions:
        head.append(_developer_message(prompt.instructions))
    key_text = "" if mode.instructions_as_message else prompt.instructions
    has_key = mode.keeps_instructions_key or not mode.instructions_as_message
    members = {
        **({"instructions": _encoded(key_text, "/instructions")} if has_key else {}),
        "input": [_encoded_item(item, pointer_of("input", index)) for index, item in enumerate(head + items)],
        **({"tools": contracts.top_level.fragment()} if mode.tools_at_top_level else {}),
        "parallel_tool_calls": prompt.parallel_tool_calls and mode.allows_parallel_calls,
    }
    return ApiRequest(mode, mode.headers, MappingProxyType(members))


def _encoded_item(item: Any, pointer: str) -> Any:
    if isinstance(item, AdditionalTools):
        return item.embeddable()
    value = item.to_wire() if hasattr(item, "to_wire") else item
    if not isinstance(value, dict):
        raise HistoryError(f"an item of a history is an object, found {type(value).__name__} at {pointer}")
    return _encoded(value, pointer)


def _encoded(value: Any, pointer: str) -> orjson.Fragment:
    """One part of the body, ready to be embedded."""
    if (flaw := unencodable(value)) is not None:
        raise HistoryError(f"the request cannot be encoded: {flaw[1]} at {pointer}{flaw[0]}")
    return orjson.Fragment(to_compact_bytes(value))


def _developer_message(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "id": "msg_0", "role": "developer", "content": content}
