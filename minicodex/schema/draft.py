"""The workbench: one schema while it is being compiled.

Why a workbench and not one new tree per stage: the first walk over a schema already sees everything that later stages
ask for. It notes each node once, with its depth; a stage after it is a plain loop over these notes. The author's schema
is only ever read. What a stage changes is the draft's own copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from minicodex.json_text import write_number
from minicodex.schema.keywords import Effect

__all__ = ["IN_A_TABLE", "Change", "Draft", "Node", "Rule", "Stage"]

COLLAPSE_DEPTH: Final = 3
"""Steps from the root at which complex nodes are emptied; a property, `items` or an alternative is one step."""

IN_A_TABLE: Final = -1
"""Depth of a node that stands in a definition table, where compaction by depth never looks."""

Node = tuple[dict[str, Any], dict[str, Any], int]
"""The author's node, the draft's own node for it, and its depth (the root has 0)."""


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


@dataclass(slots=True)
class Draft:
    """A schema on the workbench."""

    raw: Any
    """The author's schema; never changed."""
    collapse_depth: int = COLLAPSE_DEPTH
    """Where the third pass begins to collapse."""
    schema: dict[str, Any] = field(default_factory=dict)
    """The schema so far, keys in wire order."""
    nodes: list[Node] = field(default_factory=list)
    """Every node of `schema`, parents before children."""
    finished: int = 0
    """How many of the nodes are finished."""
    inside_definition: bool = False
    """Whether the walk has come to the definitions, where every mention of another one counts."""
    references: list[str] = field(default_factory=list)
    """Each `$ref` that keeps a definition alive."""
    is_exact: bool = False
    """Whether every number in `raw` stands for its own text."""
    maps: list[dict[str, Any]] = field(default_factory=list)
    """The author's schemas under `additionalProperties`."""
    has_numbers: bool = False
    """A number may reach the output: only enum values can hold one."""
    changes: list[Change] | None = None
    """Notes for the trace; None on the fast path."""

    def encode(self) -> bytes:
        """The schema as it would be sent: compact UTF-8 JSON."""
        return orjson.dumps(self.schema, default=write_number)

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
    apply: Callable[[Draft], None]
    sentence: str
