"""Arguments against an author's own schema, hostile ones included."""

import http.server
import json
import threading
from typing import Literal

import pytest
from jsonschema import Draft202012Validator

from minicodex import (
    ModelFunctionCall,
    StepState,
    compile_tool_schema,
    dispatch_function_call,
    dynamic_tool,
    guarded_validator,
    plan_tools,
)
from minicodex import arguments as arguments_module
from minicodex.arguments import (
    MAX_COMPARED_CHARS,
    MAX_COMPARED_CHOICES,
    MAX_FAULTS_FOUND,
    feedback,
    parse_arguments,
    unknown_field,
)
from minicodex.errors import ArgumentError, ToolAuthorError
from minicodex.patterns import UnusablePattern, refuse_wild, search
from minicodex.typed_arguments import TypedArguments
from minicodex.validation import ArgumentValidator


def validator(schema):
    compiled = compile_tool_schema(schema)
    return ArgumentValidator(schema, compiled.to_json)


def verdict(schema, arguments):
    """("runs" | "refused" | "unusable", finding)."""
    checker = validator(schema)
    try:
        checker.check(arguments)
    except ArgumentError:
        return "refused", checker.finding
    except ToolAuthorError:
        return "unusable", checker.finding
    return "runs", checker.finding


def of(**properties):
    return {"type": "object", "properties": properties}


FIT_ONLY_THE_AUTHOR = [
    (of(n={"type": "integer", "minimum": 3}), {"n": 2}),
    (of(s={"type": "string", "pattern": "^a+$"}), {"s": "b"}),
    (of(t={"type": "array", "uniqueItems": True}), {"t": ["a", "a"]}),
    ({"type": "object", "dependentRequired": {"a": ["b"]}}, {"a": 1}),
    (of(a={"type": "string", "not": {"const": "x"}}), {"a": "x"}),
    (of(a={"if": {"type": "string"}, "then": {"minLength": 3}}), {"a": "x"}),
]


@pytest.mark.parametrize(("schema", "arguments"), FIT_ONLY_THE_AUTHOR)
def test_the_authors_own_words_count_not_the_compacted_ones(schema, arguments):
    assert verdict(schema, arguments) == ("refused", None)


def test_a_remote_reference_is_never_fetched_and_the_compiled_schema_checks_in_its_place():
    asked = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        remote = {"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"}
        schema = of(a=remote, n={"type": "integer"})
        outcome = verdict(schema, {"a": 1, "n": 1})
        refused = verdict(schema, {"a": 1, "n": "1"})
        server.shutdown()
    assert asked == []
    assert outcome[0] == "runs"
    assert refused[0] == "refused"
    assert "leads nowhere" in outcome[1]


LONG = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"type": "any"}, LONG),
        ({"minimum": "5"}, 7),
        ({"pattern": "["}, LONG),
        ({"pattern": "^(?=a)(a+)+$"}, LONG),
        ({"type": "object", "patternProperties": {"(a+)+$": {}}}, {LONG: 1}),
        ({"multipleOf": 0}, 7),
    ],
)
def test_a_schema_that_cannot_be_used_gives_way_to_the_compiled_one(node, value):
    schema = of(x={"anyOf": [node]}, n={"type": "integer"})
    outcome, finding = verdict(schema, {"x": value, "n": 1})
    assert outcome == "runs"
    assert finding.endswith("the compiled one checks in its place")
    assert verdict(schema, {"x": value, "n": "1"})[0] == "refused"


