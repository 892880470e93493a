"""Late calls: three calls of two steps, a tool that changes in between, and two runtimes that handle them.

Nothing is acted out. In the order of the clock the tool is really upgraded, the steps are really planned, and the calls
are really dispatched; each handler notes that it was the one which read the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from minicodex.contract import Contract, FunctionContract
from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_function_call
from minicodex.lab.naive_registry import NaiveRegistry
from minicodex.planner import StepState, ToolPlan, plan_tools
from minicodex.tool import Handler, ToolImplementation, function_tool

__all__ = [
    "LAST_TICK",
    "RUNTIMES",
    "STEPS",
    "Change",
    "Ending",
    "Fate",
    "InPlace",
    "LateCall",
    "Runtime",
    "Snapshots",
    "play",
]

LAST_TICK = 12
STEPS: Mapping[str, int] = MappingProxyType({"step_1": 1, "step_2": 6})
"""Tick at which each step is planned."""


class Change(Enum):
    """What `update_plan` is at a time."""

    FIRST = "update_plan(plan), replaces the plan"
    RENAMED = "update_plan(steps), replaces the plan"
    ADDS = "update_plan(plan), adds to the plan"
    GONE = "no such tool"


@dataclass(frozen=True)
class LateCall:
    """A call that the model makes at one tick and that is handled at a later one."""

    id: str
    step_id: str
    asked: int
    handled: int


class Fate(Enum):
    """What came of a call."""

    KEPT = "kept"
    """Read by the handler of the contract that the model saw."""
    HIJACKED = "hijacked"
    """Read by another handler, which ran."""
    REFUSED = "refused"
    """Read by another handler, which could not use it."""
    LOST = "lost"
    """Nobody read it."""
    NOT_ASKED = "not asked"
    """Its step offered no such tool."""


@dataclass(frozen=True)
class Ending:
    """A call at its end."""

    call: LateCall
    seen: Change
    """The version whose contract the model saw."""
    written: str
    """The arguments, as the contract wanted them."""
    read_by: Change | None
    answer: str
    fate: Fate


# --- the tool --------------------------------------------------------------------------------------------------------


@cache
def _typed(change: Change) -> ToolImplementation:
    def by_plan(plan: list[str]) -> None: ...

    def by_steps(steps: list[str]) -> None: ...

    function = by_steps if change is Change.RENAMED else by_plan
    tool: ToolImplementation = function_tool(function, name="update_plan", description=change.value)
    return tool


@dataclass(frozen=True)
class _Noting:
    """Decodes as its version does, and notes that it was asked."""

    change: Change
    decoder: Handler
    plan: list[str]
    readers: list[Change]

    def decode_arguments(self, raw_arguments: str) -> Any:
        self.readers.append(self.change)
        return self.decoder.decode_arguments(raw_arguments)

    def run(self, arguments: Mapping[str, list[str]], *, call_id: str) -> str:
        (items,) = arguments.values()
        self.plan[:] = [*self.plan, *items] if self.change is Change.ADDS else items
        return f"the plan is now: {', '.join(self.plan)}"


# --- two runtimes ----------------------------------------------------------------------------------------------------


class Runtime(Protocol):
    """Whatever plans steps and handles their calls while the tool changes."""

    def upgrade(self, tool: ToolImplementation | None) -> None:
        """From now on the tool is this one, or there is none."""
        ...

    def plan(self, step_id: str) -> FunctionContract | None:
        """Begin a step; what the model is shown in it."""
        ...

    def dispatch(self, call: ModelFunctionCall) -> ToolResult:
        """Handle a call, whenever it comes."""
        ...


class InPlace:
    """One registry for all steps: an upgrade changes it in place."""

    def __init__(self) -> None:
        self._registry = NaiveRegistry()
        self._newest: ToolImplementation | None = None

    def upgrade(self, tool: ToolImplementation | None) -> None:
        if tool is not None:
            self._registry.register(tool)
        elif self._newest is not None:
            self._registry.remove(self._newest.canonical_name)
        self._newest = tool

    def plan(self, step_id: str) -> FunctionContract | None:
        return _first_function([] if self._newest is None else [self._newest.contract])

    def dispatch(self, call: ModelFunctionCall) -> ToolResult:
        return self._registry.dispatch(call)


class Snapshots:
    """A plan for each step: an upgrade changes what the *next* step will see."""

    def __init__(self) -> None:
        self._candidates: list[ToolImplementation] = []
        self._plans: dict[str, ToolPlan] = {}

    def upgrade(self, tool: ToolImplementation | None) -> None:
        self._candidates = [] if tool is None else [tool]

    def plan(self, step_id: str) -> FunctionContract | None:
        plan = self._plans[step_id] = plan_tools(self._candidates, StepState(step_id))
        return _first_function(plan.contracts)

    def dispatch(self, call: ModelFunctionCall) -> ToolResult:
        return dispatch_function_call(call, self._plans[call.step_id])


def _first_function(contracts: Iterable[Contract]) -> FunctionContract | None:
    return next((contract for contract in contracts if isinstance(contract, FunctionContract)), None)


RUNTIMES: Mapping[str, type[InPlace | Snapshots]] = MappingProxyType(
    {"one registry, changed in place": InPlace, "a plan for each step": Snapshots}
)


# --- the clock -------------------------------------------------------------------------------------------------------


def play(runtime: Runtime, calls: tuple[LateCall, ...], upgrades: Mapping[int, Change]) -> tuple[Ending, ...]:
    """Let the clock run once. At one tick the tool changes first, then a step begins, then calls are handled."""
    plan: list[str] = []
    readers: list[Change] = []
    newest = Change.FIRST
    shown: dict[str, tuple[Change, FunctionContract | None]] = {}
    endings: dict[str, Ending] = {}
    for tick in range(LAST_TICK + 1):
        if tick == 0 or tick in upgrades:
            newest = upgrades.get(tick, Change.FIRST)
            runtime.upgrade(_tool(newest, plan, readers))
        for step_id, begins in STEPS.items():
            if begins == tick:
                shown[step_id] = newest, runtime.plan(step_id)
        for call in calls:
            if call.handled == tick:
                endings[call.id] = _handle(call, *shown[call.step_id], runtime, readers)
    return tuple(endings[call.id] for call in calls)


def _tool(change: Change, plan: list[str], readers: list[Change]) -> ToolImplementation | None:
    if change is Change.GONE:
        return None
    tool = _typed(change)
    return replace(tool, handler=_Noting(change, tool.handler, plan, readers))


def _handle(
    call: LateCall, seen: Change, contract: FunctionContract | None, runtime: Runtime, readers: list[Change]
) -> Ending:
    if contract is None:
        return Ending(call, seen, "", None, "the step offered no such tool", Fate.NOT_ASKED)
    (field,) = contract.parameters.to_json()["properties"]
    written = json.dumps({field: [call.id.upper()]})
    readers.clear()
    result = runtime.dispatch(ModelFunctionCall(call.id, contract.name, written, call.step_id))
    read_by = readers[0] if readers else None
    return Ending(call, seen, written, read_by, _brief(str(result.output)), _fate(seen, read_by, ok=result.ok))


def _fate(seen: Change, read_by: Change | None, *, ok: bool) -> Fate:
    if read_by is None:
        return Fate.LOST
    if read_by is seen:
        return Fate.KEPT
    return Fate.HIJACKED if ok else Fate.REFUSED


def _brief(answer: str) -> str:
    """The line of an answer that says what happened."""
    lines = answer.splitlines()
    return lines[1].removeprefix("- ") if len(lines) > 1 else lines[0]
