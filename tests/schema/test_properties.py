"""What holds for every schema: arbitrary JSON, and the measured cases with something changed in them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from cases import golden_cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minicodex.errors import InvalidToolSchema
from minicodex.schema import (
    PASSES,
    ToolSchema,
    adapt_mcp_schema,
    compile_tool_schema,
    compile_tool_schema_json,
    find_witness,
    judge,
    trace_tool_schema,
)
from minicodex.schema.keywords import LOST_KEYWORDS, TYPE_NAMES, WIRE_ORDER

QUICK = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

words = st.sampled_from(
    [*WIRE_ORDER, *TYPE_NAMES, *LOST_KEYWORDS, "const", "#/$defs/A", "#/definitions/B", "A", "B", "#", "", "a/b~"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
    | st.text(max_size=9)
)
json_values = st.recursive(
    scalars,
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(words | st.text(max_size=5), children, max_size=6)
    ),
    max_leaves=30,
)

names = st.sampled_from(["A", "B", "a", "description", "anyOf", "ä", "\U0001f600", ""])
types = st.sampled_from([*TYPE_NAMES, "thing"]) | st.lists(st.sampled_from([*TYPE_NAMES, "thing"]), max_size=3)
leaf_nodes = st.fixed_dictionaries(
    {},
    optional={
        "type": types,
        "description": st.text(max_size=60),
        "enum": st.lists(scalars, max_size=3),
        "const": scalars,
        "minimum": st.integers(),
        "pattern": st.just("^a"),
        "required": st.lists(names, max_size=2),
        "$ref": st.sampled_from(["#/$defs/A", "#/definitions/B", "#/$defs/Gone", "#"]),
        "minItems": st.integers(0, 3),
    },
)
schemas = st.recursive(
    leaf_nodes | st.booleans(),
    lambda nodes: st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "description": st.text(max_size=400),
            "properties": st.dictionaries(names, nodes, max_size=4),
            "items": nodes,
            "additionalProperties": nodes,
            "anyOf": st.lists(nodes, max_size=3),
            "oneOf": st.lists(nodes, max_size=3) | st.none(),
            "prefixItems": st.lists(nodes, max_size=2),
            "$defs": st.dictionaries(names, nodes, max_size=3),
            "definitions": st.dictionaries(names, nodes, max_size=2),
        },
    ),
    max_leaves=25,
).filter(lambda schema: isinstance(schema, dict))


@st.composite
def mutated_cases(draw: st.DrawFn) -> Any:
    """A measured input in which one value was replaced by another one, or by one from elsewhere in it."""
    schema = copy.deepcopy(draw(st.sampled_from(golden_cases())).input)
    places = [(schema, key) for key in schema]
    for holder, key in places:
        child = holder[key]
        if isinstance(child, (dict, list)) and len(places) < 400:
            places.extend((child, step) for step in (child if isinstance(child, dict) else range(len(child))))
    if places:
        holder, key = draw(st.sampled_from(places))
        other, step = draw(st.sampled_from(places))
        holder[key] = draw(json_values) if draw(st.booleans()) else copy.deepcopy(other[step])
    return schema


any_input = json_values | schemas | mutated_cases()


def compiled(schema: Any) -> ToolSchema | InvalidToolSchema:
    try:
        return compile_tool_schema(schema)
    except InvalidToolSchema as error:
        return error


@QUICK
@given(any_input)
def test_anything_gives_a_schema_or_our_error_and_is_not_changed(schema: Any) -> None:
    before = copy.deepcopy(schema)
    first, second = compiled(schema), compiled(schema)
    assert first == second
    assert repr(schema) == repr(before)


@QUICK
@given(any_input)
def test_text_and_python_data_agree_but_for_the_text_of_numbers(schema: Any) -> None:
    from_data = compiled(schema)
    try:
        from_text: ToolSchema | InvalidToolSchema = compile_tool_schema_json(json.dumps(schema))
    except InvalidToolSchema as error:
        from_text = error
    assert from_data == from_text


@settings(QUICK, max_examples=50)
@given(any_input)
def test_the_trace_agrees_with_the_compiler(schema: Any) -> None:
    trace = trace_tool_schema(schema)
    assert (trace.schema or trace.error) == compiled(schema)
    assert trace.text()


@QUICK
@given(any_input)
def test_a_pass_runs_only_over_the_budget_and_sizes_never_grow_from_pass_to_pass(schema: Any) -> None:
    stages = trace_tool_schema(schema, budget_bytes=300).stages
    passes = [stage for stage in stages if stage.name in {stage.name for stage in PASSES}]
    for before, after in zip(stages[1:], passes, strict=False):
        assert after.ran == (before.size_bytes > 300)
        assert after.size_bytes <= before.size_bytes
        if not after.ran:
            assert (after.schema, after.losses) == (before.schema, ())


def may_change_again(schema: Any, once: Any) -> bool:
    """The exceptions to idempotence, each a trait of the real compiler.

    A keyword that is null counts as present (nothing is added, nothing is cleared) but is not written, so the second
    time it is absent. And inside a definition a mention in an ignored keyword keeps another definition alive; that
    keyword is gone the second time.
    """
    return not once.keys().isdisjoint(("$defs", "definitions")) or has_null_keyword(schema)


def has_null_keyword(schema: Any) -> bool:
    stack = [schema]
    for value in stack:
        if isinstance(value, dict) and None in value.values():
            return True
        stack.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return False


@QUICK
@given(any_input)
def test_a_compiled_schema_compiles_to_itself(schema: Any) -> None:
    once = compiled(schema)
    if isinstance(once, ToolSchema) and not may_change_again(schema, once.to_json()):
        assert compiled(once.to_json()) == once


def test_the_exception_to_idempotence_is_a_definition_mentioned_in_an_ignored_keyword() -> None:
    home = {"type": "string", "default": {"$ref": "#/$defs/Part"}}
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/Home"}},
        "$defs": {"Home": home, "Part": {"type": "null"}},
    }
    once = compile_tool_schema(schema)
    assert list(once.to_json()["$defs"]) == ["Home", "Part"]
    assert list(compile_tool_schema(once.to_json()).to_json()["$defs"]) == ["Home"]


@pytest.mark.parametrize(
    ("node", "once", "twice"),
    [
        ({"type": "array", "items": None}, {"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"anyOf": None, "description": "d"}, {"description": "d"}, {}),
    ],
)
def test_the_other_exception_is_a_keyword_that_is_null(node: Any, once: Any, twice: Any) -> None:
    for expected in (once, twice):
        node = compile_tool_schema({"type": "object", "properties": {"x": node}}).to_json()["properties"]["x"]
        assert node == expected


@QUICK
@given(schemas | mutated_cases(), json_values)
def test_a_judge_gives_a_verdict_whatever_it_is_asked(schema: Any, arguments: Any) -> None:
    assert judge(schema, arguments) in ("accept", "reject", "error")


@settings(QUICK, max_examples=40)
@given(schemas | mutated_cases())
def test_a_witness_is_judged_as_it_says_and_is_found_again(schema: Any) -> None:
    trace = trace_tool_schema(adapt_mcp_schema(schema))
    if trace.schema is not None and (witness := trace.witness) is not None:
        assert judge(trace.source, witness.arguments) == witness.source
        assert {witness.source, witness.compiled} == {"accept", "reject"}
        assert find_witness(trace.source, trace.schema.to_json(), trace.losses) == witness
