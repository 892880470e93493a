"""The self-test in the browser: every button, in both themes."""

import pytest


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_questions_are_answered_explained_and_counted(open_chapter, theme):
    chapter = open_chapter("self_test", theme)
    chapter.run()
    chapter.wait_for("verdict", "Read again")
    chapter.screenshot("self-test", "asked")
    for letter in "abc":
        chapter.wait_for("self-test", "choose an answer")
        chapter.click("self-test", letter)
        chapter.wait_for("self-test", "(your choice)")
        chapter.screenshot("self-test", f"answered-{letter}")
        chapter.click("self-test", "next")
    chapter.wait_for("self-test", "Question 4 of 20")
    chapter.click("self-test", "back")
    chapter.wait_for("self-test", "Question 3 of 20")
    chapter.check_accessibility()
