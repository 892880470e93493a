"""JSON as text: reading it strictly, reading schemas leniently, writing it compactly.

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

__all__ = [
    "MAX_DEPTH",
    "MAX_TEXT_CHARS",
    "parse_strict",
    "pointer_of",
    "printable",
    "shorten",
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
        raise _syntax_error(text, error) from None
    except _Refused as refused:
        raise _locate(text, refused) from None
    if _SURROGATE.search(text):
        _refuse_if_half_a_pair(text)
    return value


class _Refused(Exception):
    """Raised inside the decoder, which knows the value but not the place."""

    def __init__(self, reason: str, token: str, hint: str) -> None:
        self.reason, self.token, self.hint = reason, token, hint


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(
            f"the key {shorten(double)} stands twice in one object", json.dumps(double), "send each key once"
        )
    return members


def _finite(literal: str) -> float | int:
    value = float(literal)
    if math.isinf(value):
        raise _Refused("a number too large for any reader", literal, "send a number below 1e308")
    if abs(value) >= 2**53 and not literal.strip("-0123456789."):
        exact = Decimal(literal)
        if exact != value and exact == exact.to_integral_value():
            return int(exact)  # `9007199254740993.0` writes out a whole number, which a float would round
    return value


def _whole(literal: str) -> int:
    try:
        return int(literal)
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise _Refused("a number with too many digits", literal, "send it as a string") from None


def _no_constant(literal: str) -> Any:
    raise _Refused(
        f"{literal} is not JSON", literal, "send a number that JSON can say, or null where the tool allows it"
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_float=_finite, parse_int=_whole, parse_constant=_no_constant
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _error(text: str, offset: int, reason: str, hint: str) -> JsonTextError:
    return JsonTextError(reason, *_place(text, offset), hint)


def _refuse_if_too_deep(text: str) -> None:
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _error(text, match.start(), f"nested deeper than {MAX_DEPTH} levels", "send a flatter value")
        elif token in "]}":
            depth -= 1


def _refuse_if_half_a_pair(text: str) -> None:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token[0] == '"' and _SURROGATE.search(token):
            word = json.loads(token, strict=False)
            if any("\ud800" <= character <= "\udfff" for character in word):
                reason = "half of a surrogate pair, which is no character"
                raise _error(text, match.start(), reason, "send whole characters")


def _locate(text: str, refused: _Refused) -> JsonTextError:
    """Find the place of what the decoder refused: for a key its second time in one object, else the first token."""
    seen: list[set[str]] = []
    tokens = list(_TOKEN.finditer(text))
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


def _syntax_error(text: str, error: json.JSONDecodeError) -> JsonTextError:
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
        reason = _scalar_flaw(node)
        if reason is not None:
            return pointer, reason
        if isinstance(node, (dict, list, tuple)):
            if id(node) in open_containers:
                return pointer, "a value that contains itself"
            open_containers.add(id(node))
            stack.append((node, pointer, True))
            for step, child in _children(node):
                if isinstance(node, dict) and (reason := _key_flaw(step)):
                    return pointer, reason
                stack.append((child, pointer + pointer_of(step), False))
    return None


def _children(node: Any) -> Iterator[tuple[Any, Any]]:
    pairs = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
    return reversed(pairs)


def _key_flaw(key: Any) -> str | None:
    if type(key) is not str:
        return f"a key of type {type(key).__name__}"
    return "a key with half a surrogate pair" if _half_pair(key) else None


def _scalar_flaw(node: Any) -> str | None:
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


# --- small words for messages ---------------------------------------------------------------------------------------


def pointer_of(*steps: Any) -> str:
    """JSON pointer of the given keys and indexes. Source: RFC 6901, where `~` and `/` are escaped."""
    return "".join(["/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps])


def printable(text: str) -> str:
    """A stranger's text on one line, with an escape for everything that a terminal or a reader could trip over."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


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


