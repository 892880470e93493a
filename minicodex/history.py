"""The conversation: items in order, every call with its output.

A provider refuses a history in which a call has no output or an output has no call. So none is ever sent: `paired`
repairs the one fault that happens in practice, a call whose output was lost, and refuses the others. It reads wire
dicts like items of ours, since a restored history has nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from minicodex.dispatch import ModelCall, ModelCustomCall, ModelFunctionCall, ModelSearchCall, ToolResult
from minicodex.errors import HistoryError
from minicodex.json_text import unencodable
from minicodex.naming import ToolName
from minicodex.request import AdditionalTools

__all__ = [
    "ABORTED",
    "CallOutput",
    "Ids",
    "Item",
    "Message",
    "awaits_output",
    "counter",
    "developer",
    "paired",
    "read_item",
    "user",
    "wire",
]

Ids = Callable[[str], str]
"""Gives the next item id for a prefix: `ids("msg")` is `"msg_1"`."""


def counter(history: Iterable[Any] = ()) -> Ids:
    """Item ids that count up, so that equal turns give equal bytes: from 1, or from beyond those of a history."""
    taken = (item.get("id") if isinstance(item, Mapping) else _own_id(item) for item in history)
    ours = (re.fullmatch(r"[a-z]+_([0-9]{1,9})", identity) for identity in taken if isinstance(identity, str))
    numbers = count(1 + max((int(match[1]) for match in ours if match), default=0))
    return lambda prefix: f"{prefix}_{next(numbers)}"


def _own_id(item: Any) -> Any:
    """An item's id on the wire. A call has one beside its call id."""
    return getattr(item, "item_id", None) or getattr(item, "id", None)


@dataclass(frozen=True)
class Message:
    """Something said by the user, the developer or the assistant."""

    role: str
    text: str
    id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        kind = "output_text" if self.role == "assistant" else "input_text"
        identity = {} if self.id is None else {"id": self.id}
        return {
            "type": "message",
            **identity,
            "role": self.role,
            "content": [{"type": kind, "text": self.text}],
        }


def user(text: str) -> Message:
    """What the user says."""
    return Message("user", text)


def developer(text: str) -> Message:
    """What the developer of the runtime says."""
    return Message("developer", text)


_OUTPUT_TYPES = {
    ModelFunctionCall: ("function_call_output", "fco"),
    ModelCustomCall: ("custom_tool_call_output", "ctco"),
    ModelSearchCall: ("tool_search_output", "tso"),
}


@dataclass(frozen=True)
class CallOutput:
    """The output of one call, in the form that the call's kind asks for."""

    result: ToolResult
    kind: type
    """Class of the call: it decides the item's type."""
    id: str | None = None

    @classmethod
    def of(cls, call: ModelCall, result: ToolResult, ids: Ids) -> CallOutput:
        return cls(result, type(call), ids(_OUTPUT_TYPES[type(call)][1]))

    def to_wire(self) -> dict[str, Any]:
        head: dict[str, Any] = {"type": _OUTPUT_TYPES[self.kind][0]}
        head |= {} if self.id is None else {"id": self.id}
        head["call_id"] = self.result.call_id
        if self.kind is ModelSearchCall:
            found = self.result.output if self.result.ok else []
            return head | {"status": "completed", "execution": "client", "tools": found}
        return head | {"output": self.result.output}


Item = (
    Message | ModelFunctionCall | ModelCustomCall | ModelSearchCall | CallOutput | AdditionalTools | Mapping[str, Any]
)
"""One item of a history: ours, or a wire dict as it came."""

ABORTED = "aborted"
"""Output of a call that was never answered. Source: Codex CLI 0.171.0 (measured)."""


class _Link(NamedTuple):
    """The end of a pair that an item is: what must be equal in a call and its output."""

    kind: type
    call_id: str


_CALL_KINDS = {
    "function_call": ModelFunctionCall,
    "custom_tool_call": ModelCustomCall,
    "tool_search_call": ModelSearchCall,
}
_OUTPUT_KINDS = {wire_type: kind for kind, (wire_type, _) in _OUTPUT_TYPES.items()}


