"""Stage 2: keep only the definitions that something refers to.

A worklist over references, not over definitions: the list of references grows while it is read. Each definition is
normalised when the first reference reaches it; what nothing reaches is never looked at, so it may even be broken.

Source: measured on Codex CLI 0.171.0.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from minicodex.schema.draft import IN_A_TABLE, Draft, Rule
from minicodex.schema.keywords import TABLE_KEYWORDS, Effect
from minicodex.schema.normalize import grow, place, place_other

DEFINITION_UNREACHED: Final = Rule(
    "definition_unreached", Effect.KEPT, "Nothing refers to the definition, so it is not sent."
)

__all__ = ["local_definition", "retain_reachable_definitions"]


def retain_reachable_definitions(draft: Draft) -> bool:
    """Put into the root's `$defs` and `definitions` what can be reached from the root, and nothing else.

    Shape: {properties, $defs: {Used, Unused}} -> {properties, $defs: {Used}}
    A node outside the tables reaches what its own `$ref` names. A definition reaches whatever is mentioned anywhere
    inside it, even in a `default`. Circles end: a definition is taken once. References are never resolved, checked or
    inlined; one that leads nowhere stays as it is.

    Raises:
        Misfit: a definition that is reached does not fit the subset.
    """
    if draft.raw.keys().isdisjoint(TABLE_KEYWORDS):
        return False
    tables = {table: draft.raw[table] for table in TABLE_KEYWORDS if isinstance(draft.raw.get(table), dict)}
    retained: dict[str, dict[str, Any]] = {table: {} for table in tables}
    draft.inside_definition = True
    for reference in draft.references:  # it grows below
        table, name = local_definition(reference) or NOWHERE
        if name in tables.get(table, ()) and name not in retained[table]:
            start, schema = len(draft.nodes), tables[table][name]
            is_object = schema.__class__ is dict
            retained[table][name] = (
                place(draft, schema, IN_A_TABLE) if is_object else place_other(draft, draft.raw, schema, table, name)
            )
            grow(draft, start)
            draft.forget(start)
    for table, entries in retained.items():
        if len(entries) < len(tables[table]):
            _leave_out(draft, table, [name for name in tables[table] if name not in entries])
        if entries:
            draft.schema[table] = {name: entries[name] for name in sorted(tables[table]) if name in entries}
    return True


def _leave_out(draft: Draft, table: str, names: list[str]) -> None:
    for name in names:
        draft.unseen.append(draft.raw[table][name])
        draft.note(DEFINITION_UNREACHED, draft.raw, table, name, before=draft.raw[table][name])


def local_definition(reference: str) -> tuple[str, str] | None:
    """The table and name that a reference means, or None when it is no reference to a definition of this schema.

    `#/$defs/Name` and `#/definitions/Name`, with anything after the name. Percent signs are decoded first, so `%2F`
    separates; `~1` and `~0` are `/` and `~` afterwards, and a lone `~` anywhere disqualifies the reference.
    Source: measured on Codex CLI 0.171.0; RFC 6901 (JSON pointer) in a URI fragment.
    """
    if not reference.startswith("#"):
        return None
    pointer = reference[1:]
    if "%" in pointer:
        try:
            pointer = unquote_to_bytes(pointer).decode()
        except UnicodeDecodeError:
            return None
    start, _, rest = pointer.partition("/")
    table, slash, path = rest.partition("/")
    if start or not slash or table not in TABLE_KEYWORDS:
        return None
    name, _, _ = path.partition("/")
    if "~" not in path:
        return table, name
    return None if _BAD_ESCAPE.search(path) else (table, name.replace("~1", "/").replace("~0", "~"))


NOWHERE: Final = ("", "")
_BAD_ESCAPE: Final = re.compile("~(?![01])")
