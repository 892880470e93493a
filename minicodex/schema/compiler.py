"""The compiler: the stages in their order, once for the fast path and once, the same ones, with notes for the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from minicodex.errors import InvalidToolSchema, JsonTextError
from minicodex.json_text import (
    NotJson,
    exact_copy,
    has_long_integer,
    can_be_written,
    has_odd_literal,
    is_json,
    is_written_alike,
    parse_exact,
    parse_loose,
    pointer_of,
)
from minicodex.schema.compaction import BUDGET_BYTES, PASSES
from minicodex.schema.definitions import retain_reachable_definitions
from minicodex.schema.draft import Draft, Stage
from minicodex.schema.model import FAULTS, Misfit, ToolSchema, pointer_to
from minicodex.schema.normalize import adapt_mcp_schema, normalize_supported_keywords, refuse_wide_integers

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
    try:
        draft = _begin(raw_schema) if can_be_written(raw_schema) else None
        if draft is None or not (is_json(draft.unseen) and is_written_alike(draft.numbers)):
            draft = _begin(exact_copy(raw_schema), is_exact=True)
        return _finish(draft, trusted=trusted)
    except (NotJson, JsonTextError) as flaw:
        raise _not_json(flaw) from None


def compile_tool_schema_json(text: str | bytes, *, trusted: bool = False) -> ToolSchema:
    """Compile the JSON text of a schema. Number literals keep their text. The result is remembered by the text.

    Raises:
        InvalidToolSchema: as for `compile_tool_schema`; `.kind` is `not_json` for a text that is no JSON.
    """
    return _compile_text(text, trusted=trusted, adapt=_as_it_is)


def compile_mcp_schema_json(text: str | bytes, *, trusted: bool = False) -> ToolSchema:
    """The same for the text of an MCP `inputSchema`, which is adapted first (`adapt_mcp_schema`)."""
    return _compile_text(text, trusted=trusted, adapt=adapt_mcp_schema)


def _as_it_is(raw: Any) -> Any:
    return raw


def _compile_text(text: str | bytes, *, trusted: bool, adapt: Callable[[Any], Any]) -> ToolSchema:
    try:
        draft = _begin(adapt(parse_loose(text)))
        if (draft.numbers and has_odd_literal(text, draft.numbers)) or (draft.maps and has_long_integer(text)):
            draft = _begin(adapt(parse_exact(text)), is_exact=True)
        return _finish(draft, trusted=trusted)
    except (NotJson, JsonTextError) as flaw:
        raise _not_json(flaw) from None


def _begin(raw: Any, *, is_exact: bool = False) -> Draft:
    """The stages that every schema goes through."""
    if not isinstance(raw, dict):
        raise Misfit("not_a_schema", raw, actual=raw)
    draft = Draft(raw)
    try:
        for stage in STAGES:
            stage.apply(draft)
        if is_exact:
            refuse_wide_integers(draft)
    except Misfit as misfit:
        raise misfit.fault.at(pointer_to(raw, misfit.node) + pointer_of(*misfit.steps), misfit.actual) from None
    return draft


def _finish(draft: Draft, *, trusted: bool) -> ToolSchema:
    """The passes, each while the schema is over the budget, and the last check."""
    sent = draft.encode()
    for stage in () if trusted else PASSES:
        if len(sent) <= BUDGET_BYTES:
            break
        stage.apply(draft)
        sent = draft.encode()
    if draft.schema.get("type") == "null":
        raise FAULTS["null_root"].at("/type", "null")
    return ToolSchema(sent)


def _not_json(flaw: NotJson | JsonTextError) -> InvalidToolSchema:
    is_too_deep = isinstance(flaw, NotJson) and flaw.is_too_deep
    fault = FAULTS["too_deep" if is_too_deep else "not_json"]
    return InvalidToolSchema(fault.kind, flaw.pointer, fault.expected, str(flaw), fault.hint)
