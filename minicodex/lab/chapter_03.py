"""What chapter 3 needs beside the runtime: its predictions, a calendar that grows, and its exercises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from minicodex.history import user
from minicodex.lab.exercise import exercise
from minicodex.lab.funnel import Funnel
from minicodex.lab.offered_tools import CALENDAR, MAIL, offered
from minicodex.lab.predict import Choice, Prediction
from minicodex.naming import canonical_names, canonical_namespaces
from minicodex.planner import StepState, ToolMode, ToolPlan, plan_tools
from minicodex.request import PromptSnapshot
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.definitions import DefinedTools

__all__ = [
    "ADDED_A_TOOL",
    "CALENDAR",
    "HOW_MANY_OF_EIGHT",
    "MAIL",
    "PROMPT",
    "WHERE_IT_LANDS",
    "calendar_plan",
    "check_gate",
    "check_server",
    "check_why",
    "offered",
]

PROMPT = PromptSnapshot("You keep the calendar.", [user("What is on today?")])


def calendar_plan(*raw_names: str, step_id: str = "step_1") -> ToolPlan:
    """A plan of what the calendar server offers when its tools have these names."""
    definitions = [CALENDAR[0] | {"name": raw} for raw in raw_names]
    tools = DefinedTools.build(definitions, server="calendar", run=lambda name, _arguments: f"{name} has run")
    return plan_tools(tools.candidates, StepState(step_id))


# --- predictions -----------------------------------------------------------------------------------------------------

HOW_MANY_OF_EIGHT = Prediction(
    "Eight tools are registered. One of them cannot be built, two have the same name, one is an old name of another. "
    "How many of the eight are in the request?",
    (
        Choice(
            "Seven: all that can be built.",
            "Of two tools of one name only one can be called, and an old name is shown to nobody. That is not all.",
        ),
        Choice(
            "Five: the broken one, the second of the name and the old name are left out.",
            "Three good reasons, and a fourth: this model can search for tools, so most of them wait for that.",
        ),
        Choice(
            "Two.",
            "Right. Being registered is where the questions begin. The other six were held back, each for a reason.",
            right=True,
        ),
    ),
)

WHERE_IT_LANDS = Prediction(
    "The model has searched and found `list_events`. Where does its contract stand in the next request?",
    (
        Choice(
            "In `tools`, as one more entry.",
            "The list stays as it was. A list that changes would also cost the provider what it has cached of it.",
        ),
        Choice(
            "Only in the history, as the output of the search.",
            "Right. It was sent once and stays there. If the history is shortened, it is gone.",
            right=True,
        ),
        Choice(
            "In both places.",
            "Once is enough: the model reads the history, too.",
        ),
    ),
)

ADDED_A_TOOL = Prediction(
    "A server offers `create_event`. Its author adds a second tool, `create.event`. What happens to the first one?",
    (
        Choice("Nothing. It was there first.", "Fair, but nobody could say which of the two a call means."),
        Choice("It stays, and the newcomer is refused.", "That is what happens to two *equal* names, not to these."),
        Choice(
            "It gets a new name, like the second one.",
            "Right: all of such a group are renamed. So adding a tool can rename an old one.",
            right=True,
        ),
    ),
)


# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("The model is never shown what it may not use, and nobody has to guess why.")
def check_gate(gate: Callable[[StepState], str | None]) -> Iterator[str]:
    """Exercise 3.1: a gate that asks for the account and the platform."""
    tool = replace(update_plan_tool(PlanBoard()), gate=gate)
    for account, platform, allowed in (
        ("team", "linux", True),
        ("team", "windows", False),
        ("guest", "linux", False),
        ("guest", "windows", False),
    ):
        step = StepState("step_1", account=account, platform=platform)
        reason, what = gate(step), f"account {account}, platform {platform}"
        if allowed and reason is not None:
            yield f"{what}: return None, which means that it may exist"
        elif not allowed and not (isinstance(reason, str) and reason.strip()):
            yield f"{what}: return the reason as a text; it becomes the decision"
        elif ("update_plan" in plan_tools([tool], step).dispatch) is not allowed:
            yield f"{what}: the planner decided otherwise; does the gate ask only the step?"


_FATES = ("shown", "can run", "cannot run", "not offered")


@exercise("Four answers to “why is it not there?”, and only two of them are faults of anybody.")
def check_why(fate: Callable[[ToolPlan, str], str]) -> Iterator[str]:
    """Exercise 3.2: what became of a name, in one of four words."""
    steps = (
        Funnel(search=False),
        Funnel(search=True, update_plan=False),
        Funnel(search=False, tool_mode=ToolMode.CODE_MODE_ONLY),
    )
    for plan in (state.plan for state in steps):
        for name in ("update_plan", "set_plan", "mcp__mail.send_mail", "mcp__calendar.create_event", "nobody"):
            expected, found = _fate(plan, name), fate(plan, name)
            if found not in _FATES:
                yield f"answer with one of {', '.join(_FATES)}, not with {found!r}"
                return
            if found != expected:
                yield f"{name} is {expected!r} here, not {found!r}: {plan.explain(name).splitlines()[0]}"


def _fate(plan: ToolPlan, name: str) -> str:
    decisions = [decision for decision in plan.decisions if str(decision.name) == name]
    if not decisions:
        return "not offered"
    if any(decision.visible for decision in decisions):
        return "shown"
    return "can run" if any(decision.dispatchable for decision in decisions) else "cannot run"


@exercise("128 characters for both parts together. Whoever names a server long leaves its tools no name at all.")
def check_server(server: str) -> Iterator[str]:
    """Exercise 3.3: a server's name that leaves nothing of its tools' names."""
    if not isinstance(server, str):
        yield "`server` must be a text"
        return
    namespace = canonical_namespaces([server])[server]
    name = canonical_names(server, namespace, ["create_event"])["create_event"]
    if not re.fullmatch(r"_[0-9a-f]{12}", name.name):
        yield f"the tool is called {name.name!r} in a namespace of {len(namespace)} characters: leave it less room"
