"""Code mode: the model writes a script, and the script calls the tools.

Two tools take the place of many. `exec` takes JavaScript as plain text; `wait` goes on with a script that still runs.
In `code_mode` they come first and every direct tool remains, with its declaration for scripts behind its description.
In `code_mode_only` the others leave the top level, and the declarations, as TypeScript, are in `exec`'s description:
the only place where a model sees an output schema. What leaves the top level can be called all the same, by a script
and directly. The forms are those of Codex CLI 0.171.0 (measured), the words are ours.

A call from a script is a call like any other: same step, same plan, same dispatcher.

Ours: a script runs to its end within `exec`, so no cell ever waits to be continued; and a description that could pass
for a part of the list it stands in (a heading, a fence, a declaration) is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from minicodex.arguments import describe
from minicodex.contract import FreeformContract, FunctionContract, default_namespace_description
from minicodex.errors import ArgumentError, ArgumentFault, JsonTextError, ToolFailed
from minicodex.json_text import parse_strict, to_compact_bytes
from minicodex.naming import ToolName
from minicodex.schema import compile_tool_schema
from minicodex.script import Reply, ScriptCall, ScriptLimits, ScriptOutcome, ScriptTool, run_script
from minicodex.sources.dynamic import SchemaHandler
from minicodex.tool import Exposure, PlanAware, ToolImplementation
from minicodex.validation import ArgumentValidator

if TYPE_CHECKING:
    from minicodex.planner import ToolPlan

__all__ = [
    "CodeModeOptions",
    "NestedTool",
    "ToolMode",
    "adapt_contract_for_mode",
    "nested_tools",
    "own_tools",
    "stays_on_top",
]

EXEC, WAIT = "exec", "wait"


class ToolMode(Enum):
    """How the model reaches its tools. The API mode, where they are written in the request, is the encoder's alone."""

    DIRECT = "direct"
    CODE_MODE = "code_mode"
    CODE_MODE_ONLY = "code_mode_only"


@dataclass(frozen=True)
class CodeModeOptions:
    """What the configuration says about code mode. Source of the two sets: Codex CLI 0.171.0 (measured)."""

    excluded_tool_namespaces: frozenset[str] = frozenset()
    """No script can call their tools."""
    direct_only_tool_namespaces: frozenset[str] = frozenset()
    """Their tools stay on the top level, and no script can call them."""
    limits: ScriptLimits = field(default_factory=ScriptLimits)
    """What one script may use."""


# --- who is where ---------------------------------------------------------------------------------------------------


class NestedTool(NamedTuple):
    """A tool that scripts can call."""

    name: str
    """In a script it is `tools.<name>`."""
    tool: ToolImplementation

    @property
    def documentation(self) -> str:
        """Description and declaration."""
        return with_declaration(self.tool.contract.description, self)

    @property
    def declaration(self) -> str:
        name = self.name if _IDENTIFIER.fullmatch(self.name) else f'"{self.name}"'
        return f"declare const tools: {{ {name}{self.tool.signature}; }};"


