"""The planner's funnel: every switch, what the matrix says, and that it says what the plan does."""

import pytest

from minicodex import RejectedTool, StepState, plan_tools
from minicodex.lab.funnel import Funnel, PlanMatrix, funnel
from minicodex.lab.offered_tools import offered
from minicodex.planner import ToolMode

MAIL = "mcp__mail.send_mail"


def row(state, name):
    """The first line of the matrix about a tool: the four signs, and what came of it."""
    line = next(line for line in state.text().splitlines() if line.startswith(f"{name} "))
    *signs, fate = line.removeprefix(name).split(maxsplit=4)
    return "".join(signs), fate


def test_each_filter_stops_a_tool_and_later_ones_are_not_asked():
    matrix = PlanMatrix(Funnel(tool_mode=ToolMode.CODE_MODE_ONLY, search=False).plan).text()
    assert {"✗···", "✓✗··", "✓✓✗·", "✓✓✓✗"} <= {"".join(line.split()[1:5]) for line in matrix.splitlines()[1:]}


@pytest.mark.parametrize(
    ("switches", "name", "signs", "fate"),
    [
        ({}, "update_plan", "✓✓✓✓", "● shown"),
        ({"update_plan": False}, "update_plan", "✗···", "✗ cannot run"),
        ({"update_plan": False}, "set_plan", "✓✓✗·", "◌ can run"),
        ({"platform": "windows"}, "exec_command", "✗···", "✗ cannot run"),
        ({}, MAIL, "✓✓✗·", "◌ can run"),
        ({"search": False}, MAIL, "✓✓✓✓", "● shown"),
        ({"search": False, "namespaces": False}, "mcp__mail__send_mail", "✓✓✓✓", "● shown"),
        ({"search": False, "tool_mode": ToolMode.CODE_MODE_ONLY}, MAIL, "✓✓✓✗", "◌ can run"),
        ({"search": False, "tool_mode": ToolMode.CODE_MODE}, MAIL, "✓✓✓✓", "● shown"),
    ],
)
def test_switch_decides_where_a_tool_stops(switches, name, signs, fate):
    assert row(Funnel().with_(**switches), name) == (signs, fate)


def test_matrix_agrees_with_both_tables():
    plan = Funnel(search=False).plan
    text = PlanMatrix(plan).text()
    assert text.count("● shown") == sum(decision.visible for decision in plan.decisions)
    assert text.count("● shown") + text.count("◌ can run") == len(plan.dispatch)


def test_every_candidate_has_a_row():
    state = Funnel()
    assert state.html().count('scope="row"') == len(offered(state.step)) == len(state.plan.decisions)


def test_signs_have_words_for_a_screen_reader():
    html = Funnel().html()
    for word in ("passed", "stopped", "not asked"):
        assert f'aria-label="{word}"' in html


def test_strangers_words_are_escaped():
    plan = plan_tools([RejectedTool("<b>", "<i>", ValueError("<script>"))], StepState("s"))
    html = PlanMatrix(plan).html()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_widget_has_one_control_for_each_switch():
    widget = funnel()
    (platform, mode), (search, update_plan, namespaces) = (row.children for row in widget.children[:2])
    platform.set_state({"index": 1})
    mode.set_state({"index": 2})
    for checkbox in (search, update_plan, namespaces):
        checkbox.set_state({"value": False})
    assert widget.state == Funnel(
        search=False, update_plan=False, platform="windows", namespaces=False, tool_mode=ToolMode.CODE_MODE_ONLY
    )
    assert widget.state.html() in widget.pane.value


def test_two_widgets_do_not_touch_each_other():
    first, second = funnel(), funnel()
    first.children[1].children[0].set_state({"value": False})
    assert (first.state.search, second.state.search) == (False, True)
