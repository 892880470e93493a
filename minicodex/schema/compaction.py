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


def remove_schema_descriptions(draft: Draft) -> None:
    """Pass 1: remove `description` from every node, those in definition tables included.

    A property called `description` and the values of an `enum` stay. Loses: what the model would have read.
    """
    for raw, node, *_ in chain(draft.nodes, draft.described):
        if "description" in node:
            draft.note(DESCRIPTION_REMOVED, raw, "description", before=node.pop("description"))


def remove_definition_tables(draft: Draft) -> None:
    """Pass 2: remove the root's definition tables, and empty every node that refers into one.

    Shape: {$ref: #/$defs/A, type: object} -> {}. Also where the definition does not exist; other references stay,
    and so do tables below the root and the nodes in them.
    """
    for table in TABLE_KEYWORDS:
        if table in draft.schema:
            draft.note(TABLE_DROPPED, draft.raw, table, before=draft.schema.pop(table))
    for raw, node, depth, _ in draft.nodes:
        if depth >= 0 and "$ref" in node and local_definition(node["$ref"]):
            _empty(draft, REFERENCE_EMPTIED, raw, node)


def collapse_deep_objects(draft: Draft) -> None:
    """Pass 3: empty every node with structure that is at least `COLLAPSE_DEPTH` steps below the root.

    Structure is the type object or array, a reference, children or alternatives, even when they are null.
    """
    for raw, node, depth, shape in draft.nodes:
        if depth >= draft.collapse_depth and node and (shape.is_complex or _is_container(node.get("type"))):
            _empty(draft, NODE_COLLAPSED, raw, node)


def prune_composition_branches(draft: Draft) -> None:
    """Pass 4: empty every node that has alternatives (`anyOf`, `oneOf`, `allOf`), at any depth, the root too."""
    for raw, node, depth, shape in draft.nodes:
        if depth >= 0 and node and shape.has_members:
            _empty(draft, MEMBERS_PRUNED, raw, node)


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


def _empty(draft: Draft, rule: Rule, raw: dict[str, Any], node: dict[str, Any]) -> None:
    if draft.changes is not None:
        draft.note(rule, raw, before=dict(node), after={})
    node.clear()
