"""Stage 1: rewrite what somebody wrote into what the typed subset can say.

One walk, parents first. What becomes of a node follows from its keywords alone, so a node is finished before its
children are looked at, and a node that is cleared never has its children looked at. There is no recursion: the list of
nodes is the worklist and, afterwards, the notes of the later stages.

Source: measured on Codex CLI 0.171.0; each rule says what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final


from minicodex.json_text import NumberLiteral
from minicodex.schema.draft import IN_A_TABLE, Draft, Rule
from minicodex.schema.keywords import (
    ADDITIONAL,
    MEMBER_KEYWORDS,
    TABLE_KEYWORDS,
    TYPE_NAMES,
    Effect,
    Shape,
    shape_of,
)
from minicodex.schema.model import Misfit, check_keyword

Json = dict[str, Any]
_ABSENT: Final = object()
_NAMED: Final = frozenset({"properties", *TABLE_KEYWORDS})
_NODES: Final = frozenset({"items", "prefixItems", ADDITIONAL, *MEMBER_KEYWORDS})

__all__ = ["RULES", "adapt_mcp_schema", "grow", "normalize_supported_keywords", "values_inside"]

BOOLEAN_BECOMES_STRING: Final = Rule(
    "boolean_becomes_string",
    Effect.NARROWER,
    "`true` or `false` in place of a schema becomes a string: the subset has no schema for everything or nothing.",
)
CONST_BECOMES_ENUM: Final = Rule(
    "const_becomes_enum",
    Effect.KEPT,
    "`const` becomes an `enum` of one value and replaces an `enum` beside it.",
)
UNKNOWN_TYPE_REMOVED: Final = Rule(
    "unknown_type_removed",
    Effect.KEPT,
    "Type names that JSON Schema does not know are removed from `type`.",
)
TYPE_INFERRED: Final = Rule(
    "type_inferred",
    Effect.NARROWER,
    "A node without a type gets the one its keywords suggest; values of any other type were allowed before.",
)
NODE_CLEARED: Final = Rule(
    "node_cleared",
    Effect.TEXT_LOST,
    "Nothing in the node suggests a type, so it becomes `{}` and loses everything, its description included.",
)
PROPERTIES_ADDED: Final = Rule(
    "properties_added",
    Effect.KEPT,
    "An object without `properties` gets an empty table of them.",
)
ITEMS_ADDED: Final = Rule(
    "items_added",
    Effect.NARROWER,
    "An array that says nothing about its members becomes a list of strings.",
)
TABLE_REMOVED: Final = Rule(
    "table_removed",
    Effect.KEPT,
    "A definition table that is not an object is removed.",
)
RULES: Final = (
    BOOLEAN_BECOMES_STRING,
    CONST_BECOMES_ENUM,
    UNKNOWN_TYPE_REMOVED,
    TYPE_INFERRED,
    NODE_CLEARED,
    PROPERTIES_ADDED,
    ITEMS_ADDED,
    TABLE_REMOVED,
)


def adapt_mcp_schema(input_schema: Any) -> Any:
    """Give an MCP `inputSchema` the `properties` that every function tool has.

    Shape: {type: object} -> {type: object, properties: {}}; anything with `properties`, or no object, as it is.
    The empty table then counts like one that the author wrote: for inference, for the budget, in the output.
    Source: measured on Codex CLI 0.171.0, which does this before anything else.
    """
    if isinstance(input_schema, dict) and input_schema.get("properties") is None:
        return {**input_schema, "properties": {}}
    return input_schema


def normalize_supported_keywords(draft: Draft) -> None:
    """Rewrite every node outside the root's definition tables; those wait until a reference reaches them.

    Shape: {enum: [1]} -> {type: string, enum: [1]}; {title: …} -> {}; true -> {type: string}
    Raises:
        Misfit: a keyword that is kept has a value that the subset cannot hold.
    """
    draft.nodes.append((draft.raw, draft.schema, 0))
    grow(draft)


def grow(draft: Draft) -> None:
    """Finish every node that was noted but not finished; its children are noted on the way."""
    nodes = draft.nodes
    while draft.finished < len(nodes):
        raw, node, depth = nodes[draft.finished]
        draft.finished += 1
        _finish_node(draft, raw, node, depth)


def _finish_node(draft: Draft, raw: dict[str, Any], node: dict[str, Any], depth: int) -> None:
    shape = shape_of(raw)
    written = raw.get("type")
    usable = usable_type(written)
    if usable is None and not shape.is_left_alone:
        usable = shape.inferred
        if usable is None:
            return draft.note(NODE_CLEARED, raw, before=raw, after={})
        _note_inference(draft, raw, usable)
    elif usable != written and usable is not None:
        draft.note(UNKNOWN_TYPE_REMOVED, raw, "type", before=written, after=usable)
    elif usable is None:
        usable = written  # beside members or a reference the type is not touched, not even a bad one
    for keyword in shape.plan_for(usable):
        _WRITERS[keyword](draft, raw, node, depth, keyword, usable)
    if draft.inside_definition:
        _note_mentions(draft, raw, shape)


def usable_type(written: Any) -> str | list[str] | None:
    """The known names in a `type`: one alone as a word, several as a list in their order, none as None."""
    if type(written) is str:
        return written if written in TYPE_NAMES else None
    if not isinstance(written, list):
        return None
    known = [name for name in written if isinstance(name, str) and name in TYPE_NAMES]
    return known if len(known) > 1 else known[0] if known else None


# --- one writer for each keyword: it puts what the subset can hold into the draft's node -----------------------------


def _write_plain(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    value = raw[keyword]
    if value is not None:
        check_keyword(raw, keyword, value)
        node[keyword] = value


def _write_reference(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    _write_plain(draft, raw, node, depth, keyword, usable)
    if keyword in node and (depth >= 0 or draft.inside_definition):
        draft.references.append(node[keyword])


def _write_type(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    if usable is not None:
        check_keyword(raw, keyword, usable)
        node[keyword] = usable


def _write_enum(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    if "const" in raw:
        node[keyword] = [raw["const"]]
        draft.note(CONST_BECOMES_ENUM, raw, "const", before=raw["const"], after=node[keyword])
    else:
        _write_plain(draft, raw, node, depth, keyword, usable)
    if not _PLAIN_TYPES.issuperset(map(type, node.get(keyword, ()))):
        draft.has_numbers = True


_PLAIN_TYPES: Final = frozenset({str, int, bool, type(None)})


def _write_items(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    if keyword not in raw:
        node[keyword] = {"type": "string"}
        draft.note(ITEMS_ADDED, raw, after=node[keyword])
    elif isinstance(raw[keyword], list):
        check_keyword(raw, keyword, raw[keyword])
    elif raw[keyword] is not None:
        node[keyword] = place(draft, raw, raw[keyword], depth, keyword)


def _write_additional(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    value = raw[keyword]
    if isinstance(value, bool):
        node[keyword] = value
    elif value is not None:
        node[keyword] = place(draft, raw, value, depth, keyword)
        draft.maps.append(value)


def _write_properties(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    value = raw.get(keyword, _ABSENT)
    if value is _ABSENT:
        node[keyword] = {}
        draft.note(PROPERTIES_ADDED, raw, after={})
    elif value is not None:
        check_keyword(raw, keyword, value)
        node[keyword] = {name: place(draft, raw, value[name], depth, keyword, name) for name in sorted(value)}


def _write_table(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    value = raw[keyword]
    if not isinstance(value, dict):
        draft.note(TABLE_REMOVED, raw, keyword, before=value)
    elif raw is not draft.raw:  # the root's own tables are the next stage's business
        node[keyword] = {name: place(draft, raw, value[name], None, keyword, name) for name in sorted(value)}


def _write_members(draft: Draft, raw: Json, node: Json, depth: int, keyword: str, usable: Any) -> None:
    value = raw[keyword]
    if value is not None:
        check_keyword(raw, keyword, value)
        node[keyword] = [place(draft, raw, member, depth, keyword, i) for i, member in enumerate(value)]


def place(draft: Draft, raw: Json, value: Any, depth: int | None, *steps: str | int) -> dict[str, Any]:
    """The draft's node for a child; empty still, and noted, so that its turn comes."""
    if isinstance(value, dict):
        node: dict[str, Any] = {}
        deeper = IN_A_TABLE if depth is None or depth < 0 else depth + 1
        draft.nodes.append((value, node, deeper))
        return node
    if not isinstance(value, bool):
        raise Misfit("not_a_node", raw, *steps, actual=value)
    draft.note(BOOLEAN_BECOMES_STRING, raw, *steps, before=value, after={"type": "string"})
    return {"type": "string"}


