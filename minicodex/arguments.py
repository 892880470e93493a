"""From the text that a model wrote to a JSON object, and from what is wrong with it to feedback the model can use.

The feedback has one fixed form for every kind of tool: what was wrong, at which place, what was expected, what came,
and one way to do it right. It never holds a library's words, a place in our code, or the value of a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from minicodex.errors import ArgumentError, ArgumentFault, JsonTextError, Rank
from minicodex.json_text import parse_strict, pointer_of, shorten
from minicodex.printable import printable

__all__ = [
    "LIMITS",
    "MAX_FAULTS_FOUND",
    "as_list",
    "describe",
    "expectation",
    "feedback",
    "missing_field",
    "not_allowed",
    "noun",
    "outside_limits",
    "parse_arguments",
    "unknown_field",
    "wrapped_fields",
    "wrong_type",
]

MAX_FAULTS_FOUND = 50
"""Faults collected for one call; feedback shows fewer."""

MAX_FAULTS_SHOWN = 5
"""More than this many faults in one answer help no model; the rest is counted."""

MAX_KEYS_SHOWN = 4
"""Keys of an object that are named when it stands in the wrong place."""

MAX_INSIDE_CHARS = 100_000
"""Longest string that is looked into for JSON that was encoded twice."""

MAX_COMPARED_CHARS = 100
"""As much of a wrong name or value is compared with the right ones."""

MAX_COMPARED_CHOICES = 1_000
"""As many right names or values are compared with a wrong one: comparing is slow, and real lists are shorter."""

NEAR = 0.75
"""How alike two texts are when one is taken for a slip of the other; 1 is equal. Measured by difflib."""

MAX_FEEDBACK_CHARS = 2_000
"""Longest feedback, in characters."""

_NO_ARGUMENTS: dict[str, Any] = {}


def parse_arguments(raw_arguments: str) -> dict[str, Any]:
    """Read the argument text of a call as a JSON object.

    Empty text is read as no arguments, `{}`: whether the tool can do without is for its schema to say.

    Raises:
        ArgumentError: the text is not strict JSON, or not an object.
    """
    if not isinstance(raw_arguments, str):
        raise ArgumentError(ArgumentFault("not text", expected="a text with one JSON object", rank=Rank.NOT_JSON))
    if not raw_arguments.strip(" \t\r\n"):
        return dict(_NO_ARGUMENTS)
    try:
        value = parse_strict(raw_arguments)
    except JsonTextError as error:
        raise ArgumentError(_not_json(raw_arguments, error)) from None
    if not isinstance(value, dict):
        raise ArgumentError(_not_object(value))
    return value


def _not_json(text: str, error: JsonTextError) -> ArgumentFault:
    got = f"{len(text):,} characters of text"
    return ArgumentFault(f"not valid JSON: {error}", "", "one JSON object", got, error.hint, rank=Rank.NOT_JSON)


def _not_object(value: Any) -> ArgumentFault:
    if isinstance(value, str) and isinstance(_json_inside(value), dict):
        problem, hint = (
            "encoded twice: a string that holds JSON",
            "send the object itself, not a string with it inside",
        )
    elif isinstance(value, list):
        problem, hint = "not an object", "name each argument: send an object with one key per argument"
    else:
        problem, hint = "not an object", "send an object with one key per argument"
    return ArgumentFault(problem, expected="a JSON object", got=describe(value), hint=hint, rank=Rank.NOT_JSON)


# --- faults that every decoder can find -----------------------------------------------------------------------------


def wrong_type(pointer: str, expected: str, value: Any, *, wants_text: bool = False) -> ArgumentFault:
    """A value of the wrong type. Recognises JSON inside a string, and null for a field that can be left out."""
    inside = _json_inside(value) if isinstance(value, str) and not wants_text else None
    if isinstance(inside, (dict, list)):
        kind = "object" if isinstance(inside, dict) else "list"
        return ArgumentFault(
            "encoded twice: a string that holds JSON",
            pointer,
            expected,
            describe(value, pointer),
            f"send the {kind} itself, not a string with it inside",
            rank=Rank.ENCODED_TWICE,
        )
    hint = f"send {expected}"
    if isinstance(inside, (int, float)):
        hint += ", without quotes"
    elif value is None:
        hint += ", or leave the field out if it is optional"
    return ArgumentFault("wrong type", pointer, expected, describe(value, pointer), hint, rank=Rank.TYPE)


def unknown_field(pointer: str, name: str, known: Sequence[str]) -> ArgumentFault:
    """A field that the tool does not have."""
    expected = f"only {one_of(known, word='and')}" if known else "no such field"
    written = name[:MAX_COMPARED_CHARS]
    return ArgumentFault(
        "unknown field",
        pointer,
        expected,
        hint="leave it out",
        rank=Rank.UNKNOWN,
        written=written,
        choices=_comparable(known),
    )


def missing_field(pointer: str, name: str, schema: Any, *, beside: str = "") -> ArgumentFault:
    """A field that has to be there, always or `beside` another one.

    Args:
        pointer: of the object that lacks it.
        schema: what the field asks for, as far as it is known.
    """
    problem = f"missing beside {shorten(beside, 40)}" if beside else "missing"
    hint = f"add the field {shorten(name, 40)}"
    return ArgumentFault(problem, pointer + pointer_of(name), expectation(schema), hint=hint, rank=Rank.MISSING)


def not_allowed(pointer: str, allowed: Sequence[Any], value: Any) -> ArgumentFault:
    """A value that is none of the allowed ones."""
    return ArgumentFault(
        "not an allowed value",
        pointer,
        one_of(allowed),
        describe(value, pointer),
        "send one of the allowed values",
        rank=Rank.CHOICE,
        written=value[:MAX_COMPARED_CHARS] if isinstance(value, str) else "",
        choices=_comparable(allowed),
    )


def _comparable(choices: Iterable[Any]) -> tuple[str, ...]:
    """The choices that a wrong text can be a slip of. One of twice the compared length is never `NEAR`."""
    texts = (choice for choice in choices if isinstance(choice, str) and len(choice) < 2 * MAX_COMPARED_CHARS)
    return tuple(islice(texts, MAX_COMPARED_CHOICES))


LIMITS = {
    "minimum": "a number of at least {}",
    "maximum": "a number of at most {}",
    "exclusiveMinimum": "a number above {}",
    "exclusiveMaximum": "a number below {}",
    "multipleOf": "a multiple of {}",
    "minLength": "a string of at least {} characters",
    "maxLength": "a string of at most {} characters",
    "pattern": "a string that matches {}",
    "minItems": "a list of at least {}",
    "maxItems": "a list of at most {}",
    "uniqueItems": "a list without equal members",
    "minProperties": "an object with at least {} fields",
    "maxProperties": "an object with at most {} fields",
}
"""What a limit asks for, by its keyword in JSON Schema."""


def outside_limits(pointer: str, keyword: str, limit: Any, value: Any) -> ArgumentFault:
    """A value of the right type, too large, too small or of the wrong form. `keyword` is one of `LIMITS`."""
    expected = LIMITS[keyword].format(shorten(limit, 60))
    return ArgumentFault(
        "outside the limits", pointer, expected, describe(value, pointer), f"send {expected}", rank=Rank.LIMIT
    )


def wrapped_fields(arguments: dict[str, Any], known: Iterable[str]) -> ArgumentFault | None:
    """Arguments inside one outer key that the tool does not know, as in `{"arguments": {…}}`."""
    if len(arguments) != 1:
        return None
    (key, inner), names = next(iter(arguments.items())), set(known)
    if key in names or not isinstance(inner, dict) or not names.intersection(inner):
        return None
    return ArgumentFault(
        f"the arguments are wrapped in an outer key {shorten(key, 30)}",
        pointer_of(key),
        "the fields at the top level",
        "one outer key around them",
        "send the inner object alone",
        rank=Rank.WRAPPED,
    )


def _json_inside(text: str) -> Any:
    if len(text) > MAX_INSIDE_CHARS or text.strip()[:1] not in tuple('{["-0123456789tfn'):
        return None
    try:
        return parse_strict(text.strip())
    except JsonTextError:
        return None


# --- saying what was expected ---------------------------------------------------------------------------------------


def expectation(schema: Any) -> str:
    """What a schema asks for, in a few words; empty where it does not say."""
    if not isinstance(schema, dict):
        return ""
    if isinstance(schema.get("enum"), list):
        return one_of(schema["enum"])
    types = schema.get("type")
    return " or ".join(map(noun, as_list(types))) if isinstance(types, (str, list)) and types else ""


def as_list(types: Any) -> list[Any]:
    """The types of a `type` keyword, which may be one name or a list of names."""
    return [types] if isinstance(types, str) else list(types)


_NOUNS = {"integer": "an integer", "array": "a list", "object": "an object", "null": "null"}


def noun(type_name: Any) -> str:
    """A JSON type as a person says it: `"an integer"`."""
    return _NOUNS.get(type_name, f"a {type_name}") if isinstance(type_name, str) else "a value"


# --- saying what came -----------------------------------------------------------------------------------------------

_SECRET = re.compile(
    r"pass(word|wd|phrase)|secret|token|api_?-?key|credential|private_?-?key|authori[sz]ation", re.IGNORECASE
)


def describe(value: Any, pointer: str = "") -> str:
    """What came, in a few words. The value of a field whose name speaks of a secret is not shown."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"an object with {_keys(value)}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    word = "string" if isinstance(value, str) else "number"
    if _SECRET.search(pointer):
        return f"a {word} (not shown)"
    return f"the {word} {shorten(value, 40)}"


