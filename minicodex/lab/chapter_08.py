"""What chapter 8 needs beside the runtime: its predictions, a handler that trusts, and its exercises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_function_call
from minicodex.errors import JsonTextError
from minicodex.json_text import parse_strict
from minicodex.lab.clinic import Ward
from minicodex.lab.clinic_cases import EVENT
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.models.obedient import mend
from minicodex.planner import StepState, plan_tools
from minicodex.samples import EventBook, create_event_tool
from minicodex.tool import ToolImplementation, function_tool

__all__ = [
    "DURATION_TWICE",
    "HOW_LONG",
    "THREE_CALLS",
    "WHO_CHECKED",
    "WHO_IS_STOPPED",
    "TrustingHandler",
    "check_quarter_hours",
    "check_stopped_at",
    "check_stricter",
    "login_tool",
]

DURATION_TWICE = json.dumps(EVENT)[:-1] + ', "duration": 4500}'
"""A good event whose text says the duration a second time."""


@dataclass(frozen=True)
class TrustingHandler:
    """A handler that reads the text as Python does and believes what it finds."""

    book: EventBook

    def decode_arguments(self, raw_arguments: str) -> Any:
        return json.loads(raw_arguments)

    def run(self, arguments: Any, *, call_id: str) -> Any:
        return self.book.add(arguments)


@function_tool
def login_tool(user: str, api_token: str) -> str:  # noqa: ARG001 - a door for the feedback, nothing behind it
    """Log in."""
    return f"{user} is logged in"


THREE_CALLS = (
    ModelFunctionCall("call_1", "create_event", json.dumps(EVENT), "step_1"),
    ModelFunctionCall("call_2", "create_event", '{"title": "Dinner"', "step_1"),
    ModelFunctionCall("call_3", "create_event", json.dumps(EVENT | {"title": "Tea"}), "step_1"),
)
"""Three calls of one answer; the one in the middle is cut off."""


# --- predictions -----------------------------------------------------------------------------------------------------

WHO_CHECKED = Prediction(
    "The request carried the schema. Now the arguments arrive. Who has checked them against it so far?",
    (
        Choice(
            "The model, while it wrote.",
            "It was guided by the schema, as by any other text. Guided is not checked.",
        ),
        Choice(
            "The provider, before it sent the answer.",
            "Only if strict was asked for and kept, and the wire does not tell. Codex never asks for it.",
        ),
        Choice(
            "The client, when it read the answer.",
            "It read an item with a name, an id and a text. What is in the text is not its business.",
        ),
        Choice(
            "Nobody.",
            "Right. What arrives is a string. Everything that this chapter shows happens from here on.",
            right=True,
        ),
    ),
)

HOW_LONG = Prediction(
    "The text says `duration` twice: first 45, then 4500. `json.loads` reads it. How long will the lunch be?",
    (
        Choice(
            "45 minutes: the first one counts.",
            "Some readers do that. Python does not.",
        ),
        Choice(
            "4500 minutes: the last one counts.",
            "In Python, yes, without a word. Other readers take the first one, or refuse. That is the trouble.",
            right=True,
        ),
        Choice(
            "`json.loads` raises an error.",
            "It does not: the JSON standard only says that names *should* be unique.",
        ),
    ),
)

WHO_IS_STOPPED = Prediction(
    "One answer holds three calls. The arguments of the second one are cut off. What becomes of the others?",
    (
        Choice(
            "All three are refused: the answer is broken.",
            "The answer is fine. It holds three items, and one of them has a text that cannot be used.",
        ),
        Choice(
            "The first one runs; then everything stops.",
            "Then the third call would have no output, and a history with a call but no output is not accepted.",
        ),
        Choice(
            "The first and the third run; the second gets its feedback.",
            "Right. One result for each call, in call order. One bad call stops nobody.",
            right=True,
        ),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------

_WANTED = ("JSON", "shape", "types", "rule")


@exercise("Four texts, four different doors. None of them came near the plan.")
def check_stopped_at(texts: Mapping[str, str]) -> Iterator[str]:
    """Exercise 8.1: for each question a text for `update_plan` that is stopped exactly there."""
    if not isinstance(texts, Mapping):
        yield "`stopped_at` must be a dict from a question to a text"
        return
    for name in _WANTED:
        text = texts.get(name)
        if not isinstance(text, str):
            yield f"`{name}`: a text is missing"
            continue
        stopped = Ward().examine("update_plan", text).stopped_at
        if stopped != name:
            yield f"`{name}`: this text {f'is stopped at `{stopped}`' if stopped else 'is not stopped, it runs'}"


@exercise("A refusal that even a model without any knowledge can act on.")
def check_quarter_hours(rule: Callable[[dict[str, Any]], None]) -> Iterator[str]:
    """Exercise 8.2: a business rule whose refusal the obedient model can mend."""
    book = EventBook()

    def add(arguments: dict[str, Any]) -> Any:
        rule(arguments)
        return book.add(arguments)

    tool = create_event_tool(book)
    plan = plan_tools([replace(tool, handler=_Ruled(tool, add))], StepState("step_1"))
    good = dispatch_function_call(ModelFunctionCall("c", "create_event", json.dumps(EVENT), "step_1"), plan)
    if not good.ok:
        yield f"45 minutes are three quarters of an hour and must be taken; the answer was: {good.output}"
        return
    text = json.dumps(EVENT | {"duration": 50})
    first = dispatch_function_call(ModelFunctionCall("c", "create_event", text, "step_1"), plan)
    if first.ok:
        yield "50 minutes are accepted: raise `ArgumentError` if the duration is no multiple of 15"
    elif "refused these arguments" not in str(first.output):
        yield f"50 minutes must be refused by an `ArgumentError`; the answer was: {first.output}"
    else:
        yield from _what_is_missing(text, first, plan)


def _what_is_missing(text: str, first: ToolResult, plan: Any) -> Iterator[str]:
    mended = mend(text, str(first.output))
    second = dispatch_function_call(ModelFunctionCall("c", "create_event", mended, "step_1"), plan)
    if "at /duration" not in str(first.output):
        yield 'the refusal does not say where: give the `ArgumentFault` the pointer "/duration"'
    elif not second.ok:
        yield "the model could not mend it; say what you expect in the words of a limit: `a multiple of 15`"
    if "Way out" not in str(first.output):
        yield "the refusal shows no way out: give the `ArgumentFault` a `hint`"


@dataclass(frozen=True)
class _Ruled:
    """A tool's own decoder, with another function behind it."""

    tool: ToolImplementation
    function: Callable[[dict[str, Any]], Any]

    def decode_arguments(self, raw_arguments: str) -> Any:
        return self.tool.handler.decode_arguments(raw_arguments)

    def run(self, arguments: Any, *, call_id: str) -> Any:
        return self.function(arguments)


@exercise("You know now what a strict reader refuses although Python's own accepts it, and you read why.")
def check_stricter(texts: list[str]) -> Iterator[str]:
    """Exercise 8.3: three texts that `json.loads` reads and `parse_strict` refuses, for three different reasons."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        yield "`stricter` must be a list of texts"
        return
    hints = set()
    for text in texts:
        shown = text if len(text) <= len("a short text, shown whole") else f"{text[:20]}…"
        try:
            json.loads(text)
        except ValueError:
            yield f"`{shown}`: `json.loads` does not read it either"
            continue
        try:
            parse_strict(text)
        except JsonTextError as error:
            hints.add(error.hint)
        else:
            yield f"`{shown}`: `parse_strict` reads it, too"
    if len(hints) < len(("one", "two", "three")):
        yield f"{len(hints)} different reasons so far, three are asked for: look at what `_DECODER` is built from"
