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
    ("name", "verdict"),
    [
        ("ours, ordinary", "2 tools, under the key `tools`: this is ordinary Responses."),
        ("ours, Lite", "2 tools, in the first item of `input`: this is Responses Lite."),
        ("Codex, ordinary", "20 tools, under the key `tools`: this is ordinary Responses."),
        ("Codex, Lite", "19 tools, in the first item of `input`: this is Responses Lite."),
        (
            "Codex, Lite, three requests later",
            "19 tools, in the first item of `input` and in 2 later updates: this is Responses Lite.",
        ),
    ],
)
def test_each_request_is_told_where_its_tools_are(name, verdict):
    assert REQUESTS[name].verdict == verdict


def test_both_modes_of_ours_hold_the_same_tools():
    ordinary, lite = REQUESTS["ours, ordinary"], REQUESTS["ours, Lite"]
    assert ordinary.tools == lite.tools == ["mcp__calendar.create_event", "update_plan"]


def test_what_was_taken_back_and_came_again_is_counted_once():
    head, later = REQUESTS["Codex, Lite"], REQUESTS["Codex, Lite, three requests later"]
    assert head.tools == later.tools
    gone = {**later.body, "input": later.body["input"][:-2]}
    assert "mcp__p.morph" not in Captured(gone).tools


UPDATE = {"type": "additional_tools", "tools": [{**TOOL, "name": "b"}]}
USER = {"type": "message", "role": "user", "content": []}
MARKED = {"X-OpenAI-Internal-Codex-Responses-Lite": "true"}


@pytest.mark.parametrize(
    ("body", "headers", "verdict"),
    [
        ({"input": []}, {}, "No tools: there is neither a key `tools` nor an item `additional_tools`."),
        ({"input": []}, MARKED, "nor an item `additional_tools`, although the header says Responses Lite."),
        ({"input": [], "tools": [TOOL]}, MARKED, "ordinary Responses, although the header says Responses Lite."),
        ({"input": [], "tools": [TOOL]}, dict.fromkeys(MARKED, "false"), "this is ordinary Responses."),
        ({"input": [UPDATE]}, {}, "1 tool, in the first item of `input`: this is Responses Lite."),
        ({"input": [USER, UPDATE]}, {}, "1 tool, in 1 update: this is Responses Lite, but its first item is missing."),
        ({"input": [UPDATE], "tools": [TOOL]}, {}, "2 tools, in two places"),
    ],
)
def test_what_fits_neither_mode_is_told_so(body, headers, verdict):
    assert verdict in Captured(body, headers).verdict


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
    view = Xray({"ours": REQUESTS["ours, Lite"], "strange": Captured(body)})
    assert view.rows
    assert len(view.text()) < 5_000
    assert view.html()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no request yet: paste one into the field"),
        ('{"input": [', "this is no JSON: the text ends before the value is complete at line 1"),
        ("[]", "a request is an object, and this is []"),
        ("{}", "it has no input; it is empty"),
        ('{"messages": [], "tools": []}', "no request to the Responses API: it has no input; its keys are messages"),
        ('{"headers": {}, "request": {"input": []}}', "its keys are headers, request"),
        ('{"headers": [["a", "b"]], "body": {"input": []}}', "it has no input; its keys are headers, body"),
        (r'{"input": [], "tools": ["\ud83d"]}', "half of a surrogate pair"),
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
    text = json.dumps({"headers": MARKED, "body": {"input": []}})
    assert Captured.read(text).organs["marker header"] == "`X-OpenAI-Internal-Codex-Responses-Lite: true`"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"tools": [{**TOOL, "name": f"tool_{n:05}"} for n in range(9_000)]}, "`tool_00049`, and 8,950 more"),
        ({"tools": [{**TOOL, "name": "n" * 200_000}]}, f"`{'n' * 159}…`"),
        ({"tools": [{**TOOL, "name": "a\nright: b"}]}, r"`a\nright: b`"),
        ({"input": [UPDATE] * 9_000}, "`/input/4`: 1 entry, 48 bytes; and 8,995 more"),
    ],
)
def test_answers_stay_short_however_much_is_pasted(body, answer):
    view = Xray(REQUESTS).own(json.dumps({"input": [], **body}))
    assert any(right.endswith(answer) for _, _, right in view.rows)
    assert len(view.text()) < 2_000
    assert len(view.html()) < 50_000


def test_a_body_is_drawn_unless_it_is_too_long():
    drawn, left_out = (Xray(REQUESTS).own(json.dumps({"input": [], "x": "y" * n})).html() for n in (100, 200_000))
    assert "y" * 100 in drawn
    assert "200,019 bytes are too many to be drawn" in left_out  # the text, and 19 around it


def test_only_what_differs_is_named_of_two_long_lists():
    text = Xray(REQUESTS).compare("Codex, ordinary", "Codex, Lite").text()
    assert "left:  16 in both; only here: mcp__p.alpha, mcp__p.do_it, mcp__p.zeta, web_search" in text
    assert "right: 16 in both; only here: mcp__p.gone, mcp__p.morph, mcp__p.stay" in text


def test_foreign_words_are_shown_as_text():
    body = {"tools": [{**TOOL, "name": SCRIPT}], "instructions": SCRIPT, SCRIPT: 1, "parallel_tool_calls": SCRIPT}
    view = Xray(REQUESTS).own(json.dumps(body))
    assert SCRIPT not in view.html()
    assert "&lt;script&gt;" in view.html()


def test_table_of_boxes_is_a_table_to_a_screen_reader():
    view = Xray(REQUESTS)
    same = sum(left == right for _, left, right in view.rows)
    html = view.html()
    assert html.count('role="row"') == 1 + len(view.rows)
    assert html.count('role="columnheader"') == 3
    assert html.count('role="cell"') == 2 * len(view.rows) - same
    assert html.count('aria-colspan="2"') == same


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
