"""Chapter 4 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "04_frozen_steps"


def test_timeline_runs_every_change(chapter):
    chapter.wait_for("timeline", "1 of 3 calls kept")
    chapter.screenshot("timeline", "in-place")
    times = [chapter.measure("timeline", lambda: chapter.move_slider("timeline", "handled at tick", -1))]
    for _ in range(3):
        chapter.move_slider("timeline", "handled at tick", -1)
    chapter.wait_for("timeline", "2 of 3 calls kept")
    times.append(chapter.measure("timeline", lambda: chapter.click("timeline", "remove all upgrades")))
    chapter.wait_for("timeline", "3 of 3 calls kept")
    chapter.pick("timeline", "upgrade to", "③ other effect")
    chapter.pick("timeline", "at tick", "8")
    times.append(chapter.measure("timeline", lambda: chapter.click("timeline", "add the upgrade")))
    chapter.wait_for("timeline", "hijacked")
    chapter.pick("timeline", "call", "b")
    chapter.wait_for_slider("timeline", "handled at tick", 11)
    times += [
        chapter.measure("timeline", lambda: chapter.move_slider("timeline", "handled at tick", -1)) for _ in range(4)
    ]
    chapter.screenshot("timeline", "hijacked")
    plan_for_each = "a plan for each step"
    times.append(chapter.measure("timeline", lambda: chapter.pick("timeline", "runtime", plan_for_each)))
    chapter.wait_for("timeline", f"{plan_for_each} · 3 of 3 calls kept")
    print(f"timeline, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.screenshot("timeline", "snapshots")
    chapter.check_accessibility()
