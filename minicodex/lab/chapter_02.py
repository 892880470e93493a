"""What chapter 2 needs beside the runtime: its predictions, a handler that counts in hours, and its exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from minicodex.contract import FunctionContract
from minicodex.dispatch import ModelFunctionCall, dispatch_function_call
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.planner import StepState, plan_tools
from minicodex.samples import create_event_tool
from minicodex.schema import compile_tool_schema
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.tool import ToolImplementation

__all__ = [
    "AN_OLD_TOOL",
    "STAND_UP",
    "WHO_FAILS",
    "CallBook",
    "check_candidates",
    "check_find_drift",
    "check_timer",
    "event_tool_in_hours",
    "one_text",
]


def one_text(field: str) -> Any:
    """Parameters of a tool that takes one text."""
    return compile_tool_schema({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]})


STAND_UP = '{"title": "Stand-up", "start": {"instant": "2031-04-05T09:30:00Z"}, "duration": 15}'
"""A call of `create_event`, just as its contract wants it: a duration of 15 minutes."""


def event_tool_in_hours() -> ToolImplementation:
    """The contract of `create_event`, which counts in minutes, with a newer handler, which counts in hours."""
    newer = create_event_tool()
    return replace(newer, handler=_InHours(newer.handler))


@dataclass(frozen=True)
class _InHours:
    older: Any

    def decode_arguments(self, raw_arguments: str) -> Any:
        return self.older.decode_arguments(raw_arguments)

    def run(self, arguments: Any, *, call_id: str) -> str:
        return f"{arguments['title']} is booked for {arguments['duration']} hours"


class CallBook:
    """A test double's handler: it takes any arguments, notes them down and does nothing."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def decode_arguments(self, raw_arguments: str) -> str:
        return raw_arguments

    def run(self, arguments: str, *, call_id: str) -> str:
        self.calls.append(arguments)
        return "noted"


# --- predictions -----------------------------------------------------------------------------------------------------

WHO_FAILS = Prediction(
    "In the handlers' registry `cmd` became `command`; the contract was forgotten. Which model fails most often?",
    (
        Choice(
            "A careless one, which guesses its arguments.",
            "It fails often, as it always did. But now and then it guesses `command`, and that works.",
        ),
        Choice(
            "One that follows its contract to the letter.",
            "Right. It writes `cmd` every time, because that is what it was told. It fails every time.",
            right=True,
        ),
        Choice(
            "Both alike: the tool is broken.",
            "The handler is in order, and whoever writes `command` is served. It is the manual that is wrong.",
        ),
    ),
)

