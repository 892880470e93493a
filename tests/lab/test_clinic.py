"""The clinic: each text is stopped where it should be, nothing happens, and the views say so."""

import json

import pytest

from minicodex.lab.clinic import QUESTIONS, STEPS, TOOLS, Clinic, Light, Ward, clinic
from minicodex.lab.clinic_cases import CASES, GOOD, case
from minicodex.lab.view import View
from minicodex.lab.ward_round import WardRound

STOPPED_AT = {
    "JSON": 17,
    "shape": 12,
    "types": 10,
    "rule": 1,
}


def test_there_are_forty_different_cases():
    assert len(CASES) == 40
    assert len({case.name for case in CASES}) == len({(case.tool, case.text) for case in CASES}) == 40


@pytest.mark.parametrize("patient", CASES, ids=lambda patient: patient.name)
def test_case_is_refused_and_changes_nothing(patient):
    seen = Ward().examine(patient.tool, patient.text)
    assert not seen.result.ok
    assert seen.effects_before == seen.effects_after == 0
    assert seen.lights["run"] is Light.NOT_ASKED


@pytest.mark.parametrize("patient", GOOD, ids=lambda patient: patient.name)
def test_good_text_gets_seven_lights_and_one_side_effect(patient):
    seen = Ward().examine(patient.tool, patient.text)
    assert list(seen.lights) == list(QUESTIONS)
    assert set(seen.lights.values()) == {Light.YES}
    assert seen.effects_after == 1
    assert seen.stopped_at is None


@pytest.mark.parametrize(
    ("name", "lights"),
    [
        ("trailing comma", "✓✓✗····"),
        ("encoded twice", "✓✓✓✗···"),
        ("one field missing", "✓✓✓✗✓··"),
        ("a number as text", "✓✓✓✓✗··"),
        ("two steps in progress", "✓✓✓✓✓✗·"),
    ],
)
def test_lights_say_which_questions_were_asked(name, lights):
    patient = case(name)
    seen = Ward().examine(patient.tool, patient.text)
    assert "".join(light.value.sign for light in seen.lights.values()) == lights


def test_both_kinds_of_fault_at_once_show_two_lights():
    seen = Ward().examine("create_event", '{"title": 5}')
    assert [name for name, light in seen.lights.items() if light is Light.NO] == ["shape", "types"]


def test_step_and_name_are_asked_before_the_text_is_read():
    good = GOOD[0]
    assert Ward().examine(good.tool, good.text, STEPS[1]).stopped_at == "step"
    seen = Ward().examine(TOOLS[2], good.text)
    assert seen.stopped_at == "name"
    assert seen.lights["JSON"] is Light.NOT_ASKED


def test_round_groups_all_cases_and_counts_side_effects():
    ward_round = WardRound()
    assert {name: len(group) for name, group in ward_round.stopped_at.items()} == STOPPED_AT
    assert ward_round.effects == 0
    assert WardRound(GOOD).effects == 2
    assert "side effects of all 2: 2" in WardRound(GOOD).text()


def test_text_of_a_stranger_is_shown_as_text():
    html = Clinic("update_plan", '{"plan": "<script>alert(1)</script>"}').html()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_what_cannot_be_seen_is_written_as_an_escape():
    assert "\\ufeff" in Clinic.of(case("a byte order mark")).text()
    assert "\\n" in Clinic.of(case("a line break in a string")).html()
    assert "(20,094 characters)" in Clinic.of(case("a title of 20,000 characters")).text()


# --- the widget ------------------------------------------------------------------------------------------------------


def controls(widget):
    (cases, tools, steps), text = widget.children[0].children, widget.children[1]
    return cases, tools, steps, text


def test_picking_a_case_fills_the_text_and_typing_makes_it_ones_own():
    widget, other = clinic(), clinic()
    cases, tools, _, text = controls(widget)
    cases.value = "a good event"
    assert (tools.value, text.value) == ("create_event", case("a good event").text)
    assert "0 before, 1 after" in widget.pane.value
    text.set_state({"value": "{}"})
    assert cases.value == "no fields", "a text that is a case is recognised"
    text.set_state({"value": "{ }"})
    assert cases.value == "(a text of your own)"
    assert other.state.case_name == "not JSON", "two clinics do not talk to each other"


def test_tool_and_step_are_chosen_apart_from_the_text():
    widget = clinic(case("a good plan"))
    cases, tools, steps, text = controls(widget)
    steps.value = "step_0"
    assert "belongs to step" in widget.text()
    steps.value = "step_1"
    tools.value = "delete_event"
    assert "unsupported call: delete_event" in widget.text()
    assert text.value == case("a good plan").text
    cases.value = "null"
    assert tools.value == "update_plan"


STRANGE = "\x1b[31m\x9b\x7f\u202e"


@pytest.mark.parametrize(
    "state", [Clinic(STRANGE, "{}"), Clinic("update_plan", "{}", STRANGE), Clinic("update_plan", STRANGE)]
)
@pytest.mark.parametrize("form", [Clinic.text, Clinic.html, repr])
def test_no_name_of_a_stranger_moves_a_cursor_or_turns_a_line_around(state, form):
    assert not set("\x1b\x9b\x7f\u202e") & set(form(state))
    assert "\\x1b" in form(state) or "\\u001b" in form(state)


def test_a_view_that_is_printed_as_the_value_of_a_cell_is_printable():
    class Evil(View):
        def text(self):
            return f"{STRANGE}\nsecond line"

        def html(self):
            raise NotImplementedError

    assert repr(Evil()) == "\\x1b[31m\\x9b\\x7f\\u202e\nsecond line"


def test_nor_does_what_a_tool_answers():
    arguments = json.loads(next(good.text for good in GOOD if good.tool == "create_event")) | {"title": STRANGE}
    state = Clinic("create_event", json.dumps(arguments))
    assert state.examined.result.ok
    assert not set("\x1b\x9b\x7f\u202e") & set(state.text() + state.html())
