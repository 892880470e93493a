"""Arguments against Python types: pydantic decodes them, strictly.

Strict means that no value changes its type on the way: `"5"` is not 5, and `1` is not true. One thing is allowed that
pydantic's strict mode refuses: an integral float such as `3.0` is an integer, because JSON Schema, which the model was
shown, says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model

from minicodex.arguments import (
    MAX_FAULTS_FOUND,
    describe,
    missing_field,
    not_allowed,
    outside_limits,
    parse_arguments,
    unknown_field,
    wrapped_fields,
    wrong_type,
)
from minicodex.errors import ArgumentError, ArgumentFault, InvalidContract, Rank
from minicodex.json_text import integral, pointer_of, to_compact_bytes

__all__ = ["TypedArguments"]


@dataclass(frozen=True)
class TypedArguments:
    """The typed parameters of one tool."""

    model: type[BaseModel]
    parameters: Mapping[str, str]
    """Field of the model to parameter of the function."""

    @classmethod
    def of(cls, tool: str, parameters: Mapping[str, tuple[Any, Any]]) -> TypedArguments:
        """Build the checker from name to (type, default); `...` as default makes a parameter required.

        Raises:
            InvalidContract: pydantic cannot check one of the types.
        """
        # Each field gets a neutral name of its own: a parameter may be called `json` or `model_config`.
        fields: dict[str, Any] = {
            f"argument_{index}": (kind, Field(default, alias=name))
            for index, (name, (kind, default)) in enumerate(parameters.items())
        }
        try:
            model = create_model(tool, __config__=ConfigDict(extra="forbid"), **fields)
        except (PydanticUserError, NameError, TypeError) as error:
            raise InvalidContract(f"{tool}: pydantic cannot check these parameters: {error}") from error
        return cls(model, dict(zip(fields, parameters, strict=True)))

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the parameters, with each definition that is used once in its place."""
        schema = _inlined(self.model.model_json_schema())
        schema.pop("title", None)
        schema.setdefault("properties", {})
        return schema

    def decode(self, raw_arguments: str) -> dict[str, Any]:
        """Check the text and give each parameter its value.

        Raises:
            ArgumentError: it does not fit.
        """
        value = parse_arguments(raw_arguments)
        text = raw_arguments if value else "{}"
        try:
            checked = self.model.model_validate_json(text, strict=True)
        except ValidationError as error:
            checked = self._with_integral_floats(value, error)
        return {name: getattr(checked, field) for field, name in self.parameters.items()}

    def _with_integral_floats(self, value: dict[str, Any], error: ValidationError) -> BaseModel:
        """Second try of a refused value, with `3.0` as 3 where that may have been the only fault."""
        entries = error.errors(include_url=False)
        if any(isinstance(entry["input"], float) and entry["input"].is_integer() for entry in entries):
            try:
                return self.model.model_validate_json(to_compact_bytes(integral(value)), strict=True)
            except ValidationError as second:
                entries = second.errors(include_url=False)
        wrapped = wrapped_fields(value, self.parameters.values())
        faults = _merged(self._fault(entry, _steps(entry, value)) for entry in entries)
        raise ArgumentError(*([wrapped] if wrapped else []), *faults) from None

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return self.json_schema()

    def _fault(self, entry: Any, steps: list[Any]) -> ArgumentFault:
        if entry["type"] == "missing":
            return missing_field(pointer_of(*steps[:-1]), str(steps[-1]), _schema_at(self._schema, steps))
        if entry["type"] in ("literal_error", "enum") and (allowed := _allowed(_schema_at(self._schema, steps))):
            return not_allowed(pointer_of(*steps), allowed, entry["input"])
        return _translated(entry, steps, self.parameters.values())


def _schema_at(schema: Any, steps: list[Any]) -> Any:
    """The schema of one place in the arguments, as far as it is simple to find; else an empty one."""
    tables = schema.get("$defs", {})
    for step in steps:
        schema = tables.get(str(schema.get("$ref", "")).removeprefix(_DEFINITIONS), schema)
        schema = schema.get("items", {}) if isinstance(step, int) else schema.get("properties", {}).get(step, {})
    return tables.get(str(schema.get("$ref", "")).removeprefix(_DEFINITIONS), schema)


def _allowed(schema: dict[str, Any]) -> list[Any]:
    """The values that a place, or one of the branches of its union, lists one by one."""
    places = (schema, *schema.get("anyOf", ()))
    return [value for place in places for value in place.get("enum", [place["const"]] if "const" in place else [])]


