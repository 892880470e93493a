"""Comparing JSON: what is marked, and what a schema's changes mean."""

import pytest

from minicodex.lab.json_diff import ABSENT, Mark, compare


def marks(before, after, schema_at=None):
    return [
        (node.pointer, node.mark.name, node.effect) for node in compare(before, after, schema_at=schema_at).changes()
    ]


def test_equal_values_have_no_mark():
    assert marks({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0), ("1", 1), (None, False)])
def test_values_that_python_calls_equal_are_different(before, after):
    assert marks({"a": before}, {"a": after}) == [("/a", "CHANGED", "")]


def test_key_that_came_and_key_that_went_in_their_places():
    node = compare({"a": 1, "gone": 2, "z": 3}, {"a": 1, "z": 3, "new": 4})
    assert [child.key for child in node.children] == ["a", "gone", "z", "new"]
    assert marks({"a": 1, "gone": 2, "z": 3}, {"a": 1, "z": 3, "new": 4}) == [
        ("/gone", "GONE", ""),
        ("/new", "NEW", ""),
    ]


def test_null_is_something():
    assert marks({"a": None}, {}) == [("/a", "GONE", "")]


def test_member_that_was_appended_is_the_only_change():
    assert marks([{"id": 1}], [{"id": 1}, {"id": 2}]) == [("/1", "NEW", "")]


def test_member_that_was_removed_in_front_leaves_the_others_unmarked():
    assert marks([{"id": 1}, {"id": 2}, {"id": 3}], [{"id": 2}, {"id": 3}]) == [("/0", "GONE", "")]


def test_change_of_kind_is_one_change():
    assert marks({"a": [1, 2]}, {"a": {"b": 1}}) == [("/a", "CHANGED", "")]


def test_pointer_is_escaped():
    assert marks({"a/b~": 1}, {"a/b~": 2}) == [("/a~1b~0", "CHANGED", "")]


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        ({"enum": [1, 2]}, {"enum": [1, 2, 3]}, "WIDER"),
        ({"enum": [1, 2]}, {"enum": [1]}, "NARROWER"),
        ({"enum": [1, 2]}, {"enum": [3]}, None),
        ({"type": "string"}, {"type": ["string", "null"]}, "WIDER"),
        ({"required": ["a"]}, {"required": ["a", "b"]}, "NARROWER"),
        ({"required": ["a", "b"]}, {"required": ["b"]}, "WIDER"),
        ({"minimum": 1}, {"minimum": 2}, "NARROWER"),
        ({"maxLength": 1}, {"maxLength": 2}, "WIDER"),
        ({"additionalProperties": True}, {"additionalProperties": False}, "NARROWER"),
        ({"additionalProperties": False}, {"additionalProperties": True}, "WIDER"),
        ({"description": "a"}, {"description": "b"}, None),
    ],
)
def test_changed_keyword_is_judged_where_it_is_certain(before, after, mark):
    changes = marks(before, after, schema_at="")
    assert changes
    if mark is None:
        assert not {"WIDER", "NARROWER"} & {name for _, name, _ in changes}
    else:
        assert changes == [("/" + next(iter(before)), mark, "")]


@pytest.mark.parametrize(("keyword", "value"), [("enum", [1]), ("pattern", "a"), ("required", ["a"]), ("minItems", 1)])
def test_constraint_that_goes_widens_and_one_that_comes_narrows(keyword, value):
    assert marks({keyword: value}, {}, schema_at="") == [(f"/{keyword}", "GONE", "wider")]
    assert marks({}, {keyword: value}, schema_at="") == [(f"/{keyword}", "NEW", "narrower")]


def test_property_called_like_a_keyword_is_no_keyword():
    before = {"properties": {"enum": {"type": "string"}, "required": {"type": "string"}}}
    after = {"properties": {"enum": {"type": "string"}}}
    assert marks(before, after, schema_at="") == [("/properties/required", "GONE", "")]


def test_outside_a_schema_nothing_is_judged():
    assert marks({"enum": [1]}, {"enum": [1, 2]}) == [("/enum/1", "NEW", "")]
    changes = marks(
        {"parameters": {"enum": [1]}, "enum": [1]}, {"parameters": {"enum": [1, 2]}, "enum": [1, 2]}, "/parameters"
    )
    assert changes == [("/parameters/enum", "WIDER", ""), ("/enum/1", "NEW", "")]


def test_marks_can_be_told_apart_without_colour():
    pills = [mark.value for mark in Mark if mark is not Mark.SAME]
    assert len({pill.sign for pill in pills}) == len({pill.word for pill in pills}) == len(pills)


def test_of_a_long_value_the_first_members_are_compared_and_the_rest_is_counted_by_mark():
    before, after = [*"abcd", 1, 0, 2], [*"aXcd", True, 0, 2, 3]
    first, second, *rest = compare(before, after, max_members=2).children
    assert (first.mark, second.mark) == (Mark.SAME, Mark.CHANGED)
    assert sum(node.more for node in rest) == len(after) - 2
    assert {node.mark: node.more for node in rest} == {Mark.SAME: 4, Mark.CHANGED: 1, Mark.NEW: 1}


@pytest.mark.parametrize("value", [list(range(9)), {str(key): key for key in range(9)}])
@pytest.mark.parametrize("is_new", [True, False])
def test_no_node_is_made_beyond_the_limit(value, is_new):
    tree = compare(ABSENT if is_new else value, value, max_members=3)
    assert [node.more for node in tree.children] == [0, 0, 0, 6]
    assert len(compare(value, value).children) == 9
