"""The checks of chapter 8: each good answer passes, each typical mistake gets its sentence."""

import pytest

from minicodex.errors import ArgumentError, ArgumentFault
from minicodex.lab import chapter_08 as lab
from minicodex.lab.clinic_cases import case

DOORS = {
    "JSON": "{",
    "shape": "{}",
    "types": '{"plan": 1}',
    "rule": case("two steps in progress").text,
}


def test_four_doors_pass():
    assert lab.check_stopped_at(DOORS).done


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ([], "must be a dict"),
        ({}, "`JSON`: a text is missing"),
        (DOORS | {"shape": "[1"}, "`shape`: this text is stopped at `JSON`"),
        (DOORS | {"rule": case("a good plan").text}, "`rule`: this text is not stopped, it runs"),
    ],
)
def test_wrong_door_is_named(texts, sentence):
    verdict = lab.check_stopped_at(texts)
    assert not verdict.done
    assert sentence in verdict.text()


def rule(**fault):
    def refuse(arguments):
        if arguments["duration"] % 15:
            raise ArgumentError(ArgumentFault("outside the limits", **fault))

    return refuse


GOOD = {"pointer": "/duration", "expected": "a multiple of 15", "hint": "send a multiple of 15"}


def test_rule_that_can_be_mended_passes():
    assert lab.check_quarter_hours(rule(**GOOD)).done


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda arguments: None, "50 minutes are accepted"),
        (lambda arguments: 1 / 0, "45 minutes are three quarters"),
        (lambda arguments: 1 / (arguments["duration"] - 50), "must be refused by an `ArgumentError`"),
        (rule(**GOOD | {"pointer": ""}), "does not say where"),
        (rule(**GOOD | {"expected": "a quarter"}), "the model could not mend it"),
        (rule(**GOOD | {"hint": ""}), "shows no way out"),
    ],
)
def test_rule_is_told_what_is_missing(answer, sentence):
    assert sentence in lab.check_quarter_hours(answer).text()


def test_three_reasons_pass():
    assert lab.check_stricter(["NaN", '{"a": 1, "a": 2}', "1e999"]).done


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("NaN", "must be a list of texts"),
        (["{"], "`json.loads` does not read it either"),
        (["{}"], "`parse_strict` reads it, too"),
        (['{"a": 1, "a": 2}', '{"b": 1, "b": 2}'], "1 different reasons so far"),
    ],
)
def test_text_that_is_not_stricter_is_named(texts, sentence):
    assert sentence in lab.check_stricter(texts).text()


@pytest.mark.parametrize("asked", [lab.WHO_CHECKED, lab.HOW_LONG, lab.WHO_IS_STOPPED])
def test_every_choice_is_explained_and_one_is_right(asked):
    assert sum(choice.right for choice in asked.choices) == 1
    assert all(choice.explanation for choice in asked.choices)


def test_trusting_handler_writes_before_it_fails():
    handler = lab.TrustingHandler(lab.EventBook())
    with pytest.raises(KeyError):
        handler.run(handler.decode_arguments("{}"), call_id="c")
    assert len(handler.book.events) == 1
