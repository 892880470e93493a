"""The budget stepper: any budget, any depth, with and without trust, and the words for the outcome."""

import pytest

from minicodex.lab.budget_stepper import BudgetStepper, budget_stepper
from minicodex.lab.chapter_06 import BEHIND_A_REFERENCE, WIDE
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import BUDGET_BYTES, PASSES, compile_tool_schema

SCHEMAS = {"create_event": CREATE_EVENT_SCHEMA, "wide": WIDE, "reference": BEHIND_A_REFERENCE}
WHOLE = compile_tool_schema(CREATE_EVENT_SCHEMA, trusted=True)


@pytest.fixture
def stepper():
    return BudgetStepper(SCHEMAS)


def test_pages_begin_with_what_is_measured_first(stepper):
    assert [page.title for page in stepper.pages] == ["before any pass", *(stage.name for stage in PASSES)]
    assert stepper.page.size_bytes == WHOLE.size_bytes
    assert stepper.page.json.value == WHOLE.to_json()
    assert stepper.pages[-1].json.value == compile_tool_schema(CREATE_EVENT_SCHEMA).to_json()


@pytest.mark.parametrize(("budget", "count"), [(WHOLE.size_bytes, 0), (WHOLE.size_bytes - 1, 1), (2_000, 2), (0, 4)])
def test_budget_decides_how_many_passes_run(stepper, budget, count):
    assert [page.ran for page in stepper.under(budget).pages[1:]] == [True] * count + [False] * (4 - count)


def test_step_does_not_compile_again_and_a_setting_does(stepper):
    assert stepper.step(3).pages is stepper.pages
    assert stepper.under(BUDGET_BYTES + 1).pages is not stepper.pages
    assert stepper.go(2).under(10).index == 2, "the pass on show stays"


@pytest.mark.parametrize(("index", "reached"), [(-1, 0), (9, 4)])
def test_stepper_stops_at_either_end(stepper, index, reached):
    assert stepper.go(index).index == reached


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ({}, "sent: 3,207 bytes after 1 pass, 1,793 below the budget"),
        ({"budget_bytes": 0}, "sent: 760 bytes after 4 passes, 760 over the budget: no pass is left, it is sent"),
        ({"trusted": True}, "sent: 6,002 bytes after 0 passes, 1,002 over the budget: it is trusted"),
        ({"name": "wide"}, "sent: 9,032 bytes after 4 passes, 4,032 over the budget: no pass is left"),
        ({"name": "reference"}, "sent: 2 bytes after 2 passes, 4,998 below the budget"),
    ],
)
def test_outcome_says_what_is_sent_and_how_it_stands_to_the_budget(stepper, settings, outcome):
    changed = stepper.with_(**settings)
    assert changed.outcome.startswith(outcome)
    assert outcome in changed.text()
    assert outcome in changed.html()


def test_depth_moves_the_third_pass(stepper):
    tight = stepper.under(1_500)
    sizes = [tight.with_(collapse_depth=depth).pages[3].size_bytes for depth in range(1, 6)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_third_pass_may_forbid_what_the_fourth_allows_again(stepper):
    tight = stepper.under(1_500).go(3)
    assert "contradictory" in tight.text()
    assert tight.pages[-1].json.value["properties"]["reminders"]["items"] == {"oneOf": [{}, {}]}
    later = tight.with_(collapse_depth=4)
    assert later.pages[-1].ran
    assert later.pages[-1].json.value["properties"]["reminders"]["items"] == {}


def test_schema_is_escaped():
    assert "<script" not in BudgetStepper({"<script>": {"description": "<script>"}}).html()


def controls(widget):
    return [*widget.children[0].children, *widget.children[1].children]


def test_widget_moves_with_every_control():
    widget, other = budget_stepper(SCHEMAS), budget_stepper(SCHEMAS)
    names, budget, trusted, back, forth, number, depth = controls(widget)
    forth.click()
    assert (number.value, back.disabled) == (1, False)
    budget.set_state({"value": 1_500})
    depth.set_state({"value": 2})
    number.set_state({"value": 4})
    assert forth.disabled
    back.click()
    assert (widget.state.budget_bytes, widget.state.collapse_depth, widget.state.index) == (1_500, 2, 3)
    trusted.set_state({"value": True})
    assert not any(page.ran for page in widget.state.pages[1:])
    names.value = "wide"
    assert widget.state == BudgetStepper(SCHEMAS, "wide", 1_500, 2, trusted=True, index=3)
    assert widget.state.html() in widget.pane.value
    assert other.state == BudgetStepper(SCHEMAS), "two widgets do not touch each other"