Nested = Mapping[ToolName, NestedTool]
"""The tools that scripts can call, by canonical name, in the order of their list."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def stays_on_top(tool: ToolImplementation, options: CodeModeOptions) -> bool:
    """Whether a direct tool is in the first list even in `code_mode_only`."""
    return tool.exposure is Exposure.DIRECT_ONLY or tool.namespace in options.direct_only_tool_namespaces


def nested_tools(tools: Iterable[ToolImplementation], options: CodeModeOptions) -> Nested:
    """The tools that scripts can call, sorted by namespace and name: the direct and the deferred ones.

    A script calls a tool `namespace__name`. Where two would meet, the later one gets a `_`.
    """
    nested: dict[ToolName, NestedTool] = {}
    taken: set[str] = set()
    for tool in sorted(tools, key=lambda tool: (tool.namespace or "", tool.contract.name)):
        if tool.exposure is Exposure.HIDDEN or stays_on_top(tool, options):
            continue
        if tool.namespace in options.excluded_tool_namespaces:
            continue
        name = tool.contract.name if tool.namespace is None else f"{tool.namespace}__{tool.contract.name}"
        while name in taken:
            name += "_"
        taken.add(name)
        nested[tool.canonical_name] = NestedTool(name, tool)
    return nested


def adapt_contract_for_mode(tool: ToolImplementation, mode: ToolMode, nested: Nested) -> ToolImplementation:
    """What the model reads about a visible tool in a code mode: the same tool, with more in its description.

    In `code_mode` the declaration for scripts stands behind each description. In `code_mode_only` `exec` has them all.
    Source: Codex CLI 0.171.0 (measured).
    """
    contract = tool.contract
    if mode is ToolMode.CODE_MODE and (found := nested.get(tool.canonical_name)) is not None:
        return replace(tool, contract=replace(contract, description=found.documentation))
    if mode is ToolMode.CODE_MODE_ONLY and tool.canonical_name == EXEC:
        listed = "\n\n".join([contract.description, *_sections(nested.values())])
        return replace(tool, contract=replace(contract, description=listed))
    return tool


# --- the list of declarations ---------------------------------------------------------------------------------------


def with_declaration(description: str, nested: NestedTool) -> str:
    """A description with what a script needs to know behind it."""
    return f"{_harmless(description)}\n\nexec tool declaration:\n```ts\n{nested.declaration}\n```"


def _sections(nested: Iterable[NestedTool]) -> list[str]:
    """One section for each tool that is shown; a heading for each namespace that says something about itself."""
    shown = [one for one in nested if one.tool.exposure.is_direct]
    words = {one.tool.namespace: one.tool.namespace_description for one in reversed(shown)}
    sections: list[str] = []
    for one in shown:
        namespace = one.tool.namespace
        about = words.pop(namespace, None)
        if about and namespace is not None and about != default_namespace_description(namespace):
            sections.append(f"## {namespace}\n{_harmless(about)}")
        sections.append(f"### `{one.name}`\n{one.documentation}")
    return sections


_PASSES_FOR_MORE = re.compile(r"\s*(#|```|~~~|exec tool declaration:|declare\b)")


def _harmless(words: str) -> str:
    """A stranger's words as they are, or quoted as a whole if one of their lines could pass for a part of the list."""
    text = words.encode("utf-8", "backslashreplace").decode()
    lines = text.splitlines()
    return "\n".join(f"> {line}" for line in lines) if any(map(_PASSES_FOR_MORE.match, lines)) else text


# --- exec -----------------------------------------------------------------------------------------------------------

EXEC_DESCRIPTION = """\
Run JavaScript that calls tools and works on their results. The input is the source itself, without JSON or a fence.

- `await tools.<name>(args)` calls a tool. Calls that are begun together run together where the tools allow it.
- `text(value)` adds to the output: a string as it is, anything else as JSON. You read nothing but this output.
- `ALL_TOOLS` lists every tool that a script can call, as `{ name, description }`.
- An error of a tool is thrown, and can be caught. Tools that return a `CallToolResult` say it with `isError` instead.
- There are no files, no network, no timers and no imports. Each script starts with nothing.
- A first line `// @exec: {"max_output_tokens": 1000}` shortens the output.

```ts
type CallToolResult<T = unknown> = { content: Array<unknown>; structuredContent?: T; isError?: boolean; };
```"""

EXEC_GRAMMAR = r"""start: [PRAGMA] SOURCE
PRAGMA.1: /[ \t]*\/\/ @exec:[^\r\n]*\r?\n/
SOURCE: /[\s\S]+/
"""

EXEC_CONTRACT = FreeformContract(EXEC, EXEC_DESCRIPTION, "lark", EXEC_GRAMMAR)

CHARS_PER_TOKEN = 4
"""How many characters of output stand for one token of `max_output_tokens`."""

_PRAGMA = re.compile(r"[ \t]*// @exec:([^\r\n]*)")
_NO_SOURCE = ArgumentFault(
    "exec expects raw JavaScript source text (non-empty)",
    hint='provide JS only, optionally with the first line `// @exec: {"max_output_tokens": 1000}`',
)


class Script(NamedTuple):
    """The input of `exec`, decoded."""

    source: str
    limits: ScriptLimits


@dataclass(frozen=True)
class ExecHandler(PlanAware):
    """Runs scripts. The dispatcher binds it to the plan of the call, so that a script calls the tools of its step."""

    options: CodeModeOptions
    plan: ToolPlan | None = None

    def bound_to(self, plan: ToolPlan) -> ExecHandler:
        return replace(self, plan=plan)

    def decode_arguments(self, raw_arguments: str) -> Script:
        first = _PRAGMA.match(raw_arguments)
        source = raw_arguments[first.end() :] if first else raw_arguments
        if not source.strip():
            raise ArgumentError(_NO_SOURCE)
        limits = self.options.limits
        if first and (tokens := _max_output_tokens(first[1])) is not None:
            limits = replace(limits, output_chars=min(limits.output_chars, tokens * CHARS_PER_TOKEN))
        return Script(raw_arguments, limits)

    def run(self, arguments: Script, *, call_id: str) -> str:
        assert self.plan is not None  # the dispatcher binds it
        nested = {one.name: one for one in nested_tools(self.plan.implementations.values(), self.options).values()}
        calls = _NestedCalls(self.plan, nested, call_id)
        outcome = run_script(arguments.source, list(map(_for_script, nested.values())), calls.answer, arguments.limits)
        if outcome.error is not None:
            raise ToolFailed(outcome.to_text())
        return outcome.to_text()


