"""What strict demands, and the two providers."""

from dataclasses import replace

import pytest

from minicodex import ToolName
from minicodex.errors import ProviderError
from minicodex.lab.chapter_01 import LOOSE, PROMPT, STRICT_PARAMETERS, TWO_AT_ONCE
from minicodex.lab.strict import KeepingProvider, LaxProvider, missing_for_strict
from minicodex.models.scripted import ScriptedModel, call, say
from minicodex.planner import StepState, plan_tools
from minicodex.request import ApiMode, PromptSnapshot, encode_model_request
from minicodex.samples import PLAN_ARGUMENTS
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.tool import ToolImplementation

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def pointers(schema):
    return [missing.pointer for missing in missing_for_strict(schema)]


def test_schema_that_leaves_nothing_open_misses_nothing():
    assert missing_for_strict(CLOSED) == []
    assert missing_for_strict(STRICT_PARAMETERS) == []


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (CLOSED | {"additionalProperties": True}, [""]),
        (CLOSED | {"required": []}, ["/properties/a"]),
        ({"type": "array", "items": CLOSED}, [""]),
        (CLOSED | {"properties": {"a": {"type": "array", "items": {"type": "object"}}}}, ["/properties/a/items"]),
        (CLOSED | {"properties": {"a": {"anyOf": [CLOSED, {"type": ["object", "null"]}]}}}, ["/properties/a/anyOf/1"]),
        (CLOSED | {"properties": {"a": {"oneOf": [{"type": "string"}]}}}, ["/properties/a/oneOf"]),
        (CLOSED | {"$defs": {"x/y": {"type": "object"}}}, ["/$defs/x~1y"]),
    ],
)
def test_each_open_place_is_named(schema, at):
    assert pointers(schema) == at


def test_sentence_names_place_demand_and_way_out():
    (missing,) = missing_for_strict(update_plan_tool(PlanBoard()).contract.parameters)
    assert str(missing) == (
        "at /properties/explanation: it is optional; require it, and allow null where it may be empty"
    )


def tool(*, ready: bool) -> ToolImplementation:
    made = update_plan_tool(PlanBoard())
    changed = {"parameters": STRICT_PARAMETERS} if ready else {}
    return replace(made, contract=replace(made.contract, strict=True, **changed))


def request(implementation):
    plan = plan_tools([implementation], StepState("step_1"))
    assert ToolName("update_plan") in plan.dispatch
    return encode_model_request(
        PromptSnapshot(history=PROMPT.history, tool_contracts=plan.contracts), ApiMode.RESPONSES
    )


def test_keeping_provider_refuses_what_it_could_not_keep_and_asks_no_model():
    model = ScriptedModel([say("never")])
    with pytest.raises(ProviderError, match="update_plan cannot be strict: at /properties/explanation"):
        KeepingProvider(model).respond(request(tool(ready=False)))
    assert model.requests == []


def test_keeping_provider_passes_on_only_what_fits():
    provider = KeepingProvider(
        ScriptedModel([call("update_plan", LOOSE), call("update_plan", "{"), call("update_plan", PLAN_ARGUMENTS)])
    )
    (item,) = provider.respond(request(tool(ready=True)))
    assert "Read the notes" in item["arguments"]
    assert provider.barred == ['{"plan": "read, then write"}', "{"]


def test_keeping_provider_knows_no_rules():
    provider = KeepingProvider(ScriptedModel([call("update_plan", TWO_AT_ONCE)]))
    assert provider.respond(request(tool(ready=True)))
    assert provider.barred == []


def test_keeping_provider_gives_up_in_the_end():
    provider = KeepingProvider(ScriptedModel([call("update_plan", LOOSE)] * 9))
    with pytest.raises(ProviderError, match="nothing that fits in 5 tries"):
        provider.respond(request(tool(ready=True)))


def test_contract_that_is_not_strict_is_left_alone():
    provider = KeepingProvider(ScriptedModel([call("update_plan", LOOSE)]))
    assert provider.respond(request(update_plan_tool(PlanBoard())))


def test_lax_provider_takes_and_passes_on_everything():
    (item,) = LaxProvider(ScriptedModel([call("update_plan", LOOSE)])).respond(request(tool(ready=False)))
    assert item["arguments"] == '{"plan": "read, then write"}'