def test_a_circle_of_references_ends():
    assert verdict({"type": "object", "$ref": "#"}, {})[0] == "runs"
    tree = {"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}}
    deep: dict = {}
    for _ in range(60):
        deep = {"t": deep}
    assert verdict(tree, deep) == ("runs", None)
    assert verdict(tree, {"t": {"t": 5}}) == ("refused", None)


def test_a_schema_that_doubles_with_every_level_is_stopped():
    levels = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$ref": "#/$defs/d0", "type": "object", "$defs": levels | {"d40": {"type": "object"}}}
    outcome, finding = verdict(schema, {})
    assert outcome == "unusable"
    assert "it takes too long" in finding


def test_large_honest_arguments_are_judged_and_not_mistaken_for_a_trap():
    schema = of(rows={"type": "array", "items": of(n={"type": "integer"})})
    rows = [{"n": i} for i in range(60_000)]
    assert verdict(schema, {"rows": rows}) == ("runs", None)
    assert verdict(schema, {"rows": [*rows, {"n": "x"}]}) == ("refused", None)


def test_a_tool_whose_schema_cannot_judge_is_answered_and_not_run():
    seen = []
    levels = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$ref": "#/$defs/d0", "type": "object", "$defs": levels | {"d40": {"type": "object"}}}
    plan = plan_tools([dynamic_tool("t", "", schema, seen.append)], StepState("s"))
    result = dispatch_function_call(ModelFunctionCall("c", "t", "{}", "s"), plan)
    assert (result.ok, seen) == (False, [])
    assert "no schema of this tool can judge" in result.output


def test_the_old_dialect_of_a_schema_is_obeyed():
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", **of(n={"minimum": 3, "exclusiveMinimum": True})}
    assert verdict(draft4, {"n": 3}) == ("refused", None)
    assert verdict(draft4, {"n": 4}) == ("runs", None)
    assert verdict({"$schema": ["odd"], "type": "object"}, {}) == ("runs", None)


@pytest.mark.parametrize("pattern", [r"^(?!.*\.\.)[a-z./]+$", r"(?<=a)b", r"^[^]]+$", r"^\d{4}-\d{2}$", r"\p{L}"])
def test_patterns_match_as_python_or_better(pattern):
    import re

    for text in ("a/b", "a/../b", "ab", "2031-04", "x]", ""):
        try:
            expected = re.search(pattern, text) is not None
        except re.error:
            expected = any(character.isalpha() for character in text)
        assert search(pattern, text) is expected


@pytest.mark.parametrize(
    "pattern", [r"^(?=a)(a+)+$", r"(?=x)(a|a)*", r"(?=x)((ab)*)*", r"(?!x)^(a?a)+$", r"(a*)*\1", "[", "("]
)
def test_wild_and_broken_patterns_are_refused_without_trying(pattern):
    with pytest.raises(UnusablePattern):
        search(pattern, "a" * 50)
    if pattern not in "[(":
        with pytest.raises(UnusablePattern):
            refuse_wild(pattern, 50)


def test_python_takes_no_text_that_is_too_long_for_its_pattern():
    with pytest.raises(UnusablePattern, match="too long"):
        search(r"^(?!x).*y.*z", "a" * 10_000)


AGREEING = [
    *FIT_ONLY_THE_AUTHOR,
    (of(a={"anyOf": [{"type": "string"}, {"type": "null"}]}), {"a": None}),
    (of(a={"oneOf": [{"type": "integer"}, {"minimum": 2}]}), {"a": 3}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1, "b": "x"}),
    ({"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False}, {"x-a": "b"}),
    ({"type": "object", "unevaluatedProperties": False, "allOf": [of(a={})]}, {"a": 1}),
    (of(n={"type": "integer"}), {"n": 3.0}),
    (of(n={"multipleOf": 0.5}), {"n": 1.25}),
]


@pytest.mark.parametrize(("schema", "arguments"), AGREEING)
def test_the_guarded_validator_agrees_with_the_plain_library(schema, arguments):
    expected = Draft202012Validator(schema).is_valid(arguments)
    assert verdict(schema, parse_arguments(json.dumps(arguments)))[0] == ("runs" if expected else "refused")


def test_without_the_check_any_object_is_forwarded_as_the_real_cli_does():
    seen = []
    tool = dynamic_tool("t", "", of(n={"type": "integer"}), seen.append, check_arguments=False)
    plan = plan_tools([tool], StepState("s"))
    outcomes = [
        dispatch_function_call(ModelFunctionCall("c", "t", text, "s"), plan).ok
        for text in ('{"n":"x"}', "{}", "", "[1]", '{"n":1,}')
    ]
    assert outcomes == [True, True, True, False, False]
    assert seen == [{"n": "x"}, {}, {}]


@pytest.mark.parametrize(
    ("schema", "monster", "small"),
    [
        ({"n": {"type": "number", "multipleOf": 0.5}}, {"n": int("9" * 400)}, {"n": 0.3}),
        ({"p": {"type": "string", "pattern": r"^(?!.*\.\.)[a-z./]+$"}}, {"p": "../" * 2000}, {"p": "../x"}),
    ],
)
def test_arguments_that_cannot_be_judged_are_refused_and_switch_nothing_off(schema, monster, small):
    author = {"type": "object", "properties": schema}
    validator = ArgumentValidator(author, lambda: {"type": "object"})
    for arguments in (small, monster, small):
        with pytest.raises(ArgumentError):
            validator.check(arguments)
    assert validator.finding is None


@pytest.mark.parametrize(
    "pattern",
    ["^(?=a)" + "(?:ab?a|a)?" * 20 + "b$", "^(?=a)" + "a?" * 26, "(?x)^(?=a)(a+) +$", "(?x)(?=a)(?#[)(a+)+$ #]"],
)
def test_no_pattern_hangs(pattern):
    validator = ArgumentValidator({"properties": {"s": {"pattern": pattern}}}, lambda: {"type": "object"})
    validator.check({"s": "a" * 40 + "c"})
    assert "cannot be used" in validator.finding


# --- work that is bounded -------------------------------------------------------------------------------------------


def refusal(schema, arguments):
    """The error that refuses the arguments, and the validator, which must still use the author's schema."""
    checker = ArgumentValidator(schema, lambda: {"type": "object"})
    with pytest.raises(ArgumentError) as refused:
        checker.check(arguments)
    assert checker.finding is None
    return refused.value


EQUAL_OR_NOT = [0, -0.0, 1, 1.0, True, False, None, "1", "", [], {}, [1], [1.0], [True], {"a": 1}, {"a": 1.0}]
EQUAL_OR_NOT += [{"a": True}, {"a": [1], "b": 2}, {"b": 2.0, "a": [1.0]}, 2**60, float(2**60), 2**60 + 1, 1.5]


@pytest.mark.parametrize("one", EQUAL_OR_NOT, ids=repr)
def test_values_are_equal_where_the_library_says_so(one):
    for other in EQUAL_OR_NOT:
        for node, value in (({"uniqueItems": True}, [one, other]), ({"enum": [one]}, other)):
            expected = "runs" if Draft202012Validator(node).is_valid(value) else "refused"
            assert verdict({"type": "object", "properties": {"a": {"anyOf": [node]}}}, {"a": value})[0] == expected


def test_a_long_list_is_written_out_once_to_find_equal_members(monkeypatch):
    written = []
    monkeypatch.setattr(
        guarded_validator, "canonical_text", lambda value: written.append(value) or json.dumps(value, sort_keys=True)
    )
    rows = [{"n": i} for i in range(6_000)]
    assert verdict(of(t={"type": "array", "uniqueItems": True}), {"t": rows}) == ("runs", None)
    assert len(written) == 6_000


def test_comparing_is_paid_for():
    rows = [{"n": i} for i in range(1_000)]
    schema = of(t={"allOf": [{"uniqueItems": True}] * 300})
    assert "it takes too long" in str(refusal(schema, {"t": rows}).faults[0])
    long = "x" * 9_000
    assert "it takes too long" in verdict(of(t={"allOf": [{"enum": [long]}] * 600}), {"t": long})[1]


def test_arguments_that_take_too_long_are_refused_and_switch_nothing_off():
    node = {"$ref": "#/$defs/T"}
    both = {"T": {"properties": {"t": {"allOf": [node, node]}, "n": {"type": "integer", "minimum": 3}}}}
    deep = {"n": 3}
    for _ in range(40):
        deep = {"t": deep}
    checker = ArgumentValidator({"type": "object", **node, "$defs": both}, lambda: {"type": "object"})
    for arguments, problem in ((deep, "it takes too long"), ({"n": 2}, "outside the limits")):
        with pytest.raises(ArgumentError, match=problem):
            checker.check(arguments)
    assert checker.finding is None


def test_what_is_unevaluated_is_found_without_wild_patterns_and_on_a_bounded_way():
    wild = {"unevaluatedProperties": False, "$ref": "#/$defs/A", "$defs": {"A": {"patternProperties": {"^(a+)+$": {}}}}}
    assert "can hang" in verdict(wild, {"a" * 50 + "b": 1})[1]
    both = {
        f"d{i}": {"$ref": f"#/$defs/d{i + 1}", "dependentSchemas": {"a": {"$ref": f"#/$defs/d{i + 1}"}}}
        for i in range(40)
    }
    chain = {"unevaluatedProperties": False, "$ref": "#/$defs/d0", "$defs": both | {"d40": {}}}
    assert "it takes too long" in verdict(chain, {"a": 1})[1]
    names = {f"a{number}": 1 for number in range(30_000)}
    assert "it takes too long" in str(refusal({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, names))
    if_asked = {"properties": {"y": {}}, "dependentSchemas": {"x": {"$ref": "#"}}, "unevaluatedProperties": False}
    assert verdict(if_asked, {"y": 1}) == ("runs", None)
    assert verdict(if_asked, {"z": 1}) == ("refused", None)


def test_deep_arguments_of_a_recursive_schema_are_refused_and_switch_nothing_off():
    node = {"$ref": "#/$defs/T"}
    recursive = {"allOf": [{"allOf": [{"allOf": [{"properties": {"t": node, "n": {"maximum": 3}}}]}]}]}
    checker = ArgumentValidator({"type": "object", **node, "$defs": {"T": recursive}}, lambda: {"type": "object"})
    deep = {"n": 1}
    for _ in range(120):
        deep = {"t": deep}
    for arguments, problem in ((deep, "it goes too deep"), ({"n": 4}, "outside the limits")):
        with pytest.raises(ArgumentError, match=problem):
            checker.check(arguments)
    assert checker.finding is None


def test_one_long_text_is_refused_and_switches_nothing_off():
    checker = ArgumentValidator(of(t={"enum": ["short"]}, n={"maximum": 3}), lambda: {"type": "object"})
    for arguments, problem in (({"t": "x" * 6_000_000}, "it takes too long"), ({"n": 4}, "outside the limits")):
        with pytest.raises(ArgumentError, match=problem):
            checker.check(arguments)
    assert checker.finding is None


def test_a_schema_that_takes_too_long_for_no_arguments_is_no_good_for_many_either():
    levels = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    trap = {"$ref": "#/$defs/d0", "type": "object", "$defs": levels | {"d40": {}}}
    checker = ArgumentValidator(trap, lambda: {"type": "object"})
    checker.check({str(i): i for i in range(100)})
    assert "it takes too long" in checker.finding


NAMES = [f"n{i}" for i in range(3_000)]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"required": NAMES}, {}),
        ({"dependentRequired": {"a": NAMES}}, {"a": 1}),
        ({"anyOf": [{"required": NAMES}]}, {}),
        ({"additionalProperties": False}, dict.fromkeys(NAMES)),
    ],
)
def test_names_are_listed_once_and_not_without_end(schema, arguments, monkeypatch):
    made = []
    for name in ("missing_field", "unknown_field"):
        real = getattr(arguments_module, name)
        monkeypatch.setattr(f"minicodex.validation.{name}", lambda *a, real=real, **k: made.append(a) or real(*a, **k))
    assert len(refusal(schema, arguments).faults) == len(made) == MAX_FAULTS_FOUND


