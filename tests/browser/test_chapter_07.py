"""Chapter 7 in the browser: every control of every widget, in both themes."""

from statistics import median

import pytest

themes = pytest.mark.parametrize("theme", ["light", "dark"])
CHAPTER = "07_on_the_wire"


@pytest.fixture
def chapter(open_chapter, theme):
    chapter = open_chapter(CHAPTER, theme)
    chapter.run()
    chapter.wait_for("exercise-3-check", "not done yet")
    return chapter


@themes
def test_predictions_explain_themselves_and_the_rest_is_drawn(chapter):
    for cell in ("predict-tools", "predict-often", "predict-bad", "predict-rewritten"):
        for letter in "abc":
            chapter.click(cell, letter)
            chapter.wait_for(cell, f"you chose {letter}")
        assert "✓ right" in chapter.text(cell)
    for cell in ("imports", "two-marked", "once-measured", "bad-encode", "change-ordinary", "change-lite"):
        assert chapter.screenshot(cell).stat().st_size > 1000
    assert "ContractEncodingError: the contract of 'update_plan'" in chapter.text("bad-encode")
    chapter.check_accessibility()


@themes
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
