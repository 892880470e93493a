"""JSON as text: reading it strictly, writing it compactly, and showing a piece of it in a message.

Why not just `json.loads`: it accepts `NaN`, keeps the last of two equal keys, lets half a surrogate pair through and
turns `1e400` into infinity. Two readers of such a text can disagree, so a check of one reader says nothing about the
other. `parse_strict` refuses what is not read alike everywhere, and says where it stands.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

from minicodex.errors import JsonTextError
from minicodex.printable import printable

__all__ = [
    "MAX_DEPTH",
    "MAX_TEXT_CHARS",
    "TOKEN",
    "Refused",
    "canonical_text",
    "integral",
    "key_flaw",
    "locate",
    "no_constant",
    "parse_strict",
    "pointer_of",
    "scalar_flaw",
    "shorten",
    "syntax_error",
    "to_compact_bytes",
    "unencodable",
]

MAX_DEPTH = 127
"""Levels of nesting that are read. Source: Codex CLI 0.171.0 stops at the 128th (measured)."""

MAX_TEXT_CHARS = 10_000_000
"""Longest text that is read, in characters. Codex has no bound that was found; 3 MB passed."""


# --- strict reading -------------------------------------------------------------------------------------------------


def parse_strict(text: str) -> Any:
    """Read one JSON value that every reader understands alike.

    Refused beyond what JSON itself forbids: an equal key twice in one object, a byte order mark, half a surrogate
    pair, a number too large for a float, nesting beyond `MAX_DEPTH`, a text beyond `MAX_TEXT_CHARS`. Integers are
    exact at any length up to Python's own limit of digits.

    Raises:
        JsonTextError: with the reason and the place, in our own words.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise JsonTextError(f"the text is longer than {MAX_TEXT_CHARS:,} characters", 1, 1, "send less at a time")
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_if_too_deep(text)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise syntax_error(text, error) from None
    except Refused as refused:
        raise locate(text, refused) from None
    if _SURROGATE.search(text):
        _refuse_if_half_a_pair(text)
    return value


class Refused(Exception):
    """Raised inside the decoder, which knows the value but not the place."""

    def __init__(self, reason: str, token: str, hint: str) -> None:
        self.reason, self.token, self.hint = reason, token, hint


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Refused(f"the key {shorten(double)} stands twice in one object", json.dumps(double), "send each key once")
    return members


def _finite(literal: str) -> float | int:
    value = float(literal)
    if math.isinf(value):
        raise Refused("a number too large for any reader", literal, "send a number below 1e308")
    if abs(value) >= 2**53 and not literal.strip("-0123456789."):
        exact = Decimal(literal)
        if exact != value and exact == exact.to_integral_value():
            return int(exact)  # `9007199254740993.0` writes out a whole number, which a float would round
    return value


def _whole(literal: str) -> int:
    try:
        return int(literal)
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise Refused("a number with too many digits", literal, "send it as a string") from None


