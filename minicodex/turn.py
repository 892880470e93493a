"""A turn: plan, encode, sample, dispatch, remember, until the model stops calling.

The turn leaves a transcript: every event with the object in hand and the room of the package it was in. A player can
go through it later without running anything again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from minicodex.dispatch import (
    ModelCall,
    ModelCustomCall,
    ModelFunctionCall,
    ModelSearchCall,
    ToolResult,
    dispatch_all,
)
from minicodex.errors import MinicodexError, ProviderError
from minicodex.history import CallOutput, Ids, Item, Message, counter, paired, read_item, wire
from minicodex.planner import StepState, ToolPlan, plan_tools
from minicodex.request import AdditionalTools, ApiMode, ApiRequest, PromptSnapshot, declares_tools, encode_model_request
from minicodex.sources import Candidate
from minicodex.tool_updates import announce_deferred, declare_changes, forget_tools, place_updates

__all__ = ["Event", "Model", "Turn", "run_turn"]


class Model(Protocol):
    """Whoever answers a request."""

    def respond(self, request: ApiRequest) -> Sequence[Mapping[str, Any]]:
        """The output items of one answer, as wire objects.

        Raises:
            ProviderError: no answer could be had.
        """
        ...


@dataclass(frozen=True)
class Event:
    """One moment of a turn."""

    kind: str
    """`plan`, `update`, `request`, `answer`, `call`, `result`, `dropped`, `end`."""
    step_id: str
    room: str
    """Module of the package in which it happens."""
    summary: str
    payload: Any
    """The object in hand: decisions, what the model is told about tools, a request's body, wire items, a call, …"""


@dataclass(frozen=True)
class Turn:
    """What came of a turn."""

    events: tuple[Event, ...]
    history: tuple[Item, ...]
    text: str
    """What the model said last."""
    ended_by: str
    """`answer` when the model stopped calling, the name of the limit that was met, `cancelled`, or `error`."""

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(event.payload for event in self.events if event.kind == "result")


_FIRST_STEP = StepState(id="step")


def run_turn(
    model: Model,
    candidates_for_step: Callable[[StepState], Iterable[Candidate]],
    prompt: PromptSnapshot,
    *,
    ids: Ids | None = None,
    mode: ApiMode = ApiMode.RESPONSES,
    step: StepState = _FIRST_STEP,
    max_steps: int = 10,
    max_calls: int = 50,
    max_seconds: float | None = None,
    tool_timeout_s: float | None = None,
    cancelled: threading.Event | None = None,
) -> Turn:
    """Run one turn to its end. A turn can follow another: give it the other's history with something new behind.

    Args:
        candidates_for_step: gives the candidates of each step, for example `lambda step: collect_tools(sources, step)`.
        prompt: instructions and history so far; its contracts are replaced by those of each step's plan.
        ids: where item ids come from; by default they count up from beyond those in the history.
        step: what every step of the turn has in common; its id is the prefix of the steps' ids.
        max_steps: requests to the model at most.
        max_calls: tool calls at most. The calls beyond it are answered as not run.
        max_seconds: no request is sent later than this, and no call is waited for. How long an answer may take is
            the model's own limit.
        tool_timeout_s: seconds for each call.
        cancelled: once it is set, calls that have not finished are answered with `aborted`, and no request is sent.
            A model that may wait for long takes the same event.

    Raises:
        MinicodexError: with the turn so far as its `turn`; its calls have run, and its history can be sent again.
            ProviderError: the model could not be reached. ContractEncodingError, HistoryError: before the request in
            question was sent.
    """
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    ids = ids or counter(prompt.history)
    turn = _Turn(model, mode, ids, tuple(prompt.history), max_calls, deadline, tool_timeout_s, cancelled)
    for number in range(1, max_steps + 1):
        state = replace(step, id=f"{step.id}_{number}")
        try:
            turn.one_step(prompt, candidates_for_step, state)
        except MinicodexError as error:
            if not (isinstance(error, ProviderError) and turn.is_cancelled):
                error.turn = turn.finished("error")
                raise
            turn.ended_by = "cancelled"
        if turn.ended_by:
            break
    return turn.finished(turn.ended_by or "max_steps")