_WRITERS: Final[dict[str, Callable[[Draft, Json, Json, int, str, Any], None]]] = {
    **dict.fromkeys(("description", "encrypted", "minItems", "required"), _write_plain),
    "$ref": _write_reference,
    "type": _write_type,
    "enum": _write_enum,
    "items": _write_items,
    "properties": _write_properties,
    ADDITIONAL: _write_additional,
    **dict.fromkeys(MEMBER_KEYWORDS, _write_members),
    **dict.fromkeys(TABLE_KEYWORDS, _write_table),
}


def _note_inference(draft: Draft, raw: Json, inferred: str) -> None:
    """A root is always given an object; an enum of other values than the inferred type's can never be met."""
    if draft.changes is None:
        return
    effect = Effect.KEPT if raw is draft.raw else Effect.NARROWER
    values = [raw["const"]] if "const" in raw else raw.get("enum")
    if inferred == "string" and isinstance(values, list) and values:
        texts = sum(isinstance(value, str) for value in values)
        effect = {0: Effect.CONTRADICTORY, len(values): Effect.KEPT}.get(texts, Effect.NARROWER)
    draft.note(TYPE_INFERRED, raw, before=raw.get("type"), after=inferred, effect=effect)


# --- what is mentioned in places that are no children ----------------------------------------------------------------


