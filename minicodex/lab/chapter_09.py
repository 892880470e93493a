"""What chapter 9 needs beside the runtime: its predictions, five symptoms, and its exercises."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from minicodex import planner
from minicodex.lab.exercise import exercise
from minicodex.lab.failure_map import ROWS
from minicodex.lab.mutation_lab import MutationLab
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.sabotage import SWITCHES, patched
from minicodex.planner import Filter, ToolPlan

__all__ = [
    "HOW_MANY_ERRORS",
    "HOW_MANY_GO_RED",
    "SYMPTOMS",
    "check_diagnoses",
    "check_own_switch",
    "check_watch",
]

# --- predictions -----------------------------------------------------------------------------------------------------

HOW_MANY_ERRORS = Prediction(
    "Ten things for which people say “my tool does not work”. How many of them are an error of any kind?",
    (
        Choice("All ten.", "Some of them stop nothing. The runtime works as it should, and somebody is surprised."),
        Choice(
            "Six.",
            "Right. The other four are ways of working: nobody raises anything, and waiting for an error is in vain.",
            right=True,
        ),
        Choice("Three: those in which a model's call is refused.", "A contract can fail long before there is a call."),
    ),
)

HOW_MANY_GO_RED = Prediction(
    "Somebody writes the output schema into the JSON of every function tool. How many of the eight checks go red?",
    (
        Choice(
            "One.",
            "Right. Both ways of writing a contract have changed alike, and so have both modes. One check asks for it.",
            right=True,
        ),
        Choice(
            "Three: the keys, the shared bytes and the modes.",
            "The known keys keep their order, and both ways write the new one.",
        ),
        Choice("None: JSON may have more keys.", "A provider may think so. A promise was broken all the same."),
    ),
)

# --- exercises -------------------------------------------------------------------------------------------------------

_KEYS = ("not_shown", "contract_not_json", "duplicate_name", "step_mismatch", "over_budget")

SYMPTOMS: Mapping[str, str] = {
    "A": "“I search the request for the new tool, and find only `tool_search`. Calling it by hand works.”",
    "B": "“The turn ended before the provider's log shows anything of it.”",
    "C": "“The guest's tool is offered under the right name, but ours runs.”",
    "D": "“The call was right, the tool is there, and it is refused, without a word about its arguments.”",
    "E": "“Last week the model read that the duration is in minutes. Since we added a field, it guesses.”",
}
"""What five people said, each about one row of the map."""


@exercise("A symptom is not a cause; the boundary tells which causes are left.")
def check_diagnoses(diagnoses: Any) -> Iterator[str]:
    """Exercise 9.1: the key of a row for each symptom."""
    if not isinstance(diagnoses, dict) or set(diagnoses) != set(SYMPTOMS):
        yield f"`diagnoses` must be a dict with the keys {', '.join(SYMPTOMS)}"
        return
    for (letter, _), key in zip(SYMPTOMS.items(), _KEYS, strict=True):
        said = diagnoses[letter]
        if said not in ROWS:
            yield f"{letter}: `{said}` is no row; the keys are in `FAILURES` of `minicodex.errors`"
        elif ROWS[said].boundary != ROWS[key].boundary:
            yield f"{letter}: not at the boundary `{ROWS[said].boundary}`; {_hints(key)}"
        elif said != key:
            yield f"{letter}: the boundary is right, the row is not"


def _hints(key: str) -> str:
    return {
        "build": "there is a contract, and something of it is gone",
        "expose": "the tool can run, so it was built",
        "encode": "think of the moment before anything is sent",
        "return": "the model has called already",
    }[ROWS[key].boundary]


@exercise("A promise that no test holds is broken by the first person who finds it in the way.")
def check_watch(watch: Any) -> Iterator[str]:
    """Exercise 9.2: a function that tells whether the first of two tools of one name owns it."""
    if not callable(watch):
        yield "`watch` must be a function without arguments"
        return
    healthy = watch()
    with patched(planner, "_verdict", _last_one_wins):
        last_wins = watch()
    with patched(planner, "_plan", _tables_disagree):
        torn = watch()
    for answer in (healthy, last_wins, torn):
        if not isinstance(answer, bool):
            yield f"it must return True or False, not {answer!r}"
            return
    if not healthy:
        yield "the runtime is healthy, and it returns False"
    if last_wins:
        yield "in a planner where the last tool of a name wins it still returns True"
    if torn and not last_wins:
        yield (
            "where the contract is the last tool's and the handler the first one's it returns True: "
            "ask both tables, and let the two contracts differ"
        )
    if healthy and not last_wins and not watch():
        yield "it remembers something: after the sabotage it returns False, though all is well again"


def _last_one_wins(tool: Any, step: Any, owners: Any) -> tuple[Filter | None, str]:
    return _honest_verdict(tool, step, {name: owner for name, owner in owners.items() if name != tool.canonical_name})


def _tables_disagree(candidates: Any, step: Any) -> ToolPlan:
    return replace(_honest_plan(candidates, step), contracts=_honest_plan(candidates[::-1], step).contracts)


_honest_plan = planner._plan  # noqa: SLF001 - as below
_honest_verdict = planner._verdict  # noqa: SLF001 - the sabotage stands in front of the real one


@exercise("You have broken the runtime in one place, and one check has found it. That is what checks are for.")
def check_own_switch(switch: Any) -> Iterator[str]:
    """Exercise 9.3: (module, attribute, value) that turns exactly one of the eight checks red."""
    if not isinstance(switch, tuple) or [type(part) for part in switch[:2]] != [str, str] or not switch[2:]:
        yield "`switch` must be a tuple: the name of a module, the name of an attribute, a value for it"
        return
    module, attribute, value = switch
    if any(known.place.endswith(f"{module.removeprefix('minicodex.')}.{attribute}") for known in SWITCHES.values()):
        yield "the lab has this switch already"
        return
    if not module.startswith("minicodex.") or module.startswith("minicodex.lab"):
        yield "choose a module of the runtime, `minicodex.…`; breaking the lab would be too easy"
        return
    with patched(importlib.import_module(module), attribute, value):
        red = MutationLab().red
    if len(red) != 1:
        yield f"{len(red)} checks go red{': ' if red else ''}{', '.join(red)}; it must be exactly one"
