"""The manual: what the model reads about a tool, and nothing else.

A contract never holds the function. It has three groups of fields: identity (`type`, `name`), guidance
(`description`, `parameters`) and protocol control (`strict`, `defer_loading`). The output schema is a fourth thing:
it stays inside and is in no function tool's JSON.

Key order and absent keys are those of Codex CLI 0.171.0 (measured): `strict` is always there, `defer_loading` only
when it is true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import orjson

from minicodex.errors import ContractEncodingError, InvalidContract
from minicodex.json_text import unencodable
from minicodex.schema import ToolSchema

__all__ = [
    "Contract",
    "FreeformContract",
    "FunctionContract",
    "NamespaceContract",
    "ToolSearchContract",
    "default_namespace_description",
]


@runtime_checkable
class Contract(Protocol):
    """What every contract can do."""

    @property
    def name(self) -> str: ...

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that is sent, as plain data, in the order of its keys."""
        ...

    def to_bytes(self) -> bytes:
        """The same object as compact UTF-8. Encoded once, then kept.

        Raises:
            ContractEncodingError: naming the tool and the place.
        """
        ...


def _encode(name: Any, head: dict[str, Any], last: tuple[str, bytes] | None = None) -> bytes:
    """Encode plain members, then one member that is already encoded: compiled schemas are never read again."""
    whole = head if last is None else head | {last[0]: orjson.Fragment(last[1])}
    try:
        if all(type(value) in (str, bool) for value in head.values()):
            return orjson.dumps(whole)  # the usual case: orjson itself refuses half a surrogate pair
    except TypeError:
        pass
    flaw = unencodable(head)
    if flaw is not None:
        raise ContractEncodingError(name if isinstance(name, str) else str(type(name)), *flaw)
    return orjson.dumps(whole)


@dataclass(frozen=True)
class FunctionContract:
    """A function tool as the model sees it.

    Raises:
        InvalidContract: `parameters` is not a compiled `ToolSchema`.
    """

    name: str
    description: str
    parameters: ToolSchema
    strict: bool = False
    """Asks the provider to hold the model to the schema. Codex never asks (measured: always false)."""
    defer_loading: bool | None = None
    """True only in search results. False and None are written alike: not at all."""
    output_schema: Any = field(default=None, hash=False)
    """Inside only: shown as a type in code mode, sent in no function tool."""

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, ToolSchema):
            found = type(self.parameters).__name__
            raise InvalidContract(
                f"{self.name!a}: parameters must be a ToolSchema, found {found}; "
                "compile the schema first with compile_tool_schema(schema)"
            )

    def to_wire(self) -> dict[str, Any]:
        return {**self._head(), "parameters": self.parameters.to_json()}

    def to_bytes(self) -> bytes:
        return self._encoded

    def _head(self) -> dict[str, Any]:
        head = {"type": "function", "name": self.name, "description": self.description, "strict": self.strict}
        return head | {"defer_loading": True} if self.defer_loading else head

    @cached_property
    def _encoded(self) -> bytes:
        return _encode(self.name, self._head(), ("parameters", self.parameters.to_bytes()))


@dataclass(frozen=True)
class NamespaceContract:
    """Several function tools under one name. The model calls them by namespace and name."""

    name: str
    description: str
    tools: tuple[FunctionContract | FreeformContract, ...]

    def to_wire(self) -> dict[str, Any]:
        return {**self._head(), "tools": [tool.to_wire() for tool in self.tools]}

    def to_bytes(self) -> bytes:
        return self._encoded

    def _head(self) -> dict[str, Any]:
        return {"type": "namespace", "name": self.name, "description": self.description}

    @cached_property
    def _encoded(self) -> bytes:
        return _encode(self.name, self._head(), ("tools", json_array(tool.to_bytes() for tool in self.tools)))


@dataclass(frozen=True)
class FreeformContract:
    """A tool that takes plain text in a grammar instead of JSON (a `custom` tool on the wire)."""

    name: str
    description: str
    syntax: str
    """The grammar's language: `"lark"` or `"regex"`."""
    definition: str
    """The grammar itself."""

    def to_wire(self) -> dict[str, Any]:
        grammar = {"type": "grammar", "syntax": self.syntax, "definition": self.definition}
        return {"type": "custom", "name": self.name, "description": self.description, "format": grammar}

    def to_bytes(self) -> bytes:
        return self._encoded

    @cached_property
    def _encoded(self) -> bytes:
        return _encode(self.name, self.to_wire())


@dataclass(frozen=True)
class ToolSearchContract:
    """The tool with which a model finds deferred tools. It has no name on the wire, only a type."""

    description: str
    parameters: ToolSchema
    name: str = "tool_search"

    def to_wire(self) -> dict[str, Any]:
        return {**self._head(), "parameters": self.parameters.to_json()}

    def to_bytes(self) -> bytes:
        return self._encoded

    def _head(self) -> dict[str, Any]:
        return {"type": "tool_search", "execution": "client", "description": self.description}

    @cached_property
    def _encoded(self) -> bytes:
        return _encode(self.name, self._head(), ("parameters", self.parameters.to_bytes()))


def default_namespace_description(name: str) -> str:
    """What stands where a server gives no instructions. Source: Codex CLI 0.171.0 (measured)."""
    return f"Tools in the {name} namespace."


def json_array(encoded: Iterable[bytes]) -> bytes:
    """A JSON array of members that are encoded already."""
    return b"[" + b",".join(encoded) + b"]"
