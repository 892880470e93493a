"""The manual in its wire form."""

import orjson
import pytest

from minicodex import FreeformContract, FunctionContract, NamespaceContract, compile_tool_schema
from minicodex.errors import ContractEncodingError, InvalidContract
from minicodex.lab.recorded import recording
from minicodex.search import SEARCH_TOOL

CAPTURED = recording("ordinary")
ZETA = CAPTURED["mcp_servers"]["p"]["tools"][0]


def contract(**changes) -> FunctionContract:
    fields = {
        "name": ZETA["name"],
        "description": ZETA["description"],
        "parameters": compile_tool_schema(ZETA["inputSchema"]),
        "output_schema": ZETA["outputSchema"],
    }
    return FunctionContract(**(fields | changes))


def test_a_function_is_written_as_the_real_cli_writes_it():
    namespace = next(tool for tool in CAPTURED["request"]["tools"] if tool.get("name") == "mcp__p")
    captured = next(tool for tool in namespace["tools"] if tool["name"] == "zeta")
    assert contract().to_bytes() == orjson.dumps(captured)
    assert contract().to_wire() == captured


def test_the_output_schema_is_never_written():
    assert b"output" not in contract().to_bytes()
    assert "output_schema" not in contract().to_wire()


@pytest.mark.parametrize("absent", [None, False])
def test_defer_loading_is_absent_unless_true(absent):
    assert "defer_loading" not in contract(defer_loading=absent).to_wire()
    assert list(contract(defer_loading=True).to_wire()) == [
        "type",
        "name",
        "description",
        "strict",
        "defer_loading",
        "parameters",
    ]


def test_bytes_and_plain_data_of_every_contract_say_the_same():
    contracts = [
        contract(),
        contract(strict=True, defer_loading=True),
        NamespaceContract("mcp__p", "Tools in the mcp__p namespace.", (contract(),)),
        FreeformContract("exec", "Run code.", "lark", "start: /.+/"),
        SEARCH_TOOL,
    ]
    for one in contracts:
        assert orjson.loads(one.to_bytes()) == one.to_wire()
        assert list(orjson.loads(one.to_bytes())) == list(one.to_wire())
        assert isinstance(one.name, str)


@pytest.mark.parametrize(
    ("changes", "pointer", "reason"),
    [
        ({"description": "\ud800"}, "/description", "half a surrogate pair"),
        ({"description": object()}, "/description", "a value of type object"),
        ({"strict": float("nan")}, "/strict", "the number nan"),
        ({"name": "\udc00"}, "/name", "half a surrogate pair"),
    ],
)
def test_what_json_cannot_say_names_tool_and_place(changes, pointer, reason):
    with pytest.raises(ContractEncodingError) as caught:
        contract(**changes).to_bytes()
    assert (caught.value.pointer, caught.value.reason) == (pointer, reason)
    assert caught.value.tool == changes.get("name", "zeta")
    str(caught.value).encode()


def test_parameters_must_be_compiled():
    with pytest.raises(InvalidContract, match="compile_tool_schema"):
        contract(parameters={"type": "object"})


def test_a_changed_contract_is_encoded_anew():
    from dataclasses import replace

    first = contract()
    first.to_bytes()
    assert orjson.loads(replace(first, description="other").to_bytes())["description"] == "other"
