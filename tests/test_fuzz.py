"""A hundred thousand broken calls: no exception, one output each, and business code only with arguments that fit.

The judge is independent: fastjsonschema for tools from data, whose arguments we check with jsonschema, and jsonschema
for typed functions, whose arguments we check with pydantic.
"""

import json
import random
from typing import Literal

import fastjsonschema
import pytest
from jsonschema import Draft202012Validator

from minicodex import ModelFunctionCall, StepState, dispatch_all, dynamic_tool, function_tool, plan_tools
from minicodex.samples import CREATE_EVENT_SCHEMA, PLAN_ARGUMENTS
from minicodex.sources.builtin import PlanBoard, update_plan_tool

CALLS = 100_000


def of(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


SCHEMAS = {
    "nothing": (of(), {}),
    "closed": (of(a={"type": "string"}) | {"additionalProperties": False}, {"a": "x"}),
    "integer": (of(["n"], n={"type": "integer", "minimum": -3, "maximum": 300}), {"n": 30}),
    "number": (of(["n"], n={"type": "number", "exclusiveMinimum": 0}), {"n": 2.5}),
    "text": (of(["s"], s={"type": "string", "minLength": 2, "maxLength": 6}), {"s": "abcd"}),
    "pattern": (of(["s"], s={"type": "string", "pattern": "^[a-z]+$"}), {"s": "abc"}),
    "enum": (of(["e"], e={"enum": ["red", "green", 3, None]}), {"e": "red"}),
    "const": (of(["c"], c={"const": 7}), {"c": 7}),
    "list": (of(["l"], l={"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}), {"l": [1, 2]}),
    "set": (of(l={"type": "array", "uniqueItems": True}), {"l": [1, "a"]}),
    "tuple": (of(["p"], p={"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}), {"p": [1, "a"]}),
    "nested": (of(["o"], o=of(["x"], x={"type": "boolean"})), {"o": {"x": True}}),
    "map": ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1, "b": 2}),
    "null": (of(["v"], v={"type": ["string", "null"]}), {"v": None}),
    "any": (of(["v"], v={"anyOf": [{"type": "integer"}, of(["k"], k={"type": "string"})]}), {"v": {"k": "x"}}),
    "one": (of(["v"], v={"oneOf": [{"type": "integer"}, {"type": "string"}]}), {"v": "x"}),
    "names": (
        {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
        {"x-a": "b"},
    ),
    "event": (CREATE_EVENT_SCHEMA, {"title": "Tea", "duration": 30, "start": {"instant": "2031-04-05T09:30:00Z"}}),
}

CHARACTERS = '{}[]",:\\0123456789eE.-+ truefalsnx\u00e9\u2028\ud83d\t\n\x00\ufeff'
FRAGMENTS = ["null", "true", "NaN", "1e400", '"a"', "[]", "{}", '"\\ud83d"', "{" * 200, '"x":1,', "9" * 30, "-0", "3.0"]


def mutated(text, dice):
    """The text with one to four changes, of characters, of pieces, or of values."""
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text) + 1)
        kind = dice.randrange(6)
        if kind == 0:
            text = text[:at] + dice.choice(CHARACTERS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + dice.randint(1, 5) :]
        elif kind == 2:
            text = text[:at] + dice.choice(FRAGMENTS) + text[at:]
        elif kind == 3:
            text = text[:at]
        elif kind == 4:
            start = dice.randrange(len(text) + 1)
            text = text[:at] + text[start : start + 12] + text[at:]
        else:
            text = with_another_value(text, dice)
    return text


def with_another_value(text, dice):
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or not value:
        return text
    key = dice.choice(list(value))
    value[key] = dice.choice([None, True, 0, -1, 7, 3.0, 2.5, 301, "", "a", "abc", [], [1], ["a", 1], {}, {"k": "x"}])
    if dice.random() < 0.2:
        value[dice.choice(["a", "zz", "x-b"])] = 1
    return json.dumps(value)


@pytest.fixture
def tools():
    """Twenty tools, each with a good call and an independent judge; what ran is written down."""
    ran: list = []
    built = {}
    for name, (schema, good) in SCHEMAS.items():
        tool = dynamic_tool(name, "", schema, lambda arguments, name=name: ran.append((name, arguments)) or "ok")
        draft7 = {"$schema": "http://json-schema.org/draft-07/schema#"} | unprefixed(schema)
        judge = fastjsonschema.compile(draft7, use_formats=False)
        built[name] = (tool, json.dumps(good), judge)
    built |= typed_tools(ran)
    return ran, built


def unprefixed(schema):
    """fastjsonschema speaks draft 7, where `prefixItems` is written as a list of `items` and `$defs` is data."""
    text = json.dumps(schema).replace('"prefixItems"', '"items"').replace('"$schema"', '"$comment"')
    return json.loads(text)


def typed_tools(ran):
    @function_tool
    def typed(count: int, mode: Literal["fast", "slow"] = "fast", ratio: float | None = None) -> str:
        ran.append(("typed", {"count": count, "mode": mode, "ratio": ratio}))
        return "ok"

    board = PlanBoard()
    plan = update_plan_tool(board)
    judges = {tool.contract.name: Draft202012Validator(tool.contract.parameters.to_json()) for tool in (typed, plan)}
    return {
        "typed": (typed, '{"count":3,"mode":"slow","ratio":null}', judges["typed"].validate),
        "update_plan": (plan, json.dumps(PLAN_ARGUMENTS), judges["update_plan"].validate),
    }


def test_no_broken_call_gets_through(tools):
    ran, built = tools
    dice = random.Random(20310405)
    plan = plan_tools([tool for tool, _, _ in built.values()], StepState("s"))
    good = refused = 0
    for start in range(0, CALLS, 100):
        calls = []
        for number in range(start, start + 100):
            name = dice.choice(list(built))
            calls.append(ModelFunctionCall(str(number), name, mutated(built[name][1], dice), "s"))
        ran.clear()
        results = dispatch_all(calls, plan)
        assert [result.call_id for result in results] == [call.id for call in calls]
        for call, result in zip(calls, results, strict=True):
            result.output.encode()
            if result.ok:
                built[str(call.canonical_name)][2](json.loads(call.raw_arguments.strip() or "{}"))
                good += 1
            else:
                assert "do not fit" in result.output or "refused" in result.output
                refused += 1
        for name, arguments in ran:
            if name in SCHEMAS:
                built[name][2](arguments)
    assert len(built) == 20
    assert good + refused == CALLS
    assert min(good, refused) > CALLS // 20  # both kinds were really tried
