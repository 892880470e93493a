"""The checks of chapter 7: each typical mistake gets its sentence."""

import json
from dataclasses import replace

import pytest

from minicodex import ApiMode, dynamic_tool
from minicodex.lab import chapter_07 as lab
from minicodex.lab.request_costs import MEASURED


def top_level_only(body):
    return {tool["name"] for tool in body.get("tools", [])}


def flat(body):
    names = set()
    for entry in [*body.get("tools", []), *(t for item in body["input"] for t in item.get("tools", []))]:
        inner = entry.get("tools", [])
        names |= {f"{entry['name']}.{tool['name']}" for tool in inner} if inner else {entry["name"]}
    return names


@pytest.mark.parametrize(
    ("names_of", "sentence"),
    [
        (None, "must be a function"),
        (lambda body: [], "it gave list, not a set of names"),
        (top_level_only, "`mcp__calendar` is no tool that the model may call: it is a namespace, which holds tools"),
        (lambda body: top_level_only(body) & {"update_plan"}, "`mcp__calendar.create_event` is not found"),
        (flat, "`functions` only wraps what has no namespace"),
        (flat, "`mcp__p.gone` is no tool that the model may call: a developer message has taken it back"),
    ],
)
def test_finder_of_names_is_told_what_it_misses(names_of, sentence):
    verdict = lab.check_names(names_of)
    assert not verdict.done
    assert sentence in verdict.text()


def two(*, swapped=False, result=None, words=""):
    tools = [
        dynamic_tool("one", words, {"type": "object"}, str, output_schema=result),
        dynamic_tool("two", "", {"type": "object"}, str),
    ]
    return tools[::-1] if swapped else tools


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        ({}, "their order must change"),
        ({"swapped": True}, "the output schema of one of them must change"),
        ({"swapped": True, "result": {"type": "string"}, "words": "new"}, "the model is told something: 2 items more"),
    ],
)
def test_quiet_change_is_told_what_is_missing_or_too_loud(later, sentence):
    verdict = lab.check_quiet(lambda step: two() if step.id.endswith("_1") else two(**later))
    assert sentence in verdict.text()


def test_quiet_change_needs_the_same_tools_in_both_steps():
    assert "the same two tools" in lab.check_quiet(lambda step: two()[: 1 + step.id.endswith("_1")]).text()
    assert "must be a function" in lab.check_quiet([]).text()


@pytest.mark.parametrize(
    ("mode", "sentences"),
    [
        ("mine", ["must be an `ApiMode`"]),
        (
            ApiMode.RESPONSES,
            ["`parallel_tool_calls` must be false", "no key `instructions`", "a developer message must carry"],
        ),
        (replace(ApiMode.RESPONSES_LITE, keeps_instructions_key=False), ["under `tools`", "`x-workshop: true`"]),
    ],
)
def test_mode_is_told_what_is_not_right(mode, sentences):
    text = lab.check_mode(mode).text()
    assert all(sentence in text for sentence in sentences)


def test_prediction_of_the_speed_is_what_was_measured():
    ratios = json.loads(MEASURED.read_text(encoding="utf-8"))["ratios"]
    plain, shared = ratios.values()
    assert [choice.right for choice in lab.HOW_MUCH_FASTER.choices] == [False, False, True]
    assert plain / shared > 100, "more than a hundred times"


def test_lite_keeps_the_beginning_and_the_ordinary_mode_does_not():
    for mode, kept_all in ((ApiMode.RESPONSES, False), (ApiMode.RESPONSES_LITE, True)):
        _, (first, second) = lab.lite_turn(lab.changing, mode)
        kept, whole = lab.kept_beginning(first, second)
        assert (kept == whole) is kept_all
