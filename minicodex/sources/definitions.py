"""From MCP tool definitions, as a server lists them or a file holds them, to tools. No SDK here.

One malformed definition is one `RejectedTool`. In Codex CLI 0.171.0 it takes the server's whole list away, silently
(measured).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from minicodex.arguments import describe
from minicodex.errors import InvalidContract, JsonTextError, ToolAuthorError
from minicodex.json_text import to_compact_bytes
from minicodex.naming import ToolName, canonical_names, canonical_namespaces
from minicodex.schema import adapt_mcp_schema
from minicodex.sources import Candidate
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import RejectedTool, ToolImplementation, TwoViews

__all__ = ["DefinedTools", "RunTool", "read_definitions"]

RunTool = Callable[[str, dict[str, Any]], Any]
"""Runs a tool by the server's own name for it, with checked arguments."""


@dataclass(frozen=True)
class DefinedTools:
    """The tools of one list of definitions."""

    candidates: tuple[Candidate, ...]
    """In the order of the list."""
    names: Mapping[str, ToolName]
    """Canonical name by the server's own name."""

    @classmethod
    def build(
        cls,
        definitions: Sequence[Any],
        *,
        server: str,
        run: RunTool,
        namespace: str | None = None,
        instructions: str = "",
        check_arguments: bool = True,
    ) -> DefinedTools:
        """Build every tool of the list, or the reason why there is none.

        Args:
            server: the server's name as configured.
            namespace: its canonical namespace, where several servers have been named together.
            instructions: what the server says about itself; it describes the namespace.
            check_arguments: False forwards any JSON object to the server, as Codex CLI 0.171.0 does (measured).
        """
        space = canonical_namespaces([server])[server] if namespace is None else namespace
        names = canonical_names(
            server, space, [raw for definition in definitions if (raw := _raw_name(definition)) is not None]
        )
        build = partial(
            _build,
            source=f"mcp:{server}",
            run=run,
            instructions=instructions or None,
            check_arguments=check_arguments,
        )
        return cls(tuple(_candidates(definitions, names, f"mcp:{server}", build)), names)


def _candidates(
    definitions: Sequence[Any],
    names: Mapping[str, ToolName],
    source: str,
    build: Callable[[dict[str, Any], ToolName], ToolImplementation],
) -> Iterator[Candidate]:
    for definition in definitions:
        raw = _raw_name(definition)
        try:
            if flaw := _malformed(definition):
                raise InvalidContract(flaw)
            yield build(definition, names[definition["name"]])
        except ToolAuthorError as error:
            yield RejectedTool(None if raw is None else str(names[raw]), source, error)


def _build(
    definition: dict[str, Any],
    name: ToolName,
    *,
    source: str,
    run: RunTool,
    instructions: str | None,
    check_arguments: bool,
) -> ToolImplementation:
    tool = dynamic_tool(
        name.name,
        definition.get("description") or "",
        adapt_mcp_schema(definition["inputSchema"]),
        partial(_in_two_views, run, definition["name"]),
        output_schema=definition.get("outputSchema"),
        namespace=name.namespace,
        source=source,
        parallel_safe=(definition.get("annotations") or {}).get("readOnlyHint") is True,
        check_arguments=check_arguments,
    )
    raw = definition["name"]
    return replace(tool, namespace_description=instructions, is_mcp=True, raw_name=None if raw == name.name else raw)


def _in_two_views(run: RunTool, raw_name: str, arguments: dict[str, Any]) -> Any:
    """Run it. A plain result is put into the form of an MCP result for those who want one: scripts in code mode."""
    output = run(raw_name, arguments)
    if isinstance(output, TwoViews):
        return output
    try:
        text = output if isinstance(output, str) else to_compact_bytes(output).decode()
    except (ValueError, RecursionError):
        return output  # for the dispatcher to refuse
    return TwoViews(text, {"content": [{"type": "text", "text": text}]})


_FIELDS = (
    ("name", str, "a text", True),
    ("inputSchema", dict, "an object", True),
    ("description", str, "a text", False),
    ("annotations", dict, "an object", False),
    ("outputSchema", dict, "an object", False),
)


def _raw_name(definition: Any) -> str | None:
    name = definition.get("name") if isinstance(definition, dict) else None
    return name if isinstance(name, str) else None


def _malformed(definition: Any) -> str | None:
    """Why a definition cannot be a tool, or None. The demands are those of Codex CLI 0.171.0."""
    if not isinstance(definition, dict):
        return f"a tool definition must be an object, found {describe(definition)}"
    for key, kind, noun, required in _FIELDS:
        value = definition.get(key)
        if not isinstance(value, kind) and (required or value is not None):
            return f"{key} must be {noun}, found {describe(value) if key in definition else 'nothing'}"
    return None


def read_definitions(text: bytes) -> list[Any]:
    """Read a file of definitions: a list, a `tools/list` result, or a whole response that holds one.

    Raises:
        JsonTextError: it is not JSON, or no such list.
    """
    try:
        value = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise JsonTextError("the text is not UTF-8", 1, 1) from None
    except json.JSONDecodeError as error:
        raise JsonTextError("the text is not JSON", error.lineno, error.colno) from None
    except (RecursionError, ValueError):
        raise JsonTextError("the text is nested too deep, or holds a number of thousands of digits", 1, 1) from None
    for key in ("result", "tools"):
        value = value.get(key, value) if isinstance(value, dict) else value
    if not isinstance(value, list):
        raise JsonTextError('expected a list of tools, or an object with the key "tools"', 1, 1)
    return value
