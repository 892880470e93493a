"""Chapter 6: the model that guesses, the schemas at a limit, the numbers in the predictions, the checks."""

from copy import deepcopy
from itertools import chain

import pytest

from minicodex import run_turn
from minicodex.lab import chapter_06 as lab
from minicodex.models.scripted import ScriptedModel, say
from minicodex.samples import CREATE_EVENT_SCHEMA, EventBook
from minicodex.schema import BUDGET_BYTES, compile_tool_schema


def booked(schema, *, trusted):
    book = EventBook()
    tool = lab.calendar(book, schema, trusted=trusted)
    run_turn(ScriptedModel([lab.two_hours, say("Booked.")]), lambda _step: [tool], lab.PROMPT)
    return book.events


@pytest.mark.parametrize(
    ("schema", "trusted", "name", "minutes"),
    [
        (CREATE_EVENT_SCHEMA, True, "duration", 120),
        (CREATE_EVENT_SCHEMA, False, "duration", 2),
        (lab.with_unit_in_name(CREATE_EVENT_SCHEMA), False, "duration_minutes", 120),
    ],
)
def test_model_books_what_it_understands(schema, trusted, name, minutes):
    (event,) = booked(schema, trusted=trusted)
    assert event[name] == minutes


def test_renaming_leaves_the_authors_schema_alone():
    assert "duration" in CREATE_EVENT_SCHEMA["properties"]
    assert "duration" not in lab.with_unit_in_name(CREATE_EVENT_SCHEMA)["properties"]


def test_same_fields_are_sent_whole_or_not_at_all():
    assert compile_tool_schema(lab.WIDE).size_bytes > BUDGET_BYTES
    assert compile_tool_schema(lab.BEHIND_A_REFERENCE).to_json() == {}


WHOLE = compile_tool_schema(CREATE_EVENT_SCHEMA, trusted=True).size_bytes


def test_right_budgets_are_done():
    assert lab.check_budgets(WHOLE, 1_126).done


@pytest.mark.parametrize(
    ("budgets", "sentence"),
    [
        (("6002", 1_126), "`nothing_lost_from` must be a whole number"),
        ((WHOLE - 1, 1_126), "under a budget of 6,001 bytes 1 of the passes run; `nothing_lost_from` wants 0"),
        ((WHOLE + 1, 1_126), "`nothing_lost_from` can be smaller"),
        ((WHOLE, 1_127), "under a budget of 1,127 bytes 3 of the passes run; `all_passes_up_to` wants 4"),
        ((WHOLE, 1_125), "`all_passes_up_to` can be larger"),
    ],
)
def test_budgets_are_told_what_is_wrong(budgets, sentence):
    verdict = lab.check_budgets(*budgets)
    assert not verdict.done
    assert sentence in verdict.text()


def flat(*names):
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


GOOD = {"a": flat("title", "start", "duration_minutes", "place"), "b": flat("guest_email", "every")}


def test_split_and_flat_redesign_is_done():
    assert lab.check_redesign(GOOD).done


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        ([], "must be a dict of at least two"),
        ({"a": GOOD["a"]}, "must be a dict of at least two"),
        ({**GOOD, "c": CREATE_EVENT_SCHEMA}, "c has 6,002 bytes"),
        ({**GOOD, "c": {"items": []}}, "c is refused"),
        ({**GOOD, "b": flat("email")}, "no property with `every` in its name is left"),
        ({**GOOD, "c": {"properties": {"x": {"anyOf": [{}]}}}}, "c: a pass could empty /properties/x"),
        ({**GOOD, "c": {"$ref": "#/$defs/A", "$defs": {"A": {}}}}, "c: a pass could empty the root"),
        (
            {"a": GOOD["a"], "b": {"properties": {"email": {"type": "string"}, "every": {"oneOf": [{}]}}}},
            "b: a pass could empty /properties/every",
        ),
    ],
)
def test_redesign_is_told_what_is_wrong(tools, sentence):
    verdict = lab.check_redesign(tools)
    assert not verdict.done
    assert sentence in verdict.text()


def shorten(draft, keep=3, *, own=1):
    pairs = list(chain((node[:2] for node in draft.nodes), draft.described))
    long = [pair[own] for pair in pairs if len(str(pair[own].get("description", "")).split()) > keep]
    for node in long:
        node["description"] = " ".join(node["description"].split()[:keep])
    return bool(long)


def test_gentle_pass_is_done_and_would_have_been_enough():
    assert lab.check_gentle_pass(shorten).done
    gentle = deepcopy(CREATE_EVENT_SCHEMA)
    draft = lab.begin(gentle)
    shorten(draft)
    assert len(draft.encode()) < BUDGET_BYTES


@pytest.mark.parametrize(
    ("gentle", "sentence"),
    [
        (lambda draft: False, "expected"),
        (lambda draft: shorten(draft, 4), "at /"),
        (lambda draft: shorten(draft, 2), "at /"),
        (lambda draft: shorten(draft, own=0) or shorten(draft), "the author's schema was changed"),
        (lambda draft: shorten(draft) and None, "return True"),
        (lambda draft: shorten(draft) or True, "return False"),
        (lambda draft: [node.pop("description", None) for _, node, *_ in draft.nodes], "stands nothing"),
    ],
)
def test_gentle_pass_is_told_what_is_wrong(gentle, sentence):
    verdict = lab.check_gentle_pass(gentle)
    assert not verdict.done
    assert sentence in verdict.text()
