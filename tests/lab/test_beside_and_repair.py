"""The same texts beside the real CLI's answers, and what feedback mends."""

import json
from pathlib import Path

import pytest

from minicodex.lab.clinic_cases import CASES, case
from minicodex.lab.codex_answers import codex_answers
from minicodex.lab.codex_beside import EXEC_COMMAND, TOOLS, TYPED, Beside, beside
from minicodex.lab.recorded import recording
from minicodex.lab.repair import EARS, mended_by, repair

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


def test_stand_ins_publish_what_the_real_ones_publish():
    tools = recording("ordinary")["request"]["tools"]
    (real,) = (tool["parameters"] for tool in tools if tool.get("name") == "exec_command")
    for name, schema in EXEC_COMMAND["properties"].items():
        published = {key: value for key, value in real["properties"][name].items() if key != "description"}
        assert schema == published
    assert all(EXEC_COMMAND[key] == real[key] for key in ("type", "required", "additionalProperties"))
    served = json.loads((CAPTURES / "dispatch_errors.json").read_text())["mcp_servers"]["p"]["tools"]
    assert next(tool["inputSchema"] for tool in served if tool["name"] == "typed") == TYPED


def test_every_measured_text_of_the_three_tools_is_compared():
    texts = [answer.arguments for answer in codex_answers() if answer.tool in TOOLS]
    pairs = Beside().pairs
    assert len(pairs) == len(texts) - 2, "all but the two calls that name an MCP tool in no namespace or a wrong one"
    assert len({pair.name for pair in pairs}) == len(pairs)


def test_differences_are_found_and_named():
    words = {pair.name: pair.verdict.word for pair in Beside().pairs}
    assert words["mcp: wrong type: forwarded"] == "only ours refuses it"
    assert words["exec_command: float for integer"] == "only Codex refuses it"
    assert words["update_plan: wrong type"] == "both refuse it"
    assert words["update_plan: ok"] == "both let it through"


def test_pairs_are_stepped_through_and_both_ends_hold():
    widget = beside()
    back, forth, texts = widget.children[0].children
    assert back.disabled
    forth.click()
    assert widget.state.index == 1
    texts.value = widget.state.names[-1]
    assert forth.disabled
    assert widget.state.go(999) == widget.state
    assert widget.state.pair.codex.output.splitlines()[0] in widget.text()
    assert "<script" not in widget.pane.value


@pytest.mark.parametrize("patient", CASES[:-1], ids=lambda patient: patient.name)
def test_feedback_alone_mends_every_text_but_the_business_rule(patient):
    assert repair(patient).mended


def test_business_rule_is_not_mended_and_the_model_gives_up():
    attempts = repair(CASES[-1])
    assert not attempts.mended
    assert len(attempts.attempts) == 1
    assert attempts.text().startswith("✗ attempt 1, refused:")


def test_every_part_of_feedback_is_worth_something():
    patient = case("a word that is not in the list")
    heard = {name: hear(repair(patient).attempts[0].answer) for name, hear in EARS.items()}
    assert "expected" not in heard["no expectation"]
    assert "/plan/0/status" not in heard["no place"]
    mended = {name: repair(patient, hear).mended for name, hear in EARS.items()}
    assert mended == {"everything": True, "no expectation": False, "no place": False, "only “invalid arguments”": False}


def test_figure_counts_every_case_in_every_row():
    figure = mended_by(CASES[-4:])
    assert "everything: mended 3, not mended 1 texts" in figure.text()
    assert figure.html().count("<img") == 1
