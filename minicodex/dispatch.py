"""Dispatch: from a call to exactly one result, by the plan of the step that offered the contract.

The router knows the call's name, id, step and raw text. It knows nothing of any tool's types: the handler decodes. What
does not decode never reaches business code, and the model is told why.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from minicodex.arguments import feedback
from minicodex.errors import (
    ArgumentError,
    CallAborted,
    HandlerError,
    InternalError,
    MinicodexError,
    StepMismatch,
    UnsupportedCall,
)
from minicodex.json_text import to_compact_bytes
from minicodex.naming import ToolName
from minicodex.planner import ToolPlan
from minicodex.search import search_tools
from minicodex.tool import Exposure, Handler, PlanAware, ToolImplementation, TwoViews

__all__ = [
    "MAX_OUTPUT_CHARS",
    "ModelCall",
    "ModelCustomCall",
    "ModelFunctionCall",
    "ModelSearchCall",
    "ToolResult",
    "abandoned_threads",
    "dispatch_all",
    "dispatch_function_call",
]

MAX_OUTPUT_CHARS = 1_000_000
"""Longest output that is sent to the model, in characters. The rest is cut, and the cut is named."""

MAX_PARALLEL_CALLS = 8
"""Calls of one answer that run side by side."""


# --- what the model asks --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelFunctionCall:
    """A call of a function tool. Its arguments are text, and stay text until the handler decodes them."""

    id: str
    """The wire's `call_id`."""
    canonical_name: ToolName | str
    raw_arguments: str
    step_id: str
    """The step whose contract the model saw."""
    item_id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        name = ToolName.of(self.canonical_name)
        namespace = {"namespace": name.namespace} if name.namespace is not None else {}
        head = {"type": "function_call", **_item_id(self.item_id), "name": name.name, **namespace}
        return head | {"arguments": self.raw_arguments, "call_id": self.id}


@dataclass(frozen=True)
class ModelCustomCall:
    """A call of a freeform tool. Its input is text in the tool's grammar."""

    id: str
    canonical_name: ToolName | str
    input: str
    step_id: str
    item_id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        head = {"type": "custom_tool_call", **_item_id(self.item_id), "call_id": self.id}
        return head | {"name": ToolName.of(self.canonical_name).name, "input": self.input}


@dataclass(frozen=True)
class ModelSearchCall:
    """A search for deferred tools. Its arguments are an object here, not a text (measured)."""

    id: str
    arguments: Any
    step_id: str
    item_id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        head = {"type": "tool_search_call", **_item_id(self.item_id), "call_id": self.id}
        return head | {"status": "completed", "execution": "client", "arguments": self.arguments}


ModelCall = ModelFunctionCall | ModelCustomCall | ModelSearchCall


def _item_id(item_id: str | None) -> dict[str, str]:
    return {} if item_id is None else {"id": item_id}


# --- what comes back ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolResult:
    """The one answer to one call."""

    call_id: str
    ok: bool
    output: Any
    """Text for the model; for a search, the list of contracts it found, as wire objects."""

    @classmethod
    def error(cls, call_id: str, message: str) -> ToolResult:
        """The call failed. The message is made valid UTF-8 and bounded."""
        return cls(call_id, ok=False, output=_bounded(_valid(message)))

    @classmethod
    def feedback_to_model(cls, *, call_id: str, message: str) -> ToolResult:
        """The call was refused, and the model can correct it. The message says whether anything ran."""
        return cls.error(call_id, message)