def paired(history: Iterable[Item], ids: Ids) -> tuple[Item, ...]:
    """The history with exactly one output for each call.

    A call without an output gets the output `aborted` directly behind it, as in Codex CLI 0.171.0 (measured).

    Raises:
        HistoryError: an output that belongs to no call of its kind before it, or an item that cannot be read.
    """
    items = [(item, _call(item), _output(item)) for item in history]
    left = Counter(output for _, _, output in items if output)
    waiting: Counter[_Link] = Counter()
    repaired: list[Item] = []
    for item, call, output in items:
        repaired.append(item)
        if output:
            if not waiting[output]:
                raise HistoryError(f"an output for {output.call_id!a} has no call before it that waits for it")
            waiting[output] -= 1
        elif call and left[call]:
            left[call] -= 1
            waiting[call] += 1
        elif call:
            aborted = ToolResult.error(call.call_id, ABORTED)
            repaired.append(CallOutput(aborted, call.kind, ids(_OUTPUT_TYPES[call.kind][1])))
    return tuple(repaired)


def awaits_output(item: Item) -> bool:
    """Whether an item is a call that somebody must answer."""
    try:
        return _call(item) is not None
    except HistoryError:
        return False


def _call(item: Item) -> _Link | None:
    if isinstance(item, (ModelFunctionCall, ModelCustomCall, ModelSearchCall)):
        return _Link(type(item), item.id)
    return _wire_link(item, _CALL_KINDS) if isinstance(item, Mapping) else None


def _output(item: Item) -> _Link | None:
    if isinstance(item, CallOutput):
        return _Link(item.kind, item.result.call_id)
    return _wire_link(item, _OUTPUT_KINDS) if isinstance(item, Mapping) else None


def _wire_link(item: Mapping[str, Any], kinds: Mapping[str, type]) -> _Link | None:
    wire_type = item.get("type")
    kind = kinds.get(wire_type) if isinstance(wire_type, str) else None
    if kind is None or item.get("execution") == "server":  # the provider answers a search of its own
        return None
    if not isinstance(call_id := item.get("call_id"), str):
        raise HistoryError(f"an item of type {wire_type!a} needs a call_id that is a text")
    return _Link(kind, call_id)


def wire(history: Sequence[Item]) -> list[Any]:
    """The whole history as it is sent."""
    return [item if isinstance(item, Mapping) else item.to_wire() for item in history]


def read_item(output: Mapping[str, Any], step_id: str, ids: Ids) -> Item | None:
    """One output item of the model as an item of ours; None if it cannot be read.

    The real CLI drops such items without a word (measured); `run_turn` records them as dropped. One that could not be
    sent back, such as a text with half a surrogate pair, is no item either.
    """
    if unencodable(output) is not None:
        return None
    match output:
        case {"type": "message", "role": str(role), "content": [*parts]}:
            return Message(role, "".join(map(_said, parts)), _id(output, "msg", ids))
        case {
            "type": "function_call",
            "call_id": str(call_id),
            "name": str(name),
            "arguments": str(arguments),
        }:
            namespace = output.get("namespace")
            if namespace is not None and not isinstance(namespace, str):
                return None
            return ModelFunctionCall(
                call_id, ToolName.from_wire(name, namespace), arguments, step_id, _id(output, "fc", ids)
            )
        case {"type": "custom_tool_call", "call_id": str(call_id), "name": str(name), "input": str(text)}:
            return ModelCustomCall(call_id, ToolName(name), text, step_id, _id(output, "ctc", ids))
        case {"type": "tool_search_call", "call_id": str(call_id)}:
            return ModelSearchCall(call_id, output.get("arguments"), step_id, _id(output, "tsc", ids))
        case {"type": "reasoning"}:
            return output
    return None


def _said(part: Any) -> str:
    """The words of one part of a message; a refusal has its own key for them."""
    return str(part.get("text") or part.get("refusal") or "") if isinstance(part, Mapping) else ""


def _id(output: Mapping[str, Any], prefix: str, ids: Ids) -> str:
    """The item's own id if it has the proper prefix, else a new one. Source: Codex CLI 0.171.0 (measured)."""
    own = output.get("id")
    return own if isinstance(own, str) and own.startswith(f"{prefix}_") else ids(prefix)