AN_OLD_TOOL = Prediction(
    "An old tool is kept for callers who still know it, and shown to nobody new. What does the pass write of it?",
    (
        Choice(
            "Nothing: what is not shown is not there.",
            "Then its old callers would be turned away. To be seen and to run are two questions.",
        ),
        Choice(
            "Its handler, into one of the tables.",
            "Right. What is visible can run. What can run need not be visible.",
            right=True,
        ),
        Choice(
            "Contract and handler, the contract marked as old.",
            "The wire has no such mark. Whatever stands in the list, the model may choose.",
        ),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------

Contracts = Mapping[str, FunctionContract]
Functions = Mapping[str, Callable[..., Any]]


def _by_cmd(cmd: str) -> None:
    """A handler."""


def _by_command(command: str) -> None:
    """The same after a rename."""


def _contract(field: str) -> FunctionContract:
    return FunctionContract("exec_command", "Run a command.", one_text(field))


_REGISTRIES: tuple[tuple[str, Contracts, Functions, set[str]], ...] = (
    ("registries that agree", {"run": _contract("cmd")}, {"run": _by_cmd}, set()),
    ("an argument renamed in the handler", {"run": _contract("cmd")}, {"run": _by_command}, {"run"}),
    ("an argument renamed in the contract", {"run": _contract("command")}, {"run": _by_cmd}, {"run"}),
    ("a contract without a handler", {"run": _contract("cmd")}, {}, {"run"}),
    ("a handler without a contract", {}, {"run": _by_cmd}, {"run"}),
    (
        "two tools, one of them renamed",
        {"run": _contract("cmd"), "again": _contract("cmd")},
        {"run": _by_cmd, "again": _by_command},
        {"again"},
    ),
)


@exercise("It finds what has a name. A unit, an order, a meaning has none: no check of names finds minutes and hours.")
def check_find_drift(find_drift: Callable[[Contracts, Functions], Any]) -> Iterator[str]:
    """Exercise 2.1: the names under which two registries disagree."""
    for what, contracts, functions, expected in _REGISTRIES:
        found = find_drift(contracts, functions)
        if isinstance(found, str) or not hasattr(found, "__iter__"):
            yield f"{what}: return a set of names, not {type(found).__name__}"
        elif set(found) != expected:
            yield f"{what}: expected {sorted(expected) or 'nothing'}, found {sorted(set(found)) or 'nothing'}"


@exercise("The signature became the contract and the check. To rename an argument, you now change one line.")
def check_timer(tool: ToolImplementation) -> Iterator[str]:
    """Exercise 2.2: a tool made of one function, so that contract and handler cannot disagree."""
    if not isinstance(tool, ToolImplementation) or not isinstance(tool.contract, FunctionContract):
        yield "`set_timer` must be a tool: put `@function_tool` above the function"
        return
    if tool.canonical_name != "set_timer":
        yield f"the tool is called {tool.canonical_name}, not set_timer"
        return
    parameters = tool.contract.parameters.to_json()
    fields = {name: node.get("type") for name, node in parameters.get("properties", {}).items()}
    if fields != {"minutes": "integer", "label": "string"}:
        yield f"the contract must show minutes: integer and label: string, it shows {fields or 'nothing'}"
        return
    if parameters.get("required") != ["minutes"]:
        yield "only `minutes` is required: give `label` a default"
    if "minute" not in tool.contract.description.lower():
        yield "the docstring is what the model reads: say there that the timer counts in minutes"
    plan = plan_tools([tool], StepState("step_1"))
    for arguments, ok in (('{"minutes": 5}', True), ('{"minutes": 5, "label": "tea"}', True), ('{"hours": 1}', False)):
        if dispatch_function_call(ModelFunctionCall("c", "set_timer", arguments, "step_1"), plan).ok is not ok:
            yield f"{arguments} must {'run' if ok else 'be refused'}"


@exercise("A tool that may not exist owns nothing. So the next one of its name gets both tables, never one of them.")
def check_candidates(candidates: list[ToolImplementation]) -> Iterator[str]:
    """Exercise 2.3: two tools of one name, of which the second owns it."""
    tools = list(candidates)
    if len(tools) != len(("first", "second")) or not all(isinstance(tool, ToolImplementation) for tool in tools):
        yield "`candidates` must be a list of two tools"
        return
    first, second = tools
    if first.canonical_name != second.canonical_name:
        yield f"they must have the same name, not {first.canonical_name} and {second.canonical_name}"
        return
    plan = plan_tools(tools, StepState("step_1"))
    owner = plan.implementations.get(first.canonical_name)
    if owner is first:
        yield "the first one owns the name: which filter stops a tool before the name is asked for?"
    elif owner is not second:
        yield "now nobody owns the name: only the first one may be stopped"
    elif not plan.contracts:
        yield "the second one can run but is not shown: leave its exposure as it is"


def two_boards() -> tuple[PlanBoard, ToolImplementation, PlanBoard, ToolImplementation]:
    """Two tools of one name that write on different boards."""
    mine, theirs = PlanBoard(), PlanBoard()
    return mine, update_plan_tool(mine), theirs, replace(update_plan_tool(theirs), source="a guest")