def _keys(value: dict[str, Any]) -> str:
    shown = ", ".join(shorten(key, 24) for key in list(value)[:MAX_KEYS_SHOWN])
    keys = "the key " if len(value) == 1 else "the keys "
    hidden = len(value) - MAX_KEYS_SHOWN
    return keys + shown + (f" and {hidden:,} more" if hidden > 0 else "")


# --- the feedback text ----------------------------------------------------------------------------------------------


def feedback(tool: str, error: ArgumentError) -> str:
    """What the model is told, in a form that is fixed and locked by a test.

    The arguments of update_plan do not fit; nothing was run.
    - at /plan/0/status: not an allowed value; expected "pending" or "completed"; got the string "done"
    Way out: send one of the allowed values
    """
    name = _printable(tool)
    lines = [
        f"{name} refused these arguments." if error.ran else f"The arguments of {name} do not fit; nothing was run."
    ]
    lines += [_fault_line(fault) for fault in error.faults[:MAX_FAULTS_SHOWN]]
    if len(error.faults) > MAX_FAULTS_SHOWN:
        lines.append(f"- and {len(error.faults) - MAX_FAULTS_SHOWN} more")
    way_out = next((_way_out(fault) for fault in error.faults if fault.hint), "")
    if way_out:
        lines.append(f"Way out: {_printable(way_out)}")
    text = "\n".join(lines)
    return text if len(text) <= MAX_FEEDBACK_CHARS else text[: MAX_FEEDBACK_CHARS - 1] + "…"


def _fault_line(fault: ArgumentFault) -> str:
    parts = [f"at {_printable(fault.pointer, 120)}: {fault.problem}" if fault.pointer else fault.problem]
    parts += [f"expected {fault.expected}"] if fault.expected else []
    parts += [f"got {fault.got}"] if fault.got else []
    return "- " + _printable("; ".join(parts))


def _way_out(fault: ArgumentFault) -> str:
    near = get_close_matches(fault.written, fault.choices, n=1, cutoff=NEAR) if fault.choices else []
    return f"use {shorten(near[0], 40)}" if near else fault.hint


def _printable(text: str, limit: int = 300) -> str:
    """One line of valid UTF-8: a key or name of the model's may hold anything."""
    safe = printable(text[: limit + 1])
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def one_of(values: Sequence[Any], limit: int = 6, word: str = "or") -> str:
    """Allowed values for a message: `"a", "b" or "c"`, at most `limit` of them."""
    shown = [shorten(value, 30) for value in values[:limit]]
    if len(values) > limit:
        return ", ".join(shown) + f" {word} one of {len(values) - limit} more"
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
