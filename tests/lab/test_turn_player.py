"""The turn player: going through events, and what each of them shows."""

import pytest

from minicodex import PromptSnapshot, run_turn
from minicodex.history import user
from minicodex.lab.chapter_07 import changing, lite_turn
from minicodex.lab.sequence import turn_sequence
from minicodex.lab.turn_player import TurnPlayer, item_line, turn_player
from minicodex.models.scripted import ScriptedModel, call, say, search
from minicodex.samples import PLAN_ARGUMENTS, plan_script
from minicodex.sources.builtin import PlanBoard, update_plan_tool

PROMPT = PromptSnapshot("Plan.", [user("Summarise <script>my</script> notes.")])


def play(*script):
    return run_turn(ScriptedModel(script), lambda _step: [update_plan_tool(PlanBoard())], PROMPT)


TURN = play(*plan_script())
TALK = play(say("No plan is needed."))


@pytest.fixture
def player():
    return TurnPlayer({"plan": TURN, "talk": TALK})


def test_player_starts_at_the_first_event_of_the_first_turn(player):
    assert (player.name, player.index, player.event.kind) == ("plan", 0, "plan")


@pytest.mark.parametrize(("index", "reached"), [(3, 3), (-5, 0), (99, len(TURN.events) - 1)])
def test_player_stops_at_either_end(player, index, reached):
    assert player.go(index).index == reached
    assert player.index == 0, "a reducer changes nothing in place"


def test_player_steps_forth_and_back(player):
    assert player.step(2).step(-1).index == 1


def test_another_turn_is_played_from_its_start(player):
    assert (player.go(5).play("talk").index, player.play("talk").turn) == (0, TALK)
    assert player.go(5).play("plan").index == 5, "the same turn goes on"


def test_each_event_marks_what_it_added_to_the_history(player):
    added = {
        event.kind + event.step_id[-1]: [item["type"] for item, new in player.go(index).history if new]
        for index, event in enumerate(TURN.events)
    }
    assert added == {
        "plan1": [],
        "request1": [],
        "answer1": ["function_call"],
        "call1": [],
        "result1": ["function_call_output"],
        "plan2": [],
        "request2": [],
        "answer2": ["message"],
        "end2": [],
    }


def test_history_never_counts_an_item_that_was_dropped():
    broken = {"type": "function_call", "name": "update_plan"}
    turn = play([broken | {"call_id": 5}, call("update_plan", PLAN_ARGUMENTS)], say("Done."))
    player = TurnPlayer({"": turn})
    sizes = [len(player.go(index).history) for index in range(len(turn.events))]
    assert sizes == [1, 1, 2, 2, 2, 3, 3, 3, 4, 4]


def test_second_request_is_compared_with_the_first(player):
    request = player.go(6)
    assert request.event.kind == "request"
    assert [(node.pointer, node.mark.name) for node in request.in_hand.changes] == [
        ("/input/1", "NEW"),
        ("/input/2", "NEW"),
    ]


def test_text_holds_the_event_its_room_the_object_and_the_history(player):
    text = player.go(4).text()
    assert text.splitlines()[0] == "plan: event 5 of 9, result (step_1)"
    assert "minicodex/dispatch.py" in text
    assert "[RESULT]" in text
    assert '{"call_id": "call_1", "ok": true, "output": "Plan updated"}' in text
    assert "+  output of call_1: Plan updated" in text


@pytest.mark.parametrize("index", range(len(TURN.events)))
def test_every_event_can_be_drawn_and_is_escaped(player, index):
    html = player.go(index).html()
    assert "<script" not in html
    assert f"Event {index + 1} of 9" in html


def test_only_the_answers_are_on_the_side_of_the_model(player):
    theirs = [event.kind for index, event in enumerate(TURN.events) if "the model's side" in player.go(index).text()]
    assert theirs == ["answer", "answer"]


def test_search_and_its_output_have_a_line():
    turn = run_turn(ScriptedModel([search("plan"), say("Nothing.")]), lambda _step: [], PROMPT)
    lines = [item_line(item) for item, _ in TurnPlayer({"": turn}).go(99).history]
    assert lines[1:3] == ['call call_1: tool_search_call {"query": "plan"}', "output of call_1: []"]


def test_sequence_names_who_speaks_to_whom():
    assert turn_sequence(TURN).words.splitlines() == [
        "minicodex → the model: request: manual, 1 item of history",
        "the model → minicodex: a call: name, id, arguments as text",
        "minicodex → the tool's code: update_plan: the text",
        "the tool's code → minicodex: result for call_1",
        "minicodex → the model: request: manual, 3 items of history",
        "the model → minicodex: an answer in words",
    ]


def controls(widget):
    return widget.children[0].children


def test_widget_steps_jumps_and_changes_the_turn():
    widget = turn_player({"plan": TURN, "talk": TALK})
    names, back, forth, events = controls(widget)
    assert (back.disabled, forth.disabled) == (True, False)
    forth.click()
    forth.click()
    assert (events.value, back.disabled) == ("3. answer: items: 1", False)
    assert "Event 3 of 9" in widget.pane.value
    events.set_state({"index": 8})
    assert (widget.state.index, forth.disabled) == (8, True)
    names.set_state({"index": 1})
    assert (widget.state.name, widget.state.index, len(events.options)) == ("talk", 0, len(TALK.events))
    events.set_state({"index": 2})
    assert (widget.state.index, widget.state.event.kind) == (2, "answer")
    assert widget.state.html() in widget.pane.value


def test_widget_offers_no_choice_of_turns_when_there_is_one():
    assert len(controls(turn_player({"plan": TURN}))) == 3


def test_two_widgets_do_not_touch_each_other():
    first, second = turn_player({"plan": TURN}), turn_player({"plan": TURN})
    controls(first)[1].click()
    assert (first.state.index, second.state.index) == (1, 0)
    assert "Event 1 of 9" in second.pane.value


def test_widget_is_shown_as_text_where_there_is_no_front_end():
    widget = turn_player({"plan": TURN})
    controls(widget)[1].click()
    assert widget._repr_mimebundle_()["text/plain"] == widget.state.text()


def test_news_about_tools_are_shown_and_counted():
    turn, _ = lite_turn(changing)
    at = next(index for index, event in enumerate(turn.events) if event.kind == "update" and event.step_id == "step_2")
    player = TurnPlayer({"lite": turn}).go(at)
    added = [item for item, new in player.history if new]
    assert [item["type"] for item in added] == ["message", "additional_tools", "message"]
    assert "its tools have changed" in player.text()
    assert player.go(99).history[-1][0]["role"] == "assistant"
