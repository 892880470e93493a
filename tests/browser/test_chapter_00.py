"""Chapter 0 in the browser: every control of every widget, in both themes."""

from statistics import median

CHAPTER = "00_one_call_end_to_end"


def test_players_show_every_event_and_every_turn(chapter):
    player_goes_through_the_turn(chapter)
    player_lays_turns_side_by_side(chapter)
    what_is_folded_opens_by_keyboard(chapter)
    chapter.check_accessibility()


def player_goes_through_the_turn(chapter):
    chapter.wait_for("player", "Event 1 of 9: plan")
    times = []
    for number in range(2, 10):
        times.append(chapter.measure("player", lambda: chapter.click("player", "next")))
        chapter.wait_for("player", f"Event {number} of 9")
    print(f"turn player, button to view: median {median(times):.0f} ms of {[round(time) for time in times]}")
    assert "The plan is set." in chapter.text("player")
    chapter.click("player", "back")
    chapter.wait_for("player", "Event 8 of 9: answer")
    chapter.pick("player", "event", "7. request: 1,130 bytes, mode responses")
    chapter.wait_for("player", "Event 7 of 9: request")
    assert "+ new" in chapter.text("player")
    chapter.screenshot("player", "request")
    chapter.wait_for("four-player-widget", "Event 1 of 9")  # the second player did not move with the first


def player_lays_turns_side_by_side(chapter):
    chapter.pick("four-player-widget", "turn", "without a manual")
    chapter.wait_for("four-player-widget", "Event 1 of 4: plan")
    for _ in range(2):
        chapter.click("four-player-widget", "next")
    chapter.wait_for("four-player-widget", "I know of no tool for it")
    chapter.pick("four-player-widget", "turn", "one id for two calls")
    chapter.wait_for("four-player-widget", "Event 1 of")
    chapter.pick("four-player-widget", "event", "7. result: update_plan: not ok")
    chapter.wait_for("four-player-widget", "Event 7 of")
    chapter.screenshot("four-player-widget", "one-id")
    for name in ("without parameters", "without a check", "the turn"):
        chapter.pick("four-player-widget", "turn", name)
        chapter.wait_for("four-player-widget", "Event 1 of 9")


def what_is_folded_opens_by_keyboard(chapter):
    folded = chapter.output("second-view").locator("details")
    assert folded.first.get_attribute("open") is None
    folded.first.locator("summary").first.press("Enter")
    assert folded.first.get_attribute("open") is not None, "a folded part opens by keyboard"
