"""A model that follows a script: offline, deterministic, and able to misbehave on purpose.

Each answer of the script is one item, a list of items, or a function from the request to either. Such a function can
read the feedback it got and do better, as a real model would.

A script reads like what happens: `cut(call("pay", {"sum": 3}))`, `twice(call("pay", {"sum": 3}))`. The words that claim
something about the request (`ignoring`, `although_gone`) look whether it is so, and a script that is wrong is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from minicodex.errors import ProviderError
from minicodex.request import FUNCTIONS_NAMESPACE, ApiRequest
from minicodex.tool_updates import declared_names

__all__ = [
    "Answer",
    "ScriptedModel",
    "although_gone",
    "as_text",
    "call",
    "cut",
    "ignoring",
    "last_output",
    "say",
    "search",
    "twice",
    "without",
]

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


# --- misbehaviour ---------------------------------------------------------------------------------------------------


def cut(item: WireItem, keep: int | None = None) -> WireItem:
    """The call with its argument text broken off, after half of it or after `keep` characters."""
    text = item["arguments"]
    return {**item, "arguments": text[: len(text) // 2 if keep is None else keep]}


def twice(item: WireItem) -> list[WireItem]:
    """The same call two times in one answer. A call with an id of its own comes twice under that id."""
    return [item, item]


def without(item: WireItem, field: str) -> WireItem:
    """The call with a field left out, however required."""
    return _with_arguments(item, {key: value for key, value in _arguments(item).items() if key != field})


def as_text(item: WireItem, field: str) -> WireItem:
    """The call with a field's value as a text: the number 3 as `"3"`, a list as the JSON of it."""
    arguments = _arguments(item)
    return _with_arguments(item, arguments | {field: json.dumps(arguments[field], ensure_ascii=False)})


def ignoring(words: str, item: WireItem) -> Callable[[ApiRequest], WireItem]:
    """The call, against what a description says in these words.

    Raises:
        ProviderError: when answering, if no description in the request says so.
    """

    def answer(request: ApiRequest) -> WireItem:
        if not any(words in description for description in _descriptions(request.to_json())):
            raise ProviderError(f"the script ignores {words!a}, but no description says that")
        return item

    return answer


def although_gone(item: WireItem) -> Callable[[ApiRequest], WireItem]:
    """The call of a tool that the request does not offer, or no longer.

    Raises:
        ProviderError: when answering, if the tool is offered.
    """
    place = f"{item.get('namespace') or FUNCTIONS_NAMESPACE}.{item['name']}"

    def answer(request: ApiRequest) -> WireItem:
        if place in _offered(request):
            raise ProviderError(f"the script says that {place} is gone, but it is offered")
        return item

    return answer


def _arguments(item: WireItem) -> dict[str, Any]:
    arguments: dict[str, Any] = json.loads(item["arguments"])
    return arguments


def _with_arguments(item: WireItem, arguments: Any) -> WireItem:
    return {**item, "arguments": json.dumps(arguments, ensure_ascii=False)}


def _descriptions(value: Any) -> Iterator[str]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if key == "description" and isinstance(child, str):
            yield child
        yield from _descriptions(child)


def _offered(request: ApiRequest) -> set[str]:
    """What may be called by the request's own words, in either mode: `namespace.name`."""
    body = request.to_json()
    top_level = {"type": "additional_tools", "tools": body.get("tools", [])}
    names = declared_names([top_level, *body["input"]])
    return {name if "." in name else f"{FUNCTIONS_NAMESPACE}.{name}" for name in names}


# --- the model ------------------------------------------------------------------------------------------------------


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
