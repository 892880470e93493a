r"""The command line: `minicodex compile | inspect | call`, and the list of all commands.

Text is UTF-8 whatever the locale, and a line ends at `\n` only. Exit codes: 0 good, 1 judged bad (a refused schema, a
failed call), 2 could not run. What a person or a server got wrong gives one sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any, NoReturn

import orjson

from minicodex.bootstrap import add_commands
from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_function_call
from minicodex.errors import InvalidToolSchema, JsonTextError, SourceError
from minicodex.history import user
from minicodex.json_text import parse_strict, shorten, to_compact_bytes
from minicodex.mode_diff import mode_diff
from minicodex.naming import ToolName
from minicodex.plan_report import as_json, explained, report
from minicodex.planner import ModelAbilities, ProviderAbilities, StepState, ToolMode, ToolPlan, plan_tools
from minicodex.printable import printable
from minicodex.request import ApiMode, PromptSnapshot, encode_model_request
from minicodex.schema import (
    ToolSchema,
    compile_mcp_schema_json,
    compile_tool_schema_json,
    trace_mcp_schema_json,
    trace_tool_schema_json,
)
from minicodex.sources import Candidate
from minicodex.sources.definitions import DefinedTools, read_definitions
from minicodex.streams import CannotRunError, CannotWriteError, give_up_output, lines, opened, read_bounded, say, write
from minicodex.tool import Handler, RejectedTool, ToolImplementation

__all__ = ["main"]

GOOD, BAD, COULD_NOT_RUN = 0, 1, 2

MODES = {"responses": ApiMode.RESPONSES, "lite": ApiMode.RESPONSES_LITE}

STEP_ID = "step_1"

SAMPLE_WORDS: dict[str, Any] = {"instructions": "(the instructions)", "history": [user("(what the user says)")]}
"""What surrounds the tools in a request that is shown to a person."""

EXAMPLES = {
    "minicodex": """
  minicodex lab                                          open the course
  minicodex compile schema.json                          what becomes of a schema
  minicodex inspect -- python -m mcp_server_time         what a model sees of a server
  minicodex call get_current_time '{"timezone": "UTC"}' -- python -m mcp_server_time
""",
    "compile": """
  minicodex compile schema.json
  minicodex compile --trace schema.json                  stage by stage, with what each one lost
  minicodex compile --jsonl < schemas.jsonl              one schema a line, one result a line
  echo '{"type": "object"}' | minicodex compile
""",
    "inspect": """
  minicodex inspect -- python -m mcp_server_time
  minicodex inspect --mode lite -- python -m mcp_server_time      the exact bytes of the request
  minicodex inspect --diff -- python -m mcp_server_time           what the two API modes do differently
  minicodex inspect --explain --search -- python -m mcp_server_time   why each tool is shown or not
""",
    "call": """
  minicodex call get_current_time '{"timezone": "UTC"}' -- python -m mcp_server_time
  minicodex call create_event '{"title": 5}' --tools tools.json   try arguments; nothing is run
  minicodex call --jsonl --tools tools.json < calls.jsonl         {"name": ..., "arguments": "..."} a line
""",
}


MAX_TIMEOUT_S = 86_400
"""Longest `--timeout`, a day: what waits for a call cannot count any number of seconds."""


class _Parser(argparse.ArgumentParser):
    """A parser whose words reach a terminal as all others do."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def print_help(self, file: Any = None) -> None:
        write(self.format_help().encode())


