"""Reading JSON strictly, and writing it compactly."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minicodex.errors import JsonTextError
from minicodex.json_text import MAX_DEPTH, parse_strict, pointer_of, shorten, to_compact_bytes, unencodable

REFUSED = {
    "": ("the text is empty", 1, 1),
    "not json": ("no JSON value begins here", 1, 1),
    '{"cmd":"tru': ("the text ends before the value is complete", 1, 8),
    '{"a":1': ("the text ends before the value is complete", 1, 7),
    '{"a":1,}': ("a comma after the last member", 1, 8),
    "[1,]": ("a comma after the last member", 1, 4),
    '{"a":1} x': ("more text follows after the value", 1, 9),
    '{"a":1}{"a":2}': ("more text follows after the value", 1, 8),
    "{'a':1}": ("a single quote", 1, 2),
    "{a:1}": ("a key without double quotes", 1, 2),
    '{"a" 1}': ("a colon is missing after a key", 1, 6),
    '{"a":1 "b":2}': ("a comma or a closing bracket is missing", 1, 8),
    "\ufeff{}": ("a byte order mark stands before the value", 1, 1),
    '{"a":NaN}': ("NaN is not JSON", 1, 6),
    '{"a":-Infinity}': ("-Infinity is not JSON", 1, 6),
    '{"a":1e400}': ("a number too large for any reader", 1, 6),
    '{"a":"x\ny"}': ("a raw control character (U+000A) inside a string", 1, 8),
    '"\\q"': ("an escape in a string that JSON does not know", 1, 2),
    '{"w":"\\ud83d"}': ("half of a surrogate pair, which is no character", 1, 6),
    '{"a":1,\n "a":2}': ('the key "a" stands twice in one object', 2, 2),
    '{"x":{"a":1},"a":2,"x":3}': ('the key "x" stands twice in one object', 1, 20),
    "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1): ("nested deeper than 127 levels", 1, MAX_DEPTH + 1),
    "9" * 5_000: ("a number with too many digits", 1, 1),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:24]))
def test_strict_reading_refuses_with_reason_and_place(text):
    with pytest.raises(JsonTextError) as caught:
        parse_strict(text)
    assert (caught.value.reason, caught.value.line, caught.value.column) == REFUSED[text]
    assert caught.value.hint


def test_strict_reading_keeps_the_value_of_every_number():
    assert parse_strict("[9007199254740993, 123456789012345678901234567890, 1.10, -0, 1E2]") == [
        9007199254740993,
        123456789012345678901234567890,
        1.1,
        0,
        100.0,
    ]
    assert parse_strict("9007199254740993.0") == 9007199254740993  # a float would round it


def test_strict_reading_takes_what_stands_at_its_bounds():
    assert parse_strict("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert parse_strict(' \n{"same": {"same": "\\ud83d\\ude00"}} \t') == {"same": {"same": "\U0001f600"}}
    brackets_in_strings = json.dumps(["[" * 500])
    assert parse_strict(brackets_in_strings) == ["[" * 500]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_what_is_written_is_read_back(value):
    assert parse_strict(to_compact_bytes(value).decode()) == value


@given(st.text())
def test_any_text_is_read_or_refused_as_the_standard_reader_would_at_least(text):
    try:
        value = parse_strict(text)
    except JsonTextError as error:
        assert error.line >= 1 <= error.column
    else:
        assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "pointer", "reason"),
    [
        ({"a": [1, float("nan")]}, "/a/1", "the number nan"),
        ({"a": float("-inf")}, "/a", "the number -inf"),
        ({"a/b": object()}, "/a~1b", "a value of type object"),
        ({"a": "\ud800"}, "/a", "half a surrogate pair"),
        ({"a": {"\udfff": 1}}, "/a", "a key with half a surrogate pair"),
        ({"a": {1: 2}}, "/a", "a key of type int"),
    ],
)
def test_what_json_cannot_say_is_found_with_its_place(value, pointer, reason):
    assert unencodable(value) == (pointer, reason)
    with pytest.raises(ValueError, match=reason):
        to_compact_bytes(value)


def test_a_value_that_contains_itself_is_found_and_one_that_is_shared_is_not():
    circle: list = []
    circle.append({"again": circle})
    assert unencodable(circle) == ("/0/again", "a value that contains itself")
    shared = {"x": 1}
    assert unencodable([shared, shared]) is None


def test_written_bytes_are_those_of_orjson_where_orjson_can_write_them():
    value = {"é": ["\u2028", 1.5, None, True], "a": 2**70, "b": [-1]}
    assert to_compact_bytes(value) == '{"é":["\u2028",1.5,null,true],"a":1180591620717411303424,"b":[-1]}'.encode()
    assert to_compact_bytes(["x"]) == orjson.dumps(["x"])


def test_pointers_and_short_forms():
    assert pointer_of("a/b", 0, "~") == "/a~1b/0/~0"
    assert shorten("x" * 100, 10) == '"xxxxxxxx…'
    assert shorten("tab\there") == '"tab\\there"'
