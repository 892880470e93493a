"""The compiler stepper: turning pages, proving losses, the reader's own schema."""

import json
from dataclasses import replace

import pytest

from minicodex.lab.compiler_stepper import NO_LOSS, OWN, CompilerStepper, compiler_stepper
from minicodex.lab.stage_json import MAX_MEMBERS
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import PASSES, STAGES, compile_tool_schema, judge

SMALL = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
SCHEMAS = {"create_event": CREATE_EVENT_SCHEMA, "small": SMALL}


@pytest.fixture
def stepper():
    return CompilerStepper(SCHEMAS)


def test_pages_are_the_authors_schema_and_every_stage(stepper):
    assert [page.title for page in stepper.pages] == ["as it came", *(stage.name for stage in (*STAGES, *PASSES))]
    assert stepper.pages[-1].size_bytes == compile_tool_schema(CREATE_EVENT_SCHEMA).size_bytes


@pytest.mark.parametrize(("index", "reached"), [(2, 2), (-3, 0), (99, 6)])
def test_stepper_stops_at_either_end(stepper, index, reached):
    assert stepper.go(index).index == reached
    assert stepper.index == 0, "a reducer changes nothing in place"


def test_step_does_not_compile_again(stepper):
    assert stepper.step(2).compiled is stepper.compiled
    assert stepper.pick("small").compiled is not stepper.compiled


def test_proof_is_judged_by_both_schemas(stepper):
    proved = stepper.go(1).prove("/properties/duration/minimum")
    arguments = proved.proof.witness.arguments
    assert arguments["duration"] < 1
    assert judge(CREATE_EVENT_SCHEMA, arguments) == "reject"
    assert judge(compile_tool_schema(CREATE_EVENT_SCHEMA).to_json(), arguments) == "accept"
    assert "The author's schema refuses it, the compiled one allows it." in proved.text()


def test_proof_belongs_to_its_page(stepper):
    proved = stepper.go(1).prove("/properties/duration/minimum")
    assert proved.step(1).proof is None
    assert proved.prove(NO_LOSS).proof is None
    assert stepper.go(2).prove("/properties/duration/minimum").proof is None


def test_loss_without_a_proof_says_so(stepper):
    text = stepper.go(2).prove("/$defs/Moment/anyOf/0").text()
    assert text.endswith("No arguments were found that show it. That is no proof that there are none.")


def test_own_schema_is_compiled_as_one_that_came_over_mcp(stepper):
    own = stepper.own('{"description": "<script>"}').go(9)
    assert (own.name, own.pages[-1].json.value) == (
        OWN,
        {"type": "object", "description": "<script>", "properties": {}},
    )
    assert "<script" not in own.html()


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", "3", '{"properties": {"a": 3}}', '{"a": NaN}', "\ud800", "[" * 9_999]
)
def test_bad_schema_is_an_answer_in_its_place(stepper, text):
    own = stepper.own(text)
    assert own.pages == ()
    assert "refused" in own.text()
    assert "✗ refused" in own.step(1).prove("/x").html()
    assert own.pick("small").page.title == "as it came"


def controls(widget):
    return [*widget.children[0].children, *widget.children[1].children, *widget.children[2].children]


def test_widget_moves_with_every_control():
    widget = compiler_stepper(SCHEMAS)
    names, back, forth, stage, losses, text, go = controls(widget)
    assert (back.disabled, forth.disabled, losses.disabled) == (True, False, True)
    forth.click()
    assert (widget.state.index, stage.value, losses.disabled) == (1, 1, False)
    losses.value = "/properties/priority"
    assert widget.state.proof.witness.arguments["priority"] == 1
    stage.set_state({"value": 3})
    assert (widget.state.index, losses.value) == (3, NO_LOSS)
    back.click()
    assert widget.state.index == 2
    names.value = "small"
    assert (widget.state.name, widget.state.index) == ("small", 0)
    text.set_state({"value": '{"properties": {"a": {"enum": [1]}}}'})
    assert widget.state.name == "small", "typing alone compiles nothing"
    go.click()
    assert (names.value, widget.state.index, losses.options) == (OWN, 1, (NO_LOSS, "/properties/a"))
    text.value = "{"
    go.click()
    assert (back.disabled, forth.disabled, stage.disabled) == (True, True, True)
    names.value = "create_event"
    assert (stage.disabled, stage.max) == (False, 6)
    assert widget.state.html() in widget.pane.value


def test_two_widgets_do_not_touch_each_other():
    first, second = compiler_stepper(SCHEMAS), compiler_stepper(SCHEMAS)
    controls(first)[2].click()
    assert (first.state.index, second.state.index) == (1, 0)


def test_large_schema_stays_small_on_the_page():
    large = json.dumps({"properties": dict.fromkeys(map(str, range(35)), CREATE_EVENT_SCHEMA)})
    own = CompilerStepper(SCHEMAS).own(large)
    assert len(large) > 200_000
    assert all(len(own.go(index).html()) < 100_000 for index in range(7))
    assert len(own.provable) <= 60


@pytest.mark.parametrize("part", [{"enum": list(range(100_000))}, {"anyOf": [{"minLength": n} for n in range(9_000)]}])
def test_of_a_long_list_the_first_members_are_drawn_and_the_rest_is_counted(part):
    own = CompilerStepper(SCHEMAS).own(json.dumps({"properties": {"a": part}})).go(0)
    (members,) = part.values()
    assert f"… and {len(members) - MAX_MEMBERS:,} more" in own.html()
    assert f"… and {len(members) - MAX_MEMBERS:,} more" in replace(own.page.json, open_depth=9).folded()
    for index in range(7):
        assert own.go(index).page.json.root.line_count < 4 * MAX_MEMBERS
        assert len(own.go(index).html()) < 100_000
