"""A model that follows a script: offline, deterministic, and able to misbehave on purpose.

Each answer of the script is one item, a list of items, or a function from the request to either. Such a function can
read the feedback it got and do better, as a real model would.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from minicodex.errors import ProviderError
from minicodex.request import ApiRequest

__all__ = ["Answer", "ScriptedModel", "call", "last_output", "say", "search"]

WireItem = Mapping[str, Any]
Answer = WireItem | Sequence[WireItem] | Callable[[ApiRequest], WireItem | Sequence[WireItem]]


def say(text: str) -> WireItem:
    """The model says something."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def call(name: str, arguments: Any, *, namespace: str | None = None, call_id: str | None = None) -> WireItem:
    """The model calls a tool. A text is sent as it is, however broken; anything else is written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    item = {"type": "function_call", "name": name, "arguments": text}
    item |= {} if namespace is None else {"namespace": namespace}
    return item if call_id is None else item | {"call_id": call_id}


def search(query: str, limit: int | None = None) -> WireItem:
    """The model looks for deferred tools."""
    arguments: dict[str, Any] = {"query": query} | ({} if limit is None else {"limit": limit})
    return {"type": "tool_search_call", "status": "completed", "execution": "client", "arguments": arguments}


def last_output(request: ApiRequest) -> str:
    """The newest tool output in the request: what a model reads before it tries again."""
    outputs = [item["output"] for item in request.to_json()["input"] if "output" in item]
    return str(outputs[-1]) if outputs else ""


class ScriptedModel:
    """Answers request by request from its script. Calls without an id get `call_1`, `call_2`, … in order."""

    def __init__(self, script: Iterable[Answer]) -> None:
        self._script = list(script)
        self._calls = 0
        self.requests: list[ApiRequest] = []
        """Every request it was sent."""

    def respond(self, request: ApiRequest) -> Sequence[WireItem]:
        """The next answer of the script.

        Raises:
            ProviderError: the script is at its end.
        """
        if len(self.requests) == len(self._script):
            raise ProviderError(f"the script has only {len(self._script)} answers")
        answer = self._script[len(self.requests)]
        self.requests.append(request)
        if callable(answer):
            answer = answer(request)
        return [self._with_id(item) for item in ([answer] if isinstance(answer, Mapping) else answer)]

    def _with_id(self, item: WireItem) -> WireItem:
        if not str(item.get("type", "")).endswith("_call") or "call_id" in item:
            return item
        self._calls += 1
        return {**item, "call_id": f"call_{self._calls}"}