_DEFINITIONS = "#/$defs/"


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Put each definition that is used once where it is used: a model reads that better, and it costs fewer bytes."""
    uses = Counter(node["$ref"].removeprefix(_DEFINITIONS) for node in _nodes(schema) if "$ref" in node)
    definitions = schema.pop("$defs", {})

    def settle(node: Any) -> Any:
        if isinstance(node, list):
            return [settle(member) for member in node]
        if not isinstance(node, dict):
            return node
        name = str(node.get("$ref", "")).removeprefix(_DEFINITIONS)
        if uses[name] == 1:
            node = definitions[name] | {key: value for key, value in node.items() if key != "$ref"}
        return {key: settle(member) for key, member in node.items()}

    kept = {name: settle(body) for name, body in definitions.items() if uses[name] != 1}
    settled: dict[str, Any] = settle(schema)
    return settled | ({"$defs": kept} if kept else {})


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(child)


# --- from pydantic's errors to ours ---------------------------------------------------------------------------------


def _steps(entry: Any, value: Any) -> list[Any]:
    """The way to the fault in the arguments. pydantic's own also names the branches of unions, which are dropped."""
    steps: list[Any] = []
    for step in entry["loc"]:
        if _has(value, step):
            value = value[step]
        elif not (entry["type"] == "missing" and step == entry["loc"][-1]):
            continue
        steps.append(step)
    return steps


def _has(value: Any, step: Any) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _translated(entry: Any, steps: list[Any], known: Iterable[str]) -> ArgumentFault:
    """Translate one error of pydantic. Its own words hold a versioned address and are never shown."""
    kind, given, context, pointer = entry["type"], entry["input"], entry.get("ctx", {}), pointer_of(*steps)
    if kind == "extra_forbidden":
        return unknown_field(pointer, str(steps[-1]), list(known) if len(steps) == 1 else [])
    if kind in _NOUNS:
        return wrong_type(pointer, _NOUNS[kind], given, wants_text=kind == "string_type")
    if kind in ("literal_error", "enum"):  # deep in a union, where only pydantic knows the branch
        allowed = str(context.get("expected", ""))
        allowed = allowed.replace("'", '"') if _PLAIN_CHOICES.fullmatch(allowed) else "one of the allowed values"
        return ArgumentFault(
            "not an allowed value",
            pointer,
            allowed,
            describe(given, pointer),
            "send one of the allowed values",
            rank=Rank.CHOICE,
        )
    if kind in _LIMITS:
        keyword, key = _LIMITS[kind]
        return outside_limits(pointer, keyword, context.get(key), given)
    if kind in ("value_error", "assertion_error"):  # the tool author's own rule, in the author's own words
        return ArgumentFault(str(context.get("error", "breaks a rule of the tool")), pointer, rank=Rank.OTHER)
    return ArgumentFault("does not fit", pointer, _wording(kind), describe(given, pointer), rank=Rank.OTHER)


_PLAIN_CHOICES = re.compile(r"(?:'[^',]*'|-?\d+)(?:(?:, | or )(?:'[^',]*'|-?\d+))*")
"""A list of values as pydantic writes it; with a quote or a comma inside a value it cannot be read back."""


def _wording(kind: str) -> str:
    """Pydantic's kind of error as words: `"date_from_datetime_parsing"` asks for a date."""
    return f"a valid {kind.split('_', maxsplit=1)[0]}"


def _merged(faults: Iterable[ArgumentFault]) -> list[ArgumentFault]:
    """One fault where a union reports one for each of its branches, at most `MAX_FAULTS_FOUND`."""
    merged: dict[tuple[str, str], ArgumentFault] = {}
    for fault in faults:
        if len(merged) == MAX_FAULTS_FOUND:
            break
        place = (fault.pointer, fault.problem)
        known = merged.get(place, fault)
        if fault.expected not in known.expected:
            expected = f"{known.expected} or {fault.expected}"
            known = known._replace(expected=expected, hint=f"send {expected}")
        merged[place] = known
    return list(merged.values())


_NOUNS = {
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "a boolean",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
    "mapping_type": "an object",
}

_LIMITS = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"),
    "less_than_equal": ("maximum", "le"),
    "multiple_of": ("multipleOf", "multiple_of"),
    "string_too_short": ("minLength", "min_length"),
    "string_too_long": ("maxLength", "max_length"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "too_short": ("minItems", "min_length"),
    "too_long": ("maxItems", "max_length"),
}
"""From pydantic's kind of error to JSON Schema's keyword, and where pydantic keeps the limit."""
