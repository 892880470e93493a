"""The definition graph: what refers to what, the waves, and the agreement with the compiler."""

import pytest

from minicodex.lab.chapter_05 import TANGLE
from minicodex.lab.definition_graph import ROOT, DefinitionGraph, definition_graph, references_of
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import compile_tool_schema

GHOST = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"type": "string", "default": {"$ref": "#/$defs/Not"}}},
    "$defs": {
        "A": {"type": "object", "default": {"$ref": "#/$defs/Ghost"}},
        "Ghost": {"$ref": "#/definitions/x~1y"},
        "Not": {"type": "string"},
        "Broken": 3,
        "alone": {"$ref": "#/$defs/alone"},
    },
    "definitions": {"x/y": {"type": "null"}},
}
SCHEMAS = {"tangle": TANGLE, "event": CREATE_EVENT_SCHEMA, "ghost": GHOST, "none": {"type": "object"}}


def test_references_are_those_of_the_part_itself():
    found = references_of(TANGLE)
    assert found[ROOT] == ("Customer", "Order")
    assert found["Supplier"] == ("Address", "Product")
    assert found["Invoice"] == ("Address", "Payment")
    assert references_of(CREATE_EVENT_SCHEMA)["Guest"] == ("Guest",)


def test_references_are_seen_where_the_compiler_sees_them():
    assert references_of(GHOST) == {
        ROOT: ("A",),
        "A": ("Ghost",),
        "Ghost": ("definitions/x/y",),
        "Not": (),
        "Broken": (),
        "alone": ("alone",),
        "definitions/x/y": (),
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_grows_from_the_root_is_what_the_compiler_keeps(name):
    sent = compile_tool_schema(SCHEMAS[name], trusted=True).to_json()
    kept = {*sent.get("$defs", ()), *(f"definitions/{entry}" for entry in sent.get("definitions", ()))}
    graph = DefinitionGraph(SCHEMAS, name)
    assert {entry for wave in graph.grown.waves for entry in wave} - {ROOT} == kept == graph.grown.kept


def test_graph_grows_one_wave_a_step():
    graph = DefinitionGraph(SCHEMAS)
    assert [graph.go(step).state_of("Product") for step in range(6)] == [
        *["not reached yet"] * 3,
        "reached now",
        *["reached"] * 2,
    ]
    assert [graph.go(step).state_of("Invoice") for step in (0, 4, 5)] == [*["not reached yet"] * 2, "left out"]
    assert graph.go(99).is_done
    assert "left out: Invoice, Payment (" in graph.go(99).summary


def test_text_shows_only_references_that_are_known():
    text = DefinitionGraph(SCHEMAS).go(1).text()
    assert "● Order → Customer, Line   (reached now)" in text
    assert "? Line   (not reached yet)" in text


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_step_can_be_drawn_and_is_escaped(name):
    bad = "<script>" * 9
    schemas = {**SCHEMAS, name: {**SCHEMAS[name], "definitions": {bad: {"$ref": f"#/definitions/{bad}"}}}}
    graph = DefinitionGraph(schemas, name)
    for step in range(graph.last + 1):
        shown = graph.go(step)
        assert "<script" not in shown.picture.svg
        assert shown.picture.svg.count("<rect") == len(graph.grown.references) + 1
        assert "<script" not in shown.html()


def test_graph_that_is_too_large_to_draw_is_told():
    many = {"type": "object", "$defs": {f"D{number}": {} for number in range(50)}}
    html = DefinitionGraph({"many": many}).html()
    assert "<img" not in html
    assert "D49" in html


def test_widget_grows_back_and_changes_the_schema():
    widget = definition_graph(SCHEMAS)
    names, back, grow, steps = widget.children[0].children
    other = definition_graph(SCHEMAS)
    grow.click()
    grow.click()
    assert (widget.state.steps, steps.value, back.disabled) == (2, 2, False)
    steps.set_state({"value": 5})
    assert (widget.state.is_done, grow.disabled) == (True, True)
    back.click()
    assert widget.state.steps == 4
    names.value = "event"
    assert (widget.state.name, widget.state.steps, steps.max) == ("event", 0, 2)
    assert widget.state.html() in widget.pane.value
    assert other.state.steps == 0, "two widgets do not touch each other"