def test_errors_that_anyof_collects_are_paid_for():
    node = {"anyOf": [{"required": NAMES}, {}]}
    assert "it takes too long" in str(refusal(of(r={"items": node}), {"r": [{}] * 30}).faults[0])


CHOICES = ["color", "x" * 2 * MAX_COMPARED_CHARS, *NAMES]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": dict.fromkeys(CHOICES, True), "additionalProperties": False}, {"colour": 1}),
        (of(e={"enum": CHOICES}), {"e": "colour"}),
    ],
    ids=["fields", "values"],
)
def test_a_slip_is_looked_for_among_so_many_choices_only(schema, arguments, monkeypatch):
    asked = []
    monkeypatch.setattr(arguments_module, "get_close_matches", lambda word, among, **_: asked.extend(among) or [])
    feedback("t", refusal(schema, arguments))
    assert asked == ["color", *NAMES][:MAX_COMPARED_CHOICES]


def test_typed_arguments_list_no_more_faults_than_others():
    with pytest.raises(ArgumentError) as refused:
        TypedArguments.of("t", {"a": (int, 1)}).decode(json.dumps(dict.fromkeys(NAMES, 1)))
    assert len(refused.value.faults) == MAX_FAULTS_FOUND


def test_the_authors_words_are_repeated_as_they_are():
    assert unknown_field("/x", "x", ["this or that", "b"]).expected == 'only "this or that" and "b"'


@pytest.mark.parametrize(("choice", "said"), [("red", '"red" or "b"'), ("it's", "one of the allowed values")])
def test_choices_that_only_pydantic_knows_are_shown_where_they_can_be_read(choice, said):
    types = TypedArguments.of("paint", {"colours": (dict[str, Literal[choice, "b"]], ...)})
    with pytest.raises(ArgumentError) as refused:
        types.decode('{"colours": {"door": "x"}}')
    assert refused.value.faults[0].expected == said
