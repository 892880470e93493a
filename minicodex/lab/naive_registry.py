"""The runtime that many programs have: one table, changed in place. It works until two steps overlap.

It is here to be watched while it goes wrong. Everything in it is real: the tools, the handlers, the threads that meet.
"""

from __future__ import annotations

from minicodex.arguments import feedback
from minicodex.dispatch import ModelFunctionCall, ToolResult
from minicodex.errors import ArgumentError
from minicodex.naming import ToolName
from minicodex.tool import Handler, ToolImplementation

__all__ = ["NaiveRegistry"]


class NaiveRegistry:
    """Name to newest handler. A call is handled by whatever stands there when it arrives."""

    def __init__(self) -> None:
        self._handlers: dict[ToolName, Handler] = {}

    def register(self, tool: ToolImplementation) -> None:
        """Add a tool, or put a newer one in the place of an older one."""
        self._handlers[tool.canonical_name] = tool.handler

    def remove(self, name: ToolName | str) -> None:
        """Take a tool away."""
        self._handlers.pop(ToolName.of(name), None)

    def dispatch(self, call: ModelFunctionCall) -> ToolResult:
        """Handle a call. Nothing here asks which contract the model saw."""
        handler = self._handlers.get(ToolName.of(call.canonical_name))
        if handler is None:
            return ToolResult.error(call.id, f"unsupported call: {call.canonical_name}")
        try:
            arguments = handler.decode_arguments(call.raw_arguments)
            return ToolResult(call.id, ok=True, output=handler.run(arguments, call_id=call.id))
        except ArgumentError as error:
            return ToolResult.feedback_to_model(call_id=call.id, message=feedback(str(call.canonical_name), error))
