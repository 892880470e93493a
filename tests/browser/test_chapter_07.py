"""Chapter 7 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "07_on_the_wire"


def test_xray_compares_any_two_requests_and_one_that_is_pasted(chapter):
    chapter.screenshot("xray", "ours")
    times = [chapter.measure("xray", lambda: chapter.pick("xray", "left", "Codex, ordinary"))]
    times.append(chapter.measure("xray", lambda: chapter.pick("xray", "right", "Codex, Lite")))
    chapter.wait_for("xray", "web_search")
    chapter.screenshot("xray", "codex")
    times.append(chapter.measure("xray", lambda: chapter.pick("xray", "left", "Codex, Lite, three requests later")))
    chapter.wait_for("xray", "2 later updates")
    chapter.type("xray", "your request", '{"input": [')
    chapter.click("xray", "x-ray it")
    chapter.wait_for("xray", "this is no JSON")
    chapter.screenshot("xray", "refused")
    chapter.type("xray", "your request", '{"input": [], "tools": []}')
    times.append(chapter.measure("xray", lambda: chapter.click("xray", "x-ray it")))
    chapter.wait_for("xray", "0 tools, under the key")
    print(f"request x-ray, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()


def test_both_requests_are_seen_where_there_is_little_room(chapter):
    chapter.pick("xray", "left", "Codex, ordinary")
    chapter.pick("xray", "right", "Codex, Lite, three requests later")
    chapter.wait_for("xray", "2 later updates")
    panel = chapter.output("xray").get_by_label("Two requests, compared")
    box = panel.locator("xpath=ancestor::*[contains(@class, 'widget-html')][last()]")
    box.evaluate("box => { box.style.width = '460px' }")  # of the window, JupyterLab itself would notice it
    assert panel.evaluate("panel => panel.scrollWidth") <= 460
