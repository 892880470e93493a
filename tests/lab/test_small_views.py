"""The strip, the prediction, the exercise's verdict, the map, the figures: each as state, as text, as HTML."""

import base64
import re

import pytest

from minicodex.lab import figures
from minicodex.lab.exercise import exercise
from minicodex.lab.package_map import ROOMS, PackageMap
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.strip import STAGES, LifecycleStrip

ASKED = Prediction(
    "Is `<b>` shown?",
    (Choice("Yes", "It is.", right=True), Choice("No <script>", "It is <not>.")),
)


def test_strip_marks_a_stage_in_text_and_for_a_screen_reader():
    strip = LifecycleStrip.at("plan")
    assert strip.text() == "schema → contract → implementation → [PLAN] → request → call → dispatch → result"
    assert strip.html().count('aria-current="step"') == 1
    assert "● plan" in strip.html()


def test_strip_without_a_mark_shows_every_stage():
    assert LifecycleStrip().text() == " → ".join(STAGES)
    assert "aria-current" not in LifecycleStrip().html()


def test_strip_names_the_stages_when_there_is_no_such_one():
    with pytest.raises(ValueError, match="no stage is called 'plans'; they are schema, contract"):
        LifecycleStrip.at("plans")


def test_prediction_explains_nothing_before_it_is_answered():
    assert ASKED.text() == "Predict: Is `<b>` shown?\n  a) Yes\n  b) No <script>"
    assert "It is" not in ASKED.html()


def test_prediction_explains_every_choice_once_it_is_answered():
    answered = ASKED.answer("b")
    assert ASKED.chosen is None, "a reducer changes nothing in place"
    assert answered.text().splitlines() == [
        "Predict: Is `<b>` shown?",
        "  a) Yes",
        "     right: It is.",
        "> b) No <script>",
        "     not so: It is <not>.",
    ]
    assert "(your choice)" in answered.html()


def test_prediction_escapes_what_it_shows():
    assert "<script" not in ASKED.answer("a").html()
    assert "<not>" not in ASKED.answer("a").html()


def test_prediction_can_be_answered_again():
    assert ASKED.answer("b").answer("a") == ASKED.answer("a")


@pytest.mark.parametrize("letter", ["c", "ab", "", "A"])
def test_prediction_has_no_other_answers(letter):
    with pytest.raises(ValueError, match="choose one of a, b"):
        ASKED.answer(letter)


@exercise("Even numbers are done.")
def check_even(number):
    if number % 2:
        yield f"{number} is odd"
    yield from (f"<fault {index}>" for index in range(number // 100))


def test_verdict_says_what_is_wrong_and_is_not_done():
    assert (check_even(3).done, check_even(3).text()) == (False, "not done yet: 3 is odd")


def test_verdict_of_a_good_answer_is_its_lesson():
    assert (check_even(4).done, check_even(4).text()) == (True, "done: Even numbers are done.")


def test_verdict_of_the_stub_asks_for_an_answer():
    assert check_even(...).text() == "not done yet: put your answer in place of the dots in the cell above"


def test_verdict_of_an_answer_that_raises_is_a_sentence():
    assert check_even("x").text().startswith("not done yet: checking it raised TypeError: ")
    assert not check_even("x").done


def test_verdict_shows_a_few_faults_and_escapes_them():
    verdict = check_even(1000)
    assert verdict.faults[3:] == ("and 7 more",)
    assert "<fault" not in verdict.html()


def test_map_takes_each_sentence_from_the_module_itself():
    rows = PackageMap().rows
    assert len(rows) == len(ROOMS)
    assert (
        "contract",
        "minicodex/contract.py",
        "The manual: what the model reads about a tool, and nothing else",
    ) in rows
    assert all(sentence for _, _, sentence in rows)
    assert {stage for stage, _, _ in rows} >= set(STAGES)


ROWS = [("a", (10, 200)), ("<b>", (1000, 20))]


def test_figure_is_the_same_in_bytes_every_time():
    first = figures.bars(ROWS, ("x", "y"), unit="bytes", caption="Sizes")
    assert first == figures.bars(ROWS, ("x", "y"), unit="bytes", caption="Sizes")
    assert not re.search(r"<dc:date>|matplotlib v", first.svg.lower())


def test_figure_says_all_its_numbers_in_words_and_carries_them_as_alternative_text():
    figure = figures.bars(ROWS, ("x", "y"), unit="bytes", caption="Sizes")
    assert figure.text() == "Figure: Sizes\na: x 10, y 200 bytes\n<b>: x 1,000, y 20 bytes"
    assert 'alt="Figure: Sizes\na: x 10' in figure.html()
    assert "<b>" not in figure.html()


def test_figure_has_a_solid_ground_and_its_text_as_text():
    figure = figures.bars(ROWS, ("x", "y"), unit="bytes", caption="Sizes")
    source = re.search(r"base64,([^\"]+)", figure.html())[1]
    svg = base64.b64decode(source).decode()
    assert "fill: #ffffff" in svg
    assert ">1,020 bytes</text>" in svg


def test_figure_leaves_the_settings_of_the_reader_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    figures.bars(ROWS, ("x", "y"), unit="bytes", caption="Sizes")
    assert dict(mpl.rcParams) == before


def test_series_can_be_told_apart_without_colour():
    assert len(set(figures.HATCHES)) == len(figures.COLOURS) == len(set(figures.COLOURS))
