"""What the schema widgets share: marks with the compiler's own words, the rail, the losses, a refusal in its place."""

import json

import pytest

from minicodex.lab.json_diff import ABSENT
from minicodex.lab.refusal import Refusal
from minicodex.lab.stage_json import MAX_LISTED, MAX_TEXT_LINES, StageJson
from minicodex.lab.stages import Losses, Pages, Rail
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import trace_tool_schema, trace_tool_schema_json

EVENT = Pages(trace_tool_schema(CREATE_EVENT_SCHEMA))


def marked(node):
    """Place, mark and effect of everything that normalisation changes in a property."""
    trace = trace_tool_schema({"type": "object", "properties": {"x": node}})
    view = StageJson(trace.schema.to_json()["properties"]["x"], node, losses=trace.losses, below="/properties/x")
    return [(change.pointer, change.mark.name, change.effect) for change in view.changes]


@pytest.mark.parametrize(
    ("node", "changes"),
    [
        ({"enum": ["a"]}, [("/type", "NEW", "")]),
        ({"enum": [1]}, [("/type", "NEW", "contradictory")]),
        ({"enum": ["a", 1]}, [("/type", "NEW", "narrower")]),
        ({"type": "array", "maxItems": 3}, [("/maxItems", "GONE", "wider"), ("/items", "NEW", "narrower")]),
        ({"items": {"type": "string"}, "title": "t"}, [("/title", "GONE", "text lost"), ("/type", "NEW", "narrower")]),
        (True, [("", "CHANGED", "narrower")]),
        ({"type": "integer", "$comment": "c"}, [("/$comment", "GONE", "")]),
        (
            {"type": "object", "properties": {}, "patternProperties": {"^a": {}}, "additionalProperties": False},
            [("/patternProperties", "GONE", "narrower")],
        ),
    ],
)
def test_marks_say_what_the_compiler_says(node, changes):
    assert sorted(marked(node)) == sorted(changes)


def test_every_change_of_every_pass_is_marked_with_an_effect():
    pages = Pages(trace_tool_schema(CREATE_EVENT_SCHEMA, budget_bytes=0)).pages
    effects = [{change.effect for change in page.json.changes} for page in pages[3:]]
    assert effects == [{"text lost"}, {"wider"}, {"wider"}, {"wider"}]


def test_stage_that_was_not_needed_is_compared_with_nothing():
    assert [page.ran for page in EVENT.pages] == [True] * 4 + [False] * 3
    assert [page.json.before is ABSENT for page in EVENT.pages] == [True] + [False] * 3 + [True] * 3


def test_rail_shows_every_page_with_its_size_and_the_change():
    lines = Rail(EVENT.pages, 3).text().splitlines()
    sizes = [stage.size_bytes for stage in EVENT.trace.stages]
    assert len(lines) == 7
    assert lines[3].startswith("> 3 remove_schema_descriptions")
    assert f"{sizes[2]:,} bytes" in lines[3]
    assert f"-{sizes[1] - sizes[2]:,}" in lines[3]
    assert lines[6].endswith("not needed")


def test_budget_is_drawn_only_where_there_is_one():
    assert "dashed" in Rail(EVENT.pages, 0, 5_000).html()
    assert "dashed" not in Rail(EVENT.pages, 0).html()


def test_losses_come_in_groups_the_gravest_first():
    losses = Losses(EVENT.pages[1].losses)
    assert losses.counts.startswith("1 contradictory, 4 narrower, ")
    assert losses.text().startswith("contradictory:")
    assert "/properties/priority" in losses.text()
    assert Losses(()).text() == "nothing was lost"


def test_long_text_becomes_a_list_of_changes_and_a_very_long_one_is_cut():
    text = EVENT.pages[1].json.text()
    assert len(text.splitlines()) == MAX_LISTED + 1
    assert text.splitlines()[-1].endswith("more changes")
    assert len(EVENT.pages[0].json.text().splitlines()) <= MAX_TEXT_LINES


def test_large_schema_is_not_drawn_as_a_tree():
    names = [f"<b>{number}" for number in range(50)]
    inner = {"properties": {name: {"title": "t", "type": "null"} for name in names}}
    pages = Pages(trace_tool_schema({"properties": {name: inner for name in names}})).pages  # noqa: C420 - shared, read only
    for page in pages:
        html = page.json.html()
        assert "Drawn as a tree it would have" in html
        assert "<b>0" not in html
        assert len(html) < 10_000


# --- a refusal -------------------------------------------------------------------------------------------------------


def refusal(text):
    trace = trace_tool_schema_json(text)
    return Refusal(trace.error, trace.source, text)


def test_refused_node_is_shown_in_its_place():
    shown = refusal(
        json.dumps({"type": "object", "properties": {"a": {}, "b": {"anyOf": [{}, {"items": [1]}]}}})
    ).text()
    assert shown.splitlines() == [
        "refused (items_is_list) at /properties/b/anyOf/1/items: expected one schema for all members, found a list",
        "{",
        '  "properties": {',
        '    "b": {',
        '      "anyOf": [',
        "        {",
        '          "items": [1]   ← refused',
        "        }",
        "        … 1 more item",
        "      ]",
        "    }",
        "    … 1 more key",
        "  }",
        "  … 1 more key",
        "}",
        "Way out: Write one schema, or an object with named fields.",
    ]


def test_keys_with_slashes_are_found():
    assert '"a/b~": 3   ← refused' in refusal('{"properties": {"a/b~": 3}}').text()


def test_flaw_in_the_text_is_shown_with_its_column():
    lines = refusal('{"a": 1,\n"b": tru}').text().splitlines()
    assert lines[1] == '"b": tru}   ← refused'
    assert lines[2].index("^") == lines[1].index("tru")
    long = refusal(f'{{"a": "{"x" * 500}", b}}').text().splitlines()
    assert long[2].index("^") == long[1].index("b}")


@pytest.mark.parametrize("text", ["", "null", "[1]", "3", '"<script>"', '{"type": 7, "anyOf": []}', "{", '{"$defs": '])
def test_whatever_was_refused_can_be_drawn(text):
    shown = refusal(text)
    assert shown.text().startswith("refused")
    assert "<script" not in shown.html()
