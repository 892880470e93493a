"""The workbench: one schema while it is being compiled.

Why a workbench and not one new tree per stage: the first walk over a schema already sees everything that later stages
ask for. It notes each node once, with its depth; a stage after it is a plain loop over these notes. The author's schema
is only ever read. What a stage changes is the draft's own copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from minicodex.schema.keywords import Effect, Shape
from minicodex.schema.literals import write_number

__all__ = ["IN_A_TABLE", "Change", "Draft", "Node", "Rule", "Stage"]

COLLAPSE_DEPTH: Final = 3
"""Steps from the root at which complex nodes are emptied; a property, `items` or an alternative is one step."""

IN_A_TABLE: Final = -1
"""Depth of a node that stands in a definition table, where compaction by depth never looks."""

Node = tuple[dict[str, Any], dict[str, Any], int, Shape]
"""The author's node, the draft's own node for it, its depth (the root has 0) and its shape."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that the compiler does to a node, and how to say it."""

    name: str
    effect: Effect
    sentence: str


class Change(NamedTuple):
    """A rule that was applied, noted for the trace."""

    rule: Rule
    node: dict[str, Any]
    """The author's node; its place is looked up later, when somebody asks."""
    steps: tuple[str | int, ...]
    """From the node to the thing that changed; empty for the node itself."""
    before: Any
    after: Any
    effect: Effect


class Draft:
    """A schema on the workbench.

    Args:
        raw: the author's schema; only read.
        changes: where to note every applied rule for the trace; None on the fast path.
        collapse_depth: where the third pass begins to collapse.
    """

    __slots__ = (
        "changes",
        "collapse_depth",
        "described",
        "inside_definition",
        "maps",
        "nodes",
        "numbers",
        "raw",
        "references",
        "schema",
        "unseen",
    )

    def __init__(
        self, raw: dict[str, Any], changes: list[Change] | None = None, collapse_depth: int = COLLAPSE_DEPTH
    ) -> None:
        self.raw, self.changes, self.collapse_depth = raw, changes, collapse_depth
        self.schema: dict[str, Any] = {}
        """The schema so far, keys in wire order."""
        self.nodes: list[Node] = []
        """The nodes, parents before children."""
        self.described: list[tuple[dict[str, Any], dict[str, Any]]] = []
        """Nodes with a scalar type and a description, which were not worth a turn: the author's and the draft's."""
        self.references: list[str] = []
        """Each `$ref` that keeps a definition alive."""
        self.maps: list[dict[str, Any]] = []
        """The author's schemas under `additionalProperties`."""
        self.numbers: list[float] = []
        """The floats that reach the output: only the values of an enum can hold any."""
        self.unseen: list[Any] = []
        """Parts of the author's schema that no walk entered."""
        self.inside_definition = False
        """The walk has come to the definitions, where every mention of another one counts."""

    def encode(self) -> bytes:
        """The schema as it would be sent: compact UTF-8 JSON."""
        return orjson.dumps(self.schema, default=write_number)

    def forget(self, start: int) -> None:
        """Drop the notes from `start` on, but for what the first pass can touch; the trace keeps them all.

        The nodes of a definition are of no use to the other passes, and there may be a great many of them.
        """
        if self.changes is None:
            self.described += [(raw, node) for raw, node, *_ in self.nodes[start:] if "description" in node]
            del self.nodes[start:]

    def note(
        self,
        rule: Rule,
        node: dict[str, Any],
        *steps: str | int,
        before: Any = None,
        after: Any = None,
        effect: Effect | None = None,
    ) -> None:
        """Write down for the trace that a rule was applied."""
        if self.changes is not None:
            self.changes.append(Change(rule, node, steps, before, after, effect or rule.effect))


@dataclass(frozen=True, slots=True)
class Stage:
    """A named step of the compilation. It works on the draft in place."""

    name: str
    apply: Callable[[Draft], bool]
    """Works on the draft in place; says whether it changed anything."""
    sentence: str
