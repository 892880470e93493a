"""Drift: one tool in several versions, kept in two hand-made registries or as one implementation.

Everything is run: each call is written by a model of a certain obedience, looked up in a real table, and decoded by a
real handler. Only the model is made up, and its rule is simple: an obedient call follows the contract; any other call
follows habit, whatever the contract says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from minicodex.contract import FunctionContract
from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_function_call
from minicodex.lab.naive_registry import NaiveRegistry
from minicodex.planner import StepState, plan_tools
from minicodex.tool import ToolImplementation, function_tool

__all__ = ["HABITS", "VERSIONS", "OneImplementation", "Outcome", "Runtime", "TwoRegistries", "make_calls", "signature"]


# --- the tool in its versions ----------------------------------------------------------------------------------------


def _with_cmd(cmd: str) -> str:
    """Run a command; here it is only noted down."""
    return f"ran {cmd}"


def _with_command(command: str) -> str:
    """Run a command; here it is only noted down."""
    return f"ran {command}"


def _with_words(cmd: list[str]) -> str:
    """Run a command; here it is only noted down."""
    return f"ran {' '.join(cmd)}"


def _tool(function: Any, name: str = "exec_command") -> ToolImplementation:
    tool: ToolImplementation = function_tool(function, name=name)
    return tool


def signature(contract: FunctionContract | None) -> str:
    """A contract in one line: `exec_command(cmd: string)`."""
    if contract is None:
        return "(nothing)"
    fields = contract.parameters.to_json().get("properties", {})
    return f"{contract.name}({', '.join(f'{name}: {_type(node)}' for name, node in fields.items())})"


def _type(node: Mapping[str, Any]) -> str:
    return f"list of {_type(node['items'])}s" if node.get("type") == "array" else str(node.get("type", "any"))


_TOOLS = (_tool(_with_cmd), _tool(_with_command), _tool(_with_words), _tool(_with_cmd, "run_command"))

VERSIONS: Mapping[str, ToolImplementation | None] = MappingProxyType(
    {signature(tool.contract): tool for tool in _TOOLS if isinstance(tool.contract, FunctionContract)}
    | {"(nothing)": None}
)
"""The tool before and after each edit, by its signature: argument renamed, type changed, tool renamed, tool gone."""


# --- the model -------------------------------------------------------------------------------------------------------

HABITS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exec_command", {"cmd": "ls"}),
    ("exec_command", {"command": "ls"}),
    ("shell", {"command": ["ls"]}),
    ("exec_command", {"script": "ls"}),
)
"""What the model has seen in other programs, and writes in turn when it does not follow the contract."""


@dataclass(frozen=True)
class Outcome:
    """One call and what came of it."""

    obedient: bool
    written: str
    """The call as the model wrote it; empty where it found no tool to call."""
    ok: bool
    answer: str
    """The first line of what the model is told."""


def _calls(contract: FunctionContract | None, obedience: int, count: int) -> Iterator[tuple[bool, str, Any]]:
    """So many calls, the obedient ones spread evenly among them. An obedience of 7 is 7 of 10."""
    habits = 0
    for number in range(count):
        if (number + 1) * obedience // 10 > number * obedience // 10:
            yield True, *_by_contract(contract)
        else:
            yield False, *HABITS[habits % len(HABITS)]
            habits += 1


def _by_contract(contract: FunctionContract | None) -> tuple[str, Any]:
    if contract is None:
        return "", {}
    fields = contract.parameters.to_json()["properties"]
    return contract.name, {name: ["ls"] if node["type"] == "array" else "ls" for name, node in fields.items()}


# --- the two runtimes ------------------------------------------------------------------------------------------------

Dispatch = Callable[[ModelFunctionCall], ToolResult]


@dataclass(frozen=True)
class TwoRegistries:
    """One table for the model, one for the calls, each filled by hand."""

    contract: str
    """The version that the model sees."""
    handler: str
    """The version that runs."""

    def start(self) -> tuple[FunctionContract | None, Dispatch]:
        """What the model is shown, and what becomes of a call."""
        shown, kept = VERSIONS[self.contract], VERSIONS[self.handler]
        handlers = NaiveRegistry()
        if kept is not None:
            handlers.register(kept)
        return _contract(shown), handlers.dispatch


@dataclass(frozen=True)
class OneImplementation:
    """Both tables are made from the same thing: there is nothing to keep in step."""

    version: str

    @property
    def contract(self) -> str:
        return self.version

    @property
    def handler(self) -> str:
        return self.version

    def start(self) -> tuple[FunctionContract | None, Dispatch]:
        tool = VERSIONS[self.version]
        plan = plan_tools([] if tool is None else [tool], StepState(_STEP))
        return _contract(tool), lambda call: dispatch_function_call(call, plan)


Runtime = TwoRegistries | OneImplementation
"""Whatever shows a contract and handles calls."""

_STEP = "step_1"


def _contract(tool: ToolImplementation | None) -> FunctionContract | None:
    return tool.contract if tool is not None and isinstance(tool.contract, FunctionContract) else None


@cache
def make_calls(runtime: Runtime, obedience: int, count: int = 10) -> tuple[Outcome, ...]:
    """Let a model of this obedience (0 to 10) make so many calls."""
    contract, dispatch = runtime.start()
    return tuple(_outcome(*written, dispatch) for written in _calls(contract, obedience, count))


def _outcome(obedient: bool, name: str, arguments: Any, dispatch: Dispatch) -> Outcome:  # noqa: FBT001
    if not name:
        return Outcome(obedient, "", ok=False, answer="it knows of no such tool, and calls nothing")
    text = json.dumps(arguments)
    result = dispatch(ModelFunctionCall("call_1", name, text, _STEP))
    return Outcome(obedient, f"{name} {text}", result.ok, _brief(str(result.output)))


def _brief(answer: str) -> str:
    """The line of an answer that says what happened."""
    lines = answer.splitlines()
    return lines[1].removeprefix("- ") if len(lines) > 1 else lines[0]
