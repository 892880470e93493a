"""Runs one script to its end, and bounds it: in time, in memory, in output, in calls.

The engine works in a child process (`engine.py` says why), and the two take turns. The script runs until nothing in
it can go on; then the child reports the calls it has made, all of them are answered here, and the answers wake it.
So a script that waits for what never comes is known at once: it is not done, and has no call that could be answered.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from minicodex.errors import ToolFailed

__all__ = ["Reply", "ScriptCall", "ScriptLimits", "ScriptOutcome", "ScriptTool", "run_script"]

MAX_REPORT_BYTES = 16_000_000
"""Longest report of the engine: more than any honest script has to say between two calls."""


@dataclass(frozen=True)
class ScriptLimits:
    """What one script may use."""

    time_s: float = 30.0
    """Seconds from start to end, the tools it calls included."""
    memory_bytes: int = 64 * 1024 * 1024
    """The engine's heap. The process around it may use some 200 MB more."""
    output_chars: int = 40_000
    """Characters of output that the model reads; about 10,000 tokens."""
    calls: int = 1_000
    """Tools it may call."""


@dataclass(frozen=True)
class ScriptTool:
    """A tool as a script finds it."""

    name: str
    """`tools.<name>` is its function."""
    description: str
    label: str
    """What errors call it."""
    takes_text: bool
    """Takes a text instead of an object."""


class ScriptCall(NamedTuple):
    """One call of a tool by a script: its arguments as text, as a model would write them."""

    name: str
    text: str


class Reply(NamedTuple):
    """The answer to one call. Where it is not ok, the script sees an exception that it can catch."""

    ok: bool
    json: str
    """The value, or what is thrown, as JSON."""


Answer = Callable[[Sequence[ScriptCall], float], Sequence[Reply]]
"""Answers the calls of one report, in their order, within so many seconds."""


@dataclass(frozen=True)
class ScriptOutcome:
    """What came of a script."""

    texts: tuple[str, ...]
    """What it wrote, one entry for each `text(…)`."""
    error: str | None = None
    """Why it failed; None if it completed."""
    written_chars: int = 0
    """What it wrote as a whole; more than is in `texts` where that was cut."""

    def to_text(self) -> str:
        """The output as the model reads it.

        Codex CLI 0.171.0 sends a list: a header with the running time, then one item for each text (measured). Ours is
        one text and leaves the time out, so that equal scripts read alike.
        """
        header = "Script completed" if self.error is None else "Script failed"
        parts = [f"{header}\nOutput:", *self.texts]
        shown = sum(map(len, self.texts))
        parts += [f"(cut: {shown:,} of {self.written_chars:,} characters shown)"] if self.written_chars > shown else []
        parts += [] if self.error is None else [f"Script error:\n{self.error}"]
        return "\n".join(parts) + ("\n" if len(parts) == 1 else "")


def run_script(source: str, tools: Sequence[ScriptTool], answer: Answer, limits: ScriptLimits) -> ScriptOutcome:
    """Run one script in an engine of its own. Whatever the script does, this returns, and the engine has ended.

    Calls that were made are answered even if the script does not wait for them.

    Raises:
        ToolFailed: there is no engine; the message names the extra that brings it.
    """
    if find_spec("py_mini_racer") is None:
        raise ToolFailed('exec cannot run: there is no JavaScript engine here. pip install "minicodex[code]" brings it')
    run = _Run(answer, limits, {tool.name for tool in tools})
    try:
        with _Engine(limits) as engine:
            run.drive(engine, _opening(source, tools, limits))
    except _Stopped as stopped:
        run.error = str(stopped)
    return ScriptOutcome(tuple(run.texts), run.error, run.written)


def _opening(source: str, tools: Sequence[ScriptTool], limits: ScriptLimits) -> str:
    world = {"source": source, "tools": [vars(tool) for tool in tools], "output_chars": limits.output_chars}
    return json.dumps(world)


def _replies(replies: Sequence[Reply]) -> str:
    """The values are JSON already and go in as they are."""
    return '{"replies":[' + ",".join(f"[{int(reply.ok)},{reply.json}]" for reply in replies) + "]}"


BROKEN = "the script was stopped: it broke the world it runs in"


class _Stopped(Exception):
    """The script was ended from outside. The text says why."""


class _Run:
    """A script on its way: what it has written, and what it may still do."""

    def __init__(self, answer: Answer, limits: ScriptLimits, names: set[str]) -> None:
        self.answer, self.names = answer, names
        self.max_calls = self.calls_left = limits.calls
        self.texts: list[str] = []
        self.written = 0
        self.error: str | None = None

    def drive(self, engine: _Engine, message: str) -> None:
        while True:
            report = _read(engine.advance(message))
            self.texts += report.texts
            self.written = report.written
            replies = self.replies(report.calls, engine) if report.calls else []
            if report.done:
                self.error = report.error
                return
            if not replies:
                raise _Stopped("the script waits for something that never comes")
            message = _replies(replies)

    def replies(self, calls: list[ScriptCall], engine: _Engine) -> Sequence[Reply]:
        self.calls_left -= len(calls)
        if not self.names.issuperset(call.name for call in calls):
            raise _Stopped(BROKEN)
        if self.calls_left < 0:
            raise _Stopped(f"the script was stopped: it may call {self.max_calls:,} tools")
        return self.answer(calls, engine.time_left())


@dataclass(frozen=True)
class _Report:
    texts: list[str]
    calls: list[ScriptCall]
    done: bool
    error: str | None
    written: int


def _read(line: bytes) -> _Report:
    """A report of the engine. The script has been at work in there, so every type is checked."""
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        report = None
    match report:
        case {
            "texts": [*texts],
            "calls": [*calls],
            "done": bool(done),
            "error": None | str() as error,
            "written": int(written),
        } if all(isinstance(text, str) for text in texts):
            pairs = [call for call in calls if isinstance(call, list) and [type(part) for part in call] == [str, str]]
            if len(pairs) == len(calls):
                return _Report(texts, [ScriptCall(*pair) for pair in pairs], done, error, written)
        case {"stopped": "memory"}:
            raise _Stopped("the script was stopped: it needs more memory than it may use")
    raise _Stopped(BROKEN)


class _Engine:
    """The child process, from start to end. A timer ends it when time is up, whatever it is doing."""

    def __init__(self, limits: ScriptLimits) -> None:
        self._limits = limits
        self._expired = threading.Event()

    def __enter__(self) -> Self:
        cpu_s = math.ceil(self._limits.time_s) + 5  # should nobody be left to end it
        program = Path(__file__).with_name("engine.py")
        self._child = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", str(program), str(self._limits.memory_bytes), str(cpu_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._end = time.monotonic() + self._limits.time_s
        self._timer = threading.Timer(self._limits.time_s, self._expire)
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        self._timer.join()
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            try:
                pipe.close()  # type: ignore[union-attr] # both are pipes
            except OSError:  # what was still to be sent has nowhere to go
                continue
        self._child.wait()

    def _expire(self) -> None:
        self._expired.set()
        self._child.kill()

    def time_left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def advance(self, message: str) -> bytes:
        """Send one message and wait for the report.

        Raises:
            _Stopped: there is none.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(message.encode() + b"\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline(MAX_REPORT_BYTES)
        except OSError:  # it has ended
            line = b""
        if self._expired.is_set():
            raise _Stopped(f"the script was stopped after {self._limits.time_s:g} s")
        if not line:
            raise _Stopped("the engine ended; most likely the script needs more memory than it may use")
        if not line.endswith(b"\n"):
            raise _Stopped("the script was stopped: its calls and texts are too large")
        return line