# --- lenient reading, for schemas -----------------------------------------------------------------------------------
#
# A schema is text that others wrote and that goes on as text: `1.10` must leave as `1.10`. Equal keys are no reason to
# refuse it (the last one counts). The fast reader is right as long as no number matters; where one does, the exact
# reader keeps every literal that a Python number would not give back.

MAX_SCHEMA_DEPTH = 250
"""Levels of nesting of a schema. Source: orjson writes 254; compiling adds at most two."""


_MAX_DIGITS = 4_300  # Python reads no longer integer


class NumberLiteral:
    """A number as its text, where Python's value would be written differently: `1.10`, `1e+5`, 2 to the power 64."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def integer(self) -> int | None:
        """Its value if the literal is an integer of a length that Python reads."""
        return int(self.text) if self.text.lstrip("-").isdigit() and len(self.text) < _MAX_DIGITS else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberLiteral) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


class NotJson(Exception):
    """A Python value that JSON cannot say.

    Attributes:
        pointer: the place.
        found: what stands there.
        is_too_deep: whether it is fine but for its nesting.
    """

    def __init__(self, pointer: str, found: str, *, is_too_deep: bool = False) -> None:
        super().__init__(found)
        self.pointer, self.found, self.is_too_deep = pointer, found, is_too_deep


def can_be_written(value: Any) -> bool:
    """Whether a Python value has a JSON text that the fast path may rely on: plain types, no cycle, not too deep.

    What orjson writes but does not mean (a tuple, NaN) is left to `is_json`; what only `exact_copy` can tell (an
    integer beyond 64 bits, a number literal, a subclass of dict) makes it False.
    """
    try:
        orjson.dumps([[[[value]]]], option=_PLAIN_TYPES_ONLY)  # four levels make orjson's 254 our MAX_SCHEMA_DEPTH
    except TypeError:
        return False
    return True


def is_json(value: Any) -> bool:
    """Whether a value that can be written comes back unchanged from its own JSON text."""
    return not value or bool(orjson.loads(orjson.dumps(value)) == value)


_PLAIN_TYPES_ONLY = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def parse_loose(text: str | bytes) -> Any:
    """Read the JSON text of a schema fast; numbers become Python's.

    Raises:
        JsonTextError: it is not JSON.
        NotJson: it is nested too deep.
    """
    try:
        value = orjson.loads(text)
        if sum(map(text.count, _BRACKETS[type(text)])) > MAX_SCHEMA_DEPTH:
            orjson.dumps([[[[value]]]])
    except (KeyError, TypeError, ValueError):
        return exact_copy(parse_exact(text))  # the copy finds the place of half a pair, or of what is too deep
    return value


_BRACKETS: dict[type, tuple[Any, Any]] = {str: ("[", "{"), bytes: (b"[", b"{")}


def parse_exact(text: str | bytes) -> Any:
    """Read the JSON text of a schema; every number keeps its text.

    Raises:
        JsonTextError: it is not JSON.
        NotJson: it is nested far too deep.
    """
    try:
        words = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise JsonTextError("the text is not UTF-8", 1, 1) from None
    try:
        return _EXACT_DECODER.decode(words)
    except json.JSONDecodeError as error:
        raise _syntax_error(words, error) from None
    except _Refused as refused:
        raise _locate(words, refused) from None
    except RecursionError:
        raise NotJson(_deep_place(words), "more levels", is_too_deep=True) from None


def exact_copy(value: Any) -> Any:
    """A copy of a JSON value in which a number that Python writes in another way is a `NumberLiteral`.

    Python's floats are written as Python writes them. No recursion; the value may be of any depth, and cyclic.

    Raises:
        NotJson: the value holds something that JSON cannot say, or is nested too deep.
    """
    top: list[Any] = [None]
    stack: list[tuple[Any, Any, Any, Any, int]] = [(value, top, 0, None, 0)]
    while stack:
        item, holder, key, path, depth = stack.pop()
        if isinstance(item, (dict, list)):
            if depth == MAX_SCHEMA_DEPTH:
                raise NotJson(_pointer_of_path(path), "more levels", is_too_deep=True)
            copy: Any = dict.fromkeys(item) if isinstance(item, dict) else [None] * len(item)
            for step, child in item.items() if isinstance(item, dict) else enumerate(item):
                if isinstance(item, dict) and (flaw := _key_flaw(step)):
                    raise NotJson(_pointer_of_path(path), flaw)
                stack.append((child, copy, step, (path, step), depth + 1))
            holder[key] = copy
        else:
            holder[key] = _exact_scalar(item, path)
    return top[0]


def _exact_scalar(item: Any, path: Any) -> Any:
    if isinstance(item, float) and math.isfinite(item):
        return _literal(float.__repr__(item))
    if isinstance(item, int) and not isinstance(item, bool):
        try:
            return _literal(int.__repr__(item))
        except ValueError:  # Python refuses to write integers of thousands of digits
            raise NotJson(_pointer_of_path(path), "a number with too many digits") from None
    flaw = None if isinstance(item, NumberLiteral) else _scalar_flaw(item)
    if flaw or isinstance(item, (tuple, orjson.Fragment)):
        raise NotJson(_pointer_of_path(path), flaw or f"a value of type {type(item).__name__}")
    return item


def _literal(text: str) -> int | float | NumberLiteral:
    """The Python number that is written as this literal, or the literal itself where there is none."""
    mantissa, exponent, power = text.lower().partition("e")
    if not exponent and "." not in text:
        short = len(text) <= len(str(-(2**63))) and -(2**63) <= int(text) < 2**64
        return int(text) if short else NumberLiteral(text)
    if exponent and power[0] not in "+-":
        power = "+" + power
    text = mantissa + exponent + power
    value = float(text)
    same = text == repr(value) and text.encode() == orjson.dumps(value)
    return value if same else NumberLiteral(text)


_EXACT_DECODER = json.JSONDecoder(parse_float=_literal, parse_int=_literal, parse_constant=_no_constant, strict=True)


def has_odd_literal(text: str | bytes, numbers: list[float]) -> bool:
    """Whether one of these numbers, which were read from a JSON text, may be written there in a way of its own."""
    words = text if isinstance(text, str) else text.decode()
    magnitudes = {abs(number) for number in numbers}
    return any(
        float(literal) in magnitudes and orjson.dumps(float(literal)) != literal.encode()
        for literal in _MAGNITUDE.findall(words)
    )


def has_long_integer(text: str | bytes) -> bool:
    """Whether a JSON text may hold an integer beyond 64 bits; strings are not told apart."""
    words = text.encode() if isinstance(text, str) else text
    return b"0" * 19 in words.translate(_DIGITS_AS_ZERO)


def is_written_alike(numbers: list[float]) -> bool:
    """Whether orjson writes every one of these floats as Python does."""
    return all(orjson.dumps(number) == repr(number).encode() for number in numbers)


_MAGNITUDE = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")


def write_number(value: Any) -> orjson.Fragment:
    """`default` of orjson: writes a number literal as its text."""
    if isinstance(value, NumberLiteral):
        return orjson.Fragment(value.text)
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def parse_plain(text: bytes) -> Any:
    """Plain Python data from JSON text that we wrote; integers are exact, what no float can hold is infinite."""
    return json.loads(text, parse_int=_plain_integer)


def _plain_integer(literal: str) -> int | float:
    return int(literal) if len(literal) < _MAX_DIGITS else float(literal)


def _pointer_of_path(path: Any) -> str:
    steps = []
    while path:
        path, step = path
        steps.append(step)
    return pointer_of(*reversed(steps))


def _deep_place(text: str) -> str:
    """The pointer of the first value that is nested too deep, read from the text alone."""
    steps: list[Any] = []
    key = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            if len(steps) == MAX_SCHEMA_DEPTH:
                break
            steps.append(0 if token == "[" else "")
        elif token in "]}":
            steps.pop()
        elif token == "," and isinstance(steps[-1], int):
            steps[-1] += 1
        elif token == ":":
            steps[-1] = json.loads(key, strict=False)
        else:
            key = token
    return pointer_of(*steps)
