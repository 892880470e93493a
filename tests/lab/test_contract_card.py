"""The contract card: what each switch changes on the wire, and what it does not."""

import pytest

from minicodex import FunctionContract, compile_tool_schema
from minicodex.lab.contract_card import FIELDS, ContractCard, contract_card, group_sizes
from minicodex.samples import create_event_tool
from minicodex.sources.builtin import PlanBoard, update_plan_tool

PLAN, EVENT = update_plan_tool(PlanBoard()).contract, create_event_tool().contract
CARD = ContractCard({"update_plan": PLAN, "create_event": EVENT}, "update_plan")


def changes(card):
    return [(node.pointer, node.mark.name) for node in card.wire.changes]


@pytest.mark.parametrize(
    ("switches", "marked"),
    [
        ({}, []),
        ({"strict": True}, [("/strict", "CHANGED")]),
        ({"defer_loading": False}, []),
        ({"defer_loading": True}, [("/defer_loading", "NEW")]),
        ({"output_schema": True}, []),
        ({"description": "none"}, [("/description", "CHANGED")]),
    ],
)
def test_switch_marks_exactly_its_key(switches, marked):
    assert changes(CARD.with_(**switches)) == marked


def test_card_lists_every_field_of_the_wire_form_with_who_acts_on_it():
    wire = CARD.with_(defer_loading=True).contract.to_wire()
    assert set(wire) <= set(FIELDS)
    assert [key for _, key, _, _ in CARD.fields()] == list(FIELDS)
    assert ("inside only", "output_schema") in {(group, key) for group, key, _, _ in CARD.fields()}


def test_card_says_what_is_absent_and_counts_the_bytes():
    text = CARD.with_(strict=True).text()
    assert "defer_loading not set" in text
    assert f"on the wire: {len(PLAN.to_bytes()) - 1} bytes, 1 fewer" in text


@pytest.mark.parametrize("switches", [{"defer_loading": False}, {"output_schema": True}])
def test_card_shows_what_is_set_but_not_sent(switches):
    assert ", not sent" in CARD.with_(**switches).text()
    assert CARD.with_(**switches).html() != CARD.html()


def test_another_tool_keeps_the_switches():
    card = CARD.with_(strict=True).with_(name="create_event")
    assert (card.contract.name, card.contract.strict) == ("create_event", True)


def test_description_of_a_stranger_is_shown_as_text():
    bad = "<script>alert(1)</script>"
    contract = FunctionContract("bad", bad, compile_tool_schema({"type": "object", "properties": {bad: {}}}))
    html = ContractCard({"bad": contract}, "bad").html()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html


@pytest.mark.parametrize("contract", [PLAN, EVENT, CARD.with_(defer_loading=True).contract])
def test_sizes_of_the_groups_add_up_to_the_contract(contract):
    assert sum(group_sizes(contract).values()) == len(contract.to_bytes())


def test_widget_has_one_control_for_each_switch():
    widget = contract_card(PLAN, EVENT)
    (tools, words, deferred), (strict, output) = (row.children for row in widget.children[:2])
    strict.set_state({"value": True})
    output.set_state({"value": True})
    deferred.set_state({"index": 2})
    words.set_state({"index": 1})
    tools.set_state({"index": 1})
    assert widget.state == ContractCard(
        widget.state.contracts, "create_event", "none", strict=True, defer_loading=True, output_schema=True
    )
    assert widget.state.html() in widget.pane.value
    assert "~ changed, was false" in widget.pane.value


def test_two_widgets_do_not_touch_each_other():
    first, second = contract_card(PLAN), contract_card(PLAN)
    first.children[1].children[0].set_state({"value": True})
    assert (first.state.strict, second.state.strict) == (True, False)
