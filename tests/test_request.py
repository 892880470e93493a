"""The two layouts of one request."""

import json
from pathlib import Path

import orjson
import pytest

from minicodex import ApiMode, PromptSnapshot, StepState, compile_tool_schema, encode_model_request, plan_tools
from minicodex.contract import FreeformContract, FunctionContract, NamespaceContract
from minicodex.errors import ContractEncodingError
from minicodex.history import user
from minicodex.sources.definitions import DefinedTools

CAPTURES = Path(__file__).parent / "data/captures"
ORDINARY = json.loads((CAPTURES / "ordinary.json").read_text())
LITE = json.loads((CAPTURES / "lite.json").read_text())


def contracts_of(definitions):
    tools = DefinedTools.build(definitions, server="p", run=lambda name, arguments: name)
    return plan_tools(tools.candidates, StepState("s")).contracts


def prompt(**changes):
    fields = {"instructions": "Be brief.", "history": [user("hello")], "tool_contracts": contracts_of([DEFINITION])}
    return PromptSnapshot(**(fields | changes))


DEFINITION = ORDINARY["mcp_servers"]["p"]["tools"][0]


def test_ordinary_mode_writes_the_tools_of_a_server_as_the_real_cli_does():
    body = encode_model_request(
        prompt(tool_contracts=contracts_of(ORDINARY["mcp_servers"]["p"]["tools"])), ApiMode.RESPONSES
    ).to_json()
    captured = [tool for tool in ORDINARY["request"]["tools"] if tool.get("name") == "mcp__p"]
    assert orjson.dumps(body["tools"]) == orjson.dumps(captured)
    assert body["parallel_tool_calls"] is ORDINARY["request"]["parallel_tool_calls"]


def test_lite_writes_them_into_the_first_item_as_the_real_cli_does():
    request = encode_model_request(
        prompt(tool_contracts=contracts_of(LITE["mcp_tools_step_1"])), ApiMode.RESPONSES_LITE
    )
    body, captured = request.to_json(), LITE["request_1"]
    head, captured_head = body["input"][0], captured["input"][0]
    assert [tool for tool in captured_head["tools"] if tool.get("name") == "mcp__p"] == head["tools"]
    assert {key: head[key] for key in ("type", "role")} == {key: captured_head[key] for key in ("type", "role")}
    assert head["id"].startswith("at_")
    assert body["input"][1]["role"] == captured["input"][1]["role"] == "developer"
    assert "tools" not in body
    assert "tools" not in captured
    assert body["parallel_tool_calls"] is captured["parallel_tool_calls"] is False
    assert dict(request.headers).items() <= LITE["headers"].items()


def test_lite_wraps_bare_tools_in_the_namespace_functions_and_changes_nothing_else():
    function = FunctionContract("f", "", compile_tool_schema({"type": "object"}))
    freeform = FreeformContract("exec", "", "lark", "start: /.+/")
    namespace = NamespaceContract("mcp__p", "", (function,))
    contracts = (function, namespace, freeform)
    top = encode_model_request(prompt(tool_contracts=contracts), ApiMode.RESPONSES).to_json()["tools"]
    lite = encode_model_request(prompt(tool_contracts=contracts), ApiMode.RESPONSES_LITE).to_json()["input"][0]
    assert lite["tools"] == [
        {"type": "namespace", "name": "functions", "description": "", "tools": [top[0], top[2]]},
        top[1],
    ]


def test_instructions_stand_where_each_mode_wants_them():
    ordinary = encode_model_request(prompt(), ApiMode.RESPONSES).to_json()
    lite = encode_model_request(prompt(), ApiMode.RESPONSES_LITE).to_json()
    assert ordinary["instructions"] == "Be brief."
    assert lite["instructions"] == ""
    assert lite["input"][1]["content"][0]["text"] == "Be brief."
    assert list(ordinary) == ["instructions", "input", "tools", "parallel_tool_calls"]


@pytest.mark.parametrize("wanted", [True, False])
def test_parallel_calls_are_the_prompts_wish_in_ordinary_mode_and_off_in_lite(wanted):
    wish = prompt(parallel_tool_calls=wanted)
    assert encode_model_request(wish, ApiMode.RESPONSES).to_json()["parallel_tool_calls"] is wanted
    assert encode_model_request(wish, ApiMode.RESPONSES_LITE).to_json()["parallel_tool_calls"] is False


def test_both_modes_carry_the_same_bytes():
    contracts = prompt().tool_contracts
    ordinary = encode_model_request(prompt(), ApiMode.RESPONSES).to_bytes()
    lite = encode_model_request(prompt(), ApiMode.RESPONSES_LITE).to_bytes()
    for contract in contracts:
        assert contract.to_bytes() in ordinary
        assert contract.to_bytes() in lite


def test_shared_bytes_decode_to_the_plain_form():
    contracts = prompt().tool_contracts
    assert contracts.top_level.decoded() == [contract.to_wire() for contract in contracts]
    assert contracts.top_level is prompt(tool_contracts=contracts).tool_contracts.top_level


def test_a_contract_that_is_not_json_stops_the_request():
    broken = FunctionContract("bad", "\ud800", compile_tool_schema({"type": "object"}))
    with pytest.raises(ContractEncodingError) as caught:
        encode_model_request(prompt(tool_contracts=[broken]), ApiMode.RESPONSES)
    assert (caught.value.tool, caught.value.pointer) == ("bad", "/description")
    with pytest.raises(ContractEncodingError):
        encode_model_request(prompt(tool_contracts=[broken]), ApiMode.RESPONSES_LITE)


def test_a_prompt_does_not_change_with_the_list_it_was_made_from():
    history = [user("one")]
    snapshot = prompt(history=history)
    history.append(user("two"))
    assert len(encode_model_request(snapshot, ApiMode.RESPONSES).to_json()["input"]) == 1
    assert len(snapshot.with_history(user("two")).history) == 2
