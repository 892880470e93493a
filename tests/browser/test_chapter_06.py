"""Chapter 6 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "06_over_budget"
STEPPER = "stepper"


def test_budget_stepper_follows_every_control(chapter):
    def move(label, steps):
        return chapter.measure(STEPPER, lambda: chapter.move_slider(STEPPER, label, steps))

    chapter.wait_for(STEPPER, "sent: 3,207 bytes after 1 pass")
    times = [chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "next"))]
    chapter.wait_for(STEPPER, "▶ 1 remove_schema_descriptions")
    chapter.screenshot(STEPPER, "pass-1")
    times += [move("budget", 1) for _ in range(5)]
    chapter.move_slider(STEPPER, "budget", 6)
    chapter.wait_for(STEPPER, "sent: 6,002 bytes after 0 passes")
    chapter.move_slider(STEPPER, "budget", -46)
    chapter.wait_for(STEPPER, "sent: 1,127 bytes after 3 passes, 373 below the budget")
    times += [move("pass", 1), move("pass", 1)]
    chapter.wait_for(STEPPER, "▶ 3 collapse_deep_objects")
    chapter.screenshot(STEPPER, "pass-3")
    times.append(move("depth of pass 3", 1))
    chapter.wait_for(STEPPER, "pass 3 from depth 4")
    times.append(chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "back")))
    chapter.wait_for(STEPPER, "▶ 2 remove_definition_tables")
    times.append(chapter.measure(STEPPER, lambda: chapter.click(STEPPER, "trusted")))
    chapter.wait_for(STEPPER, "it is trusted")
    chapter.screenshot(STEPPER, "trusted")
    chapter.click(STEPPER, "trusted")
    times.append(chapter.measure(STEPPER, lambda: chapter.pick(STEPPER, "schema", "300 plain fields")))
    chapter.wait_for(STEPPER, "it is sent all the same")
    chapter.pick(STEPPER, "schema", "behind a $ref")
    chapter.wait_for(STEPPER, "sent: 2 bytes after 2 passes")
    chapter.screenshot(STEPPER, "reference")
    chapter.check_accessibility()
    print(f"budget stepper, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
