"""JSON on the page: marks, folding, escaping; text and HTML are twins."""

import re
from html import unescape

import pytest

from minicodex.lab.json_view import JsonView
from minicodex.samples import CREATE_EVENT_SCHEMA

CHANGED = JsonView({"strict": True, "new": 1}, {"strict": False, "old": [1]})


def plain(html):
    """The text of some HTML, without white space."""
    return re.sub(r"\s", "", unescape(re.sub(r"<[^>]*>", "", html)))


def test_text_marks_each_change_with_sign_and_word():
    assert CHANGED.text().splitlines() == [
        "   {",
        '~    "strict": true,   ← changed, was false',
        '-    "old": [1],   ← gone',
        '+    "new": 1   ← new',
        "   }",
    ]


def test_changes_are_listed_with_their_pointers():
    assert CHANGED.changes_text().splitlines() == ["~ /strict: changed, was false", "- /old: gone", "+ /new: new"]
    assert JsonView(1, 1).changes_text() == "nothing changed"


def test_html_says_by_its_elements_what_came_and_went():
    html = CHANGED.html()
    assert re.search(r"<ins[^>]*><b>\"new\"</b>: 1</ins>", html)
    assert re.search(r"<del[^>]*><b>\"old\"</b>: \[1\],</del>", html)
    assert re.search(r"<mark[^>]*><b>\"strict\"</b>: true,</mark>", html)
    assert "~ changed, was false" in html


def test_everything_is_escaped():
    bad = '<script>alert("x")</script>'
    for html in (
        JsonView({bad: bad}).html(),
        JsonView({bad: [bad]}, {bad: bad}).html(),
        JsonView({bad: {bad: [{}] * 20}}, fold_lines=1, open_depth=1).html(),
    ):
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_unchanged_part_is_folded_and_a_changed_one_never():
    same, other = {"a": list(range(20))}, {"b": {"c": list(range(30)), "d": 1}}
    view = JsonView({**same, **other}, {**same, "b": {**other["b"], "d": 2}})
    assert '"a": [ … 20 items ],' in view.text()
    assert '"d": 1   ← changed, was 2' in view.text()
    assert view.html().count("<details>") == 2, "both lists, but not the object with the change"


def test_folded_part_can_be_kept_open_by_its_pointer():
    value = {"a": {"b": list(range(20))}}
    assert "20 items" in JsonView(value, value, open_at=("/a",)).text()
    assert "20 items" not in JsonView(value, value, open_at=("/a", "/a/b")).text()


def test_folded_part_shows_its_pointer():
    value = {"a": {"b~": {"c": list(range(20))}}}
    assert 'title="/a/b~0"' in JsonView(value, open_depth=1, fold_lines=3).html()


def test_short_parts_stand_on_one_line_unless_something_in_them_changed():
    assert JsonView({"a": {"type": "string"}}).text() == '   {\n     "a": {"type": "string"}\n   }'
    assert '"a": {\n' in JsonView({"a": {"type": "string"}}, {"a": {"type": "integer"}}).text()


def test_note_quotes_the_old_value_but_not_at_length():
    view = JsonView({"a": 1}, {"a": "x" * 1000})
    assert len(view.text()) < 200
    assert "…" in view.text()


@pytest.mark.parametrize("value", [None, True, 1.5, "a", [], {}, [[]], {"": ""}, "\u2028", "\ud800"])
def test_any_json_can_be_shown(value):
    view = JsonView(value, {"was": value})
    assert view.text()
    assert view.html()


def test_text_and_html_of_an_open_value_say_the_same():
    view = JsonView(CREATE_EVENT_SCHEMA, open_depth=99)
    assert plain(view.html()) == re.sub(r"\s", "", view.text())


def test_large_schema_costs_few_bytes_of_markup():
    large = {"properties": {f"p{number}": CREATE_EVENT_SCHEMA for number in range(20)}}
    view = JsonView(large, open_depth=99)
    assert len(view.html()) < 4 * len(re.sub(r"\s", "", view.text()))


def test_deep_value_can_be_shown():
    deep = []
    for _ in range(254):  # as deep as a compiled schema can be
        deep = [{"items": deep}] if len(str(deep)) % 2 else {"items": deep}
    assert JsonView(deep, open_depth=999).text()
    assert JsonView(deep, [deep]).html()
