"""Canonical names: what a tool is called on the wire.

A server may call its tools as it likes. The model may only use letters, digits and `_`, so names are rewritten. Two
names that meet after rewriting would be one tool, so *all* of such a group get a hash, the innocent one included.
That is why adding a tool can rename an old one. Source: Codex CLI 0.171.0 (measured).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MAX_NAME_CHARS", "ToolName", "canonical_names", "canonical_namespaces"]

MAX_NAME_CHARS = 128
"""Limit for `len(namespace) + 2 + len(name)`, in characters."""

_PREFIX = "mcp__"
_SEPARATOR_CHARS = 2
_HASH_CHARS = 12
_LAWFUL = re.compile(r"[A-Za-z0-9_-]+\Z")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")

EMPTY_NAMESPACES = (None, "", "functions")
"""Three ways to write "no namespace" in a call; all reach the same handler. Source: Codex CLI 0.171.0."""


@dataclass(frozen=True, slots=True, eq=False)
class ToolName:
    """A tool's canonical name. Without a namespace it equals the plain string, so that a table can be asked with one.

    The model's text is a name as a whole: `"functions.update_plan"` is not `update_plan`.
    """

    name: str
    namespace: str | None = None

    @staticmethod
    def of(name: ToolName | str) -> ToolName:
        return name if isinstance(name, ToolName) else ToolName(name)

    @staticmethod
    def from_wire(name: str, namespace: str | None) -> ToolName:
        """The name of a call item; see `EMPTY_NAMESPACES`."""
        return ToolName(name, None if namespace in EMPTY_NAMESPACES else namespace)

    def flaw(self) -> str | None:
        """Why no provider would accept this name, or None. Characters are letters, digits, `_` and `-`."""
        for part in (self.name, self.namespace):
            if part is not None and not (isinstance(part, str) and _LAWFUL.match(part)):
                return "no provider accepts its name: use letters, digits, _ and - only"
        namespace_chars = 0 if self.namespace is None else len(self.namespace) + _SEPARATOR_CHARS
        if namespace_chars + len(self.name) > MAX_NAME_CHARS:
            return f"its name is longer than {MAX_NAME_CHARS} characters"
        return None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ToolName):
            return self.name == other.name and self.namespace == other.namespace
        return self.namespace is None and self.name == other

    def __hash__(self) -> int:
        return hash(self.name) if self.namespace is None else hash((self.namespace, self.name))

    def __str__(self) -> str:
        return self.name if self.namespace is None else f"{self.namespace}.{self.name}"


def canonical_namespaces(servers: Iterable[str]) -> dict[str, str]:
    """Namespace of each MCP server: `{"my-server": "mcp__my_server"}`, with a hash where two would meet."""
    names = list(dict.fromkeys(servers))
    legal = {server: _PREFIX + _legal(server, empty="") for server in names}
    shared = _shared(legal.values())
    return {server: name + (_hash(server, server, "") if name in shared else "") for server, name in legal.items()}


def canonical_names(server: str, namespace: str, raw_names: Iterable[str]) -> dict[str, ToolName]:
    """Canonical name of each tool of one server, by its raw name.

    Args:
        server: the server's name as configured; it goes into the hash.
        namespace: the server's canonical namespace. It is cut only where not even a bare hash would fit behind it.
        raw_names: the names that the server gave; a name given twice counts once.
    """
    legal = {raw: _legal(raw) for raw in raw_names}
    shared = _shared(legal.values())
    room = MAX_NAME_CHARS - _SEPARATOR_CHARS - len(namespace)
    return {
        raw: _hashed(name, namespace, _hash(server, server, "", raw, raw))
        if name in shared or len(name) > room
        else ToolName(name, namespace)
        for raw, name in legal.items()
    }


def _legal(raw: str, empty: str = "_") -> str:
    return _ILLEGAL.sub("_", raw) or empty


def _shared(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def _hash(*parts: str) -> str:
    """`_` and 12 hex digits. The parts end in NUL each but the last, as measured."""
    digest = hashlib.sha1("\0".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return "_" + digest.hexdigest()[:_HASH_CHARS]


def _hashed(name: str, namespace: str, suffix: str) -> ToolName:
    """Cut name and, if need be, namespace so that both fit together with the suffix."""
    room = MAX_NAME_CHARS - _SEPARATOR_CHARS - len(suffix)
    kept_namespace = namespace[:room]
    return ToolName(name[: room - len(kept_namespace)] + suffix, kept_namespace)
