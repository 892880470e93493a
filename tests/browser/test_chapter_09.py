"""Chapter 9 in the browser: every control of every widget, in both themes."""

from statistics import median

from minicodex.errors import FAILURES
from minicodex.lab.sabotage import SWITCHES

CHAPTER = "09_failure_map"


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
