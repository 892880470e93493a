"""Chapter 4's exercises and its figure: each good answer passes, each typical mistake gets its sentence."""

import json
from dataclasses import replace

import pytest

from minicodex import StepState, ToolResult, dispatch_function_call, plan_tools
from minicodex.lab import chapter_04 as lab
from minicodex.lab.late_calls import Change
from minicodex.lab.planning_costs import MEASURED, planning_figure
from minicodex.lab.timeline import Timeline


class Keeper:
    def __init__(self):
        self.plans = {}

    def plan(self, step_id, tools):
        self.plans[step_id] = plan_tools(tools, StepState(step_id))

    def dispatch(self, call):
        if call.step_id not in self.plans:
            return ToolResult.error(call.id, "finished")
        return dispatch_function_call(call, self.plans[call.step_id])

    def finish(self, step_id):
        del self.plans[step_id]


class Newest(Keeper):
    def dispatch(self, call):
        *_, plan = self.plans.values()
        return dispatch_function_call(replace(call, step_id=plan.step_id), plan)


class Hoarder(Keeper):
    def finish(self, step_id):
        pass


class Raising(Keeper):
    def dispatch(self, call):
        return dispatch_function_call(call, self.plans[call.step_id])


class Silent(Keeper):
    def dispatch(self, call):
        return super().dispatch(call).output


def test_keeper_of_plans_passes():
    assert lab.check_keeper(Keeper).done


@pytest.mark.parametrize(
    ("keeper", "sentence"),
    [
        (Newest, "a call of step_1 was answered with"),
        (Hoarder, "after `finish` the plan is still held somewhere"),
        (Raising, "after `finish` a call needs an answer, too"),
        (Silent, "`dispatch` gave str"),
    ],
)
def test_keeper_is_told_what_is_wrong(keeper, sentence):
    assert sentence in lab.check_keeper(keeper).text()


SILENT = Timeline().without_upgrades().upgrade(4, Change.ADDS).upgrade(8, Change.FIRST).handle("b", 7)


def test_silent_case_passes():
    assert lab.check_silent(SILENT).done


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (Timeline(), "call a is refused, not hijacked"),
        (Timeline().without_upgrades(), "call a is kept, not hijacked"),
        (SILENT.upgrade(12, Change.GONE), "no need to take the tool away"),
        ("silent", "must be a `Timeline`"),
    ],
)
def test_silent_case_is_told_what_is_wrong(state, sentence):
    assert sentence in lab.check_silent(state).text()


def test_twins_that_share_nothing_pass():
    tools = lab.many_tools(2)
    assert lab.check_twins((plan_tools(tools, StepState("a")), plan_tools(tools, StepState("b", platform="mac")))).done


def test_twins_are_told_what_is_wrong():
    tools, others = lab.many_tools(2), lab.many_tools(3)
    first = plan_tools(tools, StepState("a"))
    assert "these two share their tables" in lab.check_twins((first, plan_tools(tools, StepState("b")))).text()
    assert "equal, byte for byte" in lab.check_twins((first, plan_tools(others, StepState("b")))).text()
    again = plan_tools(lab.many_tools(2), StepState("b"))
    assert "the very same objects" in lab.check_twins((first, again)).text()
    assert "must be two plans" in lab.check_twins((first, tools)).text()


def test_figure_shows_what_was_measured():
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    text = planning_figure().text()
    for name, ratio in measured["ratios"].items():
        assert f"{name}: {ratio:g}" in text
    assert f"{measured['memory_ratio']:g} times the memory of one" in text
