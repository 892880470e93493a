"""The compiler: the stages in their order, once for the fast path and once, the same ones, with notes for the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from minicodex.errors import InvalidToolSchema, JsonTextError
from minicodex.json_text import pointer_of
from minicodex.schema.aside import refuse_wide_integers
from minicodex.schema.cache import TextCache
from minicodex.schema.compaction import BUDGET_BYTES, PASSES
from minicodex.schema.definitions import retain_reachable_definitions
from minicodex.schema.draft import COLLAPSE_DEPTH, Draft, Stage
from minicodex.schema.literals import (
    NotJson,
    can_be_written,
    exact_copy,
    has_long_integer,
    has_odd_literal,
    is_json,
    is_written_alike,
    parse_exact,
    parse_loose,
)
from minicodex.schema.model import FAULTS, Misfit, ToolSchema, pointer_to
from minicodex.schema.normalize import adapt_mcp_schema, normalize_supported_keywords

__all__ = ["STAGES", "compile_mcp_schema_json", "compile_tool_schema", "compile_tool_schema_json"]

STAGES: Final = (
    Stage(
        "normalize_supported_keywords",
        normalize_supported_keywords,
        "rewrite what was written into what the subset can say",
    ),
    Stage(
        "retain_reachable_definitions",
        retain_reachable_definitions,
        "keep the definitions that something refers to",
    ),
)
"""The stages that every schema goes through; `PASSES` follow while it is over the budget."""


def compile_tool_schema(raw_schema: Any, *, trusted: bool = False) -> ToolSchema:
    """Compile a JSON Schema, given as Python data, into what a model is shown.

    The input is only read. Numbers are written as Python writes them.

    Args:
        raw_schema: any JSON value; only an object can be compiled.
        trusted: skip the compaction, whatever the size; for tools of our own.

    Raises:
        InvalidToolSchema: it does not fit the typed subset, or is no JSON; `.kind` and `.pointer` say why and where.
    """
    draft = begin(raw_schema) if can_be_written(raw_schema) else None
    if draft is None or (draft.unseen and not is_json(draft.unseen)) or not is_written_alike(draft.numbers):
        draft = begin(read(exact_copy, raw_schema), is_exact=True)
    return finish(draft, trusted=trusted)


def compile_tool_schema_json(text: str | bytes, *, trusted: bool = False) -> ToolSchema:
    """Compile the JSON text of a schema. Number literals keep their text. The result is remembered by the text.

    Raises:
        InvalidToolSchema: as for `compile_tool_schema`; `.kind` is `not_json` for a text that is no JSON.
    """
    known = _COMPILED[trusted]
    return known.get(text) or _compile_text(text, known, trusted=trusted, adapt=_as_it_is)


def compile_mcp_schema_json(text: str | bytes, *, trusted: bool = False) -> ToolSchema:
    """The same for the text of an MCP `inputSchema`, which is adapted first (`adapt_mcp_schema`)."""
    known = _COMPILED_FOR_MCP[trusted]
    return known.get(text) or _compile_text(text, known, trusted=trusted, adapt=adapt_mcp_schema)


_COMPILED: Final = (TextCache(), TextCache())
_COMPILED_FOR_MCP: Final = (TextCache(), TextCache())
"""What is remembered: for schemas that are not trusted, and for those that are."""


def _as_it_is(raw: Any) -> Any:
    return raw


def _compile_text(text: str | bytes, known: TextCache, *, trusted: bool, adapt: Callable[[Any], Any]) -> ToolSchema:
    draft = begin(adapt(read(parse_loose, text)))
    has_odd_numbers = bool(draft.numbers) and has_odd_literal(text, draft.numbers)
    if has_odd_numbers or (draft.maps and has_long_integer(text)):
        draft = begin(adapt(read(parse_exact, text)), is_exact=True)
    schema = finish(draft, trusted=trusted)
    known.put(text, schema)
    return schema


def read(reader: Callable[[Any], Any], source: Any) -> Any:
    """What a reader of `literals` makes of a source.

    Raises:
        InvalidToolSchema: the source is no JSON, or is nested too deep.
    """
    try:
        return reader(source)
    except JsonTextError as flaw:
        hint = flaw.hint[:1].upper() + flaw.hint[1:]
        raise InvalidToolSchema("not_json", "", "JSON text", f"a fault: {flaw}", hint) from None
    except NotJson as flaw:
        fault = FAULTS["too_deep" if flaw.is_too_deep else "not_json"]
        raise InvalidToolSchema(fault.kind, flaw.pointer, fault.expected, flaw.found, fault.hint) from None


class Watch(Protocol):
    """Is shown the draft after each stage, and whether the stage was needed."""

    def __call__(self, draft: Draft, stage: Stage, *, ran: bool) -> None: ...


def begin(
    raw: Any, *, is_exact: bool = False, watch: Watch | None = None, collapse_depth: int = COLLAPSE_DEPTH
) -> Draft:
    """Put a schema on the workbench and apply the stages that every schema goes through.

    Args:
        raw: the author's schema; only read.
        is_exact: whether numbers that Python would write differently are literals.
        watch: who looks on, for the trace.
        collapse_depth: where the third pass begins.

    Raises:
        InvalidToolSchema: it does not fit the typed subset.
    """
    if not isinstance(raw, dict):
        raise FAULTS["not_a_schema"].at("", raw)
    draft = Draft(raw, None if watch is None else [], collapse_depth)
    try:
        for stage in STAGES:
            stage.apply(draft)
            if watch is not None:
                watch(draft, stage, ran=True)
        if is_exact:
            refuse_wide_integers(draft)
    except Misfit as misfit:
        pointer = pointer_to(raw, misfit.node) + pointer_of(*misfit.steps)
        raise misfit.fault.at(pointer, misfit.actual) from None
    return draft


def finish(draft: Draft, *, trusted: bool, budget_bytes: int = BUDGET_BYTES, watch: Watch | None = None) -> ToolSchema:
    """Apply the passes, each while the schema is over the budget, and the last check.

    Raises:
        InvalidToolSchema: the root allows nothing but null.
    """
    sent = draft.encode()
    for stage in PASSES:
        is_needed = not trusted and len(sent) > budget_bytes
        if is_needed:
            if stage.apply(draft):
                sent = b""  # let go of the old text, which may be large, before the new one is made
                sent = draft.encode()
        elif watch is None:
            break
        if watch is not None:
            watch(draft, stage, ran=is_needed)
    refuse_null_root(draft)
    return ToolSchema(sent)


def refuse_null_root(draft: Draft) -> None:
    """The last check: a root that allows nothing but null is no tool's input.

    Raises:
        InvalidToolSchema: it is one.
    """
    if draft.schema.get("type") == "null":
        raise FAULTS["null_root"].at("/type", "null")
