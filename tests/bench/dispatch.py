"""What a call costs, good and bad, beside the libraries that people use for it.

    python -m tests.bench.dispatch

The base is the least that a strict reading can cost: `parse_strict` of the text and pydantic's own validation of it.
Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from minicodex import ModelFunctionCall, StepState, dispatch_function_call, dynamic_tool, function_tool, plan_tools
from minicodex.json_text import parse_strict
from tests.bench.paired import paired_ratio


class Item(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(extra="forbid")
    step: str
    status: Literal["pending", "in_progress", "completed"]


class Arguments(BaseModel):
    """Arguments of the measured tool."""

    model_config = ConfigDict(extra="forbid")
    plan: list[Item]
    explanation: str = ""


GOOD = json.dumps({"explanation": "why", "plan": [{"step": f"step {i}", "status": "pending"} for i in range(4)]})
BAD = json.dumps({"plan": [{"step": "a", "status": "done"}, {"step": 3, "status": "pending"}]})

Call = Callable[[str], object]


def base(text: str) -> object:
    parse_strict(text)
    return Arguments.model_validate_json(text, strict=True)


def ours_typed() -> Call:
    @function_tool
    def update(plan: list[Item], explanation: str = "") -> str:
        """Replace the plan."""
        return "ok"

    plan = plan_tools([update], StepState("s"))
    return lambda text: dispatch_function_call(ModelFunctionCall("c", "update", text, "s"), plan)


def ours_dynamic() -> Call:
    tool = dynamic_tool("update", "", TypeAdapter(Arguments).json_schema(), lambda arguments: "ok")
    plan = plan_tools([tool], StepState("s"))
    return lambda text: dispatch_function_call(ModelFunctionCall("c", "update", text, "s"), plan)


# --- the peers: each answers a bad call in its own way, with an exception or a text -----------------------------------


def openai_agents() -> Call:
    from agents import RunContextWrapper
    from agents import function_tool as agents_tool
    from agents.tool_context import ToolContext

    @agents_tool
    def update(plan: list[Item], explanation: str = "") -> str:
        """Replace the plan."""
        return "ok"

    assert RunContextWrapper
    return lambda text: _finish(
        update.on_invoke_tool(ToolContext(None, tool_name="update", tool_call_id="c", tool_arguments=text), text)
    )


def pydantic_ai() -> Call:
    from pydantic_ai import Tool
    from pydantic_ai.messages import RetryPromptPart

    def update(plan: list[Item], explanation: str = "") -> str:
        """Replace the plan."""
        return "ok"

    schema, runner = Tool(update).function_schema, asyncio.Runner()

    def call(text: str) -> object:
        try:
            arguments = schema.validator.validate_json(text)
        except ValidationError as error:  # what its agent sends back
            faults = error.errors(include_url=False, include_context=False)
            return RetryPromptPart(content=faults, tool_name="update").model_response()
        return runner.run(schema.call(arguments, None))  # it hands the function to a thread

    return call


def langchain() -> Call:
    from langchain_core.tools import tool

    @tool
    def update(plan: list[Item], explanation: str = "") -> str:
        """Replace the plan."""
        return "ok"

    return lambda text: update.invoke({"name": "update", "args": json.loads(text), "id": "c", "type": "tool_call"})


def fastmcp() -> Call:
    from fastmcp.tools import Tool

    def update(plan: list[Item], explanation: str = "") -> str:
        """Replace the plan."""
        return "ok"

    tool, runner = Tool.from_function(update), asyncio.Runner()
    return lambda text: runner.run(tool.run(json.loads(text)))  # it hands the function to a thread


def _finish(coroutine: Coroutine[Any, Any, object]) -> object:
    """Run a coroutine that never really waits, by hand: no event loop, no cost of one."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits: measure it in a loop")


PEERS = {"openai-agents": openai_agents, "pydantic-ai": pydantic_ai, "langchain-core": langchain, "fastmcp": fastmcp}


def subjects() -> Iterator[tuple[str, Call]]:
    yield "minicodex, typed function", ours_typed()
    yield "minicodex, tool from data", ours_dynamic()
    for name, load in PEERS.items():
        try:
            yield name, load()
        except ImportError:
            print(f"  ({name} is not installed)")


def swallowing(call: Call, text: str) -> Callable[[], object]:
    """The call as a runtime makes it: an exception is turned into a text."""

    def work() -> object:
        try:
            return call(text)
        except Exception as error:  # noqa: BLE001 (whatever a peer raises is its answer)
            return str(error)

    return work


def answer_to(call: Call, text: str) -> str:
    """How long the answer to a bad call is: a short one is quickly written, and says little."""
    answer = swallowing(call, text)()
    return f"{len(str(getattr(answer, 'output', getattr(answer, 'content', answer)))):,} characters"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=31)
    pairs = parser.parse_args().pairs
    logging.disable()
    print("ratio to strict reading and pydantic's own validation of the good call")
    print(f"  {'':<28}{'good call':>12}{'bad call, with its answer':>28}")
    for name, call in subjects():
        call(GOOD)
        figures = [paired_ratio(swallowing(call, text), lambda: base(GOOD), pairs=pairs) for text in (GOOD, BAD)]
        print(f"  {name:<28}{figures[0]:>11.2f}x{figures[1]:>27.2f}x   {answer_to(call, BAD)}", flush=True)


if __name__ == "__main__":
    main()
