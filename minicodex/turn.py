"""A turn: plan, encode, sample, dispatch, remember, until the model stops calling.

The turn leaves a transcript: every event with the object in hand and the room of the package it was in. A player can
go through it later without running anything again.
"""

from __future__ import annotations

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
from minicodex.history import CallOutput, Ids, Item, Message, counter, paired
from minicodex.naming import ToolName
from minicodex.planner import StepState, ToolPlan, plan_tools
from minicodex.request import ApiMode, ApiRequest, PromptSnapshot, encode_model_request
from minicodex.sources import Candidate

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
    """`plan`, `request`, `answer`, `call`, `result`, `dropped`, `end`."""
    step_id: str
    room: str
    """Module of the package in which it happens."""
    summary: str
    payload: Any
    """The object in hand: decisions, a request's body, wire items, a call, a result."""


@dataclass(frozen=True)
class Turn:
    """What came of a turn."""

    events: tuple[Event, ...]
    history: tuple[Item, ...]
    text: str
    """What the model said last."""
    ended_by: str
    """`answer` when the model stopped calling, `max_steps` or `max_calls` when a limit was met."""

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
    tool_timeout_s: float | None = None,
) -> Turn:
    """Run one turn to its end.

    Args:
        candidates_for_step: gives the candidates of each step, for example `lambda step: collect_tools(sources, step)`.
        prompt: instructions and history so far; its contracts are replaced by those of each step's plan.
        ids: where item ids come from; a fresh `counter()` by default.
        step: what every step of the turn has in common; its id is the prefix of the steps' ids.
        max_steps: requests to the model at most.
        max_calls: tool calls at most. The calls beyond it are answered as not run.

    Raises:
        ProviderError: the model could not be reached.
        ContractEncodingError: before the request in question was sent.
    """
    recorder = _Turn(model, mode, ids or counter(), tool_timeout_s, calls_left=max_calls)
    for number in range(1, max_steps + 1):
        state = _numbered(step, number)
        prompt = recorder.one_step(prompt, plan_tools(candidates_for_step(state), state))
        if recorder.ended_by:
            break
    return recorder.finished(prompt, state)


def _numbered(step: StepState, number: int) -> StepState:
    return replace(step, id=f"{step.id}_{number}")


class _Turn:
    """The state of a running turn: what was recorded, and what is left of its limits."""

    def __init__(self, model: Model, mode: ApiMode, ids: Ids, tool_timeout_s: float | None, calls_left: int) -> None:
        self.model, self.mode, self.ids = model, mode, ids
        self.tool_timeout_s, self.calls_left = tool_timeout_s, calls_left
        self.events: list[Event] = []
        self.text = ""
        self.ended_by = ""

    def one_step(self, prompt: PromptSnapshot, plan: ToolPlan) -> PromptSnapshot:
        """Plan is made; encode, sample, dispatch, and return the prompt with what came of it."""
        self._note(
            "plan",
            plan,
            "planner",
            f"contracts: {len(plan.contracts)}, handlers: {len(plan.dispatch)}",
            plan.decisions,
        )
        request = self._encode(prompt, plan)
        answer = list(self.model.respond(request))
        self._note("answer", plan, "models", f"items: {len(answer)}", answer)
        items, calls = self._read(answer, plan)
        prompt = prompt.with_history(*items)
        if not calls:
            self.ended_by = "answer"
            return prompt
        return prompt.with_history(*self._dispatch(calls, plan))

    def _encode(self, prompt: PromptSnapshot, plan: ToolPlan) -> ApiRequest:
        snapshot = PromptSnapshot(
            prompt.instructions, paired(prompt.history, self.ids), plan.contracts, prompt.parallel_tool_calls
        )
        request = encode_model_request(snapshot, self.mode)
        body = request.to_bytes()
        self._note("request", plan, "request", f"{len(body):,} bytes, mode {self.mode.name}", request.to_json())
        return request

    def _read(self, answer: Sequence[Mapping[str, Any]], plan: ToolPlan) -> tuple[list[Item], list[ModelCall]]:
        items: list[Item] = []
        calls: list[ModelCall] = []
        for wire in answer:
            item = read_item(wire, plan.step_id, self.ids)
            if item is None:
                self._note("dropped", plan, "turn", "an item that cannot be read is not answered", wire)
                continue
            items.append(item)
            if isinstance(item, Message):
                self.text = item.text
            elif not isinstance(item, (Mapping, CallOutput)):
                calls.append(item)
        return items, calls

    def _dispatch(self, calls: list[ModelCall], plan: ToolPlan) -> list[Item]:
        for call in calls:
            self._note("call", plan, "dispatch", f"{_name(call)} ({call.id})", call)
        allowed, beyond = calls[: self.calls_left], calls[self.calls_left :]
        results = dispatch_all(allowed, plan, timeout_s=self.tool_timeout_s)
        results += [ToolResult.error(call.id, "not run: the turn has no calls left") for call in beyond]
        self.calls_left -= len(allowed)
        self.ended_by = "max_calls" if beyond else ""
        outputs: list[Item] = []
        for call, result in zip(calls, results, strict=True):
            self._note("result", plan, "dispatch", f"{_name(call)}: {'ok' if result.ok else 'not ok'}", result)
            outputs.append(CallOutput.of(call, result, self.ids))
        return outputs

    def _note(self, kind: str, plan: ToolPlan, room: str, summary: str, payload: Any) -> None:
        self.events.append(Event(kind, plan.step_id, room, summary, payload))

    def finished(self, prompt: PromptSnapshot, step: StepState) -> Turn:
        ended_by = self.ended_by or "max_steps"
        self.events.append(Event("end", step.id, "turn", ended_by, self.text))
        return Turn(tuple(self.events), tuple(prompt.history), self.text, ended_by)


def _name(call: ModelCall) -> str:
    return "tool_search" if isinstance(call, ModelSearchCall) else str(call.canonical_name)


def read_item(wire: Mapping[str, Any], step_id: str, ids: Ids) -> Item | None:
    """One output item of the model as an item of ours; None if it cannot be read.

    The real CLI drops such items without a word (measured); `run_turn` records them as dropped.
    """
    match wire:
        case {"type": "message", "role": str(role), "content": [*parts]}:
            text = "".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
            return Message(role, text, _id(wire, "msg", ids))
        case {
            "type": "function_call",
            "call_id": str(call_id),
            "name": str(name),
            "arguments": str(arguments),
        }:
            namespace = wire.get("namespace")
            if namespace is not None and not isinstance(namespace, str):
                return None
            return ModelFunctionCall(
                call_id, ToolName.from_wire(name, namespace), arguments, step_id, _id(wire, "fc", ids)
            )
        case {"type": "custom_tool_call", "call_id": str(call_id), "name": str(name), "input": str(text)}:
            return ModelCustomCall(call_id, ToolName(name), text, step_id, _id(wire, "ctc", ids))
        case {"type": "tool_search_call", "call_id": str(call_id)}:
            return ModelSearchCall(call_id, wire.get("arguments"), step_id, _id(wire, "tsc", ids))
        case {"type": "reasoning"}:
            return wire
    return None


def _id(wire: Mapping[str, Any], prefix: str, ids: Ids) -> str:
    """The item's own id if it has the proper prefix, else a new one. Source: Codex CLI 0.171.0 (measured)."""
    own = wire.get("id")
    return own if isinstance(own, str) and own.startswith(f"{prefix}_") else ids(prefix)
