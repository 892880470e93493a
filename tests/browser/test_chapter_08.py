"""Chapter 8 in the browser: every control of every widget, in both themes."""

import math
from statistics import median

CHAPTER = "08_untrusted_arguments"


def test_clinic_shows_lights_feedback_and_a_counter(chapter):
    def pick(label, option):
        return chapter.measure("clinic", lambda: chapter.pick("clinic", label, option))

    chapter.wait_for("clinic", "a comma after the last member")
    chapter.screenshot("clinic")
    times = [pick("case", name) for name in ("a good event", "encoded twice", "NaN", "two steps in progress", "null")]
    chapter.wait_for("clinic", "got null")
    times.append(pick("tool", "create_event"))
    times.append(pick("step", "step_0"))
    chapter.wait_for("clinic", "belongs to step")
    times.append(pick("step", "step_1"))
    times.append(pick("tool", "delete_event"))
    chapter.wait_for("clinic", "unsupported call")
    chapter.pick("clinic", "tool", "update_plan")
    times.append(chapter.measure("clinic", lambda: chapter.type("clinic", "text", '{"plan": []}')))
    chapter.wait_for("clinic", "0 before, 1 after")
    chapter.wait_for("clinic", "a text of your own")
    chapter.type("clinic", "text", '{"plan": "<b>bold</b>"}')
    chapter.wait_for("clinic", "<b>bold</b>")
    chapter.screenshot("clinic", "own-text")
    times = [taken for taken in times if not math.isnan(taken)]  # a picture that stays the same has no time
    print(f"clinic, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()


def test_pairs_are_stepped_through(chapter):
    chapter.wait_for("real-beside", "only ours refuses it")
    chapter.screenshot("real-beside")
    times = [chapter.measure("real-beside", lambda: chapter.click("real-beside", "next")) for _ in range(3)]
    times.append(chapter.measure("real-beside", lambda: chapter.click("real-beside", "back")))
    pick = "exec_command: float for integer"
    times.append(chapter.measure("real-beside", lambda: chapter.pick("real-beside", "text", pick)))
    chapter.wait_for("real-beside", "only Codex refuses it")
    print(f"pairs, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()


def test_each_group_of_the_round_opens(chapter):
    chapter.output("round-view").locator("summary").first.click()
    assert chapter.output("round-view").locator("td", has_text="trailing comma").first.is_visible()
