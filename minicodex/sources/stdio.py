"""The process of an MCP server: messages go in and out, what it may say is bounded, and it surely ends.

Why not the SDK's `stdio_client`. Measured with mcp 2.3.0 and real children: it reads a line of any length
(100 MB took a minute), prints a traceback for each line that is no message, is felled by one byte that is not
UTF-8, keeps no stderr that could explain a failure, and leaves behind the children of a server that exits
politely. `StdioChild` is the same with bounds. Ending a process group (on Windows: a job) is the SDK's work; on POSIX
a descendant that has left the group stays.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import create_windows_process, terminate_windows_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from minicodex.json_text import shorten, to_compact_bytes

__all__ = ["LOOP_OPTIONS", "MAX_MESSAGE_BYTES", "MAX_STRAY_LINES", "StdioChild", "UnusableAnswer"]

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Longest message that is read. A message is a line, so this is also the most that waits for a line's end."""

MAX_STRAY_LINES = 1_000
"""Most lines in a row that are no message. A forgotten `print` is forgiven, a flood is not."""

STDERR_TAIL_BYTES = 400
"""How much of the end of stderr is kept to explain a failure."""

GRACE_S = 1.0
"""How long a server may take to obey: first when its stdin closes, then after the signal to terminate."""

LOOP_OPTIONS: dict[str, Any] = {}
"""For anyio's event loop. Windows starts processes from one kind of loop only; a notebook may use another."""

if sys.platform == "win32":
    LOOP_OPTIONS["loop_factory"] = asyncio.ProactorEventLoop


@dataclass(frozen=True)
class UnusableAnswer:
    """Why an answer cannot be used. Stands as `data` in the error that takes its place; a server can send no such."""

    reason: str


