"""A model that knows nothing but does what feedback says: the measure of whether feedback is any good.

It never sees the schema. It calls a tool, reads the answer, mends what the answer names, and calls again. What it can
mend, a real model can; what it cannot, the feedback did not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from minicodex.errors import JsonTextError
from minicodex.json_text import parse_strict
from minicodex.models.scripted import call, last_output, say
from minicodex.request import ApiRequest

__all__ = ["ObedientModel", "mend"]


class ObedientModel:
    """Calls one tool until its arguments are accepted, then says so."""

    def __init__(self, tool: str, arguments: str, *, namespace: str | None = None) -> None:
        self.tool, self.namespace = tool, namespace
        self.attempts = [arguments]
        """Every argument text it has written, the last one at the end."""

    def respond(self, request: ApiRequest) -> Sequence[Mapping[str, Any]]:
        answer = last_output(request)
        if answer and not _FAULT.search(answer):
            return [say(f"It worked after {len(self.attempts)} attempts.")]
        if answer:
            self.attempts.append(mend(self.attempts[-1], answer))
        number = len(self.attempts)
        return [call(self.tool, self.attempts[-1], namespace=self.namespace, call_id=f"call_{number}")]


_FAULT = re.compile(
    r"^- (?:at (?P<pointer>/.*?): )?(?P<problem>.+?)(?:; expected (?P<expected>.+?))?(?:; got (?P<got>.*))?$",
    re.MULTILINE,
)
_USE = re.compile(r'^Way out: use "(.*)"$', re.MULTILINE)


def mend(arguments: str, answer: str) -> str:
    """The argument text again, with everything mended that the answer names. Text that is no JSON begins anew."""
    value = _read(arguments)
    for fault in _FAULT.finditer(answer):
        problem, pointer, expected = fault["problem"], fault["pointer"], fault["expected"] or ""
        if problem.startswith("the arguments are wrapped"):
            return json.dumps(next(iter(value.values())))
        if pointer is None:
            continue
        if problem == "unknown field":
            instead = _USE.search(answer)
            removed = _remove(value, pointer)
            if instead:
                _put(value, f"{pointer.rpartition('/')[0]}/{instead[1]}", removed)
        else:
            _put(value, pointer, _sample(expected, _get(value, pointer)))
    return json.dumps(value)


def _read(arguments: str) -> Any:
    try:
        value = parse_strict(arguments)
        value = parse_strict(value) if isinstance(value, str) else value
    except JsonTextError:
        return {}
    return value if isinstance(value, dict) else {}


# --- what the words of an expectation ask for -----------------------------------------------------------------------

_PLAIN = {"a string": "text", "an integer": 1, "a number": 1, "a boolean": True, "a list": [], "an object": {}}
_LIMIT = re.compile(
    r"a (?P<kind>number|string|list|multiple)(?: of)?(?: (?P<side>at least|at most|above|below))? (?P<n>[\d.e+-]+)"
)


def _sample(expected: str, came: Any) -> Any:
    """A value that fits the words. What came is kept as far as it goes."""
    if isinstance(came, str) and not expected.startswith("a string"):
        try:
            inside = json.loads(came)
        except ValueError:
            inside = None
        if isinstance(inside, (dict, list, int, float)):
            return inside
    if limit := _LIMIT.match(expected):
        return _within(limit, came)
    if expected.startswith('"') or not expected.startswith(("a ", "an ")):
        return _quoted(re.split(r", | or ", expected)[0], came)
    return _PLAIN.get(expected.split(" or ", maxsplit=1)[0])


def _quoted(value: str, came: Any) -> Any:
    """The allowed value that the words quote; what came where they quote none, as those of a business rule may."""
    try:
        return json.loads(value or "null")
    except ValueError:
        return came


def _within(limit: re.Match[str], came: Any) -> Any:
    number = float(limit["n"])
    number = int(number) if number.is_integer() else number
    if limit["kind"] in ("number", "multiple"):
        return number + {"above": 1, "below": -1}.get(limit["side"], 0)
    size = int(number)
    if limit["side"] == "at most":
        return came[:size]
    filler = "x" * size if isinstance(came, str) else [came[-1] if came else None] * size
    return (came + filler)[: max(size, len(came))]


# --- places ---------------------------------------------------------------------------------------------------------


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _parent(value: Any, pointer: str) -> tuple[Any, Any]:
    *way, last = _steps(pointer)
    for step in way:
        value = value[int(step)] if isinstance(value, list) else value.setdefault(step, {})
    return value, int(last) if isinstance(value, list) else last


def _get(value: Any, pointer: str) -> Any:
    parent, key = _parent(value, pointer)
    return parent.get(key) if isinstance(parent, dict) else parent[key]


def _put(value: Any, pointer: str, new: Any) -> None:
    parent, key = _parent(value, pointer)
    parent[key] = new


def _remove(value: Any, pointer: str) -> Any:
    parent, key = _parent(value, pointer)
    return parent.pop(key)
