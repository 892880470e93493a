"""Stage 1: rewrite what somebody wrote into what the typed subset can say.

One walk, parents first. What becomes of a node follows from its own keywords, so a node is finished before its children
are looked at, and the children of a node that is cleared are never looked at. There is no recursion: the list of nodes
is the worklist, and afterwards the notes that the later stages loop over.

Source: measured on Codex CLI 0.171.0. Each rule is a record; what it does stands where its name is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from minicodex.schema.aside import WRITTEN_ALIKE, look_aside, values_inside
from minicodex.schema.draft import IN_A_TABLE, Draft, Rule
from minicodex.schema.keywords import (
    ADDITIONAL,
    KNOWN_SHAPES,
    MEMBER_KEYWORDS,
    SCALAR_TYPES,
    TABLE_KEYWORDS,
    Effect,
    Shape,
    known_names,
    shape_of,
)
from minicodex.schema.model import MAX_COUNT, Misfit

__all__ = [
    "RULES",
    "adapt_mcp_schema",
    "grow",
    "normalize_supported_keywords",
    "place",
    "place_other",
]

BOOLEAN_BECOMES_STRING: Final = Rule(
    "boolean_becomes_string",
    Effect.NARROWER,
    "`true` or `false` in place of a schema becomes a string: the subset cannot say everything or nothing.",
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
    "A node without a type gets the one its keywords suggest; values of other types were allowed before.",
)
NODE_CLEARED: Final = Rule(
    "node_cleared",
    Effect.TEXT_LOST,
    "Nothing in the node suggests a type, so it becomes `{}` and loses everything, its description too.",
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

Json = dict[str, Any]


def adapt_mcp_schema(input_schema: Any) -> Any:
    """Give an MCP `inputSchema` the `properties` that every function tool has.

    Shape: {type: object} -> {type: object, properties: {}}; anything with `properties`, or no object, as it is.
    The empty table then counts like one that the author wrote: for inference, for the budget, in the output.
    Source: measured on Codex CLI 0.171.0, which does this before anything else.
    """
    if isinstance(input_schema, dict) and input_schema.get("properties") is None:
        return {**input_schema, "properties": {}}
    return input_schema


def normalize_supported_keywords(draft: Draft) -> bool:
    """Rewrite every node outside the root's definition tables; those wait until a reference reaches them.

    Shape: {enum: [1]} -> {type: string, enum: [1]}; {title: …} -> {}; true -> {type: string}

    Raises:
        Misfit: a keyword that is kept has a value that the subset cannot hold.
    """
    draft.nodes.append((draft.raw, draft.schema, 0, shape_of(draft.raw)))
    grow(draft, 0)
    return True


def grow(draft: Draft, start: int) -> None:
    """Finish the noted nodes from `start` on. Children are noted meanwhile: the list grows under the loop."""
    nodes = draft.nodes
    while start < len(nodes):
        raw, node, depth, shape = nodes[start]
        start += 1
        usable = raw.get("type")
        plan = shape.plan_of_type.get(usable) if usable.__class__ is str else None
        if plan is None:
            usable = _mended_type(draft, raw, shape, usable)
            if usable is None and not shape.is_left_alone:
                continue
            plan = shape.plan_for(usable)
        for keyword in plan:
            if keyword == "type":
                node[keyword] = usable
            elif keyword == "description" and raw[keyword].__class__ is str:
                node[keyword] = raw[keyword]
            else:
                _WRITERS[keyword](draft, raw, node, keyword, depth)
        for keyword in shape.ignored:
            if raw[keyword].__class__ not in WRITTEN_ALIKE:
                look_aside(draft, raw[keyword], as_node=keyword == "prefixItems")


def place(draft: Draft, value: Json, depth: int) -> Json:
    """The draft's node for a child that is an object, noted so that its turn comes.

    The simplest and most frequent nodes are finished at once: a scalar type with or without a description, and in a
    definition table a mere reference. What no pass can change is the author's own node.
    """
    if len(value) <= MOST_KEYWORDS_OF_SIMPLE_NODES:
        name, text = value.get("type"), value.get("description")
        if name.__class__ is str and name in SCALAR_TYPES:
            if text.__class__ is str:
                node = {"type": name, "description": text}
                draft.described.append((value, node))
                return node
            if len(value) == 1:
                return value
        elif depth == IN_A_TABLE and len(value) == 1 and value.get("$ref").__class__ is str:
            if draft.inside_definition:
                draft.references.append(value["$ref"])
            return value
    node = {}
    draft.nodes.append((value, node, depth, KNOWN_SHAPES.get(tuple(value)) or shape_of(value)))
    return node


MOST_KEYWORDS_OF_SIMPLE_NODES: Final = 2


def place_other(draft: Draft, raw: Json, value: Any, *steps: str | int) -> Json:
    """The draft's node for a child of `raw` that is no object: a boolean becomes a string.

    Raises:
        Misfit: it is no schema.
    """
    if not isinstance(value, bool):
        raise Misfit("not_a_node", raw, *steps, actual=value)
    effect = Effect.NARROWER if value else Effect.WIDER
    draft.note(BOOLEAN_BECOMES_STRING, raw, *steps, before=value, after={"type": "string"}, effect=effect)
    return {"type": "string"}


# --- the type of a node ----------------------------------------------------------------------------------------------


def _mended_type(draft: Draft, raw: Json, shape: Shape, written: Any) -> str | list[str] | None:
    """The type of a node that is no single known name: without the unknown ones, or inferred, or None."""
    known = known_names(written) if written is not None else None
    if known is None:
        return _bad_type(raw, written) if shape.is_left_alone else _infer_type(draft, raw, shape)
    if draft.changes is not None and known != written:
        draft.note(UNKNOWN_TYPE_REMOVED, raw, "type", before=written, after=known)
    return known


def _bad_type(raw: Json, written: Any) -> list[str] | None:
    """Beside members or a reference nothing is inferred, and a bad `type` stays to be refused; `[]` and null pass."""
    if written is None or written == []:
        return None if written is None else []
    raise Misfit("unusable_type", raw, "type", actual=written)


def _infer_type(draft: Draft, raw: Json, shape: Shape) -> str | None:
    if shape.inferred is None:
        draft.unseen.append(raw)
        draft.note(NODE_CLEARED, raw, before=raw, after={})
    elif draft.changes is not None:
        effect = _effect_of_inference(raw, shape.inferred, is_root=raw is draft.raw)
        draft.note(TYPE_INFERRED, raw, before=raw.get("type"), after=shape.inferred, effect=effect)
    return shape.inferred


def _effect_of_inference(raw: Json, inferred: str, *, is_root: bool) -> Effect:
    """A tool's arguments are an object anyway; an enum without any value of the inferred type can never be met."""
    values = [raw["const"]] if "const" in raw else raw.get("enum")
    if inferred == "string" and isinstance(values, list) and values:
        texts = sum(isinstance(value, str) for value in values)
        return {0: Effect.CONTRADICTORY, len(values): Effect.KEPT}.get(texts, Effect.NARROWER)
    return Effect.KEPT if is_root and inferred == "object" else Effect.NARROWER


