"""A JSON Schema as a TypeScript type, as scripts see a tool's parameters and its result.

Any value at all gives a text. What the type cannot say is `unknown`, never a guess that is too narrow. A stranger's
words stand only in comments of one line and in quoted names and literals, so they cannot end what they stand in.
Descriptions come first as comments, optional fields have `?`, names that are no identifiers are quoted, and an object
with a comment is broken over lines. Source: Codex CLI 0.171.0 (measured).

Ours, because it was not measured: a `$ref` inside the schema is written out where it stands, and is `unknown` where it
would contain itself; `allOf` is an intersection; a union with `unknown` is `unknown`; inner comments are indented.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote

__all__ = ["MAX_DEPTH", "MAX_TYPE_CHARS", "to_typescript"]

MAX_TYPE_CHARS: Final = 100_000
"""About how long a type may become, in characters. What comes behind is `unknown`."""

MAX_DEPTH: Final = 40
"""Levels of types inside types. Deeper ones are `unknown`."""

INDENT_CHARS: Final = 2
NODE_CHARS: Final = 4
"""What a node costs at least: brackets, commas, spaces."""
UNKNOWN: Final = "unknown"
_ANY_FIELD: Final = f"[key: string]: {UNKNOWN};"
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MAX_INTEGER_BITS: Final = 1024
"""Larger integers are beyond JavaScript's numbers."""

_PLAIN_TYPES: Final = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}


def to_typescript(schema: Any) -> str:
    """The schema as one TypeScript type. Never raises; at most about `MAX_TYPE_CHARS` long; valid UTF-8."""
    return _Writer(schema).type_of(schema, 0)


