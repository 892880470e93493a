"""The conversation: items in order, every call with its output.

A provider refuses a history in which a call has no output or an output has no call. So none is ever sent: `paired`
repairs the one fault that happens in practice, a call whose output was lost, and refuses the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from minicodex.dispatch import ModelCall, ModelCustomCall, ModelFunctionCall, ModelSearchCall, ToolResult
from minicodex.errors import HistoryError

__all__ = ["CallOutput", "Ids", "Item", "Message", "assistant", "counter", "developer", "paired", "user"]

Ids = Callable[[str], str]
"""Gives the next item id for a prefix: `ids("msg")` is `"msg_1"`."""


def counter() -> Ids:
    """Item ids that count up from 1, so that equal turns give equal bytes."""
    numbers = count(1)
    return lambda prefix: f"{prefix}_{next(numbers)}"


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


def assistant(text: str) -> Message:
    """What the model says."""
    return Message("assistant", text)


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


Item = Message | ModelFunctionCall | ModelCustomCall | ModelSearchCall | CallOutput | Mapping[str, Any]
"""One item of a history: ours, or a wire dict as it came."""

ABORTED = "aborted"
"""Output of a call that was never answered. Source: Codex CLI 0.171.0 (measured)."""


def paired(history: Iterable[Item], ids: Ids) -> tuple[Item, ...]:
    """The history with exactly one output for each call.

    A call without an output gets the output `aborted` directly behind it, as in Codex CLI 0.171.0.

    Raises:
        HistoryError: an output that belongs to no call before it.
    """
    items = list(history)
    answered = Counter(item.result.call_id for item in items if isinstance(item, CallOutput))
    repaired: list[Item] = []
    open_calls: Counter[str] = Counter()
    for item in items:
        if isinstance(item, CallOutput):
            if not open_calls[item.result.call_id]:
                raise HistoryError(f"an output for {item.result.call_id!a} has no call before it")
            open_calls[item.result.call_id] -= 1
        repaired.append(item)
        if isinstance(item, (ModelFunctionCall, ModelCustomCall, ModelSearchCall)):
            if answered[item.id] > 0:
                answered[item.id] -= 1
                open_calls[item.id] += 1
            else:
                repaired.append(CallOutput.of(item, ToolResult.error(item.id, ABORTED), ids))
    return tuple(repaired)


def wire(history: Sequence[Item]) -> list[Any]:
    """The whole history as it is sent."""
    return [item if isinstance(item, Mapping) else item.to_wire() for item in history]
