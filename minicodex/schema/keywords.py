"""What each keyword means to the compiler: its order, its children, what it lets us infer, what losing it costs.

Everything that depends only on *which* keywords a node has is worked out once per combination and remembered as a
`Shape`; schemas repeat the same few combinations over and over.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

__all__ = [
    "ADDITIONAL",
    "INFERENCE",
    "KNOWN_SHAPES",
    "LOST_KEYWORDS",
    "MEMBER_KEYWORDS",
    "SCALAR_TYPES",
    "TABLE_KEYWORDS",
    "TYPE_NAMES",
    "WIRE_ORDER",
    "Effect",
    "Shape",
    "known_names",
    "shape_of",
]

ADDITIONAL: Final = "additionalProperties"
MEMBER_KEYWORDS: Final = ("anyOf", "oneOf", "allOf")
TABLE_KEYWORDS: Final = ("$defs", "definitions")
SCALAR_TYPES: Final = frozenset({"string", "number", "boolean", "integer", "null"})
TYPE_NAMES: Final = SCALAR_TYPES | {"object", "array"}

WIRE_ORDER: Final = (
    "$ref",
    "type",
    "description",
    "encrypted",
    "enum",
    "items",
    "minItems",
    "properties",
    "required",
    ADDITIONAL,
    *MEMBER_KEYWORDS,
    *TABLE_KEYWORDS,
)
"""The keywords of the typed subset, in the order in which every node is written."""

INFERENCE: Final = (
    ("object", frozenset({"properties", "required", ADDITIONAL})),
    ("array", frozenset({"items", "prefixItems"})),
    ("string", frozenset({"enum", "const", "format"})),
    ("number", frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})),
)
"""A node without a usable type gets the first type one of whose keywords is present, whatever its value."""

_WIRE_KEYWORDS: Final = frozenset(WIRE_ORDER)
_NEVER_INFERRED: Final = frozenset({*MEMBER_KEYWORDS, "$ref"})
_CHILDREN: Final = ("properties", "items", ADDITIONAL, *MEMBER_KEYWORDS)
_COMPLEX: Final = frozenset({*_CHILDREN, "$ref"})


class Effect(StrEnum):
    """What a change does to the set of arguments that the schema allows."""

    KEPT = "kept"
    """The same arguments are allowed; only the form changed."""
    WIDER = "wider"
    """Arguments are allowed that the author refuses."""
    NARROWER = "narrower"
    """Arguments are refused that the author allows."""
    CONTRADICTORY = "contradictory"
    """No argument is allowed any more."""
    TEXT_LOST = "text_lost"
    """The same arguments are allowed; the model reads less about them."""


LOST_KEYWORDS: Final[dict[str, Effect]] = {
    **dict.fromkeys(
        (
            "not", "if", "then", "else", "pattern", "minLength", "maxLength", "minimum", "maximum",
            "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "uniqueItems", "contains",
            "minContains", "maxContains", "prefixItems", "additionalItems", "unevaluatedItems", "minProperties",
            "maxProperties", "patternProperties", "propertyNames", "dependencies", "dependentRequired",
            "dependentSchemas", "unevaluatedProperties", "$dynamicRef", "$recursiveRef",
        ),
        Effect.WIDER,
    ),
    **dict.fromkeys(
        (
            "title", "default", "examples", "example", "format", "deprecated", "readOnly", "writeOnly", "nullable",
            "contentEncoding", "contentMediaType", "contentSchema", "discriminator", "externalDocs", "xml",
        ),
        Effect.TEXT_LOST,
    ),
    **dict.fromkeys(
        ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"),
        Effect.KEPT,
    ),
}  # fmt: skip
"""The known keywords outside the subset, and what losing them does. Unknown keywords are text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """All that follows from the mere presence of keywords in a node, values aside (null counts as present)."""

    plan_of_type: dict[str, tuple[str, ...]]
    """For each type, the keywords to write, in wire order."""
    plan_of_both: tuple[str, ...]
    """The same for a node that may be an object or an array."""
    plan_without_type: tuple[str, ...]
    """The same for a node that has no type."""
    inferred: str | None
    """The type it gets when it has no usable one; None: nothing can be inferred."""
    is_left_alone: bool
    """It has members or a reference, so its type is never touched."""
    is_complex: bool
    """The third compaction pass counts it as complex."""
    has_members: bool
    """The fourth compaction pass removes it."""
    ignored: tuple[str, ...]
    """Its keywords that do not reach the output."""

    def plan_for(self, types: list[str] | str | None) -> tuple[str, ...]:
        """What to write for a node of this shape and these types; objects need `properties`, arrays `items`."""
        if types is None:
            return self.plan_without_type
        if isinstance(types, str):
            return self.plan_of_type[types]
        has_object, has_array = "object" in types, "array" in types
        if has_object and has_array:
            return self.plan_of_both
        return self.plan_of_type["object" if has_object else "array" if has_array else "string"]


def known_names(written: Any) -> str | list[str] | None:
    """The known names in a `type`: one alone as a word, several as a list in their order, none as None."""
    if written.__class__ is not list:
        return written if isinstance(written, str) and written in TYPE_NAMES else None
    try:
        known = written if TYPE_NAMES.issuperset(written) else [name for name in written if name in TYPE_NAMES]
    except TypeError:  # a list or an object among the names
        known = [name for name in written if isinstance(name, str) and name in TYPE_NAMES]
    return known if len(known) > 1 else known[0] if known else None


def shape_of(node: dict[str, Any]) -> Shape:
    """The shape of a node, from memory where one with the same keywords was seen before."""
    keywords = tuple(node)
    try:
        return KNOWN_SHAPES[keywords]
    except KeyError:
        shape = _work_out(keywords)
        if len(KNOWN_SHAPES) < _MAX_SHAPES and _VOCABULARY.issuperset(keywords):
            KNOWN_SHAPES[keywords] = shape
    return shape


KNOWN_SHAPES: Final[dict[tuple[str, ...], Shape]] = {}
_MAX_SHAPES: Final = 4_096
_VOCABULARY: Final = frozenset({*WIRE_ORDER, *LOST_KEYWORDS, "const"})
"""Only combinations of these are remembered, so that no stranger's words stay in memory."""


def _work_out(keywords: tuple[str, ...]) -> Shape:
    present = frozenset(keywords)
    inferred = next((name for name, signs in INFERENCE if not signs.isdisjoint(present)), None)
    wanted = present | ({"enum"} if "const" in present else set()) | ({"type"} if inferred else set())
    plain, of_object, of_array = _plan(wanted), _plan(wanted | {"properties"}), _plan(wanted | {"items"})
    return Shape(
        plan_of_type={**dict.fromkeys(SCALAR_TYPES, plain), "object": of_object, "array": of_array},
        plan_of_both=_plan(wanted | {"properties", "items"}),
        plan_without_type=_plan(wanted - {"type"}),
        inferred=inferred,
        is_left_alone=not _NEVER_INFERRED.isdisjoint(present),
        is_complex=not _COMPLEX.isdisjoint(present),
        has_members=not present.isdisjoint(MEMBER_KEYWORDS),
        ignored=tuple(keyword for keyword in keywords if keyword not in _WIRE_KEYWORDS and keyword != "const"),
    )


def _plan(keywords: frozenset[str]) -> tuple[str, ...]:
    return tuple(keyword for keyword in WIRE_ORDER if keyword in keywords)
