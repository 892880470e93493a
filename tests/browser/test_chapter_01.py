"""Chapter 1 in the browser: every control of every widget, in both themes."""

from statistics import median

import pytest

CHAPTER = "01_the_manual"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_control_does_what_it_says(open_chapter, theme):
    """One opening for all parts: opening takes most of the time."""
    chapter = open_chapter(CHAPTER, theme)
    chapter.run()
    chapter.wait_for("exercise-3-check", "not done yet")
    predictions_explain_themselves(chapter)
    card_marks_what_each_switch_changes(chapter)
    everything_else_is_drawn(chapter)
    chapter.check_accessibility()


def predictions_explain_themselves(chapter):
    for cell in ("predict-rule", "predict-strict", "predict-deferred"):
        for letter in "abc":
            chapter.click(cell, letter)
            chapter.wait_for(cell, f"you chose {letter}")
        assert "✓ right" in chapter.text(cell)
        chapter.screenshot(cell)


def card_marks_what_each_switch_changes(chapter):
    def pick(label, option):
        return chapter.measure("card", lambda: chapter.pick("card", label, option))

    chapter.wait_for("card", "as many as the author's own")
    times = [chapter.measure("card", lambda: chapter.click("card", "strict")) for _ in range(4)]
    assert "changed" not in chapter.text("card")
    chapter.click("card", "strict")
    chapter.wait_for("card", "changed, was false")
    before = chapter.text("card").partition("On the wire")[2]
    chapter.click("card", "output schema")
    chapter.wait_for("card", "1 property, not sent")
    assert chapter.text("card").partition("On the wire")[2] == before, "this switch changes nothing that is sent"
    times += [pick("defer_loading", shown) for shown in ("true", "false", "not set", "true")]
    chapter.wait_for("card", "+ new")
    chapter.screenshot("card", "switched")
    times.append(pick("tool", "create_event"))
    chapter.wait_for("card", "16 properties")
    times += [pick("description", words) for words in ("none", "a stern rule", "the author's own")]
    print(f"contract card, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.screenshot("card", "create-event")


def everything_else_is_drawn(chapter):
    for cell in ("imports", "wire", "sizes-figure", "deferred-key", "exercise-1-start", "exercise-1-check"):
        assert chapter.screenshot(cell).stat().st_size > 1000
