"""Stage 3: the budget, the passes in their order, and what each takes."""

from __future__ import annotations

from typing import Any

import pytest

from minicodex.errors import InvalidToolSchema
from minicodex.schema import BUDGET_BYTES, COLLAPSE_DEPTH, PASSES, compile_tool_schema, trace_tool_schema

PASS_NAMES = [stage.name for stage in PASSES]


def padded(size_bytes: int, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """A schema of exactly this compiled size, filled up with one long enum value."""
    schema = schema or {}
    properties = {**schema.get("properties", {}), "zz": {"type": "string", "enum": [""]}}
    bare = {"type": "object", **schema, "properties": properties}
    missing = size_bytes - compile_tool_schema(bare, trusted=True).size_bytes
    return {**bare, "properties": {**properties, "zz": {"type": "string", "enum": ["x" * missing]}}}


def passes_run(schema: dict[str, Any]) -> list[str]:
    return [stage.name for stage in trace_tool_schema(schema).stages if stage.ran and stage.name in PASS_NAMES]


def test_the_budget_is_measured_on_codex() -> None:
    assert (BUDGET_BYTES, COLLAPSE_DEPTH) == (5_000, 3)
    assert PASS_NAMES == [
        "remove_schema_descriptions",
        "remove_definition_tables",
        "collapse_deep_objects",
        "prune_composition_branches",
    ]


def test_a_schema_that_fits_is_left_alone_and_one_byte_more_is_not() -> None:
    described = {"description": "d"}
    assert passes_run(padded(5_000, described)) == []
    assert "description" in compile_tool_schema(padded(5_000, described)).to_json()
    assert passes_run(padded(5_001, described)) == ["remove_schema_descriptions"]
    assert "description" not in compile_tool_schema(padded(5_001, described)).to_json()


def test_what_is_still_too_big_after_the_last_pass_is_sent() -> None:
    schema = padded(9_000)
    assert passes_run(schema) == PASS_NAMES
    assert compile_tool_schema(schema).size_bytes == 9_000


def test_a_trusted_schema_skips_the_compaction_only() -> None:
    schema = padded(6_000, {"description": "d", "$defs": {"Unused": {"type": "null"}}})
    compiled = compile_tool_schema(schema, trusted=True).to_json()
    assert compiled["description"] == "d"
    assert "$defs" not in compiled
    with pytest.raises(InvalidToolSchema, match="null"):
        compile_tool_schema({"type": "null"}, trusted=True)


def compacted(properties: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """The properties after all four passes."""
    compiled = compile_tool_schema(padded(9_000, {"properties": properties, **rest})).to_json()
    return {name: node for name, node in compiled.get("properties", {}).items() if name != "zz"}


def test_pass_one_takes_keywords_not_names_and_not_values() -> None:
    node = {"type": "string", "description": "d", "enum": [{"description": "kept"}]}
    assert compacted({"description": node}) == {"description": {"type": "string", "enum": [{"description": "kept"}]}}


def test_pass_two_empties_references_with_their_siblings_even_dangling_ones() -> None:
    kept = {"$ref": "#/properties/zz"}
    properties = {"a": {"$ref": "#/$defs/A", "type": "string"}, "b": {"$ref": "#/$defs/Gone"}, "c": kept}
    assert compacted(properties, **{"$defs": {"A": {"type": "null"}}}) == {"a": {}, "b": {}, "c": kept}


def test_pass_three_empties_structure_from_the_third_step_on() -> None:
    deep = {"type": "object", "properties": {"x": {"type": "array"}, "y": {"type": "string", "required": ["q"]}}}
    node = {"type": "object", "properties": {"deep": deep}}
    inner = {"type": "object", "properties": {"x": {}, "y": {"type": "string", "required": ["q"]}}}
    assert compacted({"a": node}) == {"a": {"type": "object", "properties": {"deep": inner}}}


def test_pass_four_empties_alternatives_even_when_they_are_null() -> None:
    node = {"type": "object", "properties": {"inner": {"type": "string", "oneOf": None}}}
    assert compacted({"a": node, "b": {"anyOf": [{"type": "null"}]}}) == {
        "a": {"type": "object", "properties": {"inner": {}}},
        "b": {},
    }


def test_tables_below_the_root_are_never_compacted() -> None:
    table = {"A": {"type": "object", "properties": {"p": {"$ref": "#/$defs/B"}}}, "M": {"anyOf": [{"type": "null"}]}}
    node = {"type": "object", "properties": {}, "$defs": table}
    assert compacted({"a": node}) == {"a": node}


def test_a_root_can_end_as_nothing() -> None:
    assert compile_tool_schema(padded(9_000, {"anyOf": []})).to_json() == {}
    assert compile_tool_schema(padded(9_000, {"$ref": "#/$defs/A"})).to_json() == {}


def test_a_null_root_is_refused_unless_a_pass_has_emptied_it() -> None:
    for types in ("null", ["null"], ["null", "thing"]):
        with pytest.raises(InvalidToolSchema) as caught:
            compile_tool_schema({"type": types, "properties": {}})
        assert (caught.value.kind, caught.value.pointer) == ("null_root", "/type")
    assert compile_tool_schema({"type": ["null", "null"]}).to_json() == {"type": ["null", "null"]}
    assert compile_tool_schema({**padded(9_000, {"anyOf": []}), "type": "null"}).to_json() == {}


def test_a_fault_below_what_a_pass_would_take_still_refuses_the_schema() -> None:
    deep: Any = {"type": "string", "description": 5}
    for _ in range(6):
        deep = {"type": "object", "properties": {"x": deep}}
    with pytest.raises(InvalidToolSchema, match="description"):
        compile_tool_schema(padded(9_000, {"properties": {"a": deep["properties"]["x"]}}))
