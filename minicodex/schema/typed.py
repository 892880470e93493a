"""The typed subset as a pydantic model, for those who want fields instead of dictionaries."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from minicodex.schema.literals import parse_plain

__all__ = ["SchemaNode", "decode"]

TypeName = Literal["string", "number", "boolean", "integer", "object", "array", "null"]


class SchemaNode(BaseModel):
    """One node of a compiled schema. A field that is None is absent from the JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    ref: str | None = Field(None, alias="$ref")
    type: TypeName | list[TypeName] | None = None
    description: str | None = None
    encrypted: bool | None = None
    enum: list[Any] | None = None
    items: SchemaNode | None = None
    min_items: int | None = Field(None, alias="minItems")
    properties: dict[str, SchemaNode] | None = None
    required: list[str] | None = None
    additional_properties: bool | SchemaNode | None = Field(None, alias="additionalProperties")
    any_of: list[SchemaNode] | None = Field(None, alias="anyOf")
    one_of: list[SchemaNode] | None = Field(None, alias="oneOf")
    all_of: list[SchemaNode] | None = Field(None, alias="allOf")
    defs: dict[str, SchemaNode] | None = Field(None, alias="$defs")
    definitions: dict[str, SchemaNode] | None = None


_read = SchemaNode.__pydantic_validator__.validate_json  # what `model_validate_json` wraps: a call less for each schema


def decode(sent: bytes) -> SchemaNode:
    """The model of compiled JSON."""
    try:
        return _read(sent)  # type: ignore[no-any-return]
    except ValidationError:  # its reader stops at 200 levels and at integers of thousands of digits; ours does not
        return SchemaNode.model_validate(parse_plain(sent))