class StdioChild:
    """A running server. Made by `spawn`; `run` carries its messages and ends it.

    Attributes:
        fault: why nothing can be asked any more, as "the server …". Empty while all is well.
        hint: what to do about the fault.
        received_bytes: what has been read from its stdout, as lines.
    """

    def __init__(self, process: Process, *, send_timeout_s: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.fault: str = ""
        self.hint: str = ""
        self._process, self._send_timeout_s = process, send_timeout_s
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._stderr_tail = b""
        self._stderr_ended = anyio.Event()
        self.received_bytes = 0
        self._stray_lines = 0
        self._first_stray_line = b""

    @classmethod
    async def spawn(
        cls, command: list[str], env: dict[str, str] | None, cwd: str | Path | None, *, send_timeout_s: float
    ) -> StdioChild:
        """Start a command in a process group of its own, with the SDK's few harmless variables and `env`.

        Raises:
            OSError, ValueError: there is no such command or folder.
        """
        if not command:
            raise ValueError("the command is empty")
        environment = get_default_environment() | (env or {})
        if sys.platform == "win32":
            program, *arguments = command
            pipe = subprocess.PIPE
            process = await create_windows_process(program, arguments, environment, pipe, cwd)
        else:
            process = await anyio.open_process([*command], env=environment, cwd=cwd, start_new_session=True)
        return cls(process, send_timeout_s=send_timeout_s)

    def evidence(self) -> list[str]:
        """What the server said where nobody asked, as sentences for an error."""
        said = {
            "It wrote a line to stdout that is no message:": self._first_stray_line,
            "Its stderr ends:": self._stderr_tail,
        }
        return [f"{what} {_quote(text)}." for what, text in said.items() if text.strip()]

    async def run(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        from_session: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        """Carry messages both ways until one side ends; then end the process and its process group."""
        async with anyio.create_task_group() as tasks:
            try:
                tasks.start_soon(self._keep_stderr)
                async with anyio.create_task_group() as talk:
                    talk.start_soon(self._send, from_session, talk.cancel_scope)
                    await self._receive(to_session)
                    talk.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._end()
                    from_session.close()
                    to_session.close()  # last, so that whoever learns of the end learns all of it

    async def _receive(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        lines = BufferedByteReceiveStream(self._stdout)
        try:
            while self._stray_lines < MAX_STRAY_LINES:
                line = await lines.receive_until(b"\n", MAX_MESSAGE_BYTES)
                self.received_bytes += len(line)
                try:
                    message = jsonrpc_message_adapter.validate_json(line)
                    self._stray_lines = 0
                except ValidationError as flaw:
                    self._stray_lines += 1
                    self._first_stray_line = self._first_stray_line or line[:STDERR_TAIL_BYTES]
                    if (answered := _answered_request(line)) is None:
                        continue
                    message = _refusal(answered, flaw)
                await to_session.send(SessionMessage(message))
            self.fault = f"the server wrote {MAX_STRAY_LINES:,} lines in a row that are no messages"
            self.hint = "Its stdout is for messages only; its log belongs on stderr."
        except RecursionError:
            self.fault = "the server sent JSON that is nested too deep to be read"
            self.hint = "Mend the server."
        except anyio.DelimiterNotFound:
            self.fault = f"the server sent a message of more than {MAX_MESSAGE_BYTES:,} bytes"
            self.hint = "Ask it for less, or for pages."
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            await self._explain("stdout")

    async def _send(self, from_session: MemoryObjectReceiveStream[SessionMessage], talk: anyio.CancelScope) -> None:
        try:
            async for item in from_session:
                message = item.message.model_dump(by_alias=True, exclude_unset=True)
                with anyio.fail_after(self._send_timeout_s):
                    await self._stdin.send(to_compact_bytes(message) + b"\n")
            talk.cancel()  # the session is over
        except TimeoutError:
            self.fault = f"the server has read nothing for {self._send_timeout_s:g} s"
            self.hint = "The connection is closed; start the server again."
            talk.cancel()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._explain("stdin")
            talk.cancel()

    async def _explain(self, pipe: str) -> None:
        """A pipe is closed at its other end: because the server is gone, or else it closed that pipe alone."""
        with anyio.move_on_after(GRACE_S):
            await self._process.wait()
        code = self._process.returncode
        if code is None:
            self.fault = f"the server closed its {pipe}"
        elif code < 0:
            self.fault = f"the server was ended by signal {-code}"
        else:
            self.fault = f"the server ended with exit code {code}"
        self.hint = "Run the command by hand to see why."

    async def _keep_stderr(self) -> None:
        """Read stderr to its end, so that no server waits for a reader, and keep the last of it."""
        try:
            async for chunk in self._stderr:
                self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_TAIL_BYTES:]
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self._stderr_ended.set()

    async def _end(self) -> None:
        """Close its stdin, wait, terminate, wait, kill: the whole group, which may outlive its leader."""
        await self._stdin.aclose()
        with anyio.move_on_after(GRACE_S):
            await self._process.wait()
        if sys.platform == "win32":
            await terminate_windows_process_tree(self._process)
        else:
            await terminate_posix_process_tree(self._process, GRACE_S)
        with anyio.move_on_after(GRACE_S):
            await self._stderr_ended.wait()
        await self._process.aclose()


def _answered_request(line: bytes) -> int | None:
    """The id of the request that a line answers, though the SDK cannot read it. Python's reader bears more.

    Raises:
        RecursionError: it is nested too deep even for that.
    """
    try:
        answer = json.loads(line, parse_int=lambda digits: int(digits[:18]))  # an id is short; int() refuses thousands
    except ValueError:
        return None
    is_answer = isinstance(answer, dict) and "method" not in answer
    return answer["id"] if is_answer and type(answer.get("id")) is int else None


def _refusal(request_id: int, flaw: ValidationError) -> JSONRPCError:
    """Goes to whoever waits for an answer that came and cannot be used; else the wait would last to its timeout."""
    first = flaw.errors(include_input=False, include_url=False)[0]
    reason = first["msg"] if first["type"] == "json_invalid" else "it is not the shape of a JSON-RPC answer"
    error = ErrorData(code=PARSE_ERROR, message=reason, data=UnusableAnswer(reason))
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def _quote(text: bytes) -> str:
    """Foreign bytes as one printable line."""
    return shorten(text.decode(errors="replace").strip(), 2 * STDERR_TAIL_BYTES)
