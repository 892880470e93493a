"""A whole turn with the scripted model, and the history it leaves."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minicodex import (
    ApiMode,
    ModelFunctionCall,
    PromptSnapshot,
    StepState,
    ToolResult,
    dynamic_tool,
    run_turn,
)
from minicodex.errors import FAILURES, HistoryError, MinicodexError, ProviderError
from minicodex.history import CallOutput, counter, paired, read_item, user, wire
from minicodex.models.scripted import (
    ScriptedModel,
    although_gone,
    as_text,
    call,
    cut,
    ignoring,
    last_output,
    say,
    search,
    twice,
    without,
)
from minicodex.planner import ModelAbilities
from minicodex.samples import EventBook, create_event_tool, plan_script
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.tool import Exposure

PROMPT = PromptSnapshot("Be brief.", [user("Plan it.")])


def turn(script, tools, **options):
    return run_turn(ScriptedModel(script), lambda step: tools, PROMPT, **options)


def test_a_turn_plans_calls_remembers_and_ends_with_an_answer():
    board = PlanBoard()
    done = turn(plan_script(), [update_plan_tool(board)])
    assert [event.kind for event in done.events] == [
        *("plan", "request", "answer", "call", "result"),
        *("plan", "request", "answer", "end"),
    ]
    assert (done.text, done.ended_by) == ("The plan is set.", "answer")
    assert board.text() == "[x] Read the notes\n[>] Write the summary"
    assert {event.step_id for event in done.events} == {"step_1", "step_2"}


def test_the_next_request_carries_the_call_verbatim_and_its_output():
    model = ScriptedModel([call("update_plan", '{ "plan":[] }'), say("ok")])
    run_turn(model, lambda step: [update_plan_tool(PlanBoard())], PROMPT)
    first, second = (request.to_json()["input"] for request in model.requests)
    assert second == [
        *first,
        {
            "type": "function_call",
            "id": "fc_1",
            "name": "update_plan",
            "arguments": '{ "plan":[] }',
            "call_id": "call_1",
        },
        {"type": "function_call_output", "id": "fco_2", "call_id": "call_1", "output": "Plan updated"},
    ]


def test_equal_turns_give_equal_bytes():
    def requests():
        model = ScriptedModel(plan_script())
        run_turn(model, lambda step: [update_plan_tool(PlanBoard()), create_event_tool()], PROMPT)
        return [request.to_bytes() for request in model.requests]

    assert requests() == requests()


@pytest.mark.parametrize("mode", [ApiMode.RESPONSES, ApiMode.RESPONSES_LITE])
def test_feedback_alone_leads_the_model_to_a_right_call(mode):
    def repair(request):
        assert "add the field" in last_output(request)
        return call("create_event", {"title": "Tea", "start": {"instant": "2031-04-05T09:30:00Z"}, "duration": 30})

    book = EventBook()
    done = turn([call("create_event", {"title": "Tea"}), repair, say("done")], [create_event_tool(book)], mode=mode)
    assert [result.ok for result in done.results] == [False, True]
    assert len(book.events) == 1


def test_a_deferred_tool_is_searched_found_and_called():
    mail = dynamic_tool(
        "send_mail",
        "Send an email message",
        {"type": "object"},
        lambda arguments: "sent",
        namespace="mcp__mail",
        exposure=Exposure.DEFERRED,
    )
    model = ScriptedModel([search("email"), call("send_mail", {}, namespace="mcp__mail"), say("sent")])
    step = StepState("step", model=ModelAbilities(supports_search=True))
    done = run_turn(model, lambda _: [mail], PROMPT, step=step)
    requests = [request.to_json() for request in model.requests]
    assert requests[0]["tools"] == requests[2]["tools"]
    assert requests[1]["input"][-1]["tools"][0]["tools"][0]["name"] == "send_mail"
    assert [result.ok for result in done.results] == [True, True]


def test_calls_in_one_answer_come_first_and_their_outputs_follow_in_call_order():
    tool = dynamic_tool("t", "", {"type": "object"}, lambda arguments: arguments["n"])
    done = turn([[call("t", {"n": 1}), say("between"), call("t", {"n": 2})], say("end")], [tool])
    kinds = [item.to_wire()["type"] for item in done.history]
    assert kinds[1:6] == ["function_call", "message", "function_call", "function_call_output", "function_call_output"]
    assert [result.output for result in done.results] == ["1", "2"]


def test_a_turn_ends_at_its_limits_and_every_call_is_answered():
    tool = dynamic_tool("t", "", {"type": "object"}, lambda arguments: "x")
    again = [call("t", {}), call("t", {})]
    many = turn([again, again, say("never")], [tool], max_calls=3)
    assert many.ended_by == "max_calls"
    assert [result.ok for result in many.results] == [True, True, True, False]
    assert many.results[-1].output == "not run: the turn has no calls left"
    assert turn([again] * 3, [tool], max_steps=2).ended_by == "max_steps"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "name": "t", "arguments": "{}", "call_id": None},
        {"type": "function_call", "name": "t", "arguments": {}, "call_id": "c"},
        {"type": "function_call", "name": "t", "arguments": "{}", "call_id": "c", "namespace": 5},
        {"type": "strange"},
        {},
    ],
)
def test_an_item_that_cannot_be_read_is_recorded_as_dropped(item):
    done = turn([[item]], [])
    assert [event.payload for event in done.events if event.kind == "dropped"] == [item]
    assert done.ended_by == "answer"


@pytest.mark.parametrize("namespace", [None, "", "functions"])
def test_the_empty_namespace_has_three_spellings(namespace):
    done = turn([call("update_plan", {"plan": []}, namespace=namespace), say("ok")], [update_plan_tool(PlanBoard())])
    assert done.results[0].ok


def test_a_refusal_of_the_model_is_what_it_said():
    parts = [{"type": "refusal", "refusal": "I will not."}, {"type": "output_text", "text": " Sorry."}, "?"]
    item = read_item({"type": "message", "role": "assistant", "content": parts}, "s", counter())
    assert item.text == "I will not. Sorry."


def test_a_script_that_is_at_its_end_is_a_provider_error():
    with pytest.raises(ProviderError, match="only 0 answers"):
        turn([], [])


def test_a_turn_that_follows_another_gives_new_ids():
    first = turn([say("one")], [])
    second = run_turn(
        ScriptedModel([say("two")]), lambda step: [], PromptSnapshot("", [*wire(first.history), user("x")])
    )
    ids = [item["id"] for item in wire(second.history) if "id" in item]
    assert len(set(ids)) == len(ids)


def test_no_request_is_sent_when_the_time_is_over():
    model = ScriptedModel([say("never")])
    done = run_turn(model, lambda step: [], PROMPT, max_seconds=0)
    assert (done.ended_by, model.requests) == ("max_seconds", [])


def test_a_call_is_waited_for_no_longer_than_the_turn_has_time():
    release = threading.Event()
    tool = dynamic_tool("t", "", {"type": "object"}, lambda arguments: release.wait(20))
    done = turn([call("t", {}), say("never")], [tool], max_seconds=0.2)
    release.set()
    assert done.ended_by == "max_seconds"
    assert "it may still be running" in done.results[0].output


def test_a_cancelled_turn_sends_nothing_and_answers_what_was_called():
    stop = threading.Event()
    tool = dynamic_tool("t", "", {"type": "object"}, lambda arguments: "x")

    def cancel(request):
        stop.set()
        return [call("t", {}), call("t", {})]

    done = turn([cancel, say("never")], [tool], cancelled=stop)
    assert (done.ended_by, [result.output for result in done.results]) == ("cancelled", ["aborted", "aborted"])
    assert paired(done.history, counter()) == done.history


@pytest.mark.parametrize("flaw", ["\ud800", float("nan")])
def test_an_item_that_could_not_be_sent_back_is_dropped_and_the_turn_goes_on(flaw):
    item = {"type": "function_call", "name": "t", "arguments": "{}", "call_id": "c", "extra": flaw}
    done = turn([[item, call("t", {})], say("ok")], [])
    assert [event.kind for event in done.events].count("dropped") == 1
    assert done.text == "ok"


def test_an_error_carries_the_turn_it_ended():
    book = EventBook()
    good = call("create_event", {"title": "Tea", "start": {"instant": "2031-04-05T09:30:00Z"}, "duration": 30})
    with pytest.raises(ProviderError) as caught:
        turn([good], [create_event_tool(book)])
    assert caught.value == ProviderError("the script has only 1 answers")
    unfinished = caught.value.turn
    assert (unfinished.ended_by, unfinished.results[0].ok, unfinished.events[-1].kind) == ("error", True, "end")
    model = ScriptedModel([say("done")])
    again = run_turn(model, lambda step: [create_event_tool(book)], PromptSnapshot("", unfinished.history))
    assert (again.text, len(book.events)) == ("done", 1)


# --- a model that misbehaves ----------------------------------------------------------------------------------------


def test_a_call_that_is_cut_off_is_answered_and_nothing_is_run():
    book = EventBook()
    done = turn([cut(call("create_event", {"title": "Tea"})), say("ok")], [create_event_tool(book)])
    assert "the text ends before the value is complete" in done.results[0].output
    assert cut(call("t", "{}"), keep=1)["arguments"] == "{"
    assert book.events == []


def test_a_call_that_comes_twice_is_run_twice_and_answered_twice():
    board = PlanBoard()
    done = turn([twice(call("update_plan", {"plan": []})), say("ok")], [update_plan_tool(board)])
    assert [result.call_id for result in done.results] == ["call_1", "call_2"]
    same = turn([twice(call("update_plan", {"plan": []}, call_id="c")), say("ok")], [update_plan_tool(board)])
    assert [result.call_id for result in same.results] == ["c", "c"]
    assert board.updates == 4


def test_a_call_that_violates_the_schema_is_answered_with_the_place():
    good = call("create_event", {"title": "Tea", "start": {"instant": "2031-04-05T09:30:00Z"}, "duration": 30})
    done = turn([[without(good, "title"), as_text(good, "duration")], say("ok")], [create_event_tool()])
    assert "at /title" in done.results[0].output
    assert 'got the string "30"' in done.results[1].output


def test_a_description_can_be_ignored_only_if_it_was_given():
    tool = update_plan_tool(PlanBoard())
    item = call("update_plan", {"plan": []})
    words = tool.contract.description[:20]
    assert turn([ignoring(words, item), say("ok")], [tool]).results[0].ok
    with pytest.raises(ProviderError, match="no description says that"):
        turn([ignoring("never said", item)], [tool])


@pytest.mark.parametrize("mode", [ApiMode.RESPONSES, ApiMode.RESPONSES_LITE])
def test_a_vanished_tool_can_be_called_only_if_it_is_gone(mode):
    item = call("update_plan", {"plan": []})
    model = ScriptedModel([item, although_gone(item), say("ok")])
    tools = {"step_1": [update_plan_tool(PlanBoard())]}
    done = run_turn(model, lambda step: tools.get(step.id, []), PROMPT, mode=mode)
    assert [result.ok for result in done.results] == [True, False]
    assert done.results[1].output.startswith("unsupported call: update_plan")
    with pytest.raises(ProviderError, match="it is offered"):
        turn([although_gone(item)], tools["step_1"], mode=mode)


# --- pairs ----------------------------------------------------------------------------------------------------------


CALL = ModelFunctionCall("c", "t", "{}", "s", "fc_9")
OUTPUT = CallOutput.of(CALL, ToolResult("c", True, "x"), counter())
ABORTED = {"type": "function_call_output", "id": "fco_1", "call_id": "c", "output": "aborted"}


def forms(*items):
    """The items as ours, as wire dicts, and in turn."""
    dicts = wire(items)
    return [items, dicts, [pair[n % 2] for n, pair in enumerate(zip(items, dicts, strict=True))]]


@pytest.mark.parametrize("history", forms(CALL, user("hm")))
def test_a_lost_output_is_repaired_directly_behind_its_call(history):
    assert wire(paired(history, counter()))[1] == ABORTED


@pytest.mark.parametrize("history", forms(user("hi"), CALL, CALL, OUTPUT, OUTPUT))
def test_a_history_that_is_whole_is_not_touched(history):
    assert paired(history, counter()) == tuple(history)


@pytest.mark.parametrize("history", [*forms(OUTPUT, CALL), *forms(CALL, OUTPUT, OUTPUT)])
def test_an_output_without_a_call_is_refused(history):
    with pytest.raises(HistoryError, match="has no call before it"):
        paired(history, counter())


@pytest.mark.parametrize(
    ("call_item", "output_type"),
    [
        ({"type": "custom_tool_call", "call_id": "c", "name": "t", "input": ""}, "custom_tool_call_output"),
        ({"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {}}, "tool_search_output"),
    ],
)
def test_each_kind_of_call_gets_its_own_kind_of_output(call_item, output_type):
    (_, repaired) = wire(paired([call_item], counter()))
    assert (repaired["type"], repaired["call_id"]) == (output_type, "c")
    with pytest.raises(HistoryError):
        paired([call_item, OUTPUT], counter())


def test_a_search_that_the_provider_did_itself_needs_no_output_of_ours():
    hosted = {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {}}
    assert paired([hosted], counter()) == (hosted,)


@pytest.mark.parametrize("call_id", [None, 5])
def test_a_call_without_an_id_is_refused(call_id):
    with pytest.raises(HistoryError, match="needs a call_id"):
        paired([{"type": "function_call", "name": "t", "arguments": "{}", "call_id": call_id}], counter())


PIECES = st.sampled_from(
    [{"type": kind, "call_id": call_id} for kind in ("function_call", "custom_tool_call") for call_id in "ab"]
    + [
        {"type": f"{kind}_output", "call_id": call_id}
        for kind in ("function_call", "custom_tool_call")
        for call_id in "ab"
    ]
    + [{"type": "message"}]
)


@given(st.lists(PIECES, max_size=12))
def test_a_history_is_repaired_or_refused_and_never_left_broken(history):
    try:
        repaired = wire(paired(history, counter()))
    except HistoryError:
        return
    assert [item for item in repaired if item.get("output") != "aborted"] == history
    waiting = Counter()
    for item in repaired:
        kind = item["type"]
        if kind.endswith("_call"):
            waiting[kind, item["call_id"]] += 1
        elif kind.endswith("_output"):
            waiting[kind.removesuffix("_output"), item["call_id"]] -= 1
            assert min(waiting.values()) >= 0
    assert not any(waiting.values())


def test_every_row_of_the_failure_table_is_complete():
    assert [row.boundary for row in FAILURES] == [*["build"] * 3, *["expose"] * 2, *["encode"] * 2, *["return"] * 3]
    assert len({row.key for row in FAILURES}) == len(FAILURES) == 10
    assert all(row.error is None or issubclass(row.error, MinicodexError) for row in FAILURES)
    assert all(row.where and row.already_done and row.model_sees and row.way_back for row in FAILURES)
