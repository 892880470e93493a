"""Chapter 2 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "02_two_tables"


def test_lab_shows_what_each_edit_does(chapter):
    renamed = "exec_command(command: string)"
    chapter.wait_for("lab", "9 of 10 calls ran")
    times = [chapter.measure("lab", lambda: chapter.pick("lab", "handler", renamed))]
    chapter.wait_for("lab", "1 of 10 calls ran")
    assert "≠ they differ" in chapter.text("lab")
    chapter.screenshot("lab", "drifted")
    versions = ("run_command(cmd: string)", "(nothing)", renamed)
    times += [chapter.measure("lab", lambda edit=edit: chapter.pick("lab", "contract", edit)) for edit in versions]
    chapter.wait_for("lab", "9 of 10 calls ran")
    times.append(chapter.measure("lab", lambda: chapter.pick("lab", "implementation", "(nothing)")))
    chapter.wait_for("lab", "it knows of no such tool")
    for level in (0, 10):
        chapter.pick("lab", "obedience", f"{level} of 10 calls")
    chapter.wait_for("lab", "10 of 10 calls ran")
    print(f"drift lab, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()
