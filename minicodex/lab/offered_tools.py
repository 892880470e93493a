"""Eight tools from three places, chosen so that each filter of the planner stops at least one of them.

They are made as the real sources make them: by `@function_tool`, and from definitions as an MCP server lists them. Like
the MCP source, a model that can search gets them deferred.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from minicodex.planner import StepState
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.definitions import DefinedTools
from minicodex.tool import Candidate, Exposure, ToolImplementation, function_tool

__all__ = ["CALENDAR", "MAIL", "offered"]

CALENDAR: list[dict[str, Any]] = [
    {"name": "create_event", "description": "Create a calendar event.", "inputSchema": CREATE_EVENT_SCHEMA},
    {
        "name": "list.events",
        "description": "List the events of one day.",
        "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
        "outputSchema": {"type": "object", "properties": {"titles": {"type": "array", "items": {"type": "string"}}}},
    },
    {"name": "create_event", "description": "An older copy of it.", "inputSchema": {"type": "object"}},
    {"name": "void", "description": "A tool that takes null.", "inputSchema": {"type": "null"}},
]
"""What the calendar server lists: a name with a dot, a name given twice, and a schema that no contract can hold."""

MAIL: list[dict[str, Any]] = [
    {
        "name": "send_mail",
        "description": "Send an e-mail.",
        "inputSchema": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "text"],
        },
    }
]


def offered(step: StepState, board: PlanBoard | None = None) -> list[Candidate]:
    """All that the sources offer in this step, in order of priority."""
    ours = _nobodys() if board is None else _builtin(board)
    theirs = map(_for_search, _mcp()) if step.model.supports_search else _mcp()
    return [*ours, *theirs]


def _needs_a_shell(step: StepState) -> str | None:
    return "needs a POSIX shell, and this is Windows" if step.platform == "windows" else None


@cache
def _shell() -> ToolImplementation:
    def exec_command(cmd: str) -> str:
        """Run a command; here it is only noted down."""
        return f"ran {cmd}"

    tool: ToolImplementation = function_tool(exec_command, gate=_needs_a_shell)
    return tool


def _builtin(board: PlanBoard) -> tuple[ToolImplementation, ...]:
    """`update_plan`, the shell, and the name under which the first one was known before."""
    tool = update_plan_tool(board)
    return tool, _shell(), replace(tool, contract=replace(tool.contract, name="set_plan"), exposure=Exposure.HIDDEN)


_nobodys = cache(lambda: _builtin(PlanBoard()))
"""Made once, so that equal steps have equal plans."""


@cache
def _mcp() -> tuple[Candidate, ...]:
    servers = {"calendar": (CALENDAR, "The team's calendar."), "mail": (MAIL, "")}
    return tuple(
        candidate
        for server, (definitions, instructions) in servers.items()
        for candidate in DefinedTools.build(
            definitions, server=server, run=lambda name, _arguments: f"{name} has run", instructions=instructions
        ).candidates
    )


@cache
def _for_search(tool: Candidate) -> Candidate:
    return replace(tool, exposure=Exposure.DEFERRED) if isinstance(tool, ToolImplementation) else tool
