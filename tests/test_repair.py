"""The repair loop: feedback alone leads a model that sees no schema to a right call."""

import pytest

from minicodex import PromptSnapshot, dynamic_tool, function_tool, run_turn
from minicodex.models.obedient import ObedientModel
from minicodex.sources.builtin import PlanBoard, update_plan_tool

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 5},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["C", "F"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
}

FAULTS = {
    "not JSON": "not json",
    "empty": "",
    "cut": '{"city":"Os',
    "trailing comma": '{"city":"Oslo",}',
    "two objects": '{"city":"Oslo"}{"city":"Rome"}',
    "NaN": '{"city":"Oslo","days":NaN}',
    "key twice": '{"city":"Oslo","city":"Rome"}',
    "half a pair": '{"city":"\\ud83d"}',
    "a list": '["Oslo"]',
    "null": "null",
    "encoded twice": '"{\\"city\\":\\"Oslo\\"}"',
    "wrapped": '{"arguments":{"city":"Oslo"}}',
    "missing": "{}",
    "missing deep inside": '{"city":"Oslo","place":{}}',
    "wrong type": '{"city":5}',
    "number as text": '{"city":"Oslo","days":"3"}',
    "list as text": '{"city":"Oslo","tags":"[\\"a\\"]"}',
    "wrong member": '{"city":"Oslo","tags":["a",5]}',
    "null for optional": '{"city":"Oslo","days":null}',
    "not allowed": '{"city":"Oslo","unit":"K"}',
    "misspelt field": '{"citty":"Oslo"}',
    "unknown field": '{"city":"Oslo","planet":"Mars"}',
    "too small": '{"city":"Oslo","days":0}',
    "too large": '{"city":"Oslo","days":99}',
    "too short": '{"city":"O"}',
    "too long": '{"city":"Reykjavik"}',
    "too many": '{"city":"Oslo","tags":["a","b","c"]}',
    "no branch fits": '{"city":"Oslo","note":[1]}',
    "several faults": '{"days":"9","unit":"K","planet":1}',
}


def typed(function):
    @function_tool
    def forecast(city: str, days: int = 1) -> str:
        """The forecast."""
        return function({"city": city, "days": days})

    return forecast


@pytest.mark.parametrize("fault", FAULTS)
def test_two_further_attempts_are_enough(fault):
    seen = []
    tool = dynamic_tool("forecast", "", SCHEMA, lambda arguments: seen.append(arguments) or "sunny")
    model = ObedientModel("forecast", FAULTS[fault])
    turn = run_turn(model, lambda step: [tool], PromptSnapshot("", []))
    assert turn.ended_by == "answer"
    assert 1 < len(model.attempts) <= 3
    assert len(seen) == 1


@pytest.mark.parametrize("fault", [name for name, text in FAULTS.items() if "tags" not in text and "unit" not in text])
def test_typed_functions_give_feedback_that_is_as_good(fault):
    seen = []
    tool = typed(lambda arguments: seen.append(arguments) or "sunny")
    model = ObedientModel("forecast", FAULTS[fault])
    assert run_turn(model, lambda step: [tool], PromptSnapshot("", [])).ended_by == "answer"
    assert len(model.attempts) <= 3
    assert len(seen) == 1


@pytest.mark.parametrize("plan", ['{"plan":"x"}', '{"plan":[{"step":"a"}]}', '{"plan":[{"step":"a","status":"done"}]}'])
def test_the_plan_is_mended_too(plan):
    board = PlanBoard()
    model = ObedientModel("update_plan", plan)
    run_turn(model, lambda step: [update_plan_tool(board)], PromptSnapshot("", []))
    assert board.updates == 1
    assert len(model.attempts) <= 3
