"""The self-test: its questions are fair, its score is right, its widget drives it."""

from collections import Counter

import pytest

from minicodex.lab.questions import QUESTIONS
from minicodex.lab.self_test import SelfTest, self_test

KEY = "".join(next(letter for letter in "abc" if q.answer(letter).is_right) for _, q in QUESTIONS)


def test_there_are_two_questions_for_each_chapter_and_no_letter_is_a_good_guess():
    assert Counter(chapter for chapter, _ in QUESTIONS) == dict.fromkeys(range(10), 2)
    assert max(Counter(KEY).values()) <= 8
    assert all(sum(choice.right for choice in question.choices) == 1 for _, question in QUESTIONS)


def test_all_right():
    done = SelfTest().with_answers(KEY)
    assert (done.score, done.read_again) == (20, [])
    assert done.verdict == "20 right of 20 answers. You could give this course."


def test_a_wrong_answer_names_its_chapter_and_an_open_one_does_not():
    wrong = "b" if KEY[9] != "b" else "a"
    some = SelfTest().with_answers(KEY[:9] + wrong + " " + KEY[11:])
    assert (some.answered, some.score, some.read_again) == (19, 18, [4])
    assert some.verdict == "18 right of 19 answers. Read again: chapter 4."


def test_the_first_answer_counts_and_is_explained():
    fresh = SelfTest()
    wrong = next(letter for letter in "abc" if letter != KEY[0])
    answered = fresh.answer(wrong).answer(KEY[0])
    assert answered.score == 0
    assert "you" not in fresh.text()
    for choice in QUESTIONS[0][1].choices:
        assert choice.explanation not in fresh.text()
        assert choice.explanation in answered.text()


def test_the_sheet_has_every_question_and_gives_nothing_away():
    sheet = SelfTest().sheet()
    for chapter, question in QUESTIONS:
        assert f"Chapter {chapter}\n" in sheet
        assert question.question in sheet
        assert not any(choice.explanation in sheet for choice in question.choices)


@pytest.mark.parametrize("letters", ["d", "a" * 21])
def test_impossible_answers_are_refused(letters):
    with pytest.raises(ValueError, match=r"choose one of|21 answers for 20"):
        SelfTest().with_answers(letters)


def test_the_widget_answers_goes_on_and_stays_within_the_test():
    test, other = self_test(), self_test()
    a, b, c, back, forth = test.children[0].children
    {"a": a, "b": b, "c": c}[KEY[0]].click()
    assert "1 right of 1 answer." in test.pane.value
    forth.click()
    assert "Question 2 of 20" in test.pane.value
    back.click()
    back.click()
    assert "Question 1 of 20" in test.pane.value
    assert "0 right of 0 answers." in other.pane.value
