"""The text of a schema: read so that every number keeps its literal.

A schema is text that others wrote and that goes on as text: `1.10` must leave as `1.10`. Equal keys are no reason to
refuse it (the last one counts). The fast reader is right as long as no number matters; where one does, the exact
reader keeps every literal that a Python number would not give back.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from minicodex.errors import JsonTextError
from minicodex.json_text import TOKEN, Refused, key_flaw, locate, no_constant, pointer_of, scalar_flaw, syntax_error

__all__ = [
    "MAX_SCHEMA_DEPTH",
    "NotJson",
    "NumberLiteral",
    "can_be_written",
    "exact_copy",
    "has_long_integer",
    "has_odd_literal",
    "is_json",
    "is_written_alike",
    "parse_exact",
    "parse_loose",
    "parse_plain",
    "write_number",
]

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
        raise syntax_error(words, error) from None
    except Refused as refused:
        raise locate(words, refused) from None
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
                if isinstance(item, dict) and (flaw := key_flaw(step)):
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
    flaw = None if isinstance(item, NumberLiteral) else scalar_flaw(item)
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


_EXACT_DECODER = json.JSONDecoder(parse_float=_literal, parse_int=_literal, parse_constant=no_constant, strict=True)


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
    return not numbers or all(orjson.dumps(number) == repr(number).encode() for number in numbers)


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
    for match in TOKEN.finditer(text):
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
