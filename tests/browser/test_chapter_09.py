"""Chapter 9 in the browser: every control of every widget, in both themes."""

from statistics import median

import pytest

from minicodex.errors import FAILURES
from minicodex.lab.sabotage import SWITCHES

themes = pytest.mark.parametrize("theme", ["light", "dark"])
CHAPTER = "09_failure_map"


@pytest.fixture
def chapter(open_chapter, theme):
    chapter = open_chapter(CHAPTER, theme)
    chapter.run()
    chapter.wait_for("exercise-3-check", "not done yet")
    return chapter


@themes
def test_predictions_explain_themselves_and_the_rest_is_drawn(chapter):
    for cell in ("predict-causes", "predict-check", "predict-notices"):
        for letter in "abc":
            chapter.click(cell, letter)
            chapter.wait_for(cell, f"you chose {letter}")
        assert "✓ right" in chapter.text(cell)
    for cell in ("imports", "rows-table", "break-null", "lab-broken", "exercise-1-start"):
        assert chapter.screenshot(cell).stat().st_size > 1000
    chapter.check_accessibility()


@themes
def test_every_row_of_the_map_happens(chapter):
    times = []
    chapter.screenshot("map", "first")
    for failure in FAILURES[1:]:
        option = f"{failure.boundary}: {failure.where}"
        times.append(chapter.measure("map", lambda option=option: chapter.pick("map", "row", option)))
        chapter.wait_for("map", failure.way_back)
        chapter.screenshot("map", failure.key)
    print(f"failure map, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()


@themes
def test_every_switch_turns_one_check_red(chapter):
    chapter.wait_for("lab", "0 of 8 checks are red")
    times = []
    for switch in SWITCHES:
        times.append(chapter.measure("lab", lambda switch=switch: chapter.pick("lab", "switch", switch)))
        chapter.wait_for("lab", SWITCHES[switch].place)
        chapter.wait_for("lab", "1 of 8 checks are red")
        chapter.screenshot("lab", switch)
    chapter.pick("lab", "switch", "(nothing is broken)")
    chapter.wait_for("lab", "0 of 8 checks are red")
    print(f"mutation lab, control to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    chapter.check_accessibility()
