"""Chapter 5: a card for every rule, the tiny schemas, and the checks of the exercises."""

from copy import deepcopy

import pytest

from minicodex.lab import chapter_05 as lab
from minicodex.lab.rule_cards import RuleCards
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import RULES, compile_tool_schema, judge
from minicodex.schema.losses import LOSS_RULES


def test_there_is_a_card_for_every_rule():
    assert set(lab.REWRITTEN.nodes) == {rule.name for rule in RULES}
    assert set(lab.GONE.nodes) == {rule.name for rule in LOSS_RULES}


@pytest.mark.parametrize("card", [*lab.REWRITTEN.cards, *lab.GONE.cards], ids=lambda card: card.rule)
def test_card_shows_its_rule_at_work_and_proves_what_can_be_felt(card):
    assert card.loss.pointer == "/properties/x"
    assert card.result != card.node
    assert card.loss.is_felt == (card.proof is not None)
    assert card.proof is None or card.proof.witness is not None
    assert card.rule in card.text()
    assert card.rule in card.html()


def test_card_escapes_what_it_shows():
    assert "<script" not in RuleCards("t", {"words_lost": {"type": "string", "title": "<script>"}}).html()


def test_meeting_fits_both_schemas():
    assert judge(CREATE_EVENT_SCHEMA, lab.MEETING) == "accept"
    assert judge(compile_tool_schema(CREATE_EVENT_SCHEMA).to_json(), lab.MEETING) == "accept"


@pytest.mark.parametrize(
    ("wider", "narrower", "sentence"),
    [
        ([], {}, "`wider` must be a dict"),
        (lab.MEETING, {**lab.MEETING, "priority": 1}, "`wider` is allowed by the author's schema"),
        ({}, {**lab.MEETING, "priority": 1}, "`wider` is refused by the compiled schema"),
        ({**lab.MEETING, "duration": 0}, {}, "`narrower` is refused by the author's schema"),
        ({**lab.MEETING, "duration": 0}, lab.MEETING, "`narrower` is allowed by the compiled schema"),
    ],
)
def test_witnesses_are_told_what_is_wrong(wider, narrower, sentence):
    verdict = lab.check_witnesses(wider, narrower)
    assert not verdict.done
    assert sentence in verdict.text()


GOOD = {
    "type": "object",
    "properties": {
        "priority": {"type": "integer", "enum": [1, 2, 3]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "corner": {"type": "array", "items": {"type": "number"}},
        "is_all_day": {"type": "boolean"},
        "colour": {"type": "string", "description": "six hex digits"},
    },
}


def test_mended_schema_is_done():
    assert lab.check_mended(GOOD).done


@pytest.mark.parametrize(
    ("name", "node", "sentence"),
    [
        ("priority", {"enum": [1, 2, 3]}, "`priority` can no longer be 2"),
        ("priority", {"type": "integer"}, "`priority` may now be 7"),
        ("tags", {"type": "array"}, "still narrower at /properties/tags"),
        ("corner", {"type": "array", "items": [{"type": "number"}]}, "it is refused: at /properties/corner/items"),
        ("colour", {"type": "string"}, "the description of `colour` does not reach the model"),
        ("colour", {"description": "hex"}, "`colour` may now be 7"),
        ("is_all_day", None, "it is refused"),
    ],
)
def test_schema_to_mend_is_told_what_is_wrong(name, node, sentence):
    schema = deepcopy(GOOD)
    schema["properties"][name] = node
    assert sentence in lab.check_mended(schema).text()
    assert not lab.check_mended(schema).done


def test_property_that_is_left_out_is_missed():
    schema = deepcopy(GOOD)
    del schema["properties"]["corner"]
    assert "the property `corner` is missing" in lab.check_mended(schema).text()
    assert not lab.check_mended(lab.TO_MEND).done


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (3, "it is refused"),
        ({"type": "object"}, "put a definition called `Ghost`"),
        ({"type": "object", "$defs": {"Ghost": {}}}, "`Ghost` was left out"),
        ({"properties": {"a": {"$ref": "#/$defs/Ghost"}}, "$defs": {"Ghost": {}}}, "is really referred to"),
    ],
)
def test_ghost_is_told_what_is_wrong(schema, sentence):
    assert sentence in lab.check_ghost(schema).text()
