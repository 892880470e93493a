"""What chapter 5 needs beside the runtime: its predictions, tiny schemas, a tangle of definitions, its exercises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from minicodex.errors import InvalidToolSchema
from minicodex.lab.exercise import exercise
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.rule_cards import RuleCards
from minicodex.lab.stage_json import effect_word
from minicodex.samples import CREATE_EVENT_SCHEMA
from minicodex.schema import Effect, SchemaTrace, compile_tool_schema, judge, trace_tool_schema

__all__ = [
    "ENUM_WITHOUT_TYPE",
    "FALSE_AS_SCHEMA",
    "GONE",
    "MEETING",
    "REWRITTEN",
    "TANGLE",
    "TO_MEND",
    "TWO_THAT_HOLD_EACH_OTHER",
    "check_ghost",
    "check_mended",
    "check_witnesses",
    "outside_the_subset",
    "unused_definitions",
]


def outside_the_subset(trace: SchemaTrace) -> list[str]:
    """The keywords of a schema that the typed subset does not have."""
    dropped = ("demand_lost", "words_lost", "bookkeeping_lost")
    return sorted({loss.keyword for loss in trace.losses if loss.rule in dropped and loss.keyword} - {"description"})


def unused_definitions(trace: SchemaTrace) -> list[str]:
    """The places of definitions that nothing refers to."""
    return [loss.at for loss in trace.losses if loss.rule == "definition_unreached"]


# --- predictions -----------------------------------------------------------------------------------------------------

ENUM_WITHOUT_TYPE = Prediction(
    'A property is described by `{"enum": [1, 2, 3]}` and nothing else. What may the model send after compilation?',
    (
        Choice(
            "1, 2 or 3, as the author says.",
            "This is what the author says. But the subset wants a type, and the compiler does not look at the values.",
        ),
        Choice(
            'The texts "1", "2" or "3".',
            "The numbers in the list stay numbers. No text is one of them.",
        ),
        Choice(
            "Nothing at all: no value fits any more.",
            "Right. An `enum` without a type becomes a string, and no string is 1, 2 or 3. The two contradict.",
            right=True,
        ),
        Choice(
            "Anything: an unclear part is dropped.",
            "Dropping is what happens to a node that suggests no type. An `enum` suggests one: string.",
        ),
    ),
)

FALSE_AS_SCHEMA = Prediction(
    "In JSON Schema, `false` in place of a schema forbids the property altogether. What does the compiler make of it?",
    (
        Choice(
            "The property is left out of the list of properties.",
            "Leaving it out would not forbid it: other properties may be sent as well, unless the object is closed.",
        ),
        Choice(
            "It becomes a string. The forbidden property is now welcome.",
            "Right, and `true` becomes a string, too. The subset can say neither “anything” nor “nothing” here.",
            right=True,
        ),
        Choice(
            "The tool is refused.",
            "A boolean is a lawful schema, so that would punish a correct author. A number there is refused.",
        ),
    ),
)

TWO_THAT_HOLD_EACH_OTHER = Prediction(
    "`Invoice` refers to `Payment`, and `Payment` refers to `Invoice`. Nothing else refers to either. Are they sent?",
    (
        Choice(
            "Yes: each of them is in use.",
            "Counting who is referred to would say so. The compiler does not count; it starts at the root and follows.",
        ),
        Choice(
            "No: no way leads to them from the root.",
            "Right. What cannot be reached cannot be needed, however tightly it holds together.",
            right=True,
        ),
        Choice(
            "The compiler never ends: it goes round in the circle.",
            "A definition is taken once. A circle that is reached ends when nothing new comes.",
        ),
    ),
)

# --- tiny schemas ----------------------------------------------------------------------------------------------------

REWRITTEN = RuleCards(
    "What is rewritten",
    {
        "type_inferred": {"enum": [1, 2, 3]},
        "boolean_becomes_string": False,
        "items_added": {"type": "array"},
        "node_cleared": {"description": "Colour, as six hex digits"},
        "const_becomes_enum": {"type": "string", "const": "email"},
        "unknown_type_removed": {"type": ["string", "file"]},
        "properties_added": {"type": "object"},
        "table_removed": {"type": "string", "definitions": ["Old"]},
    },
)
"""One property for each rule that rewrites a node."""

GONE = RuleCards(
    "What has no place in the subset",
    {
        "demand_lost": {"type": "integer", "minimum": 1},
        "condition_lost": {
            "type": "object",
            "properties": {},
            "if": {"required": ["local"]},
            "then": {"required": ["zone"]},
        },
        "closed_without_patterns": {
            "type": "object",
            "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": False,
        },
        "positions_lost": {"type": "array", "prefixItems": [{"type": "number"}], "items": {"type": "string"}},
        "alternatives_alike": {"oneOf": [{"pattern": "^#"}, {"pattern": "^[a-z]"}]},
        "words_lost": {"type": "string", "format": "email", "default": "nobody@example.org"},
        "bookkeeping_lost": {"type": "string", "$comment": "agreed with the mail team"},
    },
)
"""One property for each way in which a keyword outside the subset is missed."""


def _refers_to(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name.lower(): {"$ref": f"#/$defs/{name}"} for name in names}}


TANGLE: dict[str, Any] = {
    **_refers_to("Order", "Customer"),
    "$defs": {
        "Order": _refers_to("Line", "Customer"),
        "Line": _refers_to("Product"),
        "Product": _refers_to("Supplier"),
        "Supplier": _refers_to("Product", "Address"),
        "Customer": _refers_to("Address"),
        "Address": {"type": "object", "properties": {"city": {"type": "string"}}},
        "Invoice": _refers_to("Payment", "Address"),
        "Payment": _refers_to("Invoice"),
    },
}
"""A schema with a circle that is reached and one that is not."""

MEETING: Final[dict[str, Any]] = {
    "title": "Review",
    "start": {"instant": "2031-04-05T09:30:00Z"},
    "duration": 30,
}
"""The least that `create_event` wants."""

# --- exercises -------------------------------------------------------------------------------------------------------


@exercise("Two small calls, and each shows a hole between what the author wrote and what the model reads.")
def check_witnesses(wider: Any, narrower: Any) -> Iterator[str]:
    """Exercise 5.1: arguments that only one of the two schemas of `create_event` accepts."""
    compiled = compile_tool_schema(CREATE_EVENT_SCHEMA).to_json()
    for name, arguments, wanted in (("wider", wider, False), ("narrower", narrower, True)):
        if not isinstance(arguments, dict):
            yield f"`{name}` must be a dict: the arguments of one call"
            continue
        by_author, by_compiled = (judge(schema, arguments) == "accept" for schema in (CREATE_EVENT_SCHEMA, compiled))
        if by_author != wanted:
            yield f"`{name}` is {'allowed' if by_author else 'refused'} by the author's schema; it must not be"
        if by_compiled == wanted:
            yield f"`{name}` is {'allowed' if wanted else 'refused'} by the compiled schema; it must not be"


TO_MEND: dict[str, Any] = {
    "type": "object",
    "properties": {
        "priority": {"enum": [1, 2, 3]},
        "tags": {"type": "array"},
        "corner": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2},
        "is_all_day": True,
        "colour": {"description": "Colour in the month view, as six hex digits"},
    },
}
"""Where exercise 5.2 begins: five properties, and each of them means something else after compilation."""

_FITS: Final = {"priority": 2, "tags": ["tea"], "corner": [38.7, -9.1], "is_all_day": True, "colour": "aabbcc"}
_DOES_NOT_FIT: Final = {"priority": 7, "tags": [7], "corner": ["a", "b"], "is_all_day": "yes", "colour": 7}


@exercise("The same meaning, in words that the subset has. Nothing is left to guess, and nothing is guessed wrong.")
def check_mended(schema: Any) -> Iterator[str]:
    """Exercise 5.2: `TO_MEND`, written so that compiling it loses no meaning."""
    trace = trace_tool_schema(schema)
    if trace.schema is None:
        yield f"it is refused: {trace.error}"
        return
    compiled = trace.schema.to_json()
    for name, value in _FITS.items():
        if name not in compiled.get("properties", {}):
            yield f"the property `{name}` is missing"
        elif judge(compiled, {name: value}) != "accept":
            yield f"`{name}` can no longer be {value!r}"
        elif judge(compiled, {name: _DOES_NOT_FIT[name]}) != "reject":
            yield f"`{name}` may now be {_DOES_NOT_FIT[name]!r}"
    if "hex" not in str(compiled.get("properties", {}).get("colour", {}).get("description")):
        yield "the description of `colour` does not reach the model"
    for loss in trace.losses:
        if loss.effect in (Effect.NARROWER, Effect.CONTRADICTORY):
            yield f"still {effect_word(loss.effect)} at {loss.at}: {loss.sentence}"


@exercise("A word in a place that is no schema kept a definition alive. It costs bytes, and nobody can follow it.")
def check_ghost(schema: Any) -> Iterator[str]:
    """Exercise 5.3: a definition `Ghost` that is sent although what is sent does not refer to it."""
    try:
        sent = compile_tool_schema(schema).to_json()
    except InvalidToolSchema as error:
        yield f"it is refused: {error}"
        return
    if "Ghost" not in schema.get("$defs", {}):
        yield "put a definition called `Ghost` into `$defs`"
    elif "Ghost" not in sent.get("$defs", {}):
        yield "`Ghost` was left out: nothing that the compiler looks at mentions it"
    elif "Ghost" in compile_tool_schema(sent).to_json().get("$defs", {}):
        yield "`Ghost` is really referred to, also in what is sent; mention it where no schema is expected"