def _valid(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _bounded(text: str) -> str:
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return text[:MAX_OUTPUT_CHARS] + f"\n(cut: {MAX_OUTPUT_CHARS:,} of {len(text):,} characters shown)"


# --- one call -------------------------------------------------------------------------------------------------------


def dispatch_function_call(call: ModelFunctionCall, plan: ToolPlan, *, timeout_s: float | None = None) -> ToolResult:
    """Handle one function call with the plan of its own step.

    What a model or a tool can cause is an answer, never an exception.

    Args:
        timeout_s: seconds after which a call that has not finished is answered all the same; None waits.
    """
    return _answer(call, plan, _Terms(timeout_s))


def _answer(call: ModelCall, plan: ToolPlan, terms: _Terms) -> ToolResult:
    name = "tool_search" if isinstance(call, ModelSearchCall) else str(call.canonical_name)
    try:
        if call.step_id != plan.step_id:
            raise StepMismatch(call.step_id, plan.step_id)
        if isinstance(call, ModelSearchCall):
            return ToolResult(call.id, ok=True, output=_search(call, plan))
        handler = _handler(call, plan)
        text = call.raw_arguments if isinstance(call, ModelFunctionCall) else call.input
        output = terms.enforce(lambda: _run(handler, name, text, call.id), name)
        return ToolResult(call.id, ok=True, output=terms.write(output, name))
    except ArgumentError as error:
        return ToolResult.feedback_to_model(call_id=call.id, message=feedback(name, error))
    except InternalError:
        raise
    except MinicodexError as error:
        return ToolResult.error(call.id, str(error))


def _handler(call: ModelFunctionCall | ModelCustomCall, plan: ToolPlan) -> Handler:
    name = ToolName.of(call.canonical_name)
    tool = plan.implementations.get(name)
    wants_freeform = isinstance(call, ModelCustomCall)
    if tool is None or tool.is_freeform is not wants_freeform:
        raise UnsupportedCall(str(name), _way_out(name, tool, plan))
    handler = plan.dispatch[name]
    return handler.bound_to(plan) if isinstance(handler, PlanAware) else handler


def _way_out(name: ToolName, tool: ToolImplementation | None, plan: ToolPlan) -> str:
    if tool is not None:
        return "The tool is of another kind: call it in the form in which it was offered"
    homes = sorted(str(known) for known in plan.dispatch if known.name == name.name)
    if homes:
        return f"Did you mean {' or '.join(homes[:3])}?"
    return f"Step {plan.step_id} has no such tool"


def _run(handler: Handler, name: str, text: str, call_id: str) -> Any:
    """Decode, then run. Whatever a handler raises is its own fault, unless it is one of our errors."""
    try:
        arguments = handler.decode_arguments(text)
    except MinicodexError:
        raise
    except Exception as error:
        raise HandlerError(name, f"its decoder failed ({type(error).__name__}); nothing was run") from error
    try:
        return handler.run(arguments, call_id=call_id)
    except ArgumentError as error:
        raise error.after_running() from None
    except MinicodexError:
        raise
    except (Exception, SystemExit) as error:
        raise HandlerError(name, f"it failed while running ({type(error).__name__})") from error


def for_model(output: Any, name: str) -> str:
    """A result as the model reads it: a text as it is, anything else as compact JSON."""
    seen = output.text if isinstance(output, TwoViews) else output
    return _bounded(_written(seen, name, is_text=isinstance(seen, str)))


def for_script(output: Any, name: str) -> str:
    """A result as JSON for a script, a text too. Never cut: half a value is no value."""
    text = _written(output.value if isinstance(output, TwoViews) else output, name, is_text=False)
    if len(text) > MAX_OUTPUT_CHARS:
        raise HandlerError(name, f"it ran, but its result is longer than {MAX_OUTPUT_CHARS:,} characters")
    return text


def _written(output: Any, name: str, *, is_text: bool) -> str:
    try:
        text = output if is_text else to_compact_bytes(output).decode()
        text.encode()
    except (ValueError, RecursionError) as error:
        raise HandlerError(name, "it ran, but its result is not text and not JSON") from error
    return text


def _search(call: ModelSearchCall, plan: ToolPlan) -> list[Any]:
    deferred = {name: tool for name, tool in plan.implementations.items() if tool.exposure is Exposure.DEFERRED}
    return [contract.to_wire() for contract in search_tools(call.arguments, deferred)]


# --- several calls --------------------------------------------------------------------------------------------------


def dispatch_all(
    calls: Iterable[ModelCall],
    plan: ToolPlan,
    *,
    timeout_s: float | None = None,
    cancelled: threading.Event | None = None,
    write: Callable[[Any, str], str] = for_model,
) -> list[ToolResult]:
    """Handle all calls of one answer. One result each, in call order; one bad call stops nobody.

    Neighbours that are parallel-safe run side by side, any other call runs alone. Calls with one id are all run and
    all answered, as in Codex CLI 0.171.0 (measured).

    Args:
        timeout_s: seconds for each call; None waits.
        cancelled: once it is set, calls that have not finished are answered with `aborted`, and no further one starts.
        write: for whom results are written, `for_model` or `for_script`.
    """
    terms = _Terms(timeout_s, cancelled, write)
    results: list[ToolResult] = []
    for together, group in groupby(calls, key=lambda call: _parallel_safe(call, plan)):
        batch = list(group)
        if together and len(batch) > 1:
            results += _side_by_side(batch, plan, terms)
        else:
            results += [_answer(call, plan, terms) for call in batch]
    return results


def _parallel_safe(call: ModelCall, plan: ToolPlan) -> bool:
    if isinstance(call, ModelSearchCall):
        return True
    tool = plan.implementations.get(ToolName.of(call.canonical_name))
    return tool is None or tool.parallel_safe


def _side_by_side(calls: Sequence[ModelCall], plan: ToolPlan, terms: _Terms) -> list[ToolResult]:
    with ThreadPoolExecutor(min(len(calls), MAX_PARALLEL_CALLS), "minicodex-calls") as pool:
        return list(pool.map(lambda call: _answer(call, plan, terms), calls))


# --- time -----------------------------------------------------------------------------------------------------------

_abandoned: list[threading.Thread] = []
_abandoned_lock = threading.Lock()

CANCEL_POLL_S = 0.05
"""How often a waiting call looks whether it was cancelled, in seconds."""


def abandoned_threads() -> tuple[str, ...]:
    """Names of the threads that still run a call which has been answered without them."""
    with _abandoned_lock:
        _abandoned[:] = [thread for thread in _abandoned if thread.is_alive()]
        return tuple(thread.name for thread in _abandoned)


@dataclass(frozen=True)
class _Terms:
    """On what terms calls are handled: how long each may take, and for whom its result is written.

    Python cannot stop a thread: one that takes longer is left behind, and counted.
    """

    timeout_s: float | None = None
    cancelled: threading.Event | None = None
    write: Callable[[Any, str], str] = for_model

    def enforce(self, work: Callable[[], Any], name: str) -> Any:
        """Do the work, in a thread of its own if there is anything to enforce.

        Raises:
            HandlerError: it took too long.
            CallAborted: it was cancelled.
        """
        if self.timeout_s is None and self.cancelled is None:
            return work()
        future: Future[Any] = Future()
        thread = threading.Thread(target=_settle, args=(future, work), name=f"minicodex-call-{name}", daemon=True)
        if self._is_cancelled():
            raise CallAborted
        thread.start()
        try:
            return self._wait(future, name)
        finally:
            if thread.is_alive() and not future.done():
                with _abandoned_lock:
                    _abandoned.append(thread)

    def _wait(self, future: Future[Any], name: str) -> Any:
        end = None if self.timeout_s is None else time.monotonic() + self.timeout_s
        while not future.done():
            left = math.inf if end is None else end - time.monotonic()
            if left <= 0:
                raise HandlerError(name, f"no result after {self.timeout_s:g} s; it may still be running")
            wait([future], left if self.cancelled is None else min(left, CANCEL_POLL_S))
            if self._is_cancelled() and not future.done():
                raise CallAborted
        return future.result()

    def _is_cancelled(self) -> bool:
        return self.cancelled is not None and self.cancelled.is_set()


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
