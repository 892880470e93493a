"""Chapter 2's exercises: each good answer passes, each typical mistake gets its sentence."""

import inspect
from dataclasses import replace

import pytest

from minicodex import dispatch_function_call, function_tool, plan_tools
from minicodex.dispatch import ModelFunctionCall
from minicodex.lab import chapter_02 as lab
from minicodex.planner import StepState


def names_only(contracts, handlers):
    return set(contracts) ^ set(handlers)


def fields_too(contracts, handlers):
    both = set(contracts) & set(handlers)
    fields = {name: set(contracts[name].parameters.to_json()["properties"]) for name in both}
    return names_only(contracts, handlers) | {
        name for name in both if fields[name] != set(inspect.signature(handlers[name]).parameters)
    }


def test_guard_that_compares_names_and_arguments_passes():
    assert lab.check_find_drift(fields_too).done
    assert lab.check_find_drift(lambda *tables: sorted(fields_too(*tables))).done, "a list will do"


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        (names_only, "an argument renamed in the handler: expected ['run'], found nothing"),
        (lambda contracts, handlers: "run", "return a set of names, not str"),
        (lambda contracts, handlers: contracts, "registries that agree: expected nothing, found ['run']"),
        (lambda contracts, handlers: contracts["nope"], "checking it raised KeyError"),
    ],
)
def test_guard_is_told_what_it_misses(guard, sentence):
    assert sentence in lab.check_find_drift(guard).text()


def timer(minutes: int, label: str = "") -> str:
    """Ring after so many minutes."""
    return f"{label} {minutes}"


def test_timer_passes():
    assert lab.check_timer(function_tool(timer, name="set_timer")).done


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        (timer, "put `@function_tool` above the function"),
        (function_tool(timer), "the tool is called timer"),
        (function_tool(timer, name="set_timer", description="Ring."), "say there that the timer counts in minutes"),
        (function_tool(lambda minutes: None, name="set_timer"), "must show minutes: integer and label: string"),
        (lab.event_tool_in_hours(), "the tool is called create_event"),
    ],
)
def test_timer_is_told_what_is_wrong(tool, sentence):
    assert sentence in lab.check_timer(tool).text()


def test_label_must_be_optional():
    def strict(minutes: int, label: str) -> str:
        """Ring after so many minutes."""

    assert "give `label` a default" in lab.check_timer(function_tool(strict, name="set_timer")).text()


def test_second_tool_that_owns_the_name_passes():
    _, first, _, second = lab.two_boards()
    assert lab.check_candidates([replace(first, gate=lambda step: "no"), second]).done


def test_candidates_are_told_what_is_wrong():
    _, first, _, second = lab.two_boards()
    shut = {"gate": lambda step: "no"}
    assert "the first one owns the name" in lab.check_candidates([first, second]).text()
    assert "now nobody owns" in lab.check_candidates([replace(first, **shut), replace(second, **shut)]).text()
    assert (
        "the same name, not update_plan and set_timer"
        in lab.check_candidates([first, function_tool(timer, name="set_timer")]).text()
    )
    assert "a list of two tools" in lab.check_candidates([first]).text()


def test_minutes_pass_every_check_and_are_taken_for_hours():
    plan = plan_tools([lab.event_tool_in_hours()], StepState("step_1"))
    result = dispatch_function_call(ModelFunctionCall("c", "create_event", lab.STAND_UP, "step_1"), plan)
    assert (result.ok, result.output) == (True, "Stand-up is booked for 15 hours")
