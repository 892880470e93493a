"""Chapter 1 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "01_the_manual"


def test_card_marks_what_each_switch_changes(chapter):
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
    chapter.check_accessibility()
