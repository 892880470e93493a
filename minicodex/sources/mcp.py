"""Tools of an MCP server: a child process that says what it offers, and runs what the model calls.

    with McpServer("time", ["python", "-m", "mcp_server_time"]) as server:
        plan = plan_tools(server.candidates(step), step)

The core is synchronous and the official SDK is not, so each connection owns an event loop in a thread of its
own. There the SDK shakes hands, numbers requests and finds their answers; `stdio.py` owns the process; this
file owns the clock, what is known of the tools, and what the model reads of a result.

Why not `ClientSession.list_tools` and `.call_tool`: there one malformed tool takes the whole list away, and a
result is checked against the output schema, which Codex does not do. `send_raw_request` gives plain dicts.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from minicodex.errors import HandlerError, SourceError, ToolFailed
from minicodex.json_text import shorten, to_compact_bytes
from minicodex.sources.definitions import DefinedTools
from minicodex.tool import Exposure, RejectedTool, ToolImplementation, TwoViews

try:
    import anyio
    from anyio.from_thread import BlockingPortal, start_blocking_portal
    from mcp.client.session import ClientSession
    from mcp.shared.exceptions import MCPError
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
    from mcp.shared.message import SessionMessage
    from mcp.types import ToolListChangedNotification

    from minicodex.sources.stdio import LOOP_OPTIONS, StdioChild, UnusableAnswer
except ImportError as missing:
    raise ImportError('MCP servers need the official SDK: pip install "minicodex[mcp]"') from missing

if TYPE_CHECKING:
    from minicodex.naming import ToolName
    from minicodex.planner import StepState
    from minicodex.sources import Candidate

__all__ = ["MAX_LIST_BYTES", "MAX_PAGES", "MAX_TOOLS", "McpServer", "model_output"]

MAX_PAGES = 100
"""Most pages of one `tools/list`. A server whose cursor never ends would hold the step for ever."""

MAX_TOOLS = 20_000
"""Most tools of one `tools/list`. Each costs memory and time in every step, whether a model sees it or not."""

MAX_LIST_BYTES = 64 * 1024 * 1024
"""Most bytes that all pages of one `tools/list` take together, with whatever else the server says meanwhile."""

RESULT_KEYS = ("content", "structuredContent", "isError")
"""What a script gets of a result, in this order, as far as it is there. Source: Codex CLI 0.171.0 (measured)."""

_Answer = TypeVar("_Answer")

# The SDK reports a server's odd messages through `logging`. Without a handler Python prints such a report,
# with traceback and all; with this one it goes to whoever has set up logging, and else nowhere.
logging.getLogger("client").addHandler(logging.NullHandler())


class McpServer:
    """One MCP server over stdio: a source of tools, and a context manager.

    Args:
        name: what you call it; its tools come in the namespace `mcp__<name>`.
        command: program and arguments. There is no shell in between.
        env: variables it gets besides the few harmless ones that the SDK passes on (`PATH`, `HOME`, …).
        cwd: the folder it runs in.
        start_timeout_s: how long it may take to shake hands, and later to list its tools.
        call_timeout_s: how long a call may take.
        namespace: the canonical namespace, where several servers have been named together.

    The process and what it started end with the `with` block, with an interrupt, and with the interpreter; except,
    on POSIX, a descendant that has moved to a session or process group of its own, as a daemon does (`setsid`).
    Only a killed interpreter cannot see to that: then the server's stdin closes, and it ought to leave.

    Every method that asks the server raises `SourceError` when there is no usable answer.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        env: dict[str, str] | None = None,
        cwd: str | Path | None = None,
        start_timeout_s: float = 10.0,
        call_timeout_s: float = 60.0,
        namespace: str | None = None,
    ) -> None:
        self.name, self.command = name, command
        self.start_timeout_s, self.call_timeout_s = start_timeout_s, call_timeout_s
        self.instructions = ""
        """What the server says about itself, known once it runs; the description of its namespace."""
        self._env, self._cwd, self._namespace = env, cwd, namespace
        self._open = ExitStack()
        self._portal: BlockingPortal | None = None
        self._definitions: list[Any] | None = None
        self._tools = DefinedTools((), {})
        self._stale = True

    # --- life ---------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._portal is not None:
            hint = "For a second process make a second McpServer."
            raise SourceError(self.name, "it is running already.", hint)
        with ExitStack() as opening:
            portal = opening.enter_context(start_blocking_portal("asyncio", LOOP_OPTIONS, name=f"mcp {self.name}"))
            opening.enter_context(portal.wrap_async_context_manager(self._connected()))
            self._open, self._portal = opening.pop_all(), portal
        atexit.register(self.close)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, the process and its process group. Closing twice is closing once."""
        self._portal, self._definitions, self._stale = None, None, True
        self._open.close()
        atexit.unregister(self.close)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """From the start of the process to its end. Runs in the loop's thread."""
        failure = None
        self._child = await self._spawn()
        to_session, from_child = anyio.create_memory_object_stream[SessionMessage | Exception]()
        to_child, from_session = anyio.create_memory_object_stream[SessionMessage]()
        self._dispatcher = JSONRPCDispatcher(from_child, to_child)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._child.run, to_session, from_session)
            session = ClientSession(dispatcher=self._dispatcher, message_handler=self._on_message)
            async with session:
                failure = await self._shake_hands(session)
                if failure is None:
                    yield
                    self._child.fault = self._child.fault or "the connection was closed"
        if failure is not None:  # raised out here, where no task group wraps it in an ExceptionGroup
            raise failure

    async def _spawn(self) -> StdioChild:
        try:
            return await StdioChild.spawn(self.command, self._env, self._cwd, send_timeout_s=self.call_timeout_s)
        except (OSError, ValueError) as error:
            program = shorten(" ".join(self.command[:1]))
            reason = getattr(error, "strerror", None) or error
            raise SourceError(
                self.name,
                f"{program} could not be started: {reason}.",
                "Check the command, that it is on PATH, and the folder it runs in.",
            ) from None

    async def _shake_hands(self, session: ClientSession) -> SourceError | None:
        try:
            with anyio.fail_after(self.start_timeout_s):
                greeting = await session.initialize()
        except (TimeoutError, MCPError) as error:
            return self._failure("initialize", error, self.start_timeout_s)
        except (RuntimeError, ValueError) as error:  # an unknown version, or not the shape of an answer
            reason = shorten(str(error).splitlines()[0], 200)
            return self._error(f"its answer to initialize is not MCP: {reason}.", "Is it an MCP server?")
        self.instructions = (greeting.instructions or "").strip()
        return None

    async def _on_message(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._stale = True

    # --- tools --------------------------------------------------------------------------------------------

    def definitions(self) -> list[Any]:
        """The tools in the server's own words: raw JSON, unchecked. As of the last step, else read now."""
        if self._definitions is None:
            self._read_tools()
        return self._definitions or []

    def candidates(self, step: StepState) -> list[Candidate]:
        """The tools of this step, in the server's order; all deferred where the model can search for them.

        A malformed definition is one `RejectedTool` among good tools; in Codex it takes the whole list away.
        A list that the server declared changed is read again here, before a step, never under a running one.
        If that fails, or if the server has died, the old tools stay and a `RejectedTool` without a name says why;
        Codex says nothing.

        Raises:
            SourceError: there is no list, not even an old one.
        """
        trouble: list[Candidate] = []
        if self._stale or self._child.fault:
            try:
                self._read_tools()
            except SourceError as error:
                if self._definitions is None:
                    raise
                trouble = [RejectedTool(None, f"mcp:{self.name}", error)]
        tools = self._tools.candidates
        return [*(map(_deferred, tools) if step.model.supports_search else tools), *trouble]

    @property
    def canonical_names(self) -> Mapping[str, ToolName]:
        """Canonical name of each tool by the server's own name, as of the list that `candidates` used last."""
        return self._tools.names

    def _read_tools(self) -> None:
        self._stale = False  # before reading: a change that is announced meanwhile is a new one
        try:
            definitions = self._ask("tools/list", self._read_list, timeout_s=self.start_timeout_s)
        except SourceError:
            self._stale = True
            raise
        self._definitions = definitions
        self._tools = DefinedTools.build(
            definitions,
            server=self.name,
            run=self._run,
            namespace=self._namespace,
            instructions=self.instructions,
        )

    def _run(self, raw_name: str, arguments: dict[str, Any]) -> TwoViews:
        """A call through a plan. Hints and stderr are for people; the model gets the plain fact."""
        try:
            result = self.call_tool(raw_name, arguments)
            output = model_output(result)
        except SourceError as error:
            raise HandlerError(raw_name, error.message) from error
        except ValueError as error:
            raise HandlerError(raw_name, f"its result is no JSON: {error}") from error
        if result.get("isError") is True:
            raise ToolFailed(output)  # the model reads the server's words alone, as in Codex
        return TwoViews(output, {key: result[key] for key in RESULT_KEYS if result.get(key) is not None})

    # --- asking -------------------------------------------------------------------------------------------

    def call_tool(self, raw_name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool by the server's own name for it. Gives MCP's result as plain JSON.

        This is the wire: nothing is checked. A call through a plan is checked by the author's schema first.
        A call that runs out of time is cancelled, and the connection stays.
        """
        params = {"name": raw_name} | ({} if arguments is None else {"arguments": arguments})
        try:
            to_compact_bytes(params)
        except ValueError as error:
            reason = f"tools/call was not sent: {error}."
            raise SourceError(self.name, reason, "Use JSON values only.") from None
        question = partial(self._send, "tools/call", params)
        return self._ask("tools/call", question, timeout_s=self.call_timeout_s)

    def _ask(self, method: str, question: Callable[[], Awaitable[_Answer]], *, timeout_s: float) -> _Answer:
        """Wait here while the loop's thread asks. An interrupt here cancels the question there."""
        portal = self._portal
        if portal is None:
            hint = "Use it inside `with McpServer(…) as server:`."
            raise SourceError(self.name, "it is not running.", hint)
        scopes: list[anyio.CancelScope] = []
        try:
            return portal.start_task_soon(self._asked, method, question, timeout_s, scopes).result()
        except KeyboardInterrupt:  # it may come before we hold the future, so the future cannot be the handle
            portal.start_task_soon(_cancel, scopes)
            raise

    async def _asked(
        self,
        method: str,
        question: Callable[[], Awaitable[_Answer]],
        timeout_s: float,
        scopes: list[anyio.CancelScope],
    ) -> _Answer:
        try:
            with anyio.fail_after(timeout_s) as scope:
                scopes.append(scope)
                return await question()
        except (TimeoutError, MCPError) as error:
            raise self._failure(method, error, timeout_s) from None

    async def _send(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        return await self._dispatcher.send_raw_request(method, params)

    async def _read_list(self) -> list[Any]:
        definitions: list[Any] = []
        cursor: Any = None
        received_before = self._child.received_bytes
        for _ in range(MAX_PAGES):
            page = await self._send("tools/list", {"cursor": cursor} if cursor else None)
            if not isinstance(page.get("tools"), list):
                raise self._error("its answer to tools/list holds no list of tools.", "Mend the server.")
            definitions += page["tools"]
            self._refuse_long_list(len(definitions), self._child.received_bytes - received_before)
            cursor = page.get("nextCursor")
            if not cursor:
                return definitions
        raise self._error(f"its list of tools has more than {MAX_PAGES} pages.", "Does nextCursor ever end?")

    def _refuse_long_list(self, tool_count: int, size_bytes: int) -> None:
        hint = "Let it offer fewer tools, or divide it into several servers."
        if tool_count > MAX_TOOLS:
            raise self._error(f"its list of tools has more than {MAX_TOOLS:,} tools.", hint)
        if size_bytes > MAX_LIST_BYTES:
            raise self._error(f"its list of tools takes more than {MAX_LIST_BYTES:,} bytes.", hint)

    def _failure(self, method: str, error: TimeoutError | MCPError, timeout_s: float) -> SourceError:
        """Why a question has no good answer: the connection is gone, time is up, or the server refused."""
        if self._child.fault:
            return self._error(f"{method} failed: {self._child.fault}.", self._child.hint)
        if isinstance(error, TimeoutError):
            hint = "If the server is only slow, allow more time."
            return self._error(f"no answer to {method} within {timeout_s:g} s.", hint)
        if isinstance(error.data, UnusableAnswer):
            reason = f"its answer to {method} cannot be used: {error.data.reason}."
            return self._error(reason, "The server has to write JSON that every reader takes.")
        data = "" if error.data is None else f" ({shorten(error.data, 200)})"
        reason = f"{method} was refused with {error.code}: {shorten(error.message, 400)}{data}."
        return SourceError(self.name, reason)

    def _error(self, message: str, hint: str) -> SourceError:
        return SourceError(self.name, message, " ".join([*self._child.evidence(), hint]))


def _cancel(scopes: list[anyio.CancelScope]) -> None:
    for scope in scopes:
        scope.cancel()


def _deferred(tool: Candidate) -> Candidate:
    return replace(tool, exposure=Exposure.DEFERRED) if isinstance(tool, ToolImplementation) else tool


# --- from a result to what the model reads ----------------------------------------------------------------


def model_output(result: dict[str, Any]) -> str:
    """Structured content as JSON if there is any, or else the items of the content, one below the other.

    Structured content is not checked against the output schema. Text items stand as they are, others as JSON
    without the bytes of an image or a sound, which are counted. The real CLI sends a list of items and a
    header with the running time; ours is one text without that header, so that equal results read alike.

    Raises:
        ValueError: the result holds what JSON cannot say, such as the number NaN.
    """
    if result.get("structuredContent") is not None:
        return to_compact_bytes(result["structuredContent"]).decode()
    content = result.get("content")
    return "\n".join(map(_item_text, content if isinstance(content, list) else []))


def _item_text(item: Any) -> str:
    if isinstance(item, dict):
        if item.get("type") == "text" and isinstance(item.get("text"), str):
            return str(item["text"])
        if isinstance(item.get("data"), str):
            item = item | {"data": f"{len(item['data']):,} characters of base64"}
    return to_compact_bytes(item).decode()
