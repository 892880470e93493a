"""The trace: every stage of a compilation with its schema, its size and what it lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minicodex.errors import InvalidToolSchema
from minicodex.schema.compiler import compile_tool_schema
from minicodex.schema.model import ToolSchema

__all__ = ["SchemaTrace", "trace_tool_schema"]


@dataclass(frozen=True)
class SchemaTrace:
    """What happened to one schema, stage by stage."""

    source: Any
    schema: ToolSchema | None
    error: InvalidToolSchema | None
    stages: tuple[Any, ...] = ()


def trace_tool_schema(
    raw_schema: Any, *, trusted: bool = False, budget_bytes: int = 5_000, collapse_depth: int = 3
) -> SchemaTrace:
    """Compile with notes; never raises for a bad schema."""
    try:
        return SchemaTrace(raw_schema, compile_tool_schema(raw_schema, trusted=trusted), None)
    except InvalidToolSchema as error:
        return SchemaTrace(raw_schema, None, error)
