"""Stage 2: what counts as a reference, and what it keeps alive."""

from __future__ import annotations

from typing import Any

import pytest

from minicodex.errors import InvalidToolSchema
from minicodex.schema import compile_tool_schema
from minicodex.schema.definitions import local_definition

PART = {"type": "string"}


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("#/$defs/Part", ("$defs", "Part")),
        ("#/definitions/Part", ("definitions", "Part")),
        ("#/$defs/Part/properties/x", ("$defs", "Part")),
        ("#/$defs/", ("$defs", "")),
        ("#/$defs/a~1b~0c", ("$defs", "a/b~c")),
        ("#/$defs/~01", ("$defs", "~1")),
        ("#/%24defs/A%20B", ("$defs", "A B")),
        ("#/$defs%2FPart", ("$defs", "Part")),
        ("#/$defs/50%", ("$defs", "50%")),
        ("#/$defs/%zz", ("$defs", "%zz")),
        ("#/$defs/%FF", None),
        ("#/$defs/a~2", None),
        ("#/$defs/a/b~", None),
        ("#/$defs", None),
        ("#/properties/a", None),
        ("#", None),
        ("#$defs/Part", None),
        ("/$defs/Part", None),
        ("other.json#/$defs/Part", None),
    ],
)
def test_a_local_definition_reference_is_recognised(reference: str, meant: tuple[str, str] | None) -> None:
    assert local_definition(reference) == meant


def retained(properties: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    schema = {"type": "object", "properties": properties, "$defs": definitions}
    return list(compile_tool_schema(schema).to_json().get("$defs", {}))


def to(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def test_a_chain_is_followed_and_a_circle_ends() -> None:
    definitions = {"A": to("B"), "B": {"type": "array", "items": to("A")}, "C": to("C")}
    assert retained({"x": to("A")}, definitions) == ["A", "B"]


def test_tables_that_nothing_reaches_go_with_what_is_broken_in_them() -> None:
    assert retained({"x": PART}, {"Bad": {"type": "string", "description": 5}}) == []


def test_a_broken_definition_that_is_reached_is_refused_at_its_place() -> None:
    with pytest.raises(InvalidToolSchema) as caught:
        retained({"x": to("Bad")}, {"Bad": {"type": "string", "description": 5}})
    assert (caught.value.kind, caught.value.pointer) == ("wrong_description", "/$defs/Bad/description")


@pytest.mark.parametrize(
    "mention",
    [
        {"default": to("Part")},
        {"not": {"anyOf": [to("Part")]}},
        {"enum": [to("Part")]},
        {"prefixItems": [to("Part")], "type": "array"},
        {"$defs": {"Inner": to("Part")}},
    ],
    ids=lambda mention: next(iter(mention)),
)
def test_inside_a_definition_any_mention_counts_but_not_outside(mention: dict[str, Any]) -> None:
    node = {"type": "string", **mention}
    assert retained({"x": to("Home")}, {"Home": node, "Part": PART}) == ["Home", "Part"]
    assert retained({"x": node}, {"Part": PART}) == []


@pytest.mark.parametrize(
    "node",
    [
        {"title": to("Part")},
        {"const": 1, "enum": [to("Part")]},
        {"type": "string", "prefixItems": [{"title": to("Part")}]},
    ],
)
def test_a_mention_that_normalisation_takes_away_does_not_count(node: dict[str, Any]) -> None:
    assert retained({"x": to("Home")}, {"Home": node, "Part": PART}) == ["Home"]


def test_references_that_lead_nowhere_stay() -> None:
    schema = {"type": "object", "properties": {"x": to("Gone"), "y": {"$ref": "https://a.invalid/b.json"}}}
    assert compile_tool_schema(schema).to_json() == schema
