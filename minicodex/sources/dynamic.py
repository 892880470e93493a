"""Tools from plain data: a name, a description and a JSON Schema that someone else wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minicodex.arguments import parse_arguments
from minicodex.contract import FunctionContract
from minicodex.errors import InvalidContract
from minicodex.schema import ToolSchema, compile_tool_schema
from minicodex.tool import Exposure, ToolImplementation
from minicodex.validation import ArgumentValidator

__all__ = ["SchemaHandler", "dynamic_tool"]


@dataclass(frozen=True)
class SchemaHandler:
    """Checks arguments against the author's own schema, then calls a function with one dict."""

    function: Callable[[dict[str, Any]], Any]
    validator: ArgumentValidator | None
    """None forwards any JSON object unchecked, as Codex CLI 0.171.0 does with the arguments of MCP tools (measured)."""

    @property
    def finding(self) -> str | None:
        """Why the author's schema could not be used for checking; None while it could."""
        return None if self.validator is None else self.validator.finding

    def decode_arguments(self, raw_arguments: str) -> dict[str, Any]:
        arguments = parse_arguments(raw_arguments)
        if self.validator is not None:
            self.validator.check(arguments)
        return arguments

    def run(self, arguments: dict[str, Any], *, call_id: str) -> Any:
        return self.function(arguments)


def dynamic_tool(
    name: str,
    description: str,
    input_schema: Any,
    handler: Callable[[dict[str, Any]], Any],
    *,
    output_schema: Any = None,
    exposure: Exposure = Exposure.DIRECT,
    namespace: str | None = None,
    trusted: bool = False,
    source: str = "dynamic",
    parallel_safe: bool = False,
    check_arguments: bool = True,
) -> ToolImplementation:
    """Make a tool of plain data.

    The model is shown the compiled schema; its arguments are checked against `input_schema` itself. Then `handler` is
    called with exactly one dict.

    Args:
        trusted: skip the compaction. Only for our own tools.
        check_arguments: False leaves the check to the handler, which then gets any JSON object.

    Raises:
        InvalidToolSchema: the schema is outside the subset.
        InvalidContract: the name or the description is no text, or the handler cannot be called.
    """
    if not isinstance(name, str) or not isinstance(description, str):
        raise InvalidContract(
            f"name and description must be texts, found {type(name).__name__} and {type(description).__name__}"
        )
    if not callable(handler):
        raise InvalidContract(f"{name!a}: the handler must be callable with one dict")
    parameters: ToolSchema = compile_tool_schema(input_schema, trusted=trusted)
    return ToolImplementation(
        contract=FunctionContract(name, description, parameters, output_schema=output_schema),
        handler=SchemaHandler(
            handler, ArgumentValidator(input_schema, parameters.to_json) if check_arguments else None
        ),
        exposure=exposure,
        namespace=namespace,
        source=source,
        parallel_safe=parallel_safe,
    )
