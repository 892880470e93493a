"""Numbers leave as they came: literals from text keep their text, others are written as Python writes them."""

from __future__ import annotations

import pytest

from minicodex.errors import InvalidToolSchema
from minicodex.schema import compile_tool_schema, compile_tool_schema_json, trace_tool_schema_json


def sent_enum(literals: str) -> str:
    text = '{"type":"object","properties":{"n":{"type":"number","enum":[' + literals + "]}}}"
    sent = compile_tool_schema_json(text).to_bytes().decode()
    assert compile_tool_schema_json(text.encode()).to_bytes().decode() == sent
    trace = trace_tool_schema_json(text)
    assert trace.schema is not None
    assert trace.schema.to_bytes().decode() == sent
    return sent.removeprefix('{"type":"object","properties":{"n":{"type":"number","enum":[').removesuffix("]}}}")


@pytest.mark.parametrize(
    "literals",
    [
        "1,1.0,1.50,-0.0,0.1,0.10",
        "9007199254740993,-9223372036854775808,18446744073709551615",
        "18446744073709551616,123456789012345678901234567890",
        "1e+400,-1e+400,1e-400",
        "0.00001,0.000001,0.12345678901234567890",
        "1e+5,1.50e-7,100000000000000000000.5",
        "1" * 5_000,
        '{"deep":[1.10]}',
    ],
    ids=lambda text: text[:30],
)
def test_a_literal_that_came_as_text_keeps_its_text(literals: str) -> None:
    assert sent_enum(literals) == literals


@pytest.mark.parametrize(
    ("came", "leaves"), [("1e5", "1e+5"), ("1E5", "1e+5"), ("1e05", "1e+05"), ("-0", "0"), ("2E-3", "2e-3")]
)
def test_an_exponent_gets_its_sign_and_integer_zero_loses_its(came: str, leaves: str) -> None:
    assert sent_enum(came) == leaves


def test_the_text_of_a_number_inside_a_string_changes_nothing() -> None:
    assert sent_enum('"1.10 and 1e5",1.5') == '"1.10 and 1e5",1.5'


@pytest.mark.parametrize("number", [1.0, 1e5, 1e16, 1e-5, 0.1, -0.0, 2**64, -(2**70), 10**100, 5e-324])
def test_a_number_from_python_is_written_as_python_writes_it(number: float) -> None:
    schema = {"type": "object", "properties": {}, "enum": [number]}
    assert (
        compile_tool_schema(schema).to_bytes().decode() == f'{{"type":"object","enum":[{number!r}],"properties":{{}}}}'
    )


def test_plain_data_holds_exact_integers() -> None:
    assert compile_tool_schema({"type": "integer", "enum": [2**70]}).to_json()["enum"] == [2**70]


@pytest.mark.parametrize("literal", ["18446744073709551616", "-9223372036854775809", str(2**128 - 1), str(-(2**127))])
def test_an_integer_of_65_to_128_bits_below_a_map_refuses_the_schema(literal: str) -> None:
    text = '{"type":"object","additionalProperties":{"type":"object","properties":{"n":{"type":"null","x":[%s]}}}}'
    for schema in (
        text % literal,
        text.replace('"additionalProperties"', '"$defs":{"A":1},"additionalProperties"') % literal,
    ):
        with pytest.raises(InvalidToolSchema) as caught:
            compile_tool_schema_json(schema)
        assert caught.value.kind == "wide_integer"


@pytest.mark.parametrize(
    "literal", ["18446744073709551615", "-9223372036854775808", str(2**128), "1" + "0" * 60, "1e20"]
)
def test_other_numbers_below_a_map_are_fine(literal: str) -> None:
    text = '{"type":"object","additionalProperties":{"type":"integer","maximum":%s}}'
    assert compile_tool_schema_json(text % literal).to_json()["additionalProperties"] == {"type": "integer"}


def test_a_wide_integer_in_what_is_cleared_or_outside_a_map_is_fine() -> None:
    wide = "18446744073709551616"
    cleared = compile_tool_schema_json('{"type":"object","additionalProperties":{"title":' + wide + "}}")
    assert "additionalProperties" in cleared.to_json()
    outside = compile_tool_schema_json('{"type":"object","properties":{"a":{"type":"integer","maximum":' + wide + "}}}")
    assert outside.to_json()["properties"] == {"a": {"type": "integer"}}


def test_exponents_count_with_their_sign_for_the_budget() -> None:
    for filler, described in ((5_000, True), (5_001, False)):
        bare = '{"type":"object","description":"","enum":[1e5],"properties":{}}'
        size = len(compile_tool_schema_json(bare).to_bytes())
        text = bare.replace('"description":""', '"description":"' + "x" * (filler - size) + '"')
        assert ("description" in compile_tool_schema_json(text).to_json()) is described
