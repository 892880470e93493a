"""Stage 1. Each test shows a node as it was written and as the model reads it."""

from __future__ import annotations

from typing import Any

import pytest

from minicodex.errors import InvalidToolSchema
from minicodex.schema import RULES, Effect, adapt_mcp_schema, compile_tool_schema, trace_tool_schema


def compiled_property(node: Any) -> Any:
    """What becomes of a node that stands under a property."""
    schema = {"type": "object", "properties": {"value": node}}
    return compile_tool_schema(schema).to_json()["properties"]["value"]


def refusal(node: Any) -> InvalidToolSchema:
    with pytest.raises(InvalidToolSchema) as caught:
        compiled_property(node)
    return caught.value


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"properties": {}}, {"type": "object", "properties": {}}),
        ({"items": {"type": "null"}}, {"type": "array", "items": {"type": "null"}}),
        ({"enum": [1, 2]}, {"type": "string", "enum": [1, 2]}),
        ({"const": None}, {"type": "string", "enum": [None]}),
        ({"const": 1, "enum": [2, 3]}, {"type": "string", "enum": [1]}),
        ({"format": "date"}, {"type": "string"}),
        ({"multipleOf": 2}, {"type": "number"}),
        ({"description": "lost", "title": "lost"}, {}),
        ({"minItems": 1}, {}),
        (True, {"type": "string"}),
        (False, {"type": "string"}),
        ({"type": ["string", "thing"]}, {"type": "string"}),
        ({"type": ["thing", "null", "string", "null"]}, {"type": ["null", "string", "null"]}),
        ({"type": "Integer", "minimum": 1}, {"type": "number"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "array", "items": None}, {"type": "array"}),
        ({"type": ["array", "object"]}, {"type": ["array", "object"], "items": {"type": "string"}, "properties": {}}),
        ({"anyOf": [True], "type": []}, {"type": [], "anyOf": [{"type": "string"}]}),
        ({"type": "object", "$defs": 3}, {"type": "object", "properties": {}}),
    ],
)
def test_a_node_is_rewritten_into_what_the_subset_can_say(written: Any, read: Any) -> None:
    assert compiled_property(written) == read


@pytest.mark.parametrize(
    ("node", "kind", "place"),
    [
        (None, "not_a_node", ""),
        (3, "not_a_node", ""),
        ({"type": "array", "items": [{}]}, "items_is_list", "/items"),
        ({"type": "array", "items": []}, "items_is_list", "/items"),
        ({"type": "thing", "anyOf": []}, "unusable_type", "/type"),
        ({"type": "object", "additionalProperties": "no"}, "not_a_node", "/additionalProperties"),
        ({"anyOf": {"type": "string"}}, "wrong_members", "/anyOf"),
        ({"anyOf": [{}, [1]]}, "not_a_node", "/anyOf/1"),
        ({"type": "string", "description": 1}, "wrong_description", "/description"),
        ({"$ref": 1}, "wrong_ref", "/$ref"),
        ({"type": "string", "enum": "ab"}, "wrong_enum", "/enum"),
        ({"type": "string", "encrypted": 1}, "wrong_encrypted", "/encrypted"),
        ({"type": "array", "minItems": -1}, "wrong_min_items", "/minItems"),
        ({"type": "array", "minItems": True}, "wrong_min_items", "/minItems"),
        ({"type": "array", "minItems": 1.0}, "wrong_min_items", "/minItems"),
        ({"type": "object", "properties": []}, "wrong_properties", "/properties"),
        ({"type": "object", "required": ["a", 1]}, "wrong_required", "/required"),
        ({"type": "object", "properties": {"a/b~": 1}}, "not_a_node", "/properties/a~1b~0"),
        ({"type": "object", "$defs": {"A": None}}, "not_a_node", "/$defs/A"),
    ],
)
def test_what_the_subset_cannot_hold_is_refused_with_kind_and_place(node: Any, kind: str, place: str) -> None:
    error = refusal(node)
    assert (error.kind, error.pointer) == (kind, "/properties/value" + place)
    assert error.hint


def test_two_refusals_of_one_fault_are_equal() -> None:
    assert refusal({"$ref": 1}) == refusal({"$ref": 1})
    assert refusal({"$ref": 1}) != refusal({"$ref": 2})


def test_what_stands_in_a_cleared_node_does_no_harm() -> None:
    assert compiled_property({"title": "t", "$defs": {"Bad": 3}, "description": 5}) == {}


@pytest.mark.parametrize("root", [None, True, False, 3, "text", [], [{"type": "object"}]])
def test_a_root_must_be_an_object(root: Any) -> None:
    with pytest.raises(InvalidToolSchema) as caught:
        compile_tool_schema(adapt_mcp_schema(root))
    assert (caught.value.kind, caught.value.pointer) == ("not_a_schema", "")


def test_keys_come_in_wire_order_and_names_by_code_point() -> None:
    schema = {
        "definitions": {},
        "oneOf": [],
        "required": ["b"],
        "properties": {"\U0001f600": {"type": "null"}, "\uff5e": {"type": "null"}, "b": {"type": "null"}},
        "description": "d",
        "type": "object",
    }
    compiled = compile_tool_schema(schema).to_json()
    assert list(compiled) == ["type", "description", "properties", "required", "oneOf"]
    assert list(compiled["properties"]) == ["b", "\uff5e", "\U0001f600"]


def test_adapting_gives_an_mcp_schema_its_properties_and_leaves_the_input_alone() -> None:
    written: dict[str, Any] = {"type": "object", "properties": None}
    assert adapt_mcp_schema(written) == {"type": "object", "properties": {}}
    assert adapt_mcp_schema({"enum": [1]}) == {"enum": [1], "properties": {}}
    assert written == {"type": "object", "properties": None}
    assert adapt_mcp_schema([1]) == [1]
    assert compile_tool_schema({"enum": ["a"]}).to_json() == {"type": "string", "enum": ["a"]}
    assert compile_tool_schema(adapt_mcp_schema({"enum": ["a"]})).to_json()["type"] == "object"


RULE_AT_WORK: dict[str, Any] = {
    "boolean_becomes_string": True,
    "const_becomes_enum": {"type": "string", "const": "a"},
    "unknown_type_removed": {"type": ["thing", "string"]},
    "type_inferred": {"format": "date"},
    "node_cleared": {"title": "t"},
    "properties_added": {"type": "object"},
    "items_added": {"type": "array"},
    "table_removed": {"type": "string", "$defs": 3},
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_of_normalisation_reports_itself(rule: Any) -> None:
    trace = trace_tool_schema({"type": "object", "properties": {"value": RULE_AT_WORK[rule.name]}})
    [loss] = [loss for loss in trace.losses if loss.rule == rule.name]
    assert (loss.pointer, loss.sentence) == ("/properties/value", rule.sentence)
    assert loss.effect is rule.effect


@pytest.mark.parametrize(
    ("values", "effect"),
    [(["a", "b"], Effect.KEPT), (["a", 1], Effect.NARROWER), ([1, 2], Effect.CONTRADICTORY)],
)
def test_an_enum_without_a_type_keeps_only_its_strings(values: list[Any], effect: Effect) -> None:
    trace = trace_tool_schema({"type": "object", "properties": {"value": {"enum": values}}})
    assert [loss.effect for loss in trace.losses if loss.rule == "type_inferred"] == [effect]
