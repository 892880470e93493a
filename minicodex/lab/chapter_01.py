"""What chapter 1 needs beside the runtime: its predictions, a board without a rule, and its exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from minicodex.dispatch import ToolResult
from minicodex.errors import ArgumentError
from minicodex.history import user
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.strict import missing_for_strict
from minicodex.request import PromptSnapshot
from minicodex.schema import compile_tool_schema
from minicodex.sources.builtin import PlanBoard, PlanItem
from minicodex.validation import ArgumentValidator

__all__ = [
    "CALLED_UNSEEN",
    "EXERCISE_SCHEMA",
    "LOOSE",
    "PROMPT",
    "STERN",
    "STRICT_PARAMETERS",
    "TWO_AT_ONCE",
    "WHAT_A_RULE_DOES",
    "WHAT_STRICT_DOES",
    "LaxBoard",
    "check_found",
    "check_rule",
    "check_strict",
]

PROMPT = PromptSnapshot("Set a plan before you work.", [user("Summarise my notes.")])

STERN = "Replace the plan. NEVER have two steps in progress. This is absolutely forbidden."
"""A description that states a rule as firmly as words can."""

TWO_AT_ONCE: dict[str, Any] = {
    "explanation": "Both at once.",
    "plan": [
        {"step": "Read the notes", "status": "in_progress"},
        {"step": "Write the summary", "status": "in_progress"},
    ],
}
"""The right shape, against the rule."""

LOOSE: dict[str, Any] = {"plan": "read, then write"}
"""Against the shape: a text where a list belongs."""

STRICT_PARAMETERS = compile_tool_schema(
    {
        "type": "object",
        "properties": {
            "explanation": {"type": "string"},
            "plan": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        "step": {"type": "string"},
                    },
                    "required": ["step", "status"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["explanation", "plan"],
        "additionalProperties": False,
    }
)
"""The parameters of `update_plan` with nothing left open: what strict asks for."""


class LaxBoard(PlanBoard):
    """A plan that anybody may set to anything. Its rule stands in the description only."""

    def update(self, items: list[PlanItem], explanation: str = "") -> None:
        self.items, self.explanation, self.updates = list(items), explanation, self.updates + 1


# --- predictions -----------------------------------------------------------------------------------------------------

WHAT_A_RULE_DOES = Prediction(
    "Two tools. The first says in its description: never have two steps in progress. Its code does not know that rule. "
    "The second says nothing, and its code holds the rule. One model sends both of them two steps in progress. Which "
    "plan is broken afterwards?",
    (
        Choice(
            "None: the model has read the rule.",
            "It has, and most of the time it follows. But a description is advice. Nothing makes a model take it.",
        ),
        Choice(
            "That of the first tool.",
            "Right. A rule holds where the handler holds it, whatever the description says.",
            right=True,
        ),
        Choice(
            "That of the second tool: nobody has told the model.",
            "So the model does not know. The handler does.",
        ),
    ),
)

WHAT_STRICT_DOES = Prediction(
    "The contract says `strict: true`, and a compatible endpoint accepts it. What may the handler now rely on?",
    (
        Choice(
            "The arguments fit the schema: that is what strict means.",
            "It is what strict asks for. A compatible endpoint may accept the key and do nothing about it.",
        ),
        Choice(
            "Nothing. It sees a text, and the text does not say who checked it.",
            "Right. The wire is the same in both cases, and so the handler must be the same.",
            right=True,
        ),
        Choice(
            "The arguments fit the schema, and also the rules in the descriptions.",
            "Even a provider that keeps strict to the letter knows only the shape. Rules are not in the schema.",
        ),
    ),
)

CALLED_UNSEEN = Prediction(
    "A tool is deferred: it is not in the first list. The model calls it by name, without searching. What happens?",
    (
        Choice(
            "“Unsupported call”: it was not offered.",
            "Whether a tool is shown and whether it can run are two tables. It stands in the second one.",
        ),
        Choice(
            "It runs.",
            "Yes, here and in the real CLI. Deferred is about what the model reads first, not about what it may do.",
            right=True,
        ),
        Choice(
            "The runtime searches for it, then runs it.",
            "No search is needed. The dispatch table of the step knows the name.",
        ),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("Nothing is left open, and everything that could be said before can still be said.")
def check_strict(schema: Any) -> Iterator[str]:
    """Exercise 1.1: a strict schema for a little sister of `create_event`."""
    if not isinstance(schema, dict):
        yield "`strict_schema` must be a dict, a JSON Schema"
        return
    for missing in missing_for_strict(schema):
        yield str(missing)
    names = set(schema.get("properties", {}))
    if names != {"title", "minutes", "guests"}:
        yield f"the properties must still be title, minutes and guests, not {', '.join(sorted(names)) or 'none'}"
        return
    check = ArgumentValidator(schema, lambda: schema).check
    guest = {"email": "a@example.org", "note": None}
    for what, arguments in (
        ("an event without guests", {"title": "Tea", "minutes": 30, "guests": None}),
        ("a guest without a note", {"title": "Tea", "minutes": 30, "guests": [guest]}),
        ("a guest with a note", {"title": "Tea", "minutes": 30, "guests": [guest | {"note": "no sugar"}]}),
    ):
        try:
            check(arguments)
        except ArgumentError as error:
            yield f"{what} can no longer be said: {error}"
    too_much: tuple[tuple[str, dict[str, Any]], ...] = (
        ("an event without a title", {"title": None, "minutes": 30, "guests": None}),
        ("an event without a length", {"title": "Tea", "minutes": None, "guests": None}),
        ("half a minute", {"title": "Tea", "minutes": 0.5, "guests": None}),
        ("a guest without an email", {"title": "Tea", "minutes": 30, "guests": [{"email": None, "note": None}]}),
    )
    for what, arguments in too_much:
        with suppress(ArgumentError):
            check(arguments)
            yield f"{what} could not be said before, and now it can"


@exercise("The rule holds now, whatever the description says and whatever the provider promises.")
def check_rule(rule: Callable[[list[PlanItem]], None]) -> Iterator[str]:
    """Exercise 1.2: a business rule that refuses a step which is listed twice."""
    once = [PlanItem(step="Read", status="completed"), PlanItem(step="Write", status="pending")]
    twice = [*once, PlanItem(step="Read", status="pending")]
    for what, items in (("an empty plan", []), ("a plan of two different steps", once)):
        try:
            rule(items)
        except ArgumentError:
            yield f"{what} is refused, but nothing is listed twice"
    try:
        rule(twice)
    except ArgumentError as error:
        if "/plan/2" not in {fault.pointer.removesuffix("/step") for fault in error.faults}:
            yield 'the refusal does not say where: give the `ArgumentFault` the pointer "/plan/2/step"'
        if not any(fault.hint for fault in error.faults):
            yield "the refusal shows no way out: give the `ArgumentFault` a `hint`"
    except Exception as error:  # noqa: BLE001 - the learner's rule may raise anything
        yield f"it raised {type(error).__name__} ({error}); only an `ArgumentError` reaches the model as feedback"
    else:
        yield "a plan with the step “Read” twice is accepted"


@exercise("The key came on by itself: a search hands out the same manual, marked. Nothing else makes it appear.")
def check_found(result: ToolResult) -> Iterator[str]:
    """Exercise 1.3: the result of a search, with the deferred manual in it."""
    if isinstance(result, list) and result and isinstance(result[0], ToolResult):
        yield "`dispatch_all` gives a list, one result for each call: take the first of it"
    elif not isinstance(result, ToolResult):
        yield "`found` must be the `ToolResult` of a search call"
    elif not result.ok:
        yield f"the search was refused: {str(result.output).splitlines()[0]}"
    elif not isinstance(result.output, list):
        yield "this result holds no manuals: a `ModelSearchCall` has the arguments `{'query': …}`"
    elif not result.output:
        yield "the search found nothing: is the tool deferred? Do the arguments, `{'query': …}`, hold a word of it?"
    elif not all(manual.get("defer_loading") is True for manual in result.output):
        yield "no `defer_loading` here: is this really the output of a search?"


EXERCISE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "minutes": {"type": "integer"},
        "guests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"email": {"type": "string"}, "note": {"type": "string"}},
                "required": ["email"],
            },
        },
    },
    "required": ["title", "minutes"],
}
"""Where exercise 1.1 begins."""
