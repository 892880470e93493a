"""What chapter 7 needs beside the runtime: its predictions, our requests and the real CLI's, its exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from minicodex.errors import HistoryError
from minicodex.history import counter, user
from minicodex.json_text import to_compact_bytes
from minicodex.lab.captured import Captured
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.recorded import recording
from minicodex.lab.view import counted
from minicodex.models.scripted import ScriptedModel, call, say
from minicodex.planner import StepState, plan_tools
from minicodex.request import AdditionalTools, ApiMode, PromptSnapshot, encode_model_request
from minicodex.samples import create_event_tool
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import ToolImplementation
from minicodex.tool_updates import declare_changes
from minicodex.turn import Turn, run_turn

__all__ = [
    "HOW_MUCH_FASTER",
    "ONE_BAD_CONTRACT",
    "PROMPT",
    "STRANGE",
    "WHAT_IS_REWRITTEN",
    "WHERE_TO_LOOK",
    "captured",
    "changing",
    "check_mode",
    "check_names",
    "check_quiet",
    "kept_beginning",
    "lite_turn",
    "tools",
]

PROMPT = PromptSnapshot("You plan days.", [user("Plan my day.")])


def tools() -> list[ToolImplementation]:
    """The two tools of the course: one of our own, one of a calendar server."""
    return [update_plan_tool(PlanBoard()), replace(create_event_tool(), namespace="mcp__calendar")]


def captured() -> dict[str, Captured]:
    """Our own requests in both modes, and what was recorded of the real CLI."""
    prompt = replace(PROMPT, tool_contracts=plan_tools(tools(), StepState("step_1")).contracts)
    ours = {
        f"ours, {name}": Captured.of(encode_model_request(prompt, mode))
        for name, mode in (("ordinary", ApiMode.RESPONSES), ("Lite", ApiMode.RESPONSES_LITE))
    }
    ordinary, lite = recording("ordinary"), recording("lite")
    later = [*lite["request_1"]["input"]]
    for number in (2, 3, 4):
        later += lite[f"request_{number}_new_input"]
    return {
        **ours,
        "Codex, ordinary": Captured(ordinary["request"], ordinary["headers"]),
        "Codex, Lite": Captured(lite["request_1"], lite["headers"]),
        "Codex, Lite, three requests later": Captured({**lite["request_1"], "input": later}, lite["headers"]),
    }


STRANGE = (
    '{"input": [',
    '{"messages": [], "tools": []}',
    '{"input": [{"role": "user"}, {"type": "additional_tools", "tools": [{"type": "function", "name": "look_up"}]}]}',
)
"""Texts that somebody may paste: cut off, from another API, and Lite without its head."""

OFFERED_FIRST = {"morph": "old", "stay": "stay", "gone": "gone"}
OFFERED_LATER = {"morph": "new", "stay": "stay", "fresh": "fresh"}


def changing(step: StepState) -> list[ToolImplementation]:
    """A server whose tools change behind the first step: one is new, one is changed, one is gone."""
    offered = OFFERED_FIRST if step.id.endswith("_1") else OFFERED_LATER
    schema = {"type": "object", "properties": {}}
    return [dynamic_tool(name, words, schema, lambda _: "done", namespace="mcp__p") for name, words in offered.items()]


def lite_turn(
    candidates: Callable[[StepState], Sequence[ToolImplementation]], mode: ApiMode = ApiMode.RESPONSES_LITE
) -> tuple[Turn, list[dict[str, Any]]]:
    """A turn of two steps, and the bodies of its two requests."""
    model = ScriptedModel([call("stay", {}, namespace="mcp__p"), say("Done.")])
    turn = run_turn(model, candidates, PROMPT, mode=mode)
    return turn, [request.to_json() for request in model.requests]


def kept_beginning(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of one body that begin the next one, too, and all of its bytes; the tools are read first."""
    before, after = (
        to_compact_bytes([body.get("tools", []), *body["input"]]).removesuffix(b"]") for body in (first, second)
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))), len(before)


# --- predictions -----------------------------------------------------------------------------------------------------

WHERE_TO_LOOK = Prediction(
    "A captured request has no key `tools`, and yet the model calls `update_plan`. Where do you look for its contract?",
    (
        Choice("In the headers.", "One of them says which layout this is. The tools are not in it."),
        Choice(
            "In the first item of `input`.",
            "Right. It looks like the beginning of the conversation, and holds all the contracts.",
            right=True,
        ),
        Choice("In the request before this one.", "A provider may be asked to keep nothing: each request says it all."),
        Choice("In `instructions`.", "That is prose. A contract has a schema, and has a place of its own."),
    ),
)

HOW_MUCH_FASTER = Prediction(
    "A request with a thousand tools has nearly two megabytes. How much faster is it written when the contracts' bytes "
    "are kept and only copied?",
    (
        Choice("About twice: all the bytes are needed in both cases.", "Copying bytes is cheap. Making them is not."),
        Choice("About ten times.", "Still too few: a copy looks at no key and at no character."),
        Choice("More than a hundred times.", "Right. What is left is one copy of a block of memory.", right=True),
    ),
)

