"""The trace, what it says was lost, and the arguments that prove it."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import (
    PASSES,
    STAGES,
    Effect,
    adapt_mcp_schema,
    compile_tool_schema,
    find_witness,
    judge,
    trace_mcp_schema_json,
    trace_tool_schema,
)


def losses(node: Any) -> set[tuple[str, Effect]]:
    trace = trace_tool_schema({"type": "object", "properties": {"x": node}})
    return {(loss.at.removeprefix("/properties/x"), loss.effect) for loss in trace.losses}


def witness(node: Any, **rest: Any) -> tuple[Any, Effect] | None:
    found = trace_tool_schema({"type": "object", "properties": {"x": node}, **rest}).witness
    return found and (found.arguments, found.effect)


def test_the_trace_lists_every_stage_with_the_reason_why_it_ran_or_not() -> None:
    trace = trace_tool_schema({"type": "object", "properties": {}, "description": "d" * 6_000})
    assert [stage.name for stage in trace.stages] == [stage.name for stage in (*STAGES, *PASSES)]
    assert [stage.ran for stage in trace.stages] == [True, True, True, False, False, False]
    assert trace.stages[2].why == "6,050 bytes are over the budget of 5,000"
    assert trace.stages[3].why == "33 bytes fit the budget of 5,000"
    assert [stage.size_bytes for stage in trace.stages] == [6050, 6050, 33, 33, 33, 33]
    assert trace.schema is not None
    assert trace.stages[-1].schema == trace.schema.to_json()


def test_a_trusted_trace_says_so() -> None:
    trace = trace_tool_schema({"type": "object", "description": "d" * 6_000}, trusted=True)
    assert {stage.why for stage in trace.stages[2:]} == {"a trusted schema is not compacted"}
    assert trace.schema == compile_tool_schema({"type": "object", "description": "d" * 6_000}, trusted=True)


def test_budget_and_depth_can_be_tried_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}
    trace = trace_tool_schema(schema, budget_bytes=10, collapse_depth=1)
    assert trace.schema is not None
    assert trace.schema.to_json() == {"type": "object", "properties": {"a": {}}}
    assert trace_tool_schema(schema, collapse_depth=1).schema == compile_tool_schema(schema)


def test_a_refused_schema_has_an_error_and_the_stages_before_it() -> None:
    trace = trace_tool_schema({"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"B": 3}})
    assert trace.error is not None
    assert (trace.error.pointer, trace.schema, trace.witness) == ("/$defs/B", None, None)
    assert [stage.name for stage in trace.stages] == ["normalize_supported_keywords"]
    assert trace_tool_schema({"a": (1,)}).stages == ()


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer", "minimum": 1, "title": "t"}, {("/minimum", Effect.WIDER), ("/title", Effect.TEXT_LOST)}),
        (
            {"type": "array", "items": True, "uniqueItems": False},
            {("/items", Effect.NARROWER), ("/uniqueItems", Effect.KEPT)},
        ),
        ({"type": "string", "$comment": "c", "x-own": 1}, {("/$comment", Effect.KEPT), ("/x-own", Effect.TEXT_LOST)}),
        (
            {"type": "array", "prefixItems": [{}], "items": {"type": "null"}},
            {("/prefixItems", Effect.NARROWER)},
        ),
        (
            {"description": "d", "minItems": 2},
            {("", Effect.TEXT_LOST), ("/description", Effect.TEXT_LOST), ("/minItems", Effect.WIDER)},
        ),
        (
            {"oneOf": [{"title": "a"}, {"title": "b"}]},
            {
                ("/oneOf", Effect.CONTRADICTORY),
                *((f"/oneOf/{i}{end}", Effect.TEXT_LOST) for i in (0, 1) for end in ("", "/title")),
            },
        ),
    ],
)
def test_each_loss_has_a_place_and_an_effect(node: Any, expected: set[tuple[str, Effect]]) -> None:
    assert losses(node) == expected


def test_what_happens_in_a_definition_is_reported_where_it_stands() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "string", "maxLength": 3}, "B": {"type": "null"}},
    }
    found = {(loss.at, loss.rule) for loss in trace_tool_schema(schema).losses}
    assert found == {("/$defs/A/maxLength", "demand_lost"), ("/$defs/B", "definition_unreached")}


@pytest.mark.parametrize(
    ("node", "effect"),
    [
        ({"type": "integer", "minimum": 1}, Effect.WIDER),
        ({"type": "number", "exclusiveMaximum": 2.5}, Effect.WIDER),
        ({"type": "integer", "multipleOf": 5}, Effect.WIDER),
        ({"type": "string", "maxLength": 3}, Effect.WIDER),
        ({"type": "string", "minLength": 3}, Effect.WIDER),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, Effect.WIDER),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 2}, Effect.WIDER),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, Effect.WIDER),
        ({"type": "object", "minProperties": 1}, Effect.WIDER),
        ({"type": "object", "maxProperties": 1}, Effect.WIDER),
        ({"type": "object", "propertyNames": {"pattern": "^a"}}, Effect.WIDER),
        ({"type": "object", "patternProperties": {"^a": {"type": "null"}}}, Effect.WIDER),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, Effect.WIDER),
        ({"type": "string", "not": {"const": "no"}}, Effect.WIDER),
        ({"type": "string", "anyOf": [{"maxLength": 2}]}, Effect.WIDER),
        ({"type": "object", "properties": {"y": {"type": "integer", "maximum": 3}}}, Effect.WIDER),
        ({"type": "array", "items": {"type": "integer", "maximum": 3}}, Effect.WIDER),
        ({"type": "object", "additionalProperties": {"type": "integer", "maximum": 3}}, Effect.WIDER),
        (True, Effect.NARROWER),
        (False, Effect.WIDER),
        ({"enum": [1, 2]}, Effect.NARROWER),
        ({"minimum": 1}, Effect.NARROWER),
        ({"type": "array"}, Effect.NARROWER),
        ({"type": "array", "prefixItems": [{"type": "integer"}]}, Effect.NARROWER),
        (
            {"oneOf": [{"title": "a", "not": {"type": "null"}}, {"title": "b", "not": {"type": "string"}}]},
            Effect.NARROWER,
        ),
    ],
    ids=json.dumps,
)
def test_a_loss_is_proved_by_arguments(node: Any, effect: Effect) -> None:
    found = witness(node)
    assert found is not None
    assert found[1] is effect


def test_one_fault_of_a_large_schema_does_not_hide_another() -> None:
    """The course's own tool: an example of all its properties is refused for several reasons at once."""
    trace = trace_tool_schema(CREATE_EVENT_SCHEMA)
    assert trace.schema is not None
    compiled = trace.schema.to_json()
    unproved = set()
    for loss in (loss for loss in trace.losses if loss.is_felt):
        found = find_witness(CREATE_EVENT_SCHEMA, compiled, [loss])
        if found is None:
            unproved.add(loss.at)
        else:
            assert (found.effect is Effect.WIDER) == (loss.effect is Effect.WIDER), loss.at
            assert judge(CREATE_EVENT_SCHEMA, found.arguments) == found.source != judge(compiled, found.arguments)
    assert unproved == {"/$defs/Moment/anyOf/0", "/$defs/Moment/anyOf/1"}, "an alternative of an object is an object"
    assert trace.witness is not None
    assert trace.witness.arguments["priority"] == 1


