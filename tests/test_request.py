"""The two layouts of one request."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import responses
from pydantic import TypeAdapter, ValidationError

from minicodex import ApiMode, PromptSnapshot, StepState, compile_tool_schema, encode_model_request, plan_tools
from minicodex.contract import FreeformContract, FunctionContract, NamespaceContract
from minicodex.errors import ContractEncodingError, HistoryError, InvalidToolSchema
from minicodex.history import user
from minicodex.json_text import unencodable
from minicodex.lab.recorded import recording
from minicodex.search import SEARCH_TOOL
from minicodex.sources.definitions import DefinedTools

CAPTURES = Path(__file__).parent / "data/captures"
ORDINARY, LITE = recording("ordinary"), recording("lite")


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


@pytest.mark.parametrize(
    ("history", "instructions", "place"),
    [
        ([user("half a pair: \ud800")], "", "/input/0/content/0/text"),
        ([user("ok"), {"type": "message", "n": float("nan")}], "", "/input/1/n"),
        ([{"type": "message", "content": [object()]}], "", "/input/0/content/0"),
        ([5], "", "/input/0"),
        ([], "\udfff", "/instructions"),
    ],
)
def test_a_history_that_is_not_json_stops_the_request(history, instructions, place):
    with pytest.raises(HistoryError, match=f"at {place}$"):
        encode_model_request(prompt(history=history, instructions=instructions), ApiMode.RESPONSES)


@pytest.mark.parametrize(
    ("mode", "captured"), [(ApiMode.RESPONSES, ORDINARY["request"]), (ApiMode.RESPONSES_LITE, LITE["request_1"])]
)
def test_in_codex_form_the_keys_and_the_first_items_are_those_of_the_real_cli(mode, captured):
    body = encode_model_request(prompt(), mode.in_codex_form()).to_json()
    assert list(body) == [key for key in captured if key in {"instructions", "input", "tools", "parallel_tool_calls"}]
    heads = [(item["type"], item["role"]) for item in body["input"][:-1]]
    assert heads == [(item["type"], item["role"]) for item in captured["input"][: len(heads)]]
    assert body["input"][-2]["content"] == [{"type": "input_text", "text": "Be brief."}]


def test_a_history_that_begins_with_a_declaration_is_not_given_a_second_one():
    head = encode_model_request(prompt(), ApiMode.RESPONSES_LITE).to_json()["input"][0]
    later = prompt(history=[head, user("hello")], tool_contracts=contracts_of([DEFINITION | {"name": "other"}]))
    body = encode_model_request(later, ApiMode.RESPONSES_LITE).to_json()
    assert [item["type"] for item in body["input"]] == ["additional_tools", "message", "message"]
    assert body["input"][0] == head


# --- shared bytes ---------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=10,
)
SCHEMAS = st.dictionaries(
    st.sampled_from(["type", "properties", "required", "enum", "items", "description", "const", "anyOf", "x"]),
    JSON | st.sampled_from(["object", "string", {"a": {"type": "integer"}}, ["a"]]),
)
FUNCTIONS = st.builds(
    lambda name, description, schema, strict: FunctionContract(name, description, compiled(schema), strict),
    st.text(),
    st.text(),
    SCHEMAS,
    st.booleans(),
)
CONTRACTS = st.lists(
    FUNCTIONS
    | st.builds(FreeformContract, st.text(), st.text(), st.sampled_from(["lark", "regex"]), st.text())
    | st.builds(lambda n, d, tools: NamespaceContract(n, d, tuple(tools)), st.text(), st.text(), st.lists(FUNCTIONS)),
    max_size=4,
)


def compiled(schema):
    try:
        return compile_tool_schema(schema)
    except InvalidToolSchema:
        return compile_tool_schema({"type": "object"})


def plain_path(contracts, mode):
    """What the shared bytes must mean: plain data, built without them."""
    tools = [contract.to_wire() for contract in contracts]
    if mode is ApiMode.RESPONSES:
        return tools
    bare = [tool for tool in tools if tool["type"] != "namespace"]
    functions = [{"type": "namespace", "name": "functions", "description": "", "tools": bare}] if bare else []
    return functions + [tool for tool in tools if tool["type"] == "namespace"]


def typed(value):
    """A value in which 1, 1.0 and True are three things, and the order of keys counts."""
    if isinstance(value, dict):
        return [(key, typed(child)) for key, child in value.items()]
    return [typed(child) for child in value] if isinstance(value, list) else (type(value), value)


@given(CONTRACTS)
def test_shared_bytes_mean_what_the_plain_path_means_value_for_value(contracts):
    for mode in (ApiMode.RESPONSES, ApiMode.RESPONSES_LITE):
        try:
            body = encode_model_request(prompt(tool_contracts=contracts), mode).to_json()
        except ContractEncodingError:
            assert any(unencodable(contract.to_wire()) for contract in contracts)
            continue
        found = body["tools"] if mode is ApiMode.RESPONSES else body["input"][0].get("tools", [])
        assert typed(found) == typed(plain_path(contracts, mode))


class CountingContract:
    """A contract that counts how often it is asked for its bytes."""

    name, asked = "t", 0

    def to_wire(self):
        return {"type": "function", "name": "t"}

    def to_bytes(self):
        self.asked += 1
        return b'{"type":"function","name":"t"}'


def test_contracts_are_encoded_once_for_each_layout_however_many_requests_share_them():
    contract = CountingContract()
    snapshot = prompt(tool_contracts=[contract])
    for number in range(3):
        for mode in (ApiMode.RESPONSES, ApiMode.RESPONSES_LITE):
            assert b'"name":"t"' in encode_model_request(snapshot.with_history(user(str(number))), mode).to_bytes()
    assert contract.asked == 2


# --- the official SDK -----------------------------------------------------------------------------------------------


def of_every_kind():
    parameters = compile_tool_schema({"properties": {"n": {"type": "integer"}}, "required": ["n"]})
    function = FunctionContract("f", "A function.", parameters, output_schema={"type": "string"})
    found = FunctionContract("found", "", parameters, defer_loading=True)
    freeform = FreeformContract("exec", "", "lark", "start: /.+/")
    return [function, found, freeform, NamespaceContract("mcp__p", "Words.", (function, freeform)), SEARCH_TOOL]


def lossless(model, value):
    """Validate with the SDK's own type, and see that nothing was set aside as unknown."""
    parsed = TypeAdapter(model).validate_python(value)
    assert TypeAdapter(model).dump_python(parsed, exclude_unset=True, by_alias=True) == value
    return parsed


