"""The failure table: a group of tests for each row, which makes it happen and holds what the table says.

A row without a group, or a group without a row, fails the last test.
"""

import sys
from dataclasses import replace

import pytest

from minicodex import (
    ApiMode,
    ModelFunctionCall,
    PromptSnapshot,
    RejectedTool,
    StepState,
    compile_tool_schema,
    dispatch_function_call,
    dynamic_tool,
    encode_model_request,
    plan_tools,
    run_turn,
    trace_tool_schema,
)
from minicodex.errors import FAILURES, ContractEncodingError, InvalidToolSchema
from minicodex.history import user
from minicodex.lab.reproductions import REPRODUCTIONS
from minicodex.models.scripted import ScriptedModel, say
from minicodex.planner import Filter, ModelAbilities
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.definitions import DefinedTools
from minicodex.tool import Exposure

STEP = StepState("step_1")
OUTSIDE = {"type": "object", "properties": {"a": {"items": []}}}


class TestSchemaOutsideSubset:
    def test_no_contract_exists_and_the_place_is_named(self):
        with pytest.raises(InvalidToolSchema) as caught:
            dynamic_tool("t", "", OUTSIDE, str)
        assert (caught.value.kind, caught.value.pointer) == ("items_is_list", "/properties/a/items")

    def test_of_a_server_the_other_tools_stay_and_the_next_step_can_have_a_mended_one(self):
        definitions = [{"name": "bad", "inputSchema": OUTSIDE}, {"name": "good", "inputSchema": {"type": "object"}}]
        built = DefinedTools.build(definitions, server="s", run=lambda name, arguments: name).candidates
        plan = plan_tools(built, STEP)
        assert [str(name) for name in plan.dispatch] == ["mcp__s.good"]
        assert any(decision.stopped_at is Filter.EXISTS for decision in plan.decisions)
        assert any(isinstance(candidate, RejectedTool) for candidate in built)
        mended = [{"name": "bad", "inputSchema": {"type": "object"}}]
        again = DefinedTools.build(mended, server="s", run=lambda name, arguments: name).candidates
        assert plan_tools(again, STEP).contracts


class TestNullRoot:
    def test_the_final_check_refuses_it(self):
        trace = trace_tool_schema({"type": "null"})
        assert (trace.schema, trace.error.kind) == (None, "null_root")
        assert trace.stages[0].ran, "it was normalised"

    @pytest.mark.parametrize("root", [{"type": "object"}, {"type": "string"}, {"type": ["string", "null"]}])
    def test_the_ways_back_lead_back(self, root):
        assert compile_tool_schema(root)


class TestOverBudget:
    SCHEMA = {"type": "object", "description": "x" * 6_000, "properties": {"a": {"type": "string"}}}  # noqa: RUF012

    def test_the_description_is_gone_and_the_tool_is_not(self):
        assert compile_tool_schema(self.SCHEMA).to_json() == {
            "type": "object",
            "properties": {"a": {"type": "string"}},
        }

    def test_smaller_or_trusted_it_keeps_its_words(self):
        smaller = self.SCHEMA | {"description": "x" * 600}
        assert "description" in compile_tool_schema(smaller).to_json()
        assert "description" in compile_tool_schema(self.SCHEMA, trusted=True).to_json()


class TestDuplicateName:
    def test_one_contract_one_handler_two_decisions(self):
        mine, theirs = update_plan_tool(PlanBoard()), update_plan_tool(PlanBoard())
        plan = plan_tools([mine, theirs], STEP)
        assert [contract is mine.contract for contract in plan.contracts] == [True]
        assert plan.dispatch["update_plan"] is mine.handler
        assert [decision.stopped_at for decision in plan.decisions] == [None, Filter.NAME]

    def test_the_order_states_the_priority(self):
        mine, theirs = update_plan_tool(PlanBoard()), update_plan_tool(PlanBoard())
        assert plan_tools([theirs, mine], STEP).dispatch["update_plan"] is theirs.handler