def main(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    words, command = _split(list(argv))
    try:
        options, unknown = _parser().parse_known_args(words)
        if unknown:
            options.parser.error(_unknown(unknown, options))
        options.server = command
        code: int = options.run(options)
    except CannotWriteError as problem:
        give_up_output()
        if str(problem):
            say(str(problem))
        return COULD_NOT_RUN
    except (CannotRunError, SourceError) as problem:
        say(str(problem))
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        say("stopped")
        return COULD_NOT_RUN
    return code


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our own words, and the server's command behind `--`."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _unknown(words: list[str], options: argparse.Namespace) -> str:
    hint = ""
    if "timeout" in options and not words[0].startswith("-"):
        hint = "; the server's command stands behind --, for example: -- python -m mcp_server_time"
    return f"unknown: {shlex.join(words)}{hint}"


def _parser() -> argparse.ArgumentParser:
    about = "What a model is really shown of a tool, and what becomes of its calls."
    parser = _with_examples(_Parser, "minicodex", prog="minicodex", description=about)
    parser.set_defaults(run=partial(_help, parser))
    parser.add_argument("--version", action="store_const", dest="run", const=_version, help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    add_commands(commands)

    compile_ = _with_examples(commands.add_parser, "compile", help="compile a tool's input schema as Codex does")
    compile_.add_argument("file", nargs="?", metavar="FILE", help="a JSON Schema; standard input if left out")
    compile_.add_argument("--jsonl", action="store_true", help="one schema a line in, one result a line out")
    compile_.add_argument("--raw", action="store_true", help="compile as it is, without what MCP tools get first")
    compile_.add_argument("--trusted", action="store_true", help="skip the compaction, as for tools of one's own")
    compile_.add_argument("--trace", action="store_true", help="show each stage, its size and its losses")
    compile_.set_defaults(run=_compile)

    inspect = _with_examples(commands.add_parser, "inspect", help="start an MCP server and show what a model would see")
    inspect.add_argument("--mode", choices=MODES, help="print the exact body of a request in this API mode")
    inspect.add_argument("--diff", action="store_true", help="the requests of both API modes, differences marked")
    inspect.add_argument("--json", action="store_true", help="contracts and decisions as JSON")
    inspect.add_argument("--explain", action="store_true", help="say of every tool at which filter it ended, and why")
    inspect.add_argument("--search", action="store_true", help="plan for a model that can search for deferred tools")
    inspect.add_argument("--flat", action="store_true", help="plan for a provider without namespaces")
    modes = [mode.value for mode in ToolMode]
    inspect.add_argument("--tool-mode", choices=modes, default=modes[0], help="how the model reaches its tools")
    _add_server_options(inspect)
    inspect.set_defaults(run=_inspect)

    call = _with_examples(commands.add_parser, "call", help="send one call through planning and dispatch")
    call.add_argument("tool", nargs="?", metavar="TOOL", help="the tool's own name")
    call.add_argument("arguments", nargs="?", metavar="ARGUMENTS", help="JSON text, as a model would write it")
    call.add_argument("--tools", metavar="FILE", help="MCP tool definitions; their handlers only echo the arguments")
    call.add_argument("--jsonl", action="store_true", help='calls from standard input, {"name", "arguments"} a line')
    call.add_argument("--json", action="store_true", help='print {"ran", "ok", "output"}')
    _add_server_options(call)
    call.set_defaults(run=_call)
    return parser


def _help(parser: argparse.ArgumentParser, _: argparse.Namespace) -> int:
    parser.print_help()
    return GOOD


def _version(_: argparse.Namespace) -> int:
    write(f"minicodex {metadata.version('minicodex')}\n".encode())
    return GOOD


def _with_examples(make: Callable[..., argparse.ArgumentParser], name: str, **words: Any) -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    args = [] if name == "minicodex" else [name]
    about = {"description": words["help"]} if "help" in words else {}
    examples = "examples:" + EXAMPLES[name].rstrip()
    parser = make(*args, **words, **about, epilog=examples, formatter_class=raw, allow_abbrev=False)
    parser.set_defaults(parser=parser)
    return parser


def _add_server_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="server", help="what to call the server (default: server)")
    parser.add_argument("--timeout", type=_seconds, default=10.0, metavar="S", help="seconds to wait (default: 10)")
    parser.usage = f"{parser.prog} [options] {'TOOL ARGUMENTS ' if parser.prog.endswith('call') else ''}-- COMMAND ..."


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MAX_TIMEOUT_S:  # true for nan too
        raise argparse.ArgumentTypeError(f"must be seconds, above 0 and at most {MAX_TIMEOUT_S:,}; got {shorten(text)}")
    return seconds


# --- compile --------------------------------------------------------------------------------------------------------


def _compile(options: argparse.Namespace) -> int:
    with opened(options.file) as stream:
        if options.jsonl:
            return _write_lines(_compiled_line(line, options) for line in lines(stream))
        text = read_bounded(stream.read)
    if options.trace:
        trace = (trace_tool_schema_json if options.raw else trace_mcp_schema_json)(text, trusted=options.trusted)
        write(trace.text().encode() + b"\n")
        return BAD if trace.error else GOOD
    try:
        write(_compiled(text, options).to_bytes() + b"\n")
    except InvalidToolSchema as error:
        say(f"refused ({error.kind}): {error}")
        return BAD
    return GOOD


def _compiled(text: bytes, options: argparse.Namespace) -> ToolSchema:
    compile_ = compile_tool_schema_json if options.raw else compile_mcp_schema_json
    return compile_(text, trusted=options.trusted)


def _compiled_line(line: bytes, options: argparse.Namespace) -> tuple[bool, bytes]:
    try:
        return True, b'{"parameters":' + _compiled(line, options).to_bytes() + b"}"
    except InvalidToolSchema as error:
        return False, to_compact_bytes({"error": {"kind": error.kind, "message": str(error)}})


# --- inspect --------------------------------------------------------------------------------------------------------


def _inspect(options: argparse.Namespace) -> int:
    step = _step(options)
    with _server(options) as server:
        plan = plan_tools(server.candidates(step), step)
        title = printable(f"{server.name}: {shlex.join(options.server)}")
    prompt = PromptSnapshot(tool_contracts=plan.contracts)
    if options.mode:
        write(encode_model_request(prompt, MODES[options.mode]).to_bytes() + b"\n")
    elif options.diff:
        write(mode_diff(replace(prompt, **SAMPLE_WORDS)).encode() + b"\n")
    elif options.explain:
        write(explained(plan).encode() + b"\n")
    elif options.json:
        write(orjson.dumps(as_json(plan), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        write(report(title, plan).encode() + b"\n")
    return GOOD if all(decision.dispatchable for decision in plan.decisions) else BAD


def _step(options: argparse.Namespace) -> StepState:
    return StepState(
        STEP_ID,
        model=ModelAbilities(supports_search=options.search),
        provider=ProviderAbilities(namespaces=not options.flat),
        tool_mode=ToolMode(options.tool_mode),
    )


# --- call -----------------------------------------------------------------------------------------------------------


@dataclass
class _WatchedHandler:
    """Stands before a handler and remembers whether business code was entered."""

    handler: Handler
    ran: bool = False

    def decode_arguments(self, raw_arguments: str) -> Any:
        return self.handler.decode_arguments(raw_arguments)

    def run(self, arguments: Any, *, call_id: str) -> Any:
        self.ran = True
        return self.handler.run(arguments, call_id=call_id)


@dataclass
class _Bench:
    """One plan, and the raw names under which `call` knows its tools."""

    plan: ToolPlan
    names: Mapping[str, ToolName]
    rejected: dict[str, RejectedTool] = field(default_factory=dict)
    timeout_s: float | None = None

    def call(self, raw_name: str, arguments: str) -> dict[str, Any]:
        """One call through dispatch, as {"ran", "ok", "output"}."""
        if raw_name in self.rejected:
            reason = f"the tool could not be built: {self.rejected[raw_name].error}"
            return {"ran": False, "ok": False, "output": ToolResult.error("call_1", reason).output}
        name = self.names.get(raw_name, ToolName(raw_name))
        call = ModelFunctionCall("call_1", name, arguments, self.plan.step_id)
        tool = self.plan.implementations.get(name)
        handler = _WatchedHandler(tool.handler) if tool else None
        plan = self._watched(name, tool, handler) if tool and handler else self.plan
        result = dispatch_function_call(call, plan, timeout_s=self.timeout_s)
        return {"ran": bool(handler and handler.ran), "ok": result.ok, "output": result.output}

    def _watched(self, name: ToolName, tool: ToolImplementation, handler: _WatchedHandler) -> ToolPlan:
        return replace(self.plan, implementations={name: replace(tool, handler=handler)}, dispatch={name: handler})


def _call(options: argparse.Namespace) -> int:
    if options.jsonl == (options.tool is not None) or (options.tool is not None and options.arguments is None):
        raise CannotRunError("call needs TOOL and ARGUMENTS, or --jsonl and calls on standard input; see call --help")
    with _bench(options) as bench:
        if options.jsonl:
            with opened(None) as stream:
                return _write_lines(_called_line(line, bench) for line in lines(stream))
        outcome = bench.call(options.tool, options.arguments)
    text = to_compact_bytes(outcome).decode() if options.json else outcome["output"]
    write(text.encode() + b"\n")
    return GOOD if outcome["ok"] else BAD


@contextmanager
def _bench(options: argparse.Namespace) -> Iterator[_Bench]:
    step = StepState(STEP_ID)
    if options.tools is not None:
        if options.server:
            raise CannotRunError("give either --tools FILE or -- COMMAND, not both")
        with opened(options.tools) as stream:
            tools = _echo_tools(read_bounded(stream.read), options.tools)
        yield _bench_of(tools.candidates, tools.names, step, options.timeout)
    else:
        with _server(options) as server:
            yield _bench_of(server.candidates(step), server.canonical_names, step, options.timeout)


def _bench_of(
    candidates: Sequence[Candidate], names: Mapping[str, ToolName], step: StepState, timeout_s: float
) -> _Bench:
    by_canonical = {str(name): raw for raw, name in names.items()}
    rejected = {by_canonical.get(c.name, c.name): c for c in candidates if isinstance(c, RejectedTool) and c.name}
    return _Bench(plan_tools(candidates, step), names, rejected, timeout_s)


def _echo_tools(text: bytes, file: str) -> DefinedTools:
    try:
        definitions = read_definitions(text)
    except JsonTextError as error:
        raise CannotRunError(f"{file} is no list of MCP tools: {error}") from None
    return DefinedTools.build(definitions, server="tools", run=lambda _, arguments: arguments)


def _called_line(line: bytes, bench: _Bench) -> tuple[bool, bytes]:
    try:
        match parse_strict(line.decode()):
            case {"name": str(name), "arguments": str(arguments)}:
                outcome = bench.call(name, arguments)
                return outcome["ok"], to_compact_bytes(outcome)
        reason = ""
    except UnicodeDecodeError:
        reason = "; this one is not UTF-8"
    except JsonTextError as error:
        reason = f"; this one is not JSON: {error}"
    asked = 'each line must be {"name": "...", "arguments": "..."}, with the arguments as JSON text'
    return False, to_compact_bytes({"ran": False, "ok": False, "output": asked + reason})


# --- in and out -----------------------------------------------------------------------------------------------------


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[Any]:
    if not options.server:
        raise CannotRunError("name the server's command behind --, for example: -- python -m mcp_server_time")
    try:
        from minicodex.sources.mcp import McpServer
    except ImportError as missing:
        raise CannotRunError(str(missing)) from None
    with McpServer(
        options.name, options.server, start_timeout_s=options.timeout, call_timeout_s=options.timeout
    ) as server:
        yield server


def _write_lines(results: Iterator[tuple[bool, bytes]]) -> int:
    code = GOOD
    for good, line in results:
        write(line + b"\n")
        code = code if good else BAD
    return code