class _Turn:
    """The state of a running turn: what was recorded, and what is left of its limits."""

    def __init__(
        self,
        model: Model,
        mode: ApiMode,
        ids: Ids,
        history: tuple[Item, ...],
        calls_left: int,
        deadline: float | None,
        tool_timeout_s: float | None,
        cancelled: threading.Event | None,
    ) -> None:
        self.model, self.mode, self.ids, self.history = model, mode, ids, history
        self.calls_left, self.deadline = calls_left, deadline
        self.tool_timeout_s, self.cancelled = tool_timeout_s, cancelled
        self.events: list[Event] = []
        self.newest_plan: ToolPlan | None = None
        self.step_id = ""
        self.text = ""
        self.ended_by = ""

    @property
    def is_cancelled(self) -> bool:
        return self.cancelled is not None and self.cancelled.is_set()

    @property
    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def one_step(
        self, prompt: PromptSnapshot, candidates: Callable[[StepState], Iterable[Candidate]], step: StepState
    ) -> None:
        """Plan, tell, encode, sample, dispatch, remember."""
        self.step_id = step.id
        if self._is_over():
            return
        plan = self.newest_plan = plan_tools(candidates(step), step)  # held, so that an equal next step can share it
        tables = f"contracts: {len(plan.contracts)}, handlers: {len(plan.dispatch)}"
        self._note("plan", "planner", tables, plan.decisions)
        self._tell(plan)
        request = self._encode(prompt, plan)
        answer = list(self.model.respond(request))
        self._note("answer", "models", f"items: {len(answer)}", answer)
        calls = self._read(answer)
        if calls:
            self._dispatch(calls, plan)
        else:
            self.ended_by = "answer"

    def _is_over(self) -> bool:
        if self.is_cancelled:
            self.ended_by = "cancelled"
        elif self.seconds_left == 0:
            self.ended_by = "max_seconds"
        return bool(self.ended_by)

    def _tell(self, plan: ToolPlan) -> None:
        """Bring the history up to what the model must know about its tools in this step."""
        history = paired(self.history, self.ids)
        updates: list[Item] = []
        if self.mode.tools_at_top_level:
            history = tuple(forget_tools(history)) if any(map(declares_tools, history)) else history
        elif history and declares_tools(history[0]):
            updates = declare_changes(history, plan.contracts, self.ids)
        elif plan.contracts:
            history = (AdditionalTools(plan.contracts), *forget_tools(history))
        updates += announce_deferred(history, plan, self.ids)
        self.history = tuple(place_updates(history, updates))
        if updates:
            self._note("update", "tool_updates", f"items: {len(updates)}", wire(updates))

    def _encode(self, prompt: PromptSnapshot, plan: ToolPlan) -> ApiRequest:
        snapshot = PromptSnapshot(prompt.instructions, self.history, plan.contracts, prompt.parallel_tool_calls)
        request = encode_model_request(snapshot, self.mode)
        body = request.to_bytes()
        self._note("request", "request", f"{len(body):,} bytes, mode {self.mode.name}", request.to_json())
        return request

    def _read(self, answer: Sequence[Mapping[str, Any]]) -> list[ModelCall]:
        """Remember what can be read of an answer, and return the calls in it."""
        calls: list[ModelCall] = []
        for output in answer:
            item = read_item(output, self.step_id, self.ids)
            if item is None:
                self._note("dropped", "turn", "an item that cannot be read is not answered", output)
                continue
            self._remember(item)
            if isinstance(item, Message):
                self.text = item.text
            elif isinstance(item, (ModelFunctionCall, ModelCustomCall, ModelSearchCall)):
                calls.append(item)
        return calls

    def _dispatch(self, calls: list[ModelCall], plan: ToolPlan) -> None:
        for call in calls:
            self._note("call", "dispatch", f"{_name(call)} ({call.id})", call)
        allowed, beyond = calls[: self.calls_left], calls[self.calls_left :]
        results = dispatch_all(allowed, plan, timeout_s=self._call_timeout_s(), cancelled=self.cancelled)
        results += [ToolResult.error(call.id, "not run: the turn has no calls left") for call in beyond]
        self.calls_left -= len(allowed)
        self.ended_by = "max_calls" if beyond else ""
        for call, result in zip(calls, results, strict=True):
            self._note("result", "dispatch", f"{_name(call)}: {'ok' if result.ok else 'not ok'}", result)
            self._remember(CallOutput.of(call, result, self.ids))

    def _call_timeout_s(self) -> float | None:
        limits = [limit for limit in (self.tool_timeout_s, self.seconds_left) if limit is not None]
        return min(limits, default=None)

    def _remember(self, item: Item) -> None:
        self.history = (*self.history, item)

    def _note(self, kind: str, room: str, summary: str, payload: Any) -> None:
        self.events.append(Event(kind, self.step_id, room, summary, payload))

    def finished(self, ended_by: str) -> Turn:
        self._note("end", "turn", ended_by, self.text)
        return Turn(tuple(self.events), self.history, self.text, ended_by)


def _name(call: ModelCall) -> str:
    return "tool_search" if isinstance(call, ModelSearchCall) else str(call.canonical_name)