class TestNotShown:
    @pytest.mark.parametrize("exposure", [Exposure.DEFERRED, Exposure.HIDDEN])
    def test_it_is_not_in_the_first_list_and_a_call_of_it_runs(self, exposure):
        board = PlanBoard()
        tool = replace(update_plan_tool(board), exposure=exposure)
        plan = plan_tools([tool], replace(STEP, model=ModelAbilities(supports_search=True)))
        assert "update_plan" not in [contract.name for contract in plan.contracts]
        assert dispatch_function_call(ModelFunctionCall("c", "update_plan", '{"plan":[]}', "step_1"), plan).ok
        assert board.updates == 1


class TestContractNotJson:
    def test_nothing_was_sent_and_the_tool_is_named(self):
        tool = update_plan_tool(PlanBoard())
        half = replace(tool, contract=replace(tool.contract, description="\ud83d"))
        model = ScriptedModel([say("Done.")])
        with pytest.raises(ContractEncodingError) as caught:
            run_turn(model, lambda _: [half], PromptSnapshot("", [user("go")]))
        assert (caught.value.tool, caught.value.pointer) == ("update_plan", "/description")
        assert model.requests == []
        assert run_turn(model, lambda _: [tool], PromptSnapshot("", [user("go")])).text == "Done."


class TestLitePlacement:
    def test_the_tools_are_in_the_first_item(self):
        plan = plan_tools([update_plan_tool(PlanBoard())], STEP)
        body = encode_model_request(PromptSnapshot(tool_contracts=plan.contracts), ApiMode.RESPONSES_LITE).to_json()
        assert "tools" not in body
        assert body["input"][0]["tools"][0]["tools"] == [contract.to_wire() for contract in plan.contracts]


class TestBadArguments:
    def test_the_business_code_has_not_run_and_the_model_can_call_again(self):
        board = PlanBoard()
        plan = plan_tools([update_plan_tool(board)], STEP)
        refused = dispatch_function_call(ModelFunctionCall("c", "update_plan", '{"plan":1}', "step_1"), plan)
        assert (refused.ok, board.updates, refused.call_id) == (False, 0, "c")
        assert "at /plan: wrong type; expected a list" in refused.output
        assert dispatch_function_call(ModelFunctionCall("d", "update_plan", '{"plan":[]}', "step_1"), plan).ok


class TestStepMismatch:
    def test_nothing_has_run_and_its_own_plan_handles_it(self):
        board = PlanBoard()
        tools = [update_plan_tool(board)]
        old, new = (plan_tools(tools, StepState(step)) for step in ("step_1", "step_2"))
        call = ModelFunctionCall("c", "update_plan", '{"plan":[]}', "step_1")
        refused = dispatch_function_call(call, new)
        assert (refused.ok, board.updates) == (False, 0)
        assert "step 'step_1'" in refused.output
        assert "step 'step_2'" in refused.output
        assert dispatch_function_call(call, old).ok


class TestUnknownName:
    def test_nothing_has_run_and_the_step_is_named(self):
        plan = plan_tools([update_plan_tool(PlanBoard())], STEP)
        refused = dispatch_function_call(ModelFunctionCall("c", "delete_plan", "{}", "step_1"), plan)
        assert not refused.ok
        assert refused.output == "unsupported call: delete_plan. Step step_1 has no such tool"


# --- the table and its reproductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.key)
def test_each_row_happens_with_the_error_that_the_table_names(failure):
    happened = REPRODUCTIONS[failure.key]()
    assert happened.error is failure.error
    assert happened == REPRODUCTIONS[failure.key](), "the same each time"


def test_every_row_has_a_group_of_tests_and_a_reproduction():
    groups = {name for name in vars(sys.modules[__name__]) if name.startswith("Test")}
    keys = {failure.key for failure in FAILURES}
    assert groups == {"Test" + key.title().replace("_", "") for key in keys}
    assert keys == REPRODUCTIONS.keys()


def test_the_boundaries_come_in_their_order():
    boundaries = [failure.boundary for failure in FAILURES]
    assert boundaries == ["build"] * 3 + ["expose"] * 2 + ["encode"] * 2 + ["return"] * 3