ONE_BAD_CONTRACT = Prediction(
    "Twenty tools. The description of one holds half of a character, which JSON cannot say. What reaches the provider?",
    (
        Choice("The request, with that character replaced.", "Then the model reads a contract that nobody wrote."),
        Choice("The request, with nineteen tools.", "Then a tool is missing, and nobody knows why."),
        Choice(
            "Nothing.",
            "Right. All of it is encoded before any of it is sent, and the error names tool and place.",
            right=True,
        ),
    ),
)

WHAT_IS_REWRITTEN = Prediction(
    "Responses Lite. Between two requests a tool changes its description. Which of the bytes that were sent are "
    "different in the second request?",
    (
        Choice("Those of the first item, where the contract stands.", "Then all that follows is new to the provider."),
        Choice(
            "None.",
            "Right. What was said stays said. The new contract is appended behind it, and takes the old one's place.",
            right=True,
        ),
        Choice("Those of the developer's instructions.", "They say nothing about tools."),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("Whoever finds the tools in both modes, and follows the updates, can read any request of this kind.")
def check_names(names_of: Any) -> Iterator[str]:
    """Exercise 7.1: a function of a request's body that gives the names of all tools in it."""
    if not callable(names_of):
        yield "`names_of` must be a function of a request's body"
        return
    _, (_, changed) = lite_turn(changing)
    bodies = {name: request.body for name, request in captured().items() if name.startswith("ours")}
    bodies |= {"ours, with no tools": {"input": []}, "ours, Lite, after a change": changed}
    wanted = {name: set(Captured(body).tools) for name, body in bodies.items()}
    for name, body in bodies.items():
        found = names_of(body)
        if not isinstance(found, (set, frozenset)):
            yield f"{name}: it gave {type(found).__name__}, not a set of names"
        elif extra := sorted(map(str, found - wanted[name])):
            yield f"{name}: `{extra[0]}` is no tool that the model may call{_why_not(extra[0])}"
        elif missing := wanted[name] - found:
            yield f"{name}: `{min(missing)}` is not found{_where(name)}"


def _where(name: str) -> str:
    if "change" in name:
        return "; a later `additional_tools` item declares more"
    return "; look into the first item of `input`" if "Lite" in name else ""


def _why_not(name: str) -> str:
    if name.startswith("functions"):
        return ": `functions` only wraps what has no namespace"
    if "." not in name:
        return ": it is a namespace, which holds tools of its own"
    return ": a developer message has taken it back" if "gone" in name else ""


@exercise("What the model does not read may change without a word: the order, what is inside, who does the work.")
def check_quiet(candidates: Any) -> Iterator[str]:
    """Exercise 7.2: tools that change between two steps in two ways, and nothing is said to the model."""
    if not callable(candidates):
        yield "`quiet` must be a function of a step that gives a list of tools"
        return
    first, second = ([*candidates(StepState(f"step_{number}"))] for number in (1, 2))
    names = [[str(tool.canonical_name) for tool in offered] for offered in (first, second)]
    if sorted(names[0]) != sorted(names[1]) or not names[0][1:]:
        yield "offer the same two tools, or more, in both steps"
        return
    if names[0] == names[1]:
        yield "their order must change"
    if _output_schemas(first) == _output_schemas(second):
        yield "the output schema of one of them must change"
    before, after = (plan_tools(offered, StepState("step")).contracts for offered in (first, second))
    if news := declare_changes([AdditionalTools(before)], after, counter()):
        yield f"the model is told something: {counted(len(news), 'item')} more in the second request"


def _output_schemas(offered: Sequence[ToolImplementation]) -> dict[str, Any]:
    return {str(tool.canonical_name): getattr(tool.contract, "output_schema", None) for tool in offered}


@exercise("A mode is a record. The encoder has no branch for it, and needs none for yours.")
def check_mode(mode: Any) -> Iterator[str]:
    """Exercise 7.3: a mode that the runtime does not have."""
    if not isinstance(mode, ApiMode):
        yield "`mode` must be an `ApiMode`"
        return
    prompt = replace(PROMPT, tool_contracts=plan_tools(tools(), StepState("step_1")).contracts)
    try:
        request = encode_model_request(prompt, mode)
    except HistoryError as error:
        yield f"it cannot be encoded: {error}"
        return
    body = request.to_json()
    if "tools" not in body:
        yield "the tools must stand at the top level, under `tools`"
    if body["parallel_tool_calls"] is not False:
        yield "`parallel_tool_calls` must be false, though the prompt wants it"
    if "instructions" in body:
        yield "there must be no key `instructions`"
    if not any(isinstance(item, dict) and item.get("role") == "developer" for item in body["input"]):
        yield "a developer message must carry the instructions"
    if request.headers.get("x-workshop") != "true":
        yield "the marker header `x-workshop: true` is missing"
