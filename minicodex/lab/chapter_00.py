"""What chapter 0 needs beside the runtime: its predictions, a model that knows only its manual, and its exercises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from minicodex.dispatch import ModelFunctionCall, ToolResult
from minicodex.errors import ProviderError
from minicodex.history import counter, read_item, user
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.view import counted
from minicodex.models.scripted import Answer, ScriptedModel, call, last_output, say
from minicodex.planner import StepState, ToolPlan, plan_tools
from minicodex.request import ApiRequest, PromptSnapshot
from minicodex.samples import PLAN_ARGUMENTS
from minicodex.sources.builtin import PlanBoard, PlanItem, update_plan_tool
from minicodex.turn import run_turn

__all__ = [
    "HOW_IT_LEARNS",
    "PROMPT",
    "TIME_QUESTION",
    "TWO_AT_ONCE",
    "WHAT_CROSSES",
    "TrustingHandler",
    "check_dispatcher",
    "check_dropped_item",
    "check_script",
    "manual_reader",
]

PROMPT = PromptSnapshot("Set a plan before you work.", [user("Summarise my notes.")])
"""The conversation before the turn."""

TIME_QUESTION = PromptSnapshot(history=[user("Noon in Tokyo: what time is it in Kolkata?")])
"""What the turn on the time server begins with."""

TWO_AT_ONCE: dict[str, Any] = {
    "plan": [
        {"step": "Read the notes", "status": "in_progress"},
        {"step": "Write the summary", "status": "in_progress"},
    ]
}
"""Arguments of the right shape that break the tool's own rule: only one step may be in progress."""


# --- predictions -----------------------------------------------------------------------------------------------------

WHAT_CROSSES = Prediction(
    "The model “calls” `update_plan`, a Python function on this machine. What crosses the line to the provider?",
    (
        Choice(
            "The function, once, before the first call.",
            "No provider would run a stranger's code. What is sent is a description, and the function is not in it.",
        ),
        Choice(
            "Only texts: a description there, a request back, a result there.",
            "Right. Reading the model's text and running something is our own doing, on this side of the line.",
            right=True,
        ),
        Choice(
            "A line that stays open, through which the model reaches the function.",
            "There is no way in: we ask the model, it never asks us.",
        ),
    ),
)

HOW_IT_LEARNS = Prediction(
    "The function has run and returned “Plan updated”. How does the model learn of it?",
    (
        Choice(
            "The call returns inside the model, as in Python.",
            "The answer that held the call was complete before our function ran. Nothing waits inside the model.",
        ),
        Choice(
            "The provider keeps a line open and we write the result into it.",
            "An HTTP request has one answer, and we have had it. The result needs a request of its own.",
        ),
        Choice(
            "We send a second request: the whole conversation again, with two more items.",
            "Yes. The model remembers nothing between two requests. The history is all it knows.",
            right=True,
        ),
        Choice(
            "It does not. It assumes that all went well.",
            "It would, if we did not tell it. That is why every call must get an output.",
        ),
    ),
)


# --- the four problems -----------------------------------------------------------------------------------------------


def manual_reader() -> list[Answer]:
    """The script of a model that knows of its tools only what the request says.

    It calls `update_plan` if it finds the contract, with good arguments if it finds the parameters. Without parameters
    it guesses. In the end it repeats what it was told.
    """
    return [_first_answer, lambda request: say(f"I was told: {last_output(request).splitlines()[0]}")]


def _first_answer(request: ApiRequest) -> Mapping[str, Any]:
    manuals = {tool["name"]: tool for tool in request.to_json()["tools"]}
    if "update_plan" not in manuals:
        return say("I would set a plan, but I know of no tool for it.")
    if "plan" in manuals["update_plan"]["parameters"]["properties"]:
        return call("update_plan", PLAN_ARGUMENTS)
    return call("update_plan", {"todo": ["Read the notes", "Write the summary"]})


@dataclass(frozen=True)
class TrustingHandler:
    """A handler that believes whatever comes: no types, no rule. What the model writes, happens."""

    board: PlanBoard

    def decode_arguments(self, raw_arguments: str) -> Any:
        return json.loads(raw_arguments)

    def run(self, arguments: Any, *, call_id: str) -> str:
        self.board.items = [PlanItem.model_construct(**item) for item in arguments["plan"]]
        self.board.updates += 1
        return "Plan updated"


# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("Two calls, each answered before the next: you have played the model, and only texts left your hand.")
def check_script(script: list[Answer]) -> Iterator[str]:
    """Exercise 0.1: a script with a plan of three steps that is set in one call and completed in the next."""
    if not isinstance(script, list) or not script:
        yield "`script` must be a list of answers, made with `call(…)` and `say(…)`"
        return
    board, model = PlanBoard(), ScriptedModel(script)
    tool = update_plan_tool(board)
    try:
        turn = run_turn(model, lambda _step: [tool], PROMPT)
    except ProviderError:
        yield "after the last call the model is asked once more: end the script with `say(…)`"
        return
    for number, result in enumerate(turn.results, 1):
        if not result.ok:
            yield f"call {number} was refused: {_reason(str(result.output))}"
    if board.updates != len(("set", "complete")):
        yield f"the plan was updated {counted(board.updates, 'time')}, not twice"
    elif len(model.requests) <= board.updates:
        yield "both calls came in one answer: let the model see the first output before it calls again"
    if len(board.items) != len(("first", "second", "third")):
        yield f"the plan has {counted(len(board.items), 'step')} in the end, not three"
    elif any(item.status != "completed" for item in board.items):
        yield 'in the end every step must be "completed"'


def _reason(output: str) -> str:
    """The line of an answer that says most: the first fault, if it lists any."""
    lines = output.splitlines()
    return next((line for line in lines if line.startswith("- ")), lines[0])


@exercise("Look up, decode, run, and an answer for everything that goes wrong: that is a dispatcher.")
def check_dispatcher(dispatch: Callable[[ModelFunctionCall, ToolPlan], ToolResult]) -> Iterator[str]:
    """Exercise 0.2: a function from a call and a plan to a result, for good calls and bad ones."""
    board = PlanBoard()
    plan = plan_tools([update_plan_tool(board)], StepState(id="step_1"))
    good = json.dumps(PLAN_ARGUMENTS)
    cases = (
        ("a good call", "update_plan", good, "step_1", True, ""),
        ("a name that the plan does not have", "update_plans", good, "step_1", False, "update_plans"),
        ("arguments that are not JSON", "update_plan", "three steps", "step_1", False, "JSON"),
        ("a plan with two steps in progress", "update_plan", json.dumps(TWO_AT_ONCE), "step_1", False, "progress"),
        ("a call of another step", "update_plan", good, "step_9", False, "step_9"),
    )
    for number, (what, name, arguments, step_id, ok, word) in enumerate(cases):
        call_id, before = f"call_{number}", board.updates
        try:
            result = dispatch(ModelFunctionCall(call_id, name, arguments, step_id), plan)
        except Exception as error:  # noqa: BLE001 - the learner's dispatcher may raise anything
            yield f"{what}: it raised {type(error).__name__}; the model needs a `ToolResult`, whatever happens"
            continue
        if not isinstance(result, ToolResult):
            yield f"{what}: it gave {type(result).__name__}, not a `ToolResult`"
        elif result.call_id != call_id:
            yield f"{what}: the result has the id {result.call_id!r}, the call had {call_id!r}"
        elif result.ok is not ok:
            yield f"{what}: `ok` must be {ok}"
        elif board.updates - before != int(ok):
            yield f"{what}: the plan was {'not ' if ok else ''}changed"
        elif not result.output:
            yield f"{what}: the output is empty, so the model learns nothing"
        elif word not in str(result.output):
            yield f"{what}: the output does not say what is wrong; the word `{word}` would help"


@exercise("Such an item is dropped and nobody is answered. The real CLI does it in silence; here an event records it.")
def check_dropped_item(item: dict[str, Any]) -> Iterator[str]:
    """Exercise 0.3: a function call that is complete at first sight and yet is dropped."""
    if not isinstance(item, dict) or item.get("type") != "function_call":
        yield 'it must be a dict with `"type": "function_call"`'
        return
    for key in ("call_id", "name", "arguments"):
        if not isinstance(item.get(key), str):
            yield f"`{key}` must be there and be a text: without it the item would be dropped for a simpler reason"
    if read_item(item, "step_1", counter()) is not None:
        yield "this item is read and answered; look at what `read_item` asks after the pattern has matched"