def no_constant(literal: str) -> Any:
    """Refuse `NaN`, `Infinity` and `-Infinity`, which Python's decoder would read."""
    raise Refused(
        f"{literal} is not JSON", literal, "send a number that JSON can say, or null where the tool allows it"
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_float=_finite, parse_int=_whole, parse_constant=no_constant
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _error(text: str, offset: int, reason: str, hint: str) -> JsonTextError:
    return JsonTextError(reason, *_place(text, offset), hint)


def _refuse_if_too_deep(text: str) -> None:
    depth = 0
    for match in TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _error(text, match.start(), f"nested deeper than {MAX_DEPTH} levels", "send a flatter value")
        elif token in "]}":
            depth -= 1


def _refuse_if_half_a_pair(text: str) -> None:
    for match in TOKEN.finditer(text):
        token = match.group()
        if token[0] == '"' and _SURROGATE.search(token):
            word = json.loads(token, strict=False)
            if any("\ud800" <= character <= "\udfff" for character in word):
                reason = "half of a surrogate pair, which is no character"
                raise _error(text, match.start(), reason, "send whole characters")


def locate(text: str, refused: Refused) -> JsonTextError:
    """Find the place of what the decoder refused: for a key its second time in one object, else the first token."""
    seen: list[set[str]] = []
    tokens = list(TOKEN.finditer(text))
    for index, match in enumerate(tokens):
        token = match.group()
        if token in "[{":
            seen.append(set())
        elif token in "]}" and seen:
            seen.pop()
        elif token[0] == '"' and seen and index + 1 < len(tokens) and tokens[index + 1].group() == ":":
            key = json.dumps(json.loads(token, strict=False))
            if key in seen[-1] and key == refused.token:
                return _error(text, match.start(), refused.reason, refused.hint)
            seen[-1].add(key)
        elif token == refused.token:
            return _error(text, match.start(), refused.reason, refused.hint)
    return _error(text, 0, refused.reason, refused.hint)


def syntax_error(text: str, error: json.JSONDecodeError) -> JsonTextError:
    """Say what is wrong in our own words: Python's differ between its versions."""
    return _error(text, error.pos, *_syntax_reason(text, error.pos, error.msg))


def _syntax_reason(text: str, offset: int, message: str) -> tuple[str, str]:
    """The reason, and one way to mend it."""
    before, here = text[:offset].rstrip(), text[offset : offset + 1]
    if not text.strip():
        key = "empty"
    elif text.startswith("\ufeff"):
        key = "mark"
    elif message.startswith("Unterminated string") or not text[offset:].strip():
        key = "cut"
    elif before.endswith(",") and here in ("]", "}"):
        key = "comma"
    elif here == "'":
        key = "quote"
    else:
        key = next((start for start in _SYNTAX if message.startswith(start)), "Expecting value")
    reason, hint = _SYNTAX[key]
    return reason.format(here=ord(here or " ")), hint


_SYNTAX = {
    "empty": ("the text is empty", "send one JSON value"),
    "mark": ("a byte order mark stands before the value", "begin with the value itself"),
    "cut": ("the text ends before the value is complete", "send the whole value, shorter if it was cut off"),
    "comma": ("a comma after the last member", "leave the last comma out"),
    "quote": ("a single quote", "put strings and keys into double quotes"),
    "Illegal trailing comma": ("a comma after the last member", "leave the last comma out"),
    "Extra data": (
        "more text follows after the value",
        "send one value and nothing behind it; one call for each object",
    ),
    "Invalid control": (
        "a raw control character (U+{here:04X}) inside a string",
        "write it as an escape, a line break as \\n",
    ),
    "Invalid \\": ("an escape in a string that JSON does not know", "write a backslash as two"),
    "Expecting property name": ("a key without double quotes", "put every key into double quotes"),
    "Expecting ':'": ("a colon is missing after a key", "write a colon between key and value"),
    "Expecting ','": ("a comma or a closing bracket is missing", "write a comma between members"),
    "Expecting value": (
        "no JSON value begins here",
        "send JSON: strings in double quotes, true, false and null in small letters",
    ),
}
"""Reason and way out by a word of ours, or by the beginning of Python's message."""


# --- writing --------------------------------------------------------------------------------------------------------


def to_compact_bytes(value: Any) -> bytes:
    """Compact UTF-8 JSON in key order, the same bytes that serde_json writes.

    Raises:
        ValueError: the value holds something that JSON cannot say; `unencodable` names the place.
    """
    flaw = unencodable(value)
    if flaw is not None:
        raise ValueError(f"{flaw[1]} at {flaw[0] or 'the root'}")
    try:
        return orjson.dumps(value)
    except TypeError:  # orjson stops at 64-bit integers and at 254 levels
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def unencodable(value: Any) -> tuple[str, str] | None:
    """The first thing in a value that JSON cannot say, as (pointer, reason), or None. The value may be cyclic."""
    open_containers: set[int] = set()
    stack: list[tuple[Any, str, bool]] = [(value, "", False)]
    while stack:
        node, pointer, leaving = stack.pop()
        if leaving:
            open_containers.discard(id(node))
            continue
        reason = scalar_flaw(node)
        if reason is not None:
            return pointer, reason
        if isinstance(node, (dict, list, tuple)):
            if id(node) in open_containers:
                return pointer, "a value that contains itself"
            open_containers.add(id(node))
            stack.append((node, pointer, True))
            for step, child in _children(node):
                if isinstance(node, dict) and (reason := key_flaw(step)):
                    return pointer, reason
                stack.append((child, pointer + pointer_of(step), False))
    return None


def _children(node: Any) -> Iterator[tuple[Any, Any]]:
    pairs = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
    return reversed(pairs)


def key_flaw(key: Any) -> str | None:
    """Why this cannot be a key of a JSON object, or None."""
    if type(key) is not str:
        return f"a key of type {type(key).__name__}"
    return "a key with half a surrogate pair" if _half_pair(key) else None


def scalar_flaw(node: Any) -> str | None:
    """Why JSON cannot say this value, or None. Containers are judged by their type alone."""
    if node is None or isinstance(node, (bool, int, dict, list, tuple, orjson.Fragment)):
        return None
    if isinstance(node, float):
        return None if math.isfinite(node) else f"the number {node}"
    if isinstance(node, str):
        return "half a surrogate pair" if _half_pair(node) else None
    return f"a value of type {type(node).__name__}"


def _half_pair(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


# --- comparing ------------------------------------------------------------------------------------------------------


def canonical_text(value: Any) -> str:
    """One text for all values that JSON Schema calls equal: `1` and `1.0`, but not `true`; keys in any order."""
    return json.dumps(integral(value), sort_keys=True, separators=(",", ":"))


def integral(value: Any) -> Any:
    """The same value with every integral float as an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: integral(member) for key, member in value.items()}
    return [integral(member) for member in value] if isinstance(value, list) else value


# --- small words for messages ---------------------------------------------------------------------------------------


def pointer_of(*steps: Any) -> str:
    """JSON pointer of the given keys and indexes. Source: RFC 6901, where `~` and `/` are escaped."""
    return "".join(["/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps])


def shorten(value: Any, limit: int = 60) -> str:
    """A value as one line of JSON for a message, at most `limit` characters, all of them printable."""
    if isinstance(value, str):
        if len(value) < limit - 1 and value.isprintable() and '"' not in value and "\\" not in value:
            return f'"{value}"'
        text = json.dumps(value[: limit + 1], ensure_ascii=False)
    else:
        text = json.dumps(value, ensure_ascii=False, default=lambda other: f"<{type(other).__name__}>")
    text = printable(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