# --- one writer for each keyword: it puts into the draft's node what the subset can hold ----------------------------


def _write_text(_draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    value = raw[keyword]
    if value.__class__ is str:
        node[keyword] = value
    elif value is not None:  # null is as good as absent, here and below
        raise Misfit("wrong_ref" if keyword == "$ref" else "wrong_description", raw, keyword, actual=value)


def _write_reference(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    _write_text(draft, raw, node, keyword, depth)
    if keyword in node and (depth >= 0 or draft.inside_definition):
        draft.references.append(node[keyword])


def _write_encrypted(_draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    value = raw[keyword]
    if isinstance(value, bool):
        node[keyword] = value
    elif value is not None:
        raise Misfit("wrong_encrypted", raw, keyword, actual=value)


def _write_enum(draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    values = raw.get(keyword)
    if "const" in raw:
        draft.unseen.append(values)
        values = [raw["const"]]
        draft.note(CONST_BECOMES_ENUM, raw, "const", before=raw["const"], after=values)
    if values.__class__ is list:
        node[keyword] = values
        if not WRITTEN_ALIKE.issuperset(map(type, values)):
            _look_into_values(draft, values)
    elif values is not None:
        raise Misfit("wrong_enum", raw, keyword, actual=values)


def _look_into_values(draft: Draft, values: list[Any]) -> None:
    draft.numbers.extend(value for value in values_inside(values, as_node=False) if type(value) is float)
    look_aside(draft, values, as_node=False)


def _write_items(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    items = raw.get(keyword)
    if keyword not in raw:
        node[keyword] = {"type": "string"}
        draft.note(ITEMS_ADDED, raw, after={"type": "string"})
    elif isinstance(items, list):
        raise Misfit("items_is_list", raw, keyword, actual=items)
    elif items is not None:
        node[keyword] = (
            place(draft, items, _below(depth)) if items.__class__ is dict else place_other(draft, raw, items, keyword)
        )


def _write_min_items(_draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    count = raw[keyword]
    if type(count) is int and 0 <= count <= MAX_COUNT:
        node[keyword] = count
    elif count is not None:
        raise Misfit("wrong_min_items", raw, keyword, actual=count)


def _write_properties(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    schemas = raw.get(keyword)
    if schemas:
        _write_named(draft, raw, node, keyword, depth if depth == IN_A_TABLE else depth + 1)
    elif schemas.__class__ is dict or keyword not in raw:
        node[keyword] = {}
        if keyword not in raw:
            draft.note(PROPERTIES_ADDED, raw, after={})
    elif schemas is not None:
        raise Misfit("wrong_properties", raw, keyword, actual=schemas)


def _write_named(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    schemas = raw[keyword]
    if not isinstance(schemas, dict):
        raise Misfit("wrong_properties", raw, keyword, actual=schemas)
    named = node[keyword] = {}
    for name in sorted(schemas):
        child = schemas[name]
        is_object = child.__class__ is dict
        named[name] = place(draft, child, depth) if is_object else place_other(draft, raw, child, keyword, name)


def _write_required(_draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    names = raw[keyword]
    if names.__class__ is list and _ONLY_TEXT.issuperset(map(type, names)):
        node[keyword] = names
    elif names is not None:
        raise Misfit("wrong_required", raw, keyword, actual=names)


_ONLY_TEXT: Final = frozenset({str})


def _write_additional(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    value = raw[keyword]
    if isinstance(value, bool):
        node[keyword] = value
    elif value is not None:
        if value.__class__ is not dict:
            raise Misfit("not_a_node", raw, keyword, actual=value)
        node[keyword] = place(draft, value, _below(depth))
        draft.maps.append(value)


def _write_members(draft: Draft, raw: Json, node: Json, keyword: str, depth: int) -> None:
    members = raw[keyword]
    if isinstance(members, list):
        below, branches = _below(depth), []
        for i, child in enumerate(members):
            is_object = child.__class__ is dict
            branches.append(place(draft, child, below) if is_object else place_other(draft, raw, child, keyword, i))
        node[keyword] = branches
    elif members is not None:
        raise Misfit("wrong_members", raw, keyword, actual=members)


def _write_table(draft: Draft, raw: Json, node: Json, keyword: str, _depth: int) -> None:
    if not isinstance(raw[keyword], dict):
        draft.unseen.append(raw[keyword])
        draft.note(TABLE_REMOVED, raw, keyword, before=raw[keyword])
    elif raw is not draft.raw:  # the root's own tables are the next stage's business
        _write_named(draft, raw, node, keyword, IN_A_TABLE)


_WRITERS: Final[dict[str, Callable[[Draft, Json, Json, str, int], None]]] = {
    "$ref": _write_reference,
    "description": _write_text,
    "encrypted": _write_encrypted,
    "minItems": _write_min_items,
    "required": _write_required,
    "enum": _write_enum,
    "items": _write_items,
    "properties": _write_properties,
    ADDITIONAL: _write_additional,
    **dict.fromkeys(MEMBER_KEYWORDS, _write_members),
    **dict.fromkeys(TABLE_KEYWORDS, _write_table),
}


def _below(depth: int) -> int:
    return depth if depth == IN_A_TABLE else depth + 1