def known_fields(parsed):
    extra = getattr(parsed, "model_extra", None) or {}
    return not extra and all(known_fields(child) for child in getattr(parsed, "tools", None) or [])


@pytest.mark.parametrize("contract", of_every_kind(), ids=lambda contract: type(contract).__name__)
def test_the_official_sdk_knows_every_kind_of_tool(contract):
    assert known_fields(lossless(responses.Tool, contract.to_wire()))


def test_the_official_sdk_knows_the_items_of_a_lite_request():
    body = encode_model_request(prompt(tool_contracts=of_every_kind()), ApiMode.RESPONSES_LITE).to_json()
    head, *messages = [lossless(responses.ResponseInputItem, item) for item in body["input"]]
    assert type(head).__name__ == "AdditionalTools"
    assert known_fields(head)
    assert len(messages) == 2


def test_the_official_sdk_would_notice_a_wrong_tool():
    with pytest.raises(ValidationError):
        lossless(responses.Tool, {"type": "function", "description": 5})


def test_a_prompt_does_not_change_with_the_list_it_was_made_from():
    history = [user("one")]
    snapshot = prompt(history=history)
    history.append(user("two"))
    assert len(encode_model_request(snapshot, ApiMode.RESPONSES).to_json()["input"]) == 1
    assert len(snapshot.with_history(user("two")).history) == 2
