"""Calls from public trouble reports: each runs exactly when it should, and its feedback is locked."""

import json
from pathlib import Path

import pytest

from minicodex import ModelFunctionCall, StepState, dispatch_function_call, dynamic_tool, plan_tools

DATA = Path(__file__).parent / "data"
REPORTS = [case for case in json.loads((DATA / "field_reports.json").read_text()) if case["part"] == 2]
LOCKED = json.loads((DATA / "field_feedback.json").read_text())


def arguments_of(report):
    if recipe := report.get("arguments_recipe"):
        return recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"]
    return report["arguments"]


def outcome(report):
    seen = []
    tool = dynamic_tool("tool", "", report["schema"], lambda arguments: seen.append(arguments) or "done")
    plan = plan_tools([tool], StepState("s"))
    return dispatch_function_call(ModelFunctionCall("c", "tool", arguments_of(report), "s"), plan), seen


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_a_reported_call_runs_exactly_when_it_should(report):
    result, seen = outcome(report)
    if report["expected"]["good_runtime"].startswith("run the tool"):
        assert result.ok
        assert seen == [json.loads(report["arguments"] or "{}")]
    else:
        assert not result.ok
        assert seen == []
        assert result.output == LOCKED[report["id"]]


def test_no_feedback_is_locked_for_a_call_that_is_gone():
    assert LOCKED.keys() == {report["id"] for report in REPORTS if not outcome(report)[0].ok}
