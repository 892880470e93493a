"""The oracle: Codex CLI 0.171.0 itself, measured from outside."""

from __future__ import annotations

import json

import pytest
from cases import Case, golden_cases

from minicodex.errors import InvalidToolSchema
from minicodex.schema import adapt_mcp_schema, compile_mcp_schema_json, compile_tool_schema, trace_mcp_schema_json

CASES = pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)


def test_all_the_measured_cases_are_here() -> None:
    assert len(golden_cases()) == 456


@CASES
def test_the_text_of_a_schema_compiles_to_the_bytes_that_codex_sends(case: Case) -> None:
    if case.output_text is None:
        with pytest.raises(InvalidToolSchema):
            compile_mcp_schema_json(case.input_text)
    else:
        assert compile_mcp_schema_json(case.input_text).to_bytes().decode() == case.output_text


@CASES
def test_python_data_compiles_to_the_same_schema_with_pythons_numbers(case: Case) -> None:
    if "exponent-sign-counts" in case.name:
        pytest.skip("these count the bytes of a number's text, which Python data no longer has")
    schema = adapt_mcp_schema(case.input)
    if case.output_text is None:
        with pytest.raises(InvalidToolSchema):
            compile_tool_schema(schema)
    else:
        assert in_order(compile_tool_schema(schema).to_json()) == in_order(json.loads(case.output_text))


@CASES
def test_the_trace_ends_where_the_compiler_ends(case: Case) -> None:
    trace = trace_mcp_schema_json(case.input_text)
    sent = None if trace.schema is None else trace.schema.to_bytes().decode()
    assert sent == case.output_text
    assert (trace.error is None) == (trace.schema is not None)


def in_order(value: object) -> str:
    """JSON text in which the order of keys can be seen, and 1 differs from 1.0."""
    return json.dumps(value)
