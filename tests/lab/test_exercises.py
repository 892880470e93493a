"""The checks of chapters 0 and 1: each good answer passes, each typical mistake gets its sentence."""

import json
from dataclasses import replace

import pytest

from minicodex import Exposure, ModelSearchCall, StepState, ToolResult, dispatch_all, dispatch_function_call, plan_tools
from minicodex.errors import ArgumentError, ArgumentFault
from minicodex.lab import chapter_00, chapter_01
from minicodex.models.scripted import call, say
from minicodex.sources.builtin import PlanBoard, update_plan_tool


def steps(*statuses):
    return {"plan": [{"step": f"step {number}", "status": status} for number, status in enumerate(statuses)]}


SET, DONE = (
    call("update_plan", steps("in_progress", "pending", "pending")),
    call("update_plan", steps(*["completed"] * 3)),
)


def test_script_that_sets_and_completes_a_plan_passes():
    assert chapter_00.check_script([SET, DONE, say("Done.")]).done


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "must be a list of answers"),
        ([], "must be a list of answers"),
        ([SET, DONE], "end the script with `say"),
        ([[SET, DONE], say("Done.")], "both calls came in one answer"),
        ([SET, say("Done.")], "updated 1 time, not twice"),
        ([SET, SET, say("Done.")], 'every step must be "completed"'),
        ([SET, call("update_plan", steps("completed")), say("Done.")], "has 1 step in the end, not three"),
        ([SET, call("update_plan", "{"), say("Done.")], "call 2 was refused: - not valid JSON"),
        ([call("update_plans", {}), say("Done.")], "call 1 was refused: unsupported call: update_plans"),
    ],
)
def test_script_is_told_what_is_wrong(script, sentence):
    verdict = chapter_00.check_script(script)
    assert not verdict.done
    assert sentence in verdict.text()


def test_our_own_dispatcher_passes():
    assert chapter_00.check_dispatcher(dispatch_function_call).done


def trusting(call, plan):
    handler = plan.dispatch[call.canonical_name]
    return ToolResult(call.id, True, handler.run(handler.decode_arguments(call.raw_arguments), call_id=call.id))


@pytest.mark.parametrize(
    ("dispatch", "sentence"),
    [
        (trusting, "a name that the plan does not have: it raised KeyError"),
        (lambda call, plan: None, "a good call: it gave NoneType"),
        (lambda call, plan: ToolResult("x", True, "ok"), "a good call: the result has the id 'x'"),
        (lambda call, plan: ToolResult(call.id, False, ""), "a good call: `ok` must be True"),
        (lambda call, plan: ToolResult(call.id, True, "ok"), "a good call: the plan was not changed"),
        (lambda call, plan: replace(dispatch_function_call(call, plan), output=""), "the output is empty"),
        (lambda call, plan: replace(dispatch_function_call(call, plan), output="no"), "the word `JSON` would help"),
        (
            lambda call, plan: dispatch_function_call(replace(call, step_id=plan.step_id), plan),
            "a call of another step",
        ),
    ],
)
def test_dispatcher_is_told_what_is_wrong(dispatch, sentence):
    verdict = chapter_00.check_dispatcher(dispatch)
    assert not verdict.done
    assert sentence in verdict.text()


GOOD_ITEM = {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}


def test_dropped_item_is_recognised():
    assert chapter_00.check_dropped_item({**GOOD_ITEM, "namespace": 5}).done


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ([], "must be a dict"),
        (GOOD_ITEM, "this item is read and answered"),
        ({**GOOD_ITEM, "arguments": {}}, "`arguments` must be there and be a text"),
    ],
)
def test_item_that_is_not_dropped_or_for_a_simpler_reason(item, sentence):
    assert sentence in chapter_00.check_dropped_item(item).text()


def test_trusting_handler_does_what_the_text_says():
    board = PlanBoard()
    handler = chapter_00.TrustingHandler(board)
    handler.run(handler.decode_arguments(json.dumps(chapter_00.TWO_AT_ONCE)), call_id="c")
    assert [item.status for item in board.items] == ["in_progress", "in_progress"]


# --- chapter 1 -------------------------------------------------------------------------------------------------------


def test_strict_schema_is_told_first_what_it_misses():
    verdict = chapter_01.check_strict(chapter_01.EXERCISE_SCHEMA)
    assert "at the root: other properties are allowed" in verdict.text()


def test_strict_schema_that_can_say_less_is_not_done():
    schema = {
        "type": "object",
        "properties": {
            name: {"type": kind} for name, kind in (("title", "string"), ("minutes", "integer"), ("guests", "null"))
        },
        "required": ["title", "minutes", "guests"],
        "additionalProperties": False,
    }
    assert "a guest without a note can no longer be said" in chapter_01.check_strict(schema).text()
    del schema["properties"]["guests"]
    assert "must still be title, minutes and guests" in chapter_01.check_strict(schema).text()


def refuse_with_a_list(items):
    if len({item.step for item in items}) < len(items):
        raise ArgumentError([ArgumentFault("twice")])


def refuse_second(items, **fault):
    if len({item.step for item in items}) < len(items):
        raise ArgumentError(ArgumentFault("twice", **fault))


def test_strict_schema_that_can_say_more_is_not_done():
    note = {"email": {"type": "string"}, "note": {"type": ["string", "null"]}}
    guest = {"type": "object", "properties": note, "required": ["email", "note"], "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": ["string", "null"]},
            "minutes": {"type": "integer"},
            "guests": {"type": ["array", "null"], "items": guest},
        },
        "required": ["title", "minutes", "guests"],
        "additionalProperties": False,
    }
    assert "an event without a title could not be said before" in chapter_01.check_strict(schema).text()
    schema["properties"]["title"] = {"type": "string"}
    assert chapter_01.check_strict(schema).done


def test_rule_with_place_and_way_out_passes():
    assert chapter_01.check_rule(lambda items: refuse_second(items, pointer="/plan/2/step", hint="list it once")).done


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (lambda items: None, "is accepted"),
        (lambda items: refuse_second(items, hint="list it once"), "does not say where"),
        (lambda items: refuse_second(items, pointer="/plan/2/step"), "shows no way out"),
        (lambda items: refuse_second([*items, *items]), "a plan of two different steps is refused"),
        (lambda items: [].index(len(items)), "it raised ValueError"),
        (refuse_with_a_list, "takes texts and ArgumentFaults, one by one"),
    ],
)
def test_rule_is_told_what_is_wrong(rule, sentence):
    assert sentence in chapter_01.check_rule(rule).text()


def found(query, exposure):
    plan = plan_tools([replace(update_plan_tool(PlanBoard()), exposure=exposure)], StepState("step_1"))
    return dispatch_all([ModelSearchCall("c", {"query": query}, "step_1")], plan)[0]


def test_search_result_is_recognised_and_others_are_not():
    assert chapter_01.check_found(found("plan", Exposure.DEFERRED)).done
    assert "found nothing" in chapter_01.check_found(found("weather", Exposure.DEFERRED)).text()
    assert "found nothing" in chapter_01.check_found(found("plan", Exposure.DIRECT)).text()
    assert "holds no manuals" in chapter_01.check_found(ToolResult("c", True, "Plan updated")).text()
