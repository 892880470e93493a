"""Stage 3: while the schema is over the budget, lose a little more of it.

Four passes, each a loop over the notes of the first walk. A pass that has run is never taken back, and what is still
too big after the last one is sent as it is.

Source: measured on Codex CLI 0.171.0.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

from minicodex.schema.definitions import local_definition
from minicodex.schema.draft import COLLAPSE_DEPTH, Draft, Rule, Stage
from minicodex.schema.keywords import TABLE_KEYWORDS, Effect

__all__ = [
    "BUDGET_BYTES",
    "COLLAPSE_DEPTH",
    "PASSES",
    "collapse_deep_objects",
    "prune_composition_branches",
    "remove_definition_tables",
    "remove_schema_descriptions",
]

BUDGET_BYTES: Final = 5_000
"""Largest size in bytes of the compact UTF-8 JSON that is sent without any loss by compaction."""

DESCRIPTION_REMOVED: Final = Rule(
    "description_removed", Effect.TEXT_LOST, "Over the budget every description goes first."
)
TABLE_DROPPED: Final = Rule("table_dropped", Effect.WIDER, "Still over the budget: the root's definition tables go.")
REFERENCE_EMPTIED: Final = Rule(
    "reference_emptied",
    Effect.WIDER,
    "A reference to a definition that is gone becomes `{}`, which allows everything.",
)
NODE_COLLAPSED: Final = Rule(
    "node_collapsed",
    Effect.WIDER,
    "Still over the budget: a deep node with structure becomes `{}`, which allows everything.",
)
MEMBERS_PRUNED: Final = Rule(
    "members_pruned",
    Effect.WIDER,
    "Still over the budget: a node with alternatives becomes `{}`, which allows everything.",
)


def remove_schema_descriptions(draft: Draft) -> bool:
    """Pass 1: remove `description` from every node, those in definition tables included.

    A property called `description` and the values of an `enum` stay. Loses: what the model would have read.

    Returns: whether there was anything to do, as every pass does.
    """
    noted = chain(((raw, node) for raw, node, _, _ in draft.nodes), draft.described)
    described = [(raw, node) for raw, node in noted if "description" in node]
    for raw, node in described:
        text = node.pop("description")
        if draft.changes is not None:
            draft.note(DESCRIPTION_REMOVED, raw, "description", before=text)
    return bool(described)


def remove_definition_tables(draft: Draft) -> bool:
    """Pass 2: remove the root's definition tables, and empty every node that refers into one.

    Shape: {$ref: #/$defs/A, type: object} -> {}. Also where the definition does not exist; other references stay,
    and so do tables below the root and the nodes in them.
    """
    tables = [table for table in TABLE_KEYWORDS if table in draft.schema]
    for table in tables:
        draft.note(TABLE_DROPPED, draft.raw, table, before=draft.schema.pop(table))
    referring = [
        (raw, node)
        for raw, node, depth, _ in draft.nodes
        if depth >= 0 and "$ref" in node and local_definition(node["$ref"])
    ]
    return _empty(draft, REFERENCE_EMPTIED, referring) or bool(tables)


def collapse_deep_objects(draft: Draft) -> bool:
    """Pass 3: empty every node with structure that is at least `COLLAPSE_DEPTH` steps below the root.

    Structure is the type object or array, a reference, children or alternatives, even when they are null.
    """
    deep = [
        (raw, node)
        for raw, node, depth, shape in draft.nodes
        if depth >= draft.collapse_depth and node and (shape.is_complex or _is_container(node.get("type")))
    ]
    return _empty(draft, NODE_COLLAPSED, deep)


def prune_composition_branches(draft: Draft) -> bool:
    """Pass 4: empty every node that has alternatives (`anyOf`, `oneOf`, `allOf`), at any depth, the root too."""
    with_members = [(raw, node) for raw, node, depth, shape in draft.nodes if depth >= 0 and node and shape.has_members]
    return _empty(draft, MEMBERS_PRUNED, with_members)


PASSES: Final = (
    Stage("remove_schema_descriptions", remove_schema_descriptions, "remove every description"),
    Stage(
        "remove_definition_tables",
        remove_definition_tables,
        "remove the definitions and empty what refers to them",
    ),
    Stage("collapse_deep_objects", collapse_deep_objects, "empty what has structure deep inside"),
    Stage("prune_composition_branches", prune_composition_branches, "empty what has alternatives"),
)
"""The passes in order. Each runs only while the schema is over the budget."""


def _is_container(type_names: Any) -> bool:
    names = type_names if isinstance(type_names, list) else [type_names]
    return "object" in names or "array" in names


def _empty(draft: Draft, rule: Rule, nodes: list[tuple[dict[str, Any], dict[str, Any]]]) -> bool:
    for raw, node in nodes:
        if draft.changes is not None:
            draft.note(rule, raw, before=dict(node), after={})
        node.clear()
    return bool(nodes)
