"""The typed subset: what a compiled schema can say, and the errors when it cannot.

`ToolSchema` holds the very bytes that are sent. Plain data and the typed pydantic model are decoded from them on
demand: planning and encoding a request need neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from minicodex.errors import InvalidToolSchema
from minicodex.json_text import pointer_of, shorten
from minicodex.schema.literals import parse_plain

if TYPE_CHECKING:
    from minicodex.schema.typed import SchemaNode

__all__ = ["FAULTS", "Fault", "Misfit", "ToolSchema"]

MAX_COUNT: Final = 2**64 - 1
"""Largest `minItems`. Source: measured on Codex CLI 0.171.0."""


class ToolSchema:
    """A compiled schema: the JSON that is sent as a tool's `parameters`. Immutable; equal when the bytes are equal.

    Made by `compile_tool_schema` and its relatives, never by hand.
    """

    __slots__ = ("_sent",)

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def to_bytes(self) -> bytes:
        """Compact UTF-8 JSON, keys in wire order, numbers as the author wrote them."""
        return self._sent

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, made anew for every caller; numbers are Python's."""
        plain: dict[str, Any] = parse_plain(self._sent)
        return plain

    @property
    def model(self) -> SchemaNode:
        """The same as a typed pydantic model, made anew for every caller."""
        return _decoder()(self._sent)

    @property
    def size_bytes(self) -> int:
        """Length of `to_bytes()`, the number that the budget is about."""
        return len(self._sent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolSchema) and self._sent == other._sent

    def __hash__(self) -> int:
        return hash(self._sent)

    def __repr__(self) -> str:
        return f"ToolSchema({shorten(self._sent.decode(), 80)})"


@cache
def _decoder() -> Callable[[bytes], SchemaNode]:
    """The reader of the typed model. Loaded when a model is first asked for: it brings all of pydantic."""
    from minicodex.schema.typed import decode

    return decode


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a schema fails to fit, as words for its author."""

    kind: str
    expected: str
    hint: str

    def at(self, pointer: str, actual: Any) -> InvalidToolSchema:
        """The error for a value at a place."""
        return InvalidToolSchema(self.kind, pointer, self.expected, describe(actual), self.hint)


FAULTS: Final = {
    fault.kind: fault
    for fault in (
        Fault(
            "not_json",
            "a JSON value",
            "Send what a JSON parser returns: no tuples, NaN or objects of your own",
        ),
        Fault("too_deep", "at most 250 levels of nesting", "Name the inner parts in `$defs` and refer to them"),
        Fault("not_a_schema", "a JSON object as the schema", 'Write {"type": "object", "properties": {}}'),
        Fault("not_a_node", "a schema: an object, `true` or `false`", "Write the schema of this value there"),
        Fault("items_is_list", "one schema for all members", "Write one schema, or an object with named fields"),
        Fault("unusable_type", "a type name that JSON Schema knows", "Correct the name, or remove `type` here"),
        Fault("wrong_ref", "a string", "Write the reference as text, such as `#/$defs/Name`"),
        Fault("wrong_description", "a string", "Write the description as one text"),
        Fault("wrong_encrypted", "`true` or `false`", "Remove `encrypted`, or make it a boolean"),
        Fault("wrong_enum", "a list of values", "Write the allowed values as a list"),
        Fault(
            "wrong_min_items",
            "a whole number from 0 to 18446744073709551615",
            "Write it as 1, not as 1.0 or 1e0",
        ),
        Fault("wrong_properties", "an object of schemas by name", "Write one schema for each name"),
        Fault("wrong_required", "a list of property names", "Write the names as a list of strings"),
        Fault("wrong_members", "a list of schemas", "Put the alternatives into a list"),
        Fault("wide_integer", "integers of at most 64 bits", "Use a smaller limit below `additionalProperties`"),
        Fault("null_root", "a root that allows more than null", "Give the root the type object"),
    )
}
"""Every `InvalidToolSchema.kind`. Source: what makes Codex CLI 0.171.0 leave a tool out (measured)."""


class Misfit(Exception):
    """Raised inside a stage, which knows the node but not its place; the compiler looks the place up."""

    def __init__(self, kind: str, node: Any, *steps: str | int, actual: Any) -> None:
        super().__init__(kind)
        self.fault, self.node, self.steps, self.actual = FAULTS[kind], node, steps, actual


def describe(value: Any) -> str:
    """What stands there, in a few words; cheap for a value of any size."""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the string {shorten(value[:60], 40)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the number {value}"[:60] if isinstance(value, (int, float)) else f"a {type(value).__name__}"


def pointer_to(root: Any, node: Any) -> str:
    """Where a node stands in a schema, found by identity: errors are rare, so no walk carries pointers along."""
    if node is root:
        return ""
    found: dict[int, tuple[int, Any]] = {id(root): (0, None)}
    stack = [root]
    while stack:
        parent = stack.pop()
        pairs = parent.items() if isinstance(parent, dict) else enumerate(parent)
        for step, child in pairs:
            if isinstance(child, (dict, list)) and id(child) not in found:
                found[id(child)] = (id(parent), step)
                if child is node:
                    return _pointer_back(found, id(child))
                stack.append(child)
    return ""


def _pointer_back(found: dict[int, tuple[int, Any]], place: int) -> str:
    steps = []
    while place and found[place][0]:
        place, step = found[place]
        steps.append(step)
    return pointer_of(*reversed(steps))