class _Writer:
    """Writes one type. `room` is what is left of its length; every node costs something, so all walks end."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.room = MAX_TYPE_CHARS
        self.open_references: list[str] = []

    def spend(self, text: str) -> str:
        self.room -= len(text)
        return text

    def type_of(self, schema: Any, depth: int) -> str:
        self.room -= NODE_CHARS
        if schema is False:
            return self.spend("never")
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self.room <= 0:
            return self.spend(UNKNOWN)
        if "const" in schema:
            return self.literal(schema["const"], depth)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return _union(self.literal(value, depth) for value in self.affordable(schema["enum"]))
        parts = [self.reference(schema["$ref"], depth)] if isinstance(schema.get("$ref"), str) else []
        parts.append(self.own_type(schema, depth))
        choices = [schema[keyword] for keyword in ("anyOf", "oneOf") if isinstance(schema.get(keyword), list)]
        parts += [_union(self.members(choice, depth)) for choice in choices if choice]
        if isinstance(schema.get("allOf"), list):
            parts += self.members(schema["allOf"], depth)
        return _intersection(parts)

    def members(self, schemas: list[Any], depth: int) -> list[str]:
        return [self.type_of(schema, depth + 1) for schema in self.affordable(schemas)]

    def affordable(self, values: list[Any]) -> Iterable[Any]:
        """The values while there is room, then one that makes the rest `unknown`."""
        for value in values:
            if self.room <= 0:
                yield True
                return
            yield value

    def reference(self, target: str, depth: int) -> str:
        """What a reference inside the schema means; it is never fetched from elsewhere."""
        if target in self.open_references or not target.startswith("#"):
            return UNKNOWN
        self.open_references.append(target)
        found = self.type_of(_resolve(self.root, target), depth + 1)
        self.open_references.pop()
        return found

    def own_type(self, schema: dict[str, Any], depth: int) -> str:
        """What the node itself says, apart from its combinations."""
        types = schema.get("type")
        if isinstance(types, str):
            return self.named_type(types, schema, depth)
        if isinstance(types, list) and types:
            return _union(self.named_type(name, schema, depth) for name in self.affordable(types))
        if "properties" in schema or "additionalProperties" in schema:
            return self.object_type(schema, depth)
        if "items" in schema or "prefixItems" in schema:
            return self.array_type(schema, depth)
        return UNKNOWN

    def named_type(self, name: Any, schema: dict[str, Any], depth: int) -> str:
        if name == "object":
            return self.object_type(schema, depth)
        if name == "array":
            return self.array_type(schema, depth)
        return self.spend(_PLAIN_TYPES.get(name, UNKNOWN) if isinstance(name, str) else UNKNOWN)

    def array_type(self, schema: dict[str, Any], depth: int) -> str:
        items, first = schema.get("items", True), schema.get("prefixItems")
        if isinstance(items, list):  # how older drafts write it
            items, first = schema.get("additionalItems", True), items
        rest = f"Array<{self.type_of(items, depth + 1)}>"
        if not isinstance(first, list) or not first:
            return rest
        return f"[{', '.join([*self.members(first, depth), *([f'...{rest}'] if items is not False else [])])}]"

    def object_type(self, schema: dict[str, Any], depth: int) -> str:
        lines: list[str] = []
        properties = schema.get("properties")
        fields = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        for name in sorted(name for name in fields if isinstance(name, str)):
            if self.room <= len(name):
                return _braces([*lines, _ANY_FIELD])
            lines += self.comment(fields[name], depth)
            mark = "" if name in needed else "?"
            self.room -= INDENT_CHARS * depth
            lines.append(f"{self.spend(_field_name(name))}{mark}: {self.type_of(fields[name], depth + 1)};")
        return _braces(lines + self.other_fields(schema, fields, depth))

    def other_fields(self, schema: dict[str, Any], fields: dict[Any, Any], depth: int) -> list[str]:
        others = schema.get("additionalProperties", None if fields else True)
        if others is None or others is False:
            return []
        return [f"[key: string]: {self.type_of(others, depth + 1)};"]

    def comment(self, field: Any, depth: int) -> list[str]:
        """A description as comments of one line each: no break of any kind is left in them."""
        words = field.get("description") if isinstance(field, dict) else None
        comments: list[str] = []
        for line in words[: max(0, self.room)].splitlines() if isinstance(words, str) else ():
            if line.strip() and self.room > 0:
                self.room -= INDENT_CHARS * (depth + 1)
                comments.append(self.spend(f"// {_encodable(line.strip())}"))
        return comments

    def literal(self, value: Any, depth: int) -> str:
        """A JSON value as the type of that value alone."""
        self.room -= NODE_CHARS
        if depth > MAX_DEPTH or self.room <= 0:
            return UNKNOWN
        if isinstance(value, list):
            return f"[{', '.join(self.literal(member, depth + 1) for member in self.affordable(value))}]"
        if isinstance(value, dict):
            pairs = [(key, value[key]) for key in self.affordable(list(value)) if isinstance(key, str)]
            return _braces(
                [f"{self.spend(_field_name(key))}: {self.literal(member, depth + 1)};" for key, member in pairs]
            )
        if isinstance(value, str) and len(value) > self.room:
            return self.spend("string")
        return self.spend(_scalar(value))


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int) and value.bit_length() <= _MAX_INTEGER_BITS:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return json.dumps(value)
    return "number" if isinstance(value, (int, float)) else UNKNOWN


def _union(types: Iterable[str]) -> str:
    different = list(dict.fromkeys(types))
    return UNKNOWN if UNKNOWN in different else " | ".join(different)


def _intersection(types: Sequence[str]) -> str:
    parts = [part for part in dict.fromkeys(types) if part != UNKNOWN]
    if len(parts) > 1:
        parts = [f"({part})" if " | " in part else part for part in parts]
    return " & ".join(parts) or UNKNOWN


def _braces(lines: list[str]) -> str:
    """An object: on one line, unless something in it needs lines of its own."""
    if not lines:
        return "{}"
    if not any(line.startswith("//") or "\n" in line for line in lines):
        return f"{{ {' '.join(lines)} }}"
    indent = " " * INDENT_CHARS
    inner = "\n".join(lines).replace("\n", f"\n{indent}")
    return f"{{\n{indent}{inner}\n}}"


def _field_name(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A string literal on one line, in valid UTF-8."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in plain)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _resolve(root: Any, reference: str) -> Any:
    """The node that a reference within the schema names, or True, which allows anything."""
    node = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key, True)
        elif isinstance(node, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(node):
            node = node[int(key[:9])]
        else:
            return True
    return node
