"""What chapter 6 needs beside the runtime: its predictions, schemas at a limit, a model that guesses, its exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from minicodex.history import user
from minicodex.json_text import shorten
from minicodex.lab.chapter_05 import MEETING
from minicodex.lab.exercise import exercise
from minicodex.lab.json_diff import ABSENT, compare
from minicodex.lab.predict import Choice, Prediction
from minicodex.models.scripted import call
from minicodex.request import ApiRequest, PromptSnapshot
from minicodex.samples import CREATE_EVENT_SCHEMA, EventBook
from minicodex.schema import PASSES, SchemaTrace, trace_tool_schema
from minicodex.schema.compiler import begin
from minicodex.schema.draft import Draft
from minicodex.schema.literals import parse_plain
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import ToolImplementation

__all__ = [
    "AFTER_FOUR_PASSES",
    "BEHIND_A_REFERENCE",
    "ONE_BYTE_TOO_MANY",
    "PROMPT",
    "WIDE",
    "WITHOUT_THE_UNIT",
    "calendar",
    "check_budgets",
    "check_gentle_pass",
    "check_redesign",
    "two_hours",
    "with_unit_in_name",
]

# --- predictions -----------------------------------------------------------------------------------------------------

ONE_BYTE_TOO_MANY = Prediction(
    "A schema is one byte too large for the budget. How much of it is lost?",
    (
        Choice("Its last byte.", "Then it is no JSON any more, and nobody can read any of it."),
        Choice(
            "One description: the shortest that is enough.", "Nothing is weighed. A pass knows the whole schema only."
        ),
        Choice(
            "Every description.",
            "Right. A pass does one thing to the whole schema, and words go first: no argument becomes wrong by it.",
            right=True,
        ),
        Choice(
            "The properties that are not required.",
            "The compiler never takes a property away: what a tool can do is worth more than how well it is said.",
        ),
    ),
)

WITHOUT_THE_UNIT = Prediction(
    "The sentence “in minutes” is lost. The model wants two hours, and writes `2`. How does the runtime answer?",
    (
        Choice(
            "It refuses the call: two minutes make no meeting.", "To the schema any whole number from 1 on is lawful."
        ),
        Choice(
            "It asks the model for the unit.",
            "A runtime compares calls with schemas. It does not know that a sentence is missing.",
        ),
        Choice(
            "The event is booked.",
            "Right. The call is valid, so it runs, and everybody is told that it went well.",
            right=True,
        ),
    ),
)

AFTER_FOUR_PASSES = Prediction(
    "All four passes have run, and the schema is still too large. What happens?",
    (
        Choice(
            "The tool is left out.",
            "Too large is no fault. A schema is refused only if it does not fit the subset, or allows null alone.",
        ),
        Choice(
            "It is cut at the budget.",
            "Half a schema is no schema. The budget is a wish, and the passes are all that is done about it.",
        ),
        Choice(
            "It is sent all the same.",
            "Right. Four passes, then it goes out as it is. The budget is no hard limit.",
            right=True,
        ),
    ),
)

# --- schemas ---------------------------------------------------------------------------------------------------------

WIDE: dict[str, Any] = {
    "type": "object",
    "properties": {f"field_{number:03}": {"type": "string"} for number in range(1, 301)},
}
"""Many plain properties: there is nothing in it that a pass could take."""

BEHIND_A_REFERENCE: dict[str, Any] = {"$ref": "#/$defs/Wide", "$defs": {"Wide": WIDE}}
"""The same behind a reference at the root, as some generators write it."""


def with_unit_in_name(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`create_event` with its duration under a name that says the unit."""
    renamed = deepcopy(dict(schema))
    renamed["properties"]["duration_minutes"] = renamed["properties"].pop("duration")
    renamed["required"] = ["title", "start", "duration_minutes"]
    return renamed


# --- a tool, and a model that has only the manual --------------------------------------------------------------------

PROMPT = PromptSnapshot("You keep a calendar.", [user("Book two hours for the review, 5 April 2031, 09:30 UTC.")])


def calendar(book: EventBook, schema: Mapping[str, Any] = CREATE_EVENT_SCHEMA, *, trusted: bool) -> ToolImplementation:
    """`create_event` as a tool of our own (trusted) or as a stranger's."""
    return dynamic_tool("create_event", "Create a calendar event.", dict(schema), book.add, trusted=trusted)