def _note_mentions(draft: Draft, raw: Json, shape: Shape) -> None:
    """Inside a definition any `$ref` counts, in a `default` or under `not` as well as in a child."""
    for keyword in shape.elsewhere:
        if isinstance(raw[keyword], (dict, list)) and not _is_replaced(raw, keyword):
            for value in values_inside(raw[keyword], as_node=keyword == "prefixItems"):
                if isinstance(value, dict) and isinstance(value.get("$ref"), str):
                    draft.references.append(value["$ref"])


def values_inside(value: Any, *, as_node: bool) -> Iterator[Any]:
    """Every object and scalar that is inside a value once it is normalised.

    As a node, a value loses what normalisation takes away: all of it where nothing suggests a type, a replaced `enum`
    or `type`. Anywhere else a value stays whole.
    """
    stack = [(value, as_node)]
    while stack:
        value, as_node = stack.pop()
        if isinstance(value, list):
            stack.extend((member, as_node) for member in value)
            continue
        yield value
        if not isinstance(value, dict) or (as_node and _is_cleared(value)):
            continue
        for keyword, child in value.items():
            if as_node and keyword in _NAMED and isinstance(child, dict):
                stack.extend((named, True) for named in child.values())
            elif not (as_node and _is_replaced(value, keyword)):
                stack.append((child, as_node and keyword in _NODES))


def refuse_wide_integers(draft: Draft) -> None:
    """Refuse integers of 65 to 128 bits below an `additionalProperties` object, under any keyword.

    Elsewhere they are fine. Source: measured on Codex CLI 0.171.0, whose decoder reads that one place in another way.

    Raises:
        Misfit: there is one.
    """
    for schema in draft.maps:
        for value in values_inside(schema, as_node=True):
            number = value.integer if isinstance(value, NumberLiteral) else None
            if number is not None and -(2**127) <= number < 2**128:
                raise Misfit("wide_integer", schema, actual=value)


def _is_cleared(raw: Json) -> bool:
    shape = shape_of(raw)
    return shape.inferred is None and not shape.is_left_alone and usable_type(raw.get("type")) is None


def _is_replaced(raw: Json, keyword: str) -> bool:
    """Whether normalisation puts something else in the place of this keyword's value."""
    if keyword == "type":
        return usable_type(raw["type"]) is None and not shape_of(raw).is_left_alone
    return (keyword == "enum" and "const" in raw) or (
        keyword in TABLE_KEYWORDS and not isinstance(raw[keyword], dict)
    )
