"""Whatever comes in, a schema or an `InvalidToolSchema` comes out, soon, and the input is as it was."""

from __future__ import annotations

import enum
import json
import tracemalloc
import uuid
from collections import OrderedDict
from datetime import date
from typing import Any

import pytest

from minicodex.errors import InvalidToolSchema
from minicodex.schema import (
    ToolSchema,
    adapt_mcp_schema,
    compile_mcp_schema_json,
    compile_tool_schema,
    compile_tool_schema_json,
    trace_tool_schema,
)


class Colour(enum.Enum):
    RED = "red"


def cyclic_list() -> list[Any]:
    members: list[Any] = []
    members.extend([members, members])
    return members


def cyclic_dict() -> dict[str, Any]:
    node: dict[str, Any] = {"type": "object"}
    node["properties"] = {"self": node, "again": node}
    return node


NO_JSON = [
    float("nan"),
    float("-inf"),
    (1, 2),
    {1, 2},
    b"bytes",
    object(),
    Colour.RED,
    uuid.UUID(int=1),
    date(2031, 4, 5),
    "half a pair \ud800",
    {1: "a key"},
    {"\udfff": "a key"},
    cyclic_list(),
    {"deep": [{"er": (1,)}]},
]


@pytest.mark.parametrize("place", ["enum", "default", "title", "x-own", "not"])
@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
def test_python_data_that_is_no_json_is_refused_wherever_it_stands(value: Any, place: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", place: [value]}}}
    with pytest.raises(InvalidToolSchema) as caught:
        compile_tool_schema(schema)
    assert caught.value.kind in ("not_json", "too_deep")
    assert caught.value.pointer.startswith(f"/properties/a/{place}/0")
    assert trace_tool_schema(schema).error == caught.value


@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
def test_python_data_that_is_no_json_is_refused_in_the_place_of_a_schema(value: Any) -> None:
    for schema in (
        value,
        {"properties": value},
        {"properties": {"a": value}},
        {"$defs": {"Unused": value}, "type": "object"},
    ):
        with pytest.raises(InvalidToolSchema):
            compile_tool_schema(schema)


def test_a_circle_of_schemas_is_refused() -> None:
    with pytest.raises(InvalidToolSchema) as caught:
        compile_tool_schema(cyclic_dict())
    assert caught.value.kind == "too_deep"


def test_a_subclass_of_dict_is_as_good_as_a_dict() -> None:
    schema = OrderedDict(type="object", properties=OrderedDict(a=OrderedDict(type="string")))
    assert compile_tool_schema(schema).to_json() == {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":}',
        "nul",
        "[1,]",
        '{"a":1}x',
        "\ufeff{}",
        '{"a":"\\ud800"}',
        '{"a":NaN}',
        "'a'",
        '{"a":01}',
        b"\xff",
        b"\xef\xbb\xbf{}",
        '"\x01"',
        "[" * 100_000,
    ],
)
def test_a_text_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidToolSchema) as caught:
        compile_tool_schema_json(text)
    assert caught.value.kind in ("not_json", "too_deep")


def test_of_two_equal_keys_the_last_counts() -> None:
    assert compile_tool_schema_json('{"type":"string","type":"object"}').to_json() == {
        "type": "object",
        "properties": {},
    }


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize("levels", [1, 50, 124, 200, 249])
def test_deep_schemas_compile_and_have_a_model(levels: int) -> None:
    compiled = compile_tool_schema(nested(levels), trusted=True)
    assert compiled.to_json() == nested(levels)
    node: Any = compiled.model
    for _ in range(levels):
        node = node.items
    assert node.type == "string"


@pytest.mark.parametrize("levels", [250, 400, 1_000, 5_000])
def test_deeper_than_parsers_write_is_refused_with_the_place(levels: int) -> None:
    with pytest.raises(InvalidToolSchema) as caught:
        compile_tool_schema(nested(levels))
    assert (caught.value.kind, caught.value.pointer) == ("too_deep", "/items" * 250)
    text = '{"type":"array","items":' * levels + '{"type":"string"}' + "}" * levels
    with pytest.raises(InvalidToolSchema) as again:
        compile_tool_schema_json(text)
    assert again.value == caught.value


def test_a_hundred_thousand_levels_do_no_harm() -> None:
    for text in ("[" * 100_000 + "]" * 100_000, '{"items":' * 100_000 + "1" + "}" * 100_000):
        with pytest.raises(InvalidToolSchema) as caught:
            compile_mcp_schema_json(text)
        assert caught.value.kind == "too_deep"


def chain(length: int) -> dict[str, Any]:
    """Each definition refers to the next one."""
    definitions: dict[str, Any] = {
        f"D{i}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/D{i + 1}"}}} for i in range(length)
    }
    definitions[f"D{length}"] = {"type": "string"}
    return {"type": "object", "properties": {"first": {"$ref": "#/$defs/D0"}}, "$defs": definitions}


def test_a_chain_of_a_hundred_thousand_definitions_is_kept_whole() -> None:
    schema = chain(100_000)
    assert compile_tool_schema(schema, trusted=True).to_json() == {
        **schema,
        "$defs": dict(sorted(schema["$defs"].items())),
    }


def test_a_long_chain_takes_at_most_twelve_times_its_text_in_memory() -> None:
    schema = chain(10_000)
    raw_bytes = len(json.dumps(schema, separators=(",", ":")))
    tracemalloc.start()
    compiled = compile_tool_schema(schema, trusted=True)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert compiled.size_bytes == raw_bytes
    assert peak_bytes <= 12 * raw_bytes


def test_a_diamond_of_references_is_not_walked_twice() -> None:
    definitions = {f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(2_000)}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    assert len(compile_tool_schema(schema, trusted=True).to_json()["$defs"]) == 2_000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {f"p{i}": {"type": "string", "description": "d"} for i in range(50_000)}},
        {"anyOf": [{"type": "object", "properties": {}}] * 50_000},
        {"enum": ["value"] * 500_000},
        {"type": "object", "required": ["name"] * 500_000},
        {f"x-{i}": i for i in range(200_000)},
        {"type": "object", "description": "d" * 9_000_000},
    ],
    ids=["properties", "members", "enum", "required", "own-keywords", "description"],
)
def test_wide_schemas_of_megabytes_compile(schema: dict[str, Any]) -> None:
    assert isinstance(compile_tool_schema(adapt_mcp_schema(schema)), ToolSchema)
