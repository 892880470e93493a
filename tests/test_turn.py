"""A whole turn with the scripted model, and the history it leaves."""

import pytest

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
from minicodex.history import CallOutput, counter, paired, user
from minicodex.models.scripted import ScriptedModel, call, last_output, say, search
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


def test_a_script_that_is_at_its_end_is_a_provider_error():
    with pytest.raises(ProviderError, match="only 0 answers"):
        turn([], [])


CALL = ModelFunctionCall("c", "t", "{}", "s", "fc_9")


def test_a_lost_output_is_repaired_directly_behind_its_call():
    assert [item.to_wire() for item in paired([CALL, user("hm")], counter())][1] == {
        "type": "function_call_output",
        "id": "fco_1",
        "call_id": "c",
        "output": "aborted",
    }


def test_a_history_that_is_whole_is_not_touched():
    output = CallOutput.of(CALL, ToolResult("c", True, "x"), counter())
    whole = (user("hi"), CALL, CALL, output, output)
    assert paired(whole, counter()) == whole


def test_an_output_without_a_call_is_refused():
    output = CallOutput.of(CALL, ToolResult("c", True, "x"), counter())
    with pytest.raises(HistoryError, match="has no call before it"):
        paired([output, CALL], counter())


def test_every_row_of_the_failure_table_is_complete():
    assert [row.boundary for row in FAILURES] == [*["build"] * 3, *["expose"] * 2, *["encode"] * 2, *["return"] * 3]
    assert len({row.key for row in FAILURES}) == len(FAILURES) == 10
    assert all(row.error is None or issubclass(row.error, MinicodexError) for row in FAILURES)
    assert all(row.where and row.already_done and row.model_sees and row.way_back for row in FAILURES)
