"""The drift lab: what each edit does to ten calls, and what obedience is worth."""

import pytest

from minicodex.lab.drift import HABITS, VERSIONS, OneImplementation, TwoRegistries, make_calls, signature
from minicodex.lab.drift_lab import DriftLab, drift_lab, failures_percent, obedience_figure

CMD, COMMAND, WORDS, RENAMED_TOOL, NOTHING = VERSIONS


def ran(runtime, obedience=10):
    return sum(outcome.ok for outcome in make_calls(runtime, obedience))


def test_versions_are_one_edit_apart():
    assert list(VERSIONS) == [
        "exec_command(cmd: string)",
        "exec_command(command: string)",
        "exec_command(cmd: list of strings)",
        "run_command(cmd: string)",
        "(nothing)",
    ]
    assert signature(None) == NOTHING


@pytest.mark.parametrize("version", [CMD, COMMAND, WORDS, RENAMED_TOOL])
def test_an_obedient_model_is_always_served_by_one_implementation(version):
    assert ran(OneImplementation(version)) == 10
    assert ran(TwoRegistries(version, version)) == 10


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        (COMMAND, "at /command: missing; expected a string"),
        (WORDS, "at /cmd: wrong type; expected a list"),
        (RENAMED_TOOL, "unsupported call: exec_command"),
        (NOTHING, "unsupported call: exec_command"),
    ],
)
def test_an_obedient_model_is_never_served_after_an_edit_on_one_side(handler, answer):
    outcomes = make_calls(TwoRegistries(CMD, handler), 10)
    assert {outcome.ok for outcome in outcomes} == {False}
    assert {outcome.written for outcome in outcomes} == {'exec_command {"cmd": "ls"}'}
    assert all(outcome.answer.startswith(answer) for outcome in outcomes), outcomes[0].answer


def test_without_a_contract_an_obedient_model_calls_nothing():
    assert {outcome.written for outcome in make_calls(TwoRegistries(NOTHING, CMD), 10)} == {""}
    assert ran(TwoRegistries(NOTHING, CMD), obedience=0) == 3, "habit still finds the handler"


@pytest.mark.parametrize("obedience", range(11))
def test_obedience_is_the_number_of_calls_by_contract(obedience):
    assert sum(outcome.obedient for outcome in make_calls(OneImplementation(CMD), obedience)) == obedience


def test_failures_rise_with_obedience_when_the_tables_differ_and_fall_when_they_agree():
    drifted, whole = failures_percent(TwoRegistries(CMD, COMMAND)), failures_percent(OneImplementation(COMMAND))
    assert drifted == sorted(drifted)
    assert whole == sorted(whole, reverse=True)
    assert (drifted[0], drifted[-1], whole[-1]) == (whole[0], 100, 0)
    assert drifted[0] == 100 * (1 - 1 / len(HABITS)), "one habit in four happens to fit"


def test_figure_says_every_number():
    text = obedience_figure().text()
    assert "failed, handler renamed, contract not: 75, 77.5, 80, 82.5, 85, 87.5, 90, 92.5, 95, 97.5, 100" in text
    assert "failed, one implementation, renamed: 75, 67.5" in text


def test_lab_says_whether_the_tables_agree_and_counts_the_calls():
    text = DriftLab(handler=COMMAND, obedience=10).text()
    assert "Two registries: 0 of 10 calls ran" in text
    assert "≠ they differ" in text
    assert "One implementation: 10 of 10 calls ran" in text
    html = DriftLab(handler=COMMAND).html()
    assert "≠ they differ" in html
    assert "= they agree" in html


def test_widget_edits_each_side_and_the_model():
    widget = drift_lab()
    (contract, handler), (implementation, obedience) = (row.children for row in widget.children[:2])
    handler.set_state({"index": 1})
    contract.set_state({"index": 2})
    implementation.set_state({"index": 3})
    obedience.set_state({"index": 0})
    assert widget.state == DriftLab(WORDS, COMMAND, RENAMED_TOOL, 0)
    assert widget.state.html() in widget.pane.value


def test_two_widgets_do_not_touch_each_other():
    first, second = drift_lab(), drift_lab()
    first.children[1].children[1].set_state({"index": 3})
    assert (first.state.obedience, second.state.obedience) == (3, 8)
