"""The request x-ray: it finds the tools wherever they are, and takes nothing for granted."""

import json

import pytest

from minicodex.lab.captured import Captured
from minicodex.lab.chapter_07 import captured
from minicodex.lab.request_xray import OWN, Xray, request_xray

REQUESTS = captured()
TOOL = {"type": "function", "name": "a", "parameters": {}}
SCRIPT = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("name", "place", "is_lite"),
    [
        ("ours, ordinary", "2 tools, under the key `tools`", False),
        ("ours, Lite", "2 tools, in the first item of `input`: ", True),
        ("Codex, ordinary", "20 tools, under the key `tools`", False),
        ("Codex, Lite", "19 tools, in the first item of `input`: ", True),
        ("Codex, Lite, three requests later", "in the first item of `input` and in 2 later updates", True),
    ],
)
def test_each_request_is_told_where_its_tools_are(name, place, is_lite):
    assert place in REQUESTS[name].verdict
    assert REQUESTS[name].is_lite is is_lite


def test_both_modes_of_ours_hold_the_same_tools():
    ordinary, lite = REQUESTS["ours, ordinary"], REQUESTS["ours, Lite"]
    assert ordinary.tools == lite.tools == ["mcp__calendar.create_event", "update_plan"]


def test_what_was_taken_back_and_came_again_is_counted_once():
    head, later = REQUESTS["Codex, Lite"], REQUESTS["Codex, Lite, three requests later"]
    assert head.tools == later.tools
    gone = {**later.body, "input": later.body["input"][:-2]}
    assert "mcp__p.morph" not in Captured(gone).tools


def test_lite_is_known_by_its_header_or_by_its_first_item():
    body = {"input": [{"type": "additional_tools", "tools": [TOOL]}]}
    assert Captured(body).is_lite
    assert Captured({"input": []}, {"X-OpenAI-Internal-Codex-Responses-Lite": "true"}).is_lite
    assert not Captured({"input": []}).is_lite


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": "hello"},
        {"input": None, "tools": None},
        {"input": [1, None, [], {"type": 5}], "tools": "none"},
        {"input": [{"type": "additional_tools"}, {"type": "additional_tools", "tools": [1, {"name": 7}]}]},
        {"input": [{"type": "message", "role": "developer", "content": 3}]},
        {"input": [{"type": "tool_search_output", "tools": {}}]},
        {"tools": [{"type": "namespace", "name": 5, "tools": 7}, {"type": "namespace", "name": "n", "tools": [2]}]},
        {"instructions": {"a": 1}, "parallel_tool_calls": "x" * 9_000},
    ],
)
def test_any_json_object_can_be_looked_at(body):
    view = Xray(REQUESTS).own(json.dumps(body))
    assert isinstance(view.pair[1], Captured)
    assert view.rows
    assert len(view.text()) < 5_000
    assert view.html()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "paste a request below"),
        ('{"input": [', "this is no JSON: the text ends before the value is complete at line 1"),
        ("[]", "a request is an object, and this is []"),
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ('"' + "x" * 1_000_001 + '"', "longer than 1,000,000 characters"),
        ("[" * 500, "nested deeper than"),
    ],
)
def test_what_is_no_request_is_told_so_in_place(text, sentence):
    view = Xray(REQUESTS).own(text)
    assert sentence in view.text()
    assert view.rows == []
    assert view.html()


def test_headers_can_be_pasted_with_the_body():
    text = json.dumps({"headers": {"x-openai-internal-codex-responses-lite": "true"}, "body": {"input": []}})
    assert Captured.read(text).is_lite


def test_only_what_differs_is_named_of_two_long_lists():
    text = Xray(REQUESTS).compare("Codex, ordinary", "Codex, Lite").text()
    assert "left:  16 in both; only here: mcp__p.alpha, mcp__p.do_it, mcp__p.zeta, web_search" in text
    assert "right: 16 in both; only here: mcp__p.gone, mcp__p.morph, mcp__p.stay" in text


def test_foreign_words_are_shown_as_text():
    body = {"tools": [{**TOOL, "name": SCRIPT}], "instructions": SCRIPT, SCRIPT: 1, "parallel_tool_calls": SCRIPT}
    view = Xray(REQUESTS).own(json.dumps(body))
    assert SCRIPT not in view.html()
    assert "&lt;script&gt;" in view.html()


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no request is called 'mine'; they are ours, ordinary"):
        Xray(REQUESTS).compare("mine")


def test_controls_change_their_own_copy_only():
    first, second = request_xray(REQUESTS), request_xray(REQUESTS)
    (left, right), (text, go) = (row.children for row in first.children[:2])
    left.set_state({"index": 2})
    assert first.state.left == "Codex, ordinary"
    text.set_state({"value": '{"input": []}'})
    go.click()
    assert right.value == OWN
    assert "No tools: there is neither a key" in first.text()
    assert "No tools: there is neither" not in second.text()
