"""What `strict` demands of a schema, and two providers: one that keeps the promise and one that does not.

`strict: true` is a request to the provider: hold the model to the schema while it writes. The documented API grants it
only if the schema leaves nothing open. A provider that is merely compatible may accept the key and ignore it. Both are
played here around a scripted model, because the wire looks the same in either case.

Why here and not in the runtime: Codex always sends `strict: false`, so no tool of ours depends on any of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minicodex.arguments import parse_arguments
from minicodex.errors import ArgumentError, ProviderError
from minicodex.json_text import pointer_of
from minicodex.request import ApiRequest
from minicodex.schema import ToolSchema
from minicodex.turn import Model
from minicodex.validation import ArgumentValidator

__all__ = ["KeepingProvider", "LaxProvider", "Missing", "missing_for_strict"]

MAX_TRIES = 5
"""How often `KeepingProvider` lets its model write an answer anew."""


@dataclass(frozen=True)
class Missing:
    """One thing that keeps a schema from being strict."""

    pointer: str
    demand: str
    way_out: str

    def __str__(self) -> str:
        return f"at {self.pointer or 'the root'}: {self.demand}; {self.way_out}"


def missing_for_strict(schema: ToolSchema | Mapping[str, Any]) -> list[Missing]:
    """Everything that strict still misses in a schema; empty if it can be kept to the letter.

    Source: the documented API, structured outputs: the root is an object, every object forbids other properties and
    requires all of its own, and `anyOf` is the only union.
    """
    root = schema.to_json() if isinstance(schema, ToolSchema) else schema
    missing = list(_missing("", root))
    if root.get("type") != "object":
        missing.insert(0, Missing("", "the root must have the type object", "put the value into a property"))
    return missing


def _missing(pointer: str, node: Any) -> Iterator[Missing]:
    if not isinstance(node, Mapping):
        return
    names = node.get("properties", {})
    if "properties" in node or "object" in _types(node):
        if node.get("additionalProperties") is not False:
            yield Missing(pointer, "other properties are allowed", "add `additionalProperties: false`")
        for name in names:
            if name not in node.get("required", ()):
                way_out = "require it, and allow null where it may be empty"
                yield Missing(pointer + pointer_of("properties", name), "it is optional", way_out)
    for union in ("oneOf", "allOf"):
        if union in node:
            yield Missing(pointer + pointer_of(union), f"`{union}` is not supported", "say it with `anyOf`")
    yield from _missing_below(pointer, node)


def _missing_below(pointer: str, node: Mapping[str, Any]) -> Iterator[Missing]:
    for table in ("properties", "$defs", "definitions"):
        for name, child in node.get(table, {}).items():
            yield from _missing(pointer + pointer_of(table, name), child)
    yield from _missing(pointer + pointer_of("items"), node.get("items"))
    for union in ("anyOf", "oneOf", "allOf"):
        for index, branch in enumerate(node.get(union, ())):
            yield from _missing(pointer + pointer_of(union, index), branch)


def _types(node: Mapping[str, Any]) -> Sequence[str]:
    kind = node.get("type", ())
    return [kind] if isinstance(kind, str) else kind


# --- two providers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LaxProvider:
    """Takes a strict contract without complaint, and passes on whatever the model writes."""

    model: Model

    def respond(self, request: ApiRequest) -> Sequence[Mapping[str, Any]]:
        return self.model.respond(request)


@dataclass
class KeepingProvider:
    """Refuses a strict contract that it could not keep, and passes on no call that breaks one.

    A real provider bars every token that would leave the schema. Here the model simply writes its answer anew.
    """

    model: Model
    barred: list[str] = field(default_factory=list)
    """Argument texts that the model wanted to send."""

    def respond(self, request: ApiRequest) -> Sequence[Mapping[str, Any]]:
        """The first answer whose calls all fit their strict contracts.

        Raises:
            ProviderError: a strict contract leaves something open; the model was not asked.
        """
        strict = {tool["name"]: tool["parameters"] for tool in request.to_json()["tools"] if tool.get("strict")}
        for name, parameters in strict.items():
            for missing in missing_for_strict(parameters):
                raise ProviderError(f"{name} cannot be strict: {missing}")
        for _ in range(MAX_TRIES):
            answer = self.model.respond(request)
            broken = [item["arguments"] for item in answer if not _fits(item, strict)]
            if not broken:
                return answer
            self.barred += broken
        raise ProviderError(f"the model wrote nothing that fits in {MAX_TRIES} tries")


def _fits(item: Mapping[str, Any], strict: Mapping[str, Any]) -> bool:
    if item.get("type") != "function_call" or item.get("name") not in strict:
        return True
    schema = strict[item["name"]]
    try:
        ArgumentValidator(schema, lambda: schema).check(parse_arguments(item["arguments"]))
    except ArgumentError:
        return False
    return True
