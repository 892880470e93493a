"""What chapter 4 needs beside the runtime: its predictions, tools by the dozen, and its exercises."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

from minicodex.dispatch import ModelFunctionCall, ToolResult
from minicodex.lab.exercise import exercise
from minicodex.lab.late_calls import Change, Fate
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.timeline import Timeline
from minicodex.planner import ToolPlan
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import ToolImplementation

__all__ = [
    "HOW_MANY_TABLES",
    "WHICH_VERSION",
    "WHO_NOTICES",
    "check_keeper",
    "check_silent",
    "check_twins",
    "many_tools",
    "versioned",
]


def versioned(version: str) -> ToolImplementation:
    """`create_event` in one of its versions. The contract stays the same; the handler says which one it is."""
    return dynamic_tool("create_event", "Create an event.", {"type": "object"}, lambda _arguments: f"by {version}")


def many_tools(count: int) -> list[ToolImplementation]:
    """So many tools with the large schema of `create_event`."""
    return [dynamic_tool(f"tool_{number}", "A tool.", CREATE_EVENT_SCHEMA, str) for number in range(count)]


# --- predictions -----------------------------------------------------------------------------------------------------

WHICH_VERSION = Prediction(
    "In step 1 the model calls `update_plan` as its contract says. Before the call is handled, the tool gets a new "
    "version. Whose handler should read the arguments?",
    (
        Choice(
            "The newest one: it has all the corrections.",
            "It reads a text that was written for another contract. If it can use it at all, it means something else.",
        ),
        Choice(
            "The one of step 1, whose contract the model saw.",
            "Right. The call is the answer to that contract. Only its own handler knows what the words meant.",
            right=True,
        ),
        Choice(
            "Neither: such a call is refused.",
            "Safe, but the model did everything right, and is told that it did not.",
        ),
    ),
)

WHO_NOTICES = Prediction(
    "Two calls, each for a plan of one step, were written for version ①. Both are handled by version ③. Who notices?",
    (
        Choice(
            "The handler: it refuses calls that were meant for another version.",
            "It cannot. Version ③ takes the same arguments, and nothing in them says for whom they were written.",
        ),
        Choice(
            "The model: it is told that the tool has changed.",
            "It is told that its call has run. The result has the form of any other result.",
        ),
        Choice(
            "Nobody.",
            "Right. The arguments fit by accident, and something else is done than was asked for.",
            right=True,
        ),
    ),
)

HOW_MANY_TABLES = Prediction(
    "A hundred steps with the same tools: a hundred plans, all of them alive. How many dispatch tables are in memory?",
    (
        Choice(
            "A hundred.", "So it would be if each plan copied its tables. But a table that never changes can be shared."
        ),
        Choice(
            "One.",
            "Right. A plan depends on its candidates and its step, and on nothing else. So equal ones share.",
            right=True,
        ),
        Choice("None: they are made when they are needed.", "A call may come at any time, and must find its table."),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("A plan lives as long as a call of its step may come, and no longer.")
def check_keeper(keeper_class: Any) -> Iterator[str]:
    """Exercise 4.1: a class that keeps a plan for each step until the step is finished."""
    keeper = keeper_class()
    keeper.plan("step_1", [versioned("version 1")])
    keeper.plan("step_2", [versioned("version 2")])
    keeper.plan("step_3", [])
    for step_id, wanted in (("step_2", "by version 2"), ("step_1", "by version 1")):
        result = keeper.dispatch(ModelFunctionCall("c", "create_event", "{}", step_id))
        if not isinstance(result, ToolResult):
            yield f"`dispatch` gave {type(result).__name__}, not a `ToolResult`"
            return
        if result.output != wanted:
            yield f"a call of {step_id} was answered with {result.output!r}, not with {wanted!r}"
    if keeper.dispatch(ModelFunctionCall("c", "create_event", "{}", "step_3")).ok:
        yield "step_3 offers no tool, and yet its call ran"
    yield from _forgets(keeper)


def _forgets(keeper: Any) -> Iterator[str]:
    tool = versioned("version 1")
    watched = weakref.ref(tool)
    keeper.plan("step_9", [tool])
    del tool
    keeper.finish("step_9")
    gc.collect()
    if watched() is not None:
        yield "after `finish` the plan is still held somewhere, and its tools with it"
    try:
        late = keeper.dispatch(ModelFunctionCall("late", "create_event", "{}", "step_9"))
    except KeyError:
        late = None
    if not isinstance(late, ToolResult) or late.ok or late.call_id != "late":
        yield "after `finish` a call needs an answer, too: let `dispatch` return a `ToolResult` that is not ok"


@exercise("Nothing was refused, nothing was lost, nobody was told. This is what the snapshots are for.")
def check_silent(state: Timeline) -> Iterator[str]:
    """Exercise 4.2: a timeline in which every call runs, and none of them as it was meant."""
    if not isinstance(state, Timeline):
        yield "`silent` must be a `Timeline`"
        return
    for ending in state.with_(runtime=Timeline.runtime).endings:
        if ending.fate is not Fate.HIJACKED:
            yield f"call {ending.call.id} is {ending.fate.value}, not hijacked: {ending.answer}"
    if Change.GONE in dict(state.upgrades).values():
        yield "no need to take the tool away: an upgrade is enough"


@exercise("A plan is shared only where *everything* it depends on is equal, even what no gate has asked for.")
def check_twins(plans: tuple[ToolPlan, ToolPlan]) -> Iterator[str]:
    """Exercise 4.3: two plans that say the same and share nothing."""
    if not isinstance(plans, (tuple, list)) or not all(isinstance(plan, ToolPlan) for plan in plans):
        yield "`twins` must be two plans"
        return
    first, second = plans
    if not first.dispatch:
        yield "let there be at least one tool"
    if first.contracts.top_level.raw != second.contracts.top_level.raw:
        yield "the contracts must be equal, byte for byte"
    if list(first.implementations.values()) != list(second.implementations.values()):
        yield "the implementations must be the very same objects"
    if first.dispatch is second.dispatch:
        yield "these two share their tables: something that the plan depends on must differ"