def test_the_way_to_a_place_leads_through_references_and_alternatives() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/Number"}, {"$ref": "#/$defs/Named"}]}},
        "required": ["a"],
        "$defs": {
            "Number": {"type": "integer"},
            "Named": {
                "type": "object",
                "properties": {"n": {"type": "string", "pattern": "^x-\\d{2}[ab]$"}, "m": False},
            },
        },
    }
    (loss,) = [loss for loss in trace_tool_schema(schema).losses if loss.keyword == "pattern"]
    found = find_witness(schema, compile_tool_schema(schema).to_json(), [loss])
    assert found is not None
    assert (found.arguments, found.at) == ({"a": {"n": ""}}, "/$defs/Named/properties/n/pattern")


@pytest.mark.parametrize("node", [{"type": "string", "title": "t"}, {"type": "string", "enum": ["a"]}, {"const": "a"}])
def test_where_nothing_can_be_felt_there_is_no_witness(node: Any) -> None:
    assert witness(node) is None


def test_a_loss_that_no_candidate_shows_is_not_claimed_to_be_proved() -> None:
    node = {"type": "object", "properties": {}, "minProperties": 500}
    trace = trace_tool_schema(
        {"type": "object", "properties": {"x": {"type": "string", "pattern": "^zq+z$", "enum": ["zqz"]}}}
    )
    assert trace.witness is None
    assert "no proof that there is none" in trace.text()
    assert witness(node) is not None


def test_a_schema_is_judged_under_its_own_dialect() -> None:
    draft4 = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "number",
        "minimum": 1,
        "exclusiveMinimum": True,
    }
    assert (judge(draft4, 1), judge({"minimum": 1}, 1)) == ("reject", "accept")
    assert judge({"$schema": 5, "type": "number"}, 1) == "accept"


def test_a_judge_opens_no_connection_and_is_not_hung_by_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: Any) -> Any:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert judge({"$ref": "https://schemas.invalid/a.json"}, {}) == "error"
    assert judge({"$ref": "#/$defs/Gone"}, {}) == "error"
    assert judge({"pattern": "^(a+)+$"}, "a" * 40 + "!") == "reject"
    assert judge({"pattern": "^(?=x)?(a+)+$"}, "a" * 40 + "!") == "error"
    assert judge({"patternProperties": {"^(a+)+$": True}}, {"a" * 40 + "!": 1}) == "error"
    assert judge({"$ref": "#"}, {}) == "accept"  # a circle of references says nothing


def test_the_text_of_a_trace_fits_a_terminal() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "title": "N"},
            "any": True,
            **{f"deep{i}": {"type": "string", "description": "long " * 300, "default": "x"} for i in range(9)},
        },
    }
    text = trace_mcp_schema_json(json.dumps(schema)).text()
    assert max(map(len, text.splitlines())) <= 100
    for words in (
        "normalize_supported_keywords",
        "/properties/n/minimum",
        "and 3 more",
        "proof of loss",
        "fit the budget of 5,000",
    ):
        assert words in text
    refused = trace_tool_schema(adapt_mcp_schema({"properties": {"a": {"items": []}}})).text()
    assert "refused (items_is_list)" in refused
    assert "/properties/a/items" in refused


def test_a_schema_that_doubles_its_work_at_every_step_is_given_up() -> None:
    definitions = {f"D{i}": {"allOf": [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(40)}
    schema = {"$ref": "#/$defs/D0", "$defs": {**definitions, "D40": {"type": "object"}}}
    assert judge(schema, {}) == "error"
    assert judge({**schema, "$ref": "#/$defs/D36"}, {}) == "accept"
