"""JSON Schema as TypeScript: the forms, and that any value whatever gives a bounded, harmless text."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minicodex.typescript import MAX_TYPE_CHARS, to_typescript

STRING, NUMBER = {"type": "string"}, {"type": "number"}

FORMS = {
    "string": (STRING, "string"),
    "integer": ({"type": "integer"}, "number"),
    "null": ({"type": "null"}, "null"),
    "a type nobody knows": ({"type": "date"}, "unknown"),
    "untyped": ({}, "unknown"),
    "true": (True, "unknown"),
    "false": (False, "never"),
    "not a schema": ([1], "unknown"),
    "nullable": ({"type": ["string", "null"]}, "string | null"),
    "nullable object": (
        {"type": ["object", "null"], "properties": {"a": STRING}, "required": ["a"]},
        "{ a: string; } | null",
    ),
    "enum": ({"type": "string", "enum": ["a", 'q"', 1, None, True, 1.5]}, '"a" | "q\\"" | 1 | null | true | 1.5'),
    "empty enum": ({"type": "string", "enum": []}, "string"),
    "const": ({"const": {"k": [1, "x"], "a b": None}}, '{ k: [1, "x"]; "a b": null; }'),
    "numbers that are none": ({"enum": [float("nan"), float("inf"), 2**5000]}, "number"),
    "list": ({"type": "array", "items": NUMBER}, "Array<number>"),
    "list of anything": ({"type": "array"}, "Array<unknown>"),
    "items without a type": ({"items": STRING}, "Array<string>"),
    "tuple": ({"type": "array", "prefixItems": [STRING, NUMBER], "items": False}, "[string, number]"),
    "open tuple": ({"prefixItems": [STRING]}, "[string, ...Array<unknown>]"),
    "tuple of an older draft": ({"items": [STRING], "additionalItems": NUMBER}, "[string, ...Array<number>]"),
    "object without fields": ({"type": "object", "properties": {}}, "{ [key: string]: unknown; }"),
    "closed object": ({"type": "object", "additionalProperties": False}, "{}"),
    "map": ({"type": "object", "properties": {}, "additionalProperties": NUMBER}, "{ [key: string]: number; }"),
    "fields and others": (
        {"properties": {"b": STRING, "a": NUMBER}, "required": ["b"], "additionalProperties": True},
        "{ a?: number; b: string; [key: string]: unknown; }",
    ),
    "quoted names": (
        {"properties": {"we-ird": STRING, "1": STRING, "é": STRING, "": STRING, "$ok_1": STRING}},
        '{ ""?: string; $ok_1?: string; "1"?: string; "we-ird"?: string; "é"?: string; }',
    ),
    "a comment breaks the lines": (
        {"properties": {"a": {"type": "object", "properties": {"k": {"description": " the k "}}}, "b": STRING}},
        "{\n  a?: {\n    // the k\n    k?: unknown;\n  };\n  b?: string;\n}",
    ),
    "anyOf": ({"anyOf": [STRING, {"type": "null"}, STRING]}, "string | null"),
    "oneOf of a list": ({"type": "array", "items": {"oneOf": [STRING, NUMBER]}}, "Array<string | number>"),
    "a union with anything": ({"anyOf": [STRING, {}]}, "unknown"),
    "allOf": (
        {"allOf": [{"properties": {"a": STRING}}, {"anyOf": [STRING, NUMBER]}]},
        "{ a?: string; } & (string | number)",
    ),
    "a type with a condition": (
        {"type": "object", "properties": {"a": STRING}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "{ a?: string; }",
    ),
    "reference": ({"items": {"$ref": "#/$defs/a~1b"}, "$defs": {"a/b": STRING}}, "Array<string>"),
    "reference with percent signs": (
        {"items": {"$ref": "#/definitions/a%20b"}, "definitions": {"a b": STRING}},
        "Array<string>",
    ),
    "reference into a list": ({"items": {"$ref": "#/x/1"}, "x": [STRING, NUMBER]}, "Array<number>"),
    "reference to nowhere": ({"items": {"$ref": "#/$defs/no"}}, "Array<unknown>"),
    "reference outside": ({"$ref": "https://example.com/schema"}, "unknown"),
    "a type that contains itself": (
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": NUMBER}}}},
        "{ next?: unknown; v?: number; }",
    ),
    "the root in itself": (
        {"properties": {"all": {"type": "array", "items": {"$ref": "#"}}}},
        "{ all?: Array<{ all?: Array<unknown>; }>; }",
    ),
    "keywords of the wrong type": (
        {"type": "object", "properties": [1], "required": "a", "anyOf": {}, "allOf": 1, "$ref": 5, "enum": 3},
        "{ [key: string]: unknown; }",
    ),
}


@pytest.mark.parametrize(("schema", "expected"), FORMS.values(), ids=FORMS)
def test_form(schema, expected):
    assert to_typescript(schema) == expected


# --- a stranger's words ---------------------------------------------------------------------------------------------

BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", BREAKS, ids=ascii)
def test_a_description_cannot_leave_its_comment(end):
    words = f"ok */ {end}evil(args: {{}}): string;{end}```{end}"
    text = to_typescript({"properties": {"a": {"type": "string", "description": words}}})
    assert text.splitlines() == [
        "{",
        "  // ok */",
        "  // evil(args: {}): string;",
        "  // ```",
        "  a?: string;",
        "}",
    ]


@pytest.mark.parametrize("end", ['"', "\\", *BREAKS], ids=ascii)
def test_a_name_and_a_literal_cannot_leave_their_quotes(end):
    text = to_typescript({"properties": {f"a{end}; evil": {"const": f"x{end} | evil"}}})
    name, literal = re.fullmatch(r'\{ ("(?:[^"\\]|\\.)*")\?: ("(?:[^"\\]|\\.)*"); \}', text).groups()
    assert json.loads(name) == f"a{end}; evil"
    assert json.loads(literal) == f"x{end} | evil"
    assert len(text.splitlines()) == 1


def test_half_a_surrogate_pair_is_written_as_an_escape():
    text = to_typescript({"properties": {"\ud800": {"const": "\udfff", "description": "x\ud800"}}})
    assert text.encode() == b'{\n  // x\\ud800\n  "\\ud800"?: "\\udfff";\n}'


# --- any size -------------------------------------------------------------------------------------------------------


def nested(levels, wrap, schema):
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def containing_itself():
    schema = {"type": "object"}
    schema |= {"properties": {"a": schema, "b": schema}, "anyOf": [schema, schema], "items": schema}
    return schema


def const_containing_itself():
    value = []
    value += [value, {"again": value}]
    return {"const": value}


DOUBLING = {f"d{i}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(30)}
WIDE = ["x" * 30 + str(i) for i in range(20_000)]

HUGE = {
    "deep lists": nested(100_000, lambda inner: {"type": "array", "items": inner}, STRING),
    "deep objects": nested(100_000, lambda inner: {"properties": {"a": inner}}, STRING),
    "deep choices": nested(100_000, lambda inner: {"anyOf": [inner, STRING]}, STRING),
    "deep literal": {"const": nested(100_000, lambda inner: [inner], 1)},
    "a schema that contains itself": containing_itself(),
    "a literal that contains itself": const_containing_itself(),
    "references that double": {"$ref": "#/$defs/d0", "$defs": DOUBLING},
    "many fields": {"properties": dict.fromkeys(WIDE, STRING)},
    "many values": {"enum": WIDE},
    "many choices": {"anyOf": [{"const": name} for name in WIDE]},
    "a long description": {"properties": {"a": {"description": "word\n" * 1_000_000}}},
    "a long description far inside": nested(
        30, lambda inner: {"properties": {"a": inner}}, {"properties": {"b": {"description": "w\n" * 1_000_000}}}
    ),
    "a long name": {"properties": {"x" * 1_000_000: STRING}},
    "a long value": {"const": "\0" * 1_000_000},
    "a long reference": {"$ref": "#" + "/a" * 1_000_000},
}


@pytest.mark.parametrize("schema", HUGE.values(), ids=HUGE)
def test_a_schema_of_any_size_ends_in_a_bounded_text(schema):
    assert len(to_typescript(schema)) <= 4 * MAX_TYPE_CHARS


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "enum", "const", "anyOf", "allOf", "$ref", "required"])
            | st.sampled_from(["prefixItems", "additionalProperties", "description", "$defs"])
            | st.text(),
            inner | st.sampled_from(["object", "array", "string", "#", "#/$defs/a"]),
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(ANYTHING)
@settings(max_examples=150, deadline=None)
def test_any_value_gives_a_text_in_which_all_brackets_close(schema):
    text = to_typescript(schema)
    text.encode()
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|^\s*//.*$', "", text, flags=re.MULTILINE)
    while bare != (
        shorter := re.sub(r"\{[^{}<>()\[\]]*\}|<[^{}<>()\[\]]*>|\[[^{}<>()\[\]]*\]|\([^{}<>()\[\]]*\)", "", bare)
    ):
        bare = shorter
    assert not set(bare) & set("{}<>()[]")
