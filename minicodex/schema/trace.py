"""The trace: every stage of a compilation with its schema, its size and what it lost.

The stages are the compiler's own. The trace only watches them: it takes notes of the rules they apply and a picture of
the draft after each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from minicodex.errors import InvalidToolSchema
from minicodex.schema.compaction import BUDGET_BYTES
from minicodex.schema.compiler import STAGES, begin, finish, read
from minicodex.schema.draft import COLLAPSE_DEPTH, Draft, Stage
from minicodex.schema.keywords import TABLE_KEYWORDS
from minicodex.schema.literals import exact_copy, parse_exact, parse_plain, write_number
from minicodex.schema.losses import (
    Loss,
    Places,
    losses_of_changes,
    losses_of_ignored,
    new_contradictions,
    places_of,
    plain,
)
from minicodex.schema.model import ToolSchema
from minicodex.schema.normalize import adapt_mcp_schema
from minicodex.schema.trace_text import text_of_trace
from minicodex.schema.witness import Witness, find_witness

__all__ = ["SchemaTrace", "StageTrace", "trace_mcp_schema_json", "trace_tool_schema", "trace_tool_schema_json"]


@dataclass(frozen=True)
class StageTrace:
    """One stage of one compilation."""

    name: str
    sentence: str
    """What the stage does."""
    ran: bool
    why: str
    """Why it ran, or why not."""
    schema: dict[str, Any]
    """The schema after it, as plain data."""
    size_bytes: int
    """Length of its compact UTF-8 JSON."""
    losses: tuple[Loss, ...]


@dataclass(frozen=True)
class SchemaTrace:
    """What happened to one schema. Exactly one of `schema` and `error` is None."""

    source: Any
    """The author's schema as plain data; None where it is no JSON."""
    stages: tuple[StageTrace, ...]
    """The stages that were reached, in order; one that was not needed is there too, with the reason."""
    schema: ToolSchema | None
    error: InvalidToolSchema | None

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Every loss of every stage."""
        return tuple(loss for stage in self.stages for loss in stage.losses)

    @cached_property
    def witness(self) -> Witness | None:
        """Arguments that prove the gravest loss that can be proved; None where none was found in bounded time."""
        return None if self.schema is None else find_witness(self.source, self.schema.to_json(), self.losses)

    def text(self) -> str:
        """The trace for a terminal of 100 columns."""
        return text_of_trace(self)


def trace_tool_schema(
    raw_schema: Any,
    *,
    trusted: bool = False,
    budget_bytes: int = BUDGET_BYTES,
    collapse_depth: int = COLLAPSE_DEPTH,
) -> SchemaTrace:
    """Compile like `compile_tool_schema`, with notes. Never raises; `.error` is what the compiler would raise.

    Args:
        raw_schema: any JSON value; only read.
        trusted: skip the compaction.
        budget_bytes: largest size without compaction; another one than Codex has is for experiments.
        collapse_depth: where the third pass begins; as above.
    """
    watcher = _Watcher(budget_bytes, trusted=trusted)
    try:
        raw = read(exact_copy, raw_schema)
    except InvalidToolSchema as error:
        return SchemaTrace(None, (), None, error)
    schema, refused = None, None
    try:
        draft = begin(raw, is_exact=True, watch=watcher, collapse_depth=max(0, collapse_depth))
        schema = finish(draft, trusted=trusted, budget_bytes=budget_bytes, watch=watcher)
    except InvalidToolSchema as error:
        refused = error
    return SchemaTrace(plain(raw), tuple(watcher.stages), schema, refused)


def trace_tool_schema_json(text: str | bytes, *, trusted: bool = False) -> SchemaTrace:
    """The same for the JSON text of a schema; number literals keep their text."""
    return _trace_text(text, trusted=trusted, adapt=lambda raw: raw)


def trace_mcp_schema_json(text: str | bytes, *, trusted: bool = False) -> SchemaTrace:
    """The same for the text of an MCP `inputSchema`, which is adapted first."""
    return _trace_text(text, trusted=trusted, adapt=adapt_mcp_schema)


def _trace_text(text: str | bytes, *, trusted: bool, adapt: Callable[[Any], Any]) -> SchemaTrace:
    try:
        raw = read(parse_exact, text)
    except InvalidToolSchema as error:
        return SchemaTrace(None, (), None, error)
    return trace_tool_schema(adapt(raw), trusted=trusted)


class _Watcher:
    """Takes a picture of the draft after every stage, and the notes that the stage left."""

    def __init__(self, budget_bytes: int, *, trusted: bool) -> None:
        self.stages: list[StageTrace] = []
        self._budget_bytes, self._trusted = budget_bytes, trusted
        self._places: Places = {}
        self._examined = 0
        self._contradictions: set[str] = set()

    def __call__(self, draft: Draft, stage: Stage, *, ran: bool) -> None:
        self._places = self._places or places_of(draft.raw)
        picture = draft.encode()
        if not self.stages:  # the tables of the root wait for the next stage; until then they are the author's
            waiting = {table: draft.raw[table] for table in TABLE_KEYWORDS if isinstance(draft.raw.get(table), dict)}
            picture = orjson.dumps({**draft.schema, **waiting}, default=write_number)
        losses = tuple(self._losses(draft)) if ran else ()
        why, schema = self._why(stage, ran=ran), parse_plain(picture)
        self.stages.append(StageTrace(stage.name, stage.sentence, ran, why, schema, len(picture), losses))

    def _why(self, stage: Stage, *, ran: bool) -> str:
        if stage in STAGES:
            return "every schema goes through it"
        if self._trusted:
            return "a trusted schema is not compacted"
        relation = "are over" if ran else "fit"
        return f"{self.stages[-1].size_bytes:,} bytes {relation} the budget of {self._budget_bytes:,}"

    def _losses(self, draft: Draft) -> Iterator[Loss]:
        changes = draft.changes or []
        yield from losses_of_changes(changes, self._places)
        yield from losses_of_ignored(draft.nodes[self._examined :], changes, self._places)
        yield from new_contradictions(draft, self._places, self._contradictions)
        draft.changes = []
        self._examined = len(draft.nodes)