def _max_output_tokens(pragma: str) -> int | None:
    """The one option that matters here. `yield_time_ms` is read too, and has no effect: no script is left running."""
    try:
        options = parse_strict(pragma)
    except JsonTextError as error:
        raise ArgumentError(ArgumentFault(f"the first line is no JSON: {error}", hint=_NO_SOURCE.hint)) from None
    if not isinstance(options, dict):
        raise ArgumentError(ArgumentFault("not an object in the first line", got=describe(options)))
    for name, value in options.items():
        if name not in ("max_output_tokens", "yield_time_ms"):
            raise ArgumentError(ArgumentFault("unknown field in the first line", got=describe(name)))
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ArgumentError(ArgumentFault("wrong type in the first line", f"/{name}", "a whole number"))
    return options.get("max_output_tokens")


def _for_script(nested: NestedTool) -> ScriptTool:
    name = nested.tool.canonical_name
    label = f"{name.namespace or ''}{name.name}"  # joined with nothing between. Source: Codex CLI 0.171.0 (measured)
    return ScriptTool(nested.name, nested.documentation, label, takes_text=nested.tool.is_freeform)


@dataclass(frozen=True)
class _NestedCalls:
    """The calls of one script, on their way through the dispatcher."""

    plan: ToolPlan
    nested: Mapping[str, NestedTool]
    call_id: str
    """Of the script; its calls are numbered behind it."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answer(self, calls: Sequence[ScriptCall], time_left_s: float) -> list[Reply]:
        """All calls of one report. Those that may run side by side do, as if the model had made them in one answer."""
        from minicodex.dispatch import dispatch_all, for_script  # they stand above the planner, and this below it

        wanted = [self.nested[call.name] for call in calls]
        asked = list(map(self.model_call, wanted, calls))
        results = dispatch_all(asked, self.plan, timeout_s=time_left_s, write=for_script)
        return [_reply(one.tool, result.output, ok=result.ok) for one, result in zip(wanted, results, strict=True)]

    def model_call(self, nested: NestedTool, call: ScriptCall) -> Any:
        from minicodex.dispatch import ModelCustomCall, ModelFunctionCall

        kind = ModelCustomCall if nested.tool.is_freeform else ModelFunctionCall
        call_id = f"{self.call_id}.{next(self.numbers)}"
        return kind(call_id, nested.tool.canonical_name, call.text, self.plan.step_id)


def _reply(tool: ToolImplementation, output: str, *, ok: bool) -> Reply:
    """An MCP tool's error is a result that says so; any other error is thrown. Source: Codex CLI 0.171.0 (measured)."""
    if ok:
        return Reply(ok=True, json=output)
    thrown = {"content": [{"type": "text", "text": output}], "isError": True} if tool.is_mcp else output
    return Reply(ok=tool.is_mcp, json=to_compact_bytes(thrown).decode())


# --- wait -----------------------------------------------------------------------------------------------------------

WAIT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "cell_id": {"type": "string", "description": "The running script, as exec called it"},
        "max_tokens": {"type": "number", "description": "Most tokens of output to return"},
        "terminate": {"type": "boolean", "description": "End the script instead of waiting for it"},
        "yield_time_ms": {"type": "number", "description": "How long to wait, in milliseconds"},
    },
    "required": ["cell_id"],
    "additionalProperties": False,
}

WAIT_CONTRACT = FunctionContract(
    WAIT,
    "Go on with a script of exec that is still running. Here exec runs every script to its end.",
    compile_tool_schema(WAIT_SCHEMA, trusted=True),
)


def _wait(arguments: dict[str, Any]) -> Any:
    raise ToolFailed(ScriptOutcome((), f"exec cell {arguments['cell_id'][:100]} not found").to_text())


def own_tools(mode: ToolMode, options: CodeModeOptions) -> tuple[ToolImplementation, ...]:
    """The tools that a mode brings along, before all others: `exec` and `wait`, or none."""
    if mode is ToolMode.DIRECT:
        return ()
    tool = partial(ToolImplementation, exposure=Exposure.DIRECT_ONLY, source="code mode")
    waiting = SchemaHandler(_wait, ArgumentValidator(WAIT_SCHEMA, WAIT_CONTRACT.parameters.to_json))
    return tool(EXEC_CONTRACT, ExecHandler(options)), tool(WAIT_CONTRACT, waiting)
