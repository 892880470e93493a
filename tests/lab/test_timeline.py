"""Late calls: what each runtime makes of every upgrade, the timeline's reducers, and its widget."""

import pytest

from minicodex.lab.late_calls import LAST_TICK, RUNTIMES, STEPS, Change, Fate, InPlace, LateCall, Snapshots, play
from minicodex.lab.race import race
from minicodex.lab.timeline import CALLS, IN_PLACE, SNAPSHOTS, Timeline, timeline

CALM = Timeline().without_upgrades()


def fates(state):
    return {ending.call.id: ending.fate for ending in state.endings}


def test_without_upgrades_both_runtimes_keep_every_call():
    for runtime in RUNTIMES:
        assert set(fates(CALM.with_(runtime=runtime)).values()) == {Fate.KEPT}


@pytest.mark.parametrize(
    ("version", "fate", "answer"),
    [
        (Change.RENAMED, Fate.REFUSED, "at /steps: missing; expected a list"),
        (Change.ADDS, Fate.HIJACKED, "the plan is now: A"),
        (Change.GONE, Fate.LOST, "unsupported call: update_plan"),
        (Change.FIRST, Fate.KEPT, "the plan is now: A"),
    ],
)
def test_upgrade_before_a_late_call_harms_it_in_the_registry_only(version, fate, answer):
    state = CALM.upgrade(4, version)
    assert (state.endings[0].fate, state.endings[0].answer) == (fate, answer)
    assert fates(state.with_(runtime=SNAPSHOTS))["a"] is Fate.KEPT


@pytest.mark.parametrize("tick", range(LAST_TICK + 1))
@pytest.mark.parametrize("version", Change)
def test_no_upgrade_at_any_tick_harms_a_call_of_a_snapshot(tick, version):
    endings = CALM.upgrade(tick, version).with_(runtime=SNAPSHOTS).endings
    assert all(ending.read_by is (None if ending.fate is Fate.NOT_ASKED else ending.seen) for ending in endings)
    assert {ending.fate for ending in endings} <= {Fate.KEPT, Fate.NOT_ASKED}


def test_a_hijacked_call_does_what_nobody_asked_for():
    state = CALM.upgrade(4, Change.ADDS)
    assert fates(state) == {"a": Fate.HIJACKED, "b": Fate.HIJACKED, "c": Fate.KEPT}
    assert state.endings[1].answer == "the plan is now: A, C, B"
    assert state.with_(runtime=SNAPSHOTS).endings[1].answer == "the plan is now: B"


def test_a_step_that_was_planned_without_the_tool_asks_for_nothing():
    state = CALM.upgrade(5, Change.GONE).upgrade(7, Change.FIRST)
    for runtime in RUNTIMES:
        assert fates(state.with_(runtime=runtime))["c"] is Fate.NOT_ASKED
    assert "· not asked: the step offered no such tool" in state.text()


def test_at_one_tick_the_tool_changes_before_a_call_is_handled():
    assert fates(CALM.upgrade(5, Change.RENAMED))["a"] is Fate.REFUSED
    assert fates(CALM.upgrade(6, Change.RENAMED))["a"] is Fate.KEPT


def test_each_play_begins_with_an_empty_plan():
    call = (LateCall("z", "step_1", 2, 2),)
    for _ in range(2):
        assert play(InPlace(), call, {0: Change.ADDS})[0].answer == "the plan is now: Z"


def test_call_cannot_be_handled_before_it_was_asked_nor_after_the_end():
    assert CALM.handle("c", 0).call("c").handled == 7
    assert CALM.handle("c", 99).call("c").handled == LAST_TICK
    assert CALM.handle("c", 9).call("a") == CALLS[0], "the others stay"


def test_upgrade_replaces_another_at_the_same_tick():
    state = CALM.upgrade(9, Change.GONE).upgrade(4, Change.ADDS).upgrade(9, Change.FIRST)
    assert state.upgrades == ((4, Change.ADDS), (9, Change.FIRST))
    assert state.spans == [(0, 3, Change.FIRST), (4, 8, Change.ADDS), (9, 12, Change.FIRST)]


def test_text_and_picture_say_who_saw_and_who_read():
    state = Timeline()
    text, html = state.text(), state.html()
    assert "call a: asked at 2, handled at 5: ✗ refused" in text
    assert "read by        nobody" in text
    assert f"{IN_PLACE} · 1 of 3 calls kept" in html
    for word in ("refused", "lost", "kept"):
        assert word in text
        assert f"{word}</span>" in html
    assert all(step_id in html for step_id in STEPS)


def test_race_hijacks_in_the_registry_and_nowhere_else():
    assert race(Snapshots()) == race(Snapshots())
    assert (race(Snapshots()).calls, race(Snapshots()).hijacked) == (200, 0)
    assert race(InPlace()).hijacked >= 150, "three of four callers certainly meet a newer version"


def controls(widget):
    (runtime, call, handled), (version, tick, add, clear) = (row.children for row in widget.children[:2])
    return runtime, call, handled, version, tick, add, clear


def test_widget_moves_the_chosen_call_only():
    widget = timeline()
    _, call, handled, *_ = controls(widget)
    handled.set_state({"value": 3})
    assert widget.state == Timeline().handle("a", 3)
    call.set_state({"index": 2})
    assert (handled.min, handled.value) == (7, 8)
    assert widget.state == Timeline(chosen="c").handle("a", 3), "choosing a call moves none"
    call.set_state({"index": 0})
    assert (handled.min, handled.value) == (2, 3)
    assert widget.state == Timeline().handle("a", 3)


def test_widget_adds_and_removes_upgrades_and_changes_the_runtime():
    widget = timeline()
    runtime, _, _, version, tick, add, clear = controls(widget)
    clear.click()
    assert widget.state == CALM
    tick.set_state({"index": 4})
    version.set_state({"index": 2})
    assert widget.state == CALM, "nothing happens before the button is pressed"
    add.click()
    runtime.set_state({"index": 1})
    assert widget.state == CALM.upgrade(5, Change.GONE).with_(runtime=SNAPSHOTS)
    assert widget.state.html() in widget.pane.value


def test_two_widgets_do_not_touch_each_other():
    first, second = timeline(), timeline()
    controls(first)[2].set_state({"value": 9})
    assert (first.state.call("a").handled, second.state.call("a").handled) == (9, 5)