def two_hours(request: ApiRequest) -> Mapping[str, Any]:
    """A model that books two hours. It writes minutes if the manual speaks of minutes, and otherwise guesses hours."""
    (tool,) = request.to_json()["tools"]
    properties = tool["parameters"]["properties"]
    name = next(name for name in properties if name.startswith("duration"))
    knows = "minutes" in f"{name} {properties[name].get('description')}"
    meeting = {key: value for key, value in MEETING.items() if key != "duration"}
    return call("create_event", {**meeting, name: 120 if knows else 2})


# --- exercises -------------------------------------------------------------------------------------------------------


def _passes_under(budget_bytes: int) -> int:
    trace = trace_tool_schema(CREATE_EVENT_SCHEMA, budget_bytes=budget_bytes)
    return sum(stage.ran for stage in trace.stages[-len(PASSES) :])


@exercise("Between these two numbers lies everything that can happen to this schema.")
def check_budgets(nothing_lost_from: Any, all_passes_up_to: Any) -> Iterator[str]:
    """Exercise 6.1: the smallest budget under which no pass runs, and the largest under which all four do."""
    for name, budget, wanted, neighbour in (
        ("nothing_lost_from", nothing_lost_from, 0, -1),
        ("all_passes_up_to", all_passes_up_to, len(PASSES), +1),
    ):
        if not isinstance(budget, int):
            yield f"`{name}` must be a whole number of bytes"
        elif (count := _passes_under(budget)) != wanted:
            yield f"under a budget of {budget:,} bytes {count} of the passes run; `{name}` wants {wanted}"
        elif _passes_under(budget + neighbour) == wanted:
            word = "smaller" if neighbour < 0 else "larger"
            yield f"`{name}` can be {word}: under {budget + neighbour:,} bytes it is the same"


SMALL_BYTES: Final = 1_500
"""Largest tool of a good redesign."""

_TOPICS: Final = ("title", "start", "minutes", "place", "email", "every")


@exercise("No pass runs. And if one had to, it would take nothing but words: names and shapes hold.")
def check_redesign(tools: Any) -> Iterator[str]:
    """Exercise 6.2: `create_event`, split into several tools that survive every pass."""
    if not isinstance(tools, dict) or len(tools) < 2:  # noqa: PLR2004 - to split is to have two
        yield "`tools` must be a dict of at least two schemas by tool name"
        return
    held: set[str] = set()
    for name, schema in tools.items():
        trace = trace_tool_schema(schema, budget_bytes=0)
        if trace.schema is None:
            yield f"{name} is refused: {trace.error}"
            continue
        if (size := trace.stages[1].size_bytes) > SMALL_BYTES:
            yield f"{name} has {size:,} bytes; each tool should stay below {SMALL_BYTES:,}"
        yield from _fragile(name, trace)
        held |= {key for key, node in trace.schema.to_json().get("properties", {}).items() if node}
    for topic in _TOPICS:
        if not any(topic in key for key in held):
            yield f"after four passes no property with `{topic}` in its name is left"


def _fragile(name: str, trace: SchemaTrace) -> Iterator[str]:
    for loss in trace.losses:
        if loss.rule in ("reference_emptied", "node_collapsed", "members_pruned"):
            yield f"{name}: a pass could empty {loss.at or 'the root'}; write it flat, without `$ref` or alternatives"


@exercise("Three words of each description fit where all of them did not. It would have been a choice.")
def check_gentle_pass(gentle: Callable[[Draft], bool]) -> Iterator[str]:
    """Exercise 6.3: a pass that leaves the first three words of every description."""
    raw = deepcopy(CREATE_EVENT_SCHEMA)
    draft = begin(raw)
    wanted = _shortened(parse_plain(draft.encode()))
    changed = gentle(draft)
    if raw != CREATE_EVENT_SCHEMA:
        yield "the author's schema was changed; change the draft's own node, the second of each pair"
    for place in compare(wanted, parse_plain(draft.encode())).changes():
        found = "nothing" if place.after is ABSENT else shorten(place.after, 50)
        yield f"at {place.pointer} stands {found}; expected {shorten(place.before, 50)}"
        break
    if changed is not True:
        yield "a pass says whether there was anything to do: return True"
    elif gentle(draft) is not False:
        yield "the second time there is nothing to do: return False"


def _shortened(value: Any) -> Any:
    """The expected result, made from plain data: a property that is called `description` is an object, no text."""
    if isinstance(value, list):
        return [_shortened(child) for child in value]
    if not isinstance(value, dict):
        return value
    shorter = {key: _shortened(child) for key, child in value.items()}
    words = shorter.get("description")
    return {**shorter, "description": " ".join(words.split()[:3])} if isinstance(words, str) else shorter
