"""Chapter 3 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "03_who_sees_what"


def test_funnel_plans_anew_for_every_switch(chapter):
    chapter.wait_for("funnel", "8 tools, 2 of them in the first list")
    chapter.screenshot("funnel", "search")
    times = [chapter.measure("funnel", lambda: chapter.click("funnel", "the model can search"))]
    chapter.wait_for("funnel", "8 tools, 5 of them in the first list")
    times.append(chapter.measure("funnel", lambda: chapter.click("funnel", "update_plan is turned on")))
    chapter.wait_for("funnel", "turned off by the configuration")
    times.append(chapter.measure("funnel", lambda: chapter.pick("funnel", "platform", "windows")))
    chapter.wait_for("funnel", "needs a POSIX shell")
    times.append(chapter.measure("funnel", lambda: chapter.click("funnel", "the provider knows namespaces")))
    chapter.wait_for("funnel", "mcp__mail__send_mail")
    times.append(chapter.measure("funnel", lambda: chapter.pick("funnel", "tool mode", "code mode only")))
    chapter.wait_for("funnel", "the mode takes it off the top level")
    chapter.screenshot("funnel", "code-mode-only")
    chapter.pick("funnel", "tool mode", "code mode")
    times.append(chapter.measure("funnel", lambda: chapter.pick("funnel", "platform", "linux")))
    print(f"funnel, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()
