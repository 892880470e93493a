"""Chapter 3's exercises: each good answer passes, each typical mistake gets its sentence."""

import pytest

from minicodex import plan_tools
from minicodex.lab import chapter_03 as lab
from minicodex.lab.funnel import Funnel
from minicodex.lab.offered_tools import offered


def gate(step):
    return None if step.account == "team" and step.platform != "windows" else "not for you"


def test_gate_that_asks_for_both_passes():
    assert lab.check_gate(gate).done


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda step: None, "account team, platform windows: return the reason"),
        (lambda step: "no", "account team, platform linux: return None"),
        (lambda step: None if step.account == "team" else "no", "account team, platform windows"),
        (lambda step: None if gate(step) is None else False, "return the reason as a text"),
        (lambda step: None if gate(step) is None else " ", "return the reason as a text"),
        (lambda: None, "raised TypeError"),
    ],
)
def test_gate_is_told_what_is_wrong(wrong, sentence):
    assert sentence in lab.check_gate(wrong).text()


def fate(plan, name):
    decisions = [decision for decision in plan.decisions if str(decision.name) == name]
    if not decisions:
        return "not offered"
    if any(decision.visible for decision in decisions):
        return "shown"
    return "can run" if any(decision.dispatchable for decision in decisions) else "cannot run"


def test_fate_by_decisions_passes():
    assert lab.check_why(fate).done


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda plan, name: "", "answer with one of shown, can run, cannot run, not offered"),
        (lambda plan, name: "can run" if fate(plan, name) == "shown" else fate(plan, name), "update_plan is 'shown'"),
        (lambda plan, name: "can run" if name in plan.dispatch else "cannot run", "update_plan is 'shown'"),
        (
            lambda plan, name: {"not offered": "cannot run"}.get(fate(plan, name), fate(plan, name)),
            "nobody is 'not offered'",
        ),
    ],
)
def test_fate_is_told_what_is_wrong(wrong, sentence):
    assert sentence in lab.check_why(wrong).text()


def test_long_server_name_passes_and_shorter_ones_are_told():
    assert lab.check_server("s" * 125).done
    assert "leave it less room" in lab.check_server("calendar").text()
    assert "must be a text" in lab.check_server(5).text()


def test_calendar_renames_both_when_names_meet():
    assert list(map(str, lab.calendar_plan("create_event").dispatch)) == ["mcp__calendar.create_event"]
    names = lab.calendar_plan("create_event", "create.event").dispatch
    assert len(names) == 2
    assert "mcp__calendar.create_event" not in map(str, names)


def test_equal_steps_have_one_plan():
    state = Funnel()
    assert plan_tools(offered(state.step), state.step).contracts is Funnel().plan.contracts
