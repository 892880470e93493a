"""Every row of the failure table, made to happen: nothing here is told, all of it is run.

Each function makes one failure happen and gives what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from minicodex.arguments import feedback
from minicodex.dispatch import ModelFunctionCall, dispatch_function_call
from minicodex.errors import (
    ArgumentError,
    ContractEncodingError,
    InternalError,
    InvalidToolSchema,
    MinicodexError,
    StepMismatch,
    UnsupportedCall,
)
from minicodex.history import user
from minicodex.lab.captured import Captured
from minicodex.models.scripted import ScriptedModel, say
from minicodex.naming import ToolName
from minicodex.planner import ModelAbilities, StepState, ToolPlan, plan_tools
from minicodex.request import ApiMode, PromptSnapshot, encode_model_request
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import trace_tool_schema
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import Candidate, Exposure, RejectedTool
from minicodex.turn import run_turn

__all__ = ["REPRODUCTIONS", "Reproduction"]

_STEP = StepState("step_1")


@dataclass(frozen=True)
class Reproduction:
    """What was done, what came of it, and what the model reads."""

    done: str
    came: str
    model_reads: str
    error: type[MinicodexError] | None = None
    """The class of the error that came, if it is the one that was meant."""


def _plan_tool() -> Candidate:
    return update_plan_tool(PlanBoard())


def _names(plan: ToolPlan) -> str:
    return ", ".join(contract.name for contract in plan.contracts) or "no tool"


def _built(schema: object, done: str) -> Reproduction:
    try:
        dynamic_tool("locate", "Find a place.", schema, str)
    except InvalidToolSchema as error:
        plan = plan_tools([_plan_tool(), RejectedTool("locate", "a server", error)], _STEP)
        return Reproduction(done, str(error), f"in the request: {_names(plan)}", type(error))
    return Reproduction(done, "a contract", "a contract")


def _schema_outside_subset() -> Reproduction:
    schema = {"type": "object", "properties": {"corner": {"type": "array", "items": [{"type": "number"}]}}}
    return _built(schema, "`locate` was offered with a list of schemas in `items`")


def _null_root() -> Reproduction:
    return _built({"type": "null"}, "`locate` was offered with the schema `null`")


def _over_budget() -> Reproduction:
    trace = trace_tool_schema(CREATE_EVENT_SCHEMA)
    (*_, ran), before = [stage for stage in trace.stages if stage.ran], trace.stages[1]
    assert trace.schema is not None
    came = f"`{ran.name}` ran: {before.size_bytes:,} bytes became {trace.schema.size_bytes:,}"
    left = trace.schema.to_json()["properties"]["duration"]
    return Reproduction("`create_event` was compiled", came, f"of `duration`, only: {left}".replace("'", '"'))


def _duplicate_name() -> Reproduction:
    plan = plan_tools([_plan_tool(), replace(update_plan_tool(PlanBoard()), source="a guest")], _STEP)
    return Reproduction("two sources offered `update_plan`", plan.explain("update_plan"), f"once: {_names(plan)}")


def _not_shown() -> Reproduction:
    tool = replace(update_plan_tool(PlanBoard()), exposure=Exposure.DEFERRED)
    plan = plan_tools([tool], replace(_STEP, model=ModelAbilities(supports_search=True)))
    call = ModelFunctionCall("call_1", "update_plan", '{"plan": []}', "step_1")
    came = f"{plan.explain('update_plan')}. And so it is: {dispatch_function_call(call, plan).output}"
    return Reproduction("`update_plan` was offered, deferred", came, f"in the first list: {_names(plan)}")


def _contract_not_json() -> Reproduction:
    tool = update_plan_tool(PlanBoard())
    half = replace(tool, contract=replace(tool.contract, description="Plan \ud83d"))
    model = ScriptedModel([say("Done.")])
    done = "a description ended in half of a character"
    try:
        run_turn(model, lambda _: [half], PromptSnapshot("", [user("Plan my day.")]))
    except ContractEncodingError as error:
        return Reproduction(done, str(error), f"requests that reached it: {len(model.requests)}", type(error))
    return Reproduction(done, "it was sent", "the contract")


def _lite_placement() -> Reproduction:
    prompt = PromptSnapshot("", (), plan_tools([_plan_tool()], _STEP).contracts)
    seen = Captured.of(encode_model_request(prompt, ApiMode.RESPONSES_LITE))
    keys = ", ".join(f"`{key}`" for key in seen.body)
    return Reproduction("a request was written for Responses Lite", f"its keys: {keys}", seen.verdict)


def _answered(done: str, call: ModelFunctionCall, meant: Callable[[ToolPlan], MinicodexError]) -> Reproduction:
    """Dispatch a call that fails. `meant` makes the error whose words must come back, or nothing is claimed."""
    board = PlanBoard()
    plan = plan_tools([update_plan_tool(board)], _STEP)
    result = dispatch_function_call(call, plan)
    error = meant(plan)
    words = feedback(str(call.canonical_name), error) if isinstance(error, ArgumentError) else str(error)
    came = f"a result that is {'ok' if result.ok else 'not ok'}; plans that were set: {board.updates}"
    return Reproduction(done, came, str(result.output), type(error) if result.output == words else None)


def _bad_arguments() -> Reproduction:
    call = ModelFunctionCall("call_1", "update_plan", '{"plan": "everything"}', "step_1")

    def meant(plan: ToolPlan) -> MinicodexError:
        try:
            plan.dispatch[ToolName("update_plan")].decode_arguments(call.raw_arguments)
        except ArgumentError as error:
            return error
        return InternalError("the arguments were accepted")

    return _answered("`update_plan` was called with a text in place of a list", call, meant)


def _step_mismatch() -> Reproduction:
    call = ModelFunctionCall("call_1", "update_plan", '{"plan": []}', "step_0")
    done = "a call of `step_0` was handled with the plan of `step_1`"
    return _answered(done, call, lambda plan: StepMismatch("step_0", plan.step_id))


def _unknown_name() -> Reproduction:
    call = ModelFunctionCall("call_1", "delete_plan", "{}", "step_1")
    words = "Step step_1 has no such tool"
    return _answered("`delete_plan` was called", call, lambda _: UnsupportedCall("delete_plan", words))


REPRODUCTIONS: Mapping[str, Callable[[], Reproduction]] = {
    "schema_outside_subset": _schema_outside_subset,
    "null_root": _null_root,
    "over_budget": _over_budget,
    "duplicate_name": _duplicate_name,
    "not_shown": _not_shown,
    "contract_not_json": _contract_not_json,
    "lite_placement": _lite_placement,
    "bad_arguments": _bad_arguments,
    "step_mismatch": _step_mismatch,
    "unknown_name": _unknown_name,
}
"""By the key of the row."""
