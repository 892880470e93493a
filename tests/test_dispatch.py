"""Dispatch: one result for every call, and business code entered only with arguments that fit."""

import threading
from dataclasses import replace

import pytest

from minicodex import (
    ArgumentError,
    Exposure,
    FreeformContract,
    ModelCustomCall,
    ModelFunctionCall,
    ModelSearchCall,
    StepState,
    ToolImplementation,
    ToolName,
    ToolResult,
    dispatch_all,
    dispatch_function_call,
    dynamic_tool,
    function_tool,
    plan_tools,
)
from minicodex.dispatch import MAX_OUTPUT_CHARS, abandoned_threads
from minicodex.errors import InternalError, ToolFailed
from minicodex.planner import ModelAbilities
from minicodex.sources.builtin import PlanBoard, update_plan_tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def ask(tool, arguments, **options):
    """Send one call through a plan of this one tool."""
    plan = plan_tools([tool], StepState("s"))
    call = ModelFunctionCall("c1", tool.canonical_name, arguments, "s")
    return dispatch_function_call(call, plan, **options)


def returning(value):
    return dynamic_tool("t", "", {"type": "object"}, lambda arguments: value)


def raising(error):
    def handler(arguments):
        raise error

    return dynamic_tool("t", "", {"type": "object"}, handler)


def test_a_good_call_runs_with_exactly_one_dict():
    seen = []
    tool = dynamic_tool("t", "", SCHEMA, lambda *args, **kwargs: seen.append((args, kwargs)) or "done")
    assert ask(tool, '{"n": 3}') == ToolResult("c1", True, "done")
    assert seen == [(({"n": 3},), {})]


@pytest.mark.parametrize(
    "arguments", ["", "[]", "null", '"{}"', '{"n":"3"}', '{"n":true}', '{"n":1,"n":2}', "{", '{"n":1.5}']
)
def test_arguments_that_do_not_fit_never_reach_business_code(arguments):
    seen = []
    result = ask(dynamic_tool("t", "", SCHEMA, seen.append), arguments)
    assert not result.ok
    assert seen == []
    assert result.output.startswith("The arguments of t do not fit; nothing was run.\n- ")


def test_the_form_of_the_feedback_is_fixed():
    schema = {
        "type": "object",
        "properties": {"mode": {"enum": ["fast", "slow"]}, "tags": {"type": "array"}, "password": {"type": "integer"}},
        "required": ["mode", "size"],
        "additionalProperties": False,
    }
    result = ask(dynamic_tool("t", "", schema, print), '{"mode":"fsat","tags":"[1]","password":"hunter2","sizes":1}')
    assert result.output == (
        "The arguments of t do not fit; nothing was run.\n"
        '- at /tags: encoded twice: a string that holds JSON; expected a list; got the string "[1]"\n'
        "- at /size: missing\n"
        "- at /password: wrong type; expected an integer; got a string (not shown)\n"
        '- at /mode: not an allowed value; expected "fast" or "slow"; got the string "fsat"\n'
        '- at /sizes: unknown field; expected only "mode", "tags" and "password"\n'
        "Way out: send the list itself, not a string with it inside"
    )


def test_feedback_is_bounded_and_valid_text_whatever_came():
    schema = {"type": "object", "additionalProperties": False}
    many = "{" + ",".join(f'"\\u0007k{i}{"x" * 500}":1' for i in range(500)) + "}"
    result = ask(dynamic_tool("t", "", schema, print), many)
    assert len(result.output) <= 2_000
    assert "\x07" not in result.output
    assert "- and " in result.output


def test_a_business_rule_uses_the_same_channel_and_changes_nothing():
    board = PlanBoard()
    tool = update_plan_tool(board)
    two = '{"plan":[{"step":"a","status":"in_progress"},{"step":"b","status":"in_progress"}]}'
    assert ask(tool, two).output == (
        "update_plan refused these arguments.\n"
        "- at /plan/1/status: a second step is in progress; "
        'expected at most one step with the status "in_progress"; got 2 of them\n'
        'Way out: set every step but one to "pending" or "completed"'
    )
    assert (board.items, board.updates) == ([], 0)
    assert ask(tool, '{"plan":[{"step":"a","status":"in_progress"}]}') == ToolResult("c1", True, "Plan updated")
    assert board.text() == "[>] a"


def test_a_call_of_another_step_is_not_run():
    seen = []
    plan = plan_tools([dynamic_tool("t", "", {"type": "object"}, seen.append)], StepState("new"))
    result = dispatch_function_call(ModelFunctionCall("c", "t", "{}", "old"), plan)
    assert result.output == "this call belongs to step 'old' but reached the plan of step 'new'; it was not run"
    assert seen == []


@pytest.mark.parametrize("name", ["nope", "T", "mcp__p.x", "functions.t", "", "\ud800"])
def test_an_unknown_name_is_answered(name):
    plan = plan_tools([returning(1), dynamic_tool("x", "", {}, print, namespace="mcp__p")], StepState("s"))
    result = dispatch_function_call(ModelFunctionCall("c", name, "{}", "s"), plan)
    assert result.output.startswith("unsupported call: ")
    result.output.encode()


def test_an_unknown_name_that_exists_in_a_namespace_is_told_where():
    plan = plan_tools([dynamic_tool("x", "", {"type": "object"}, print, namespace="mcp__p")], StepState("s"))
    result = dispatch_function_call(ModelFunctionCall("c", "x", "{}", "s"), plan)
    assert result.output == "unsupported call: x. Did you mean mcp__p.x?"


@pytest.mark.parametrize(
    ("value", "text"), [("done", "done"), ({"a": [1, None]}, '{"a":[1,null]}'), (None, "null"), ("\u2028é", "\u2028é")]
)
def test_results_are_text_or_compact_json(value, text):
    assert ask(returning(value), "{}") == ToolResult("c1", True, text)


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, b"x", "\ud800", {"a": "\udc00"}, {3: 1}])
def test_a_result_that_is_no_json_is_the_tool_authors_fault(value):
    assert ask(returning(value), "{}") == ToolResult("c1", False, "t: it ran, but its result is not text and not JSON")


def test_a_huge_result_is_cut_and_says_so():
    result = ask(returning("x" * 50_000_000), "{}")
    assert result.ok
    assert len(result.output) < MAX_OUTPUT_CHARS + 100
    assert result.output.endswith("(cut: 1,000,000 of 50,000,000 characters shown)")


@pytest.mark.parametrize("error", [ValueError("secret"), KeyError("secret"), SystemExit(3), RecursionError("secret")])
def test_a_handler_that_raises_is_answered_without_its_inner_words(error):
    assert ask(raising(error), "{}") == ToolResult("c1", False, f"t: it failed while running ({type(error).__name__})")


def test_a_tool_that_reports_its_own_failure_is_quoted():
    assert ask(raising(ToolFailed("the disk is full")), "{}") == ToolResult("c1", False, "the disk is full")


def test_a_decoder_that_raises_is_a_fault_of_the_tool_and_runs_nothing():
    class Broken:
        def decode_arguments(self, raw_arguments):
            raise RuntimeError

        def run(self, arguments, *, call_id):
            raise AssertionError("must not run")

    tool = ToolImplementation(returning(1).contract, Broken())
    assert ask(tool, "{}").output == "t: its decoder failed (RuntimeError); nothing was run"


def test_a_handler_that_hangs_is_answered_and_its_thread_is_counted():
    release = threading.Event()
    tool = dynamic_tool("slow", "", {"type": "object"}, lambda arguments: release.wait(60))
    result = ask(tool, "{}", timeout_s=0.05)
    assert result.output == "slow: no result after 0.05 s; it may still be running"
    assert abandoned_threads() == ("minicodex-call-slow",)
    release.set()
    for thread in threading.enumerate():
        if thread.name == "minicodex-call-slow":
            thread.join(10)
    assert abandoned_threads() == ()
    assert ask(returning(1), "{}", timeout_s=60).ok


def test_typed_functions_decode_strictly_and_take_integral_floats():
    @function_tool
    def add(a: int, b: float = 1.0, note: str | None = None) -> str:
        """Add two numbers."""
        return f"{a!r} {b!r} {note!r}"

    assert ask(add, '{"a": 3.0, "b": 2}').output == "3 2.0 None"
    assert ask(add, '{"a": 9007199254740993}').output == "9007199254740993 1.0 None"
    for wrong in ('{"a":"3"}', '{"a":true}', '{"a":1.5}', '{"a":null}', '{"a":1,"b":"2"}', '{"a":1,"c":1}', "{}"):
        assert not ask(add, wrong).ok


def test_a_typed_parameter_may_have_any_name_and_call_id_is_filled_in():
    @function_tool
    def odd(json: int, model_config: str, call_id: str, self_: bool = True) -> str:
        return f"{json} {model_config} {call_id} {self_}"

    assert ask(odd, '{"json":1,"model_config":"x"}').output == "1 x c1 True"
    assert list(odd.contract.parameters.to_json()["properties"]) == ["json", "model_config", "self_"]


def freeform(function):
    class Freeform:
        def decode_arguments(self, raw_arguments):
            return raw_arguments

        def run(self, arguments, *, call_id):
            return function(arguments)

    return ToolImplementation(FreeformContract("exec", "", "lark", "start: /.+/"), Freeform())


def test_custom_and_search_calls_are_answered_too_and_kinds_do_not_mix():
    deferred = dynamic_tool(
        "send_mail",
        "Send an email message",
        {"type": "object"},
        print,
        namespace="mcp__mail",
        exposure=Exposure.DEFERRED,
    )
    plan = plan_tools([freeform(str.upper), deferred], StepState("s", model=ModelAbilities(supports_search=True)))
    calls = [
        ModelCustomCall("1", "exec", "text", "s"),
        ModelSearchCall("2", {"query": "mail"}, "s"),
        ModelFunctionCall("3", "exec", "{}", "s"),
        ModelCustomCall("4", ToolName("send_mail", "mcp__mail"), "x", "s"),
    ]
    results = dispatch_all(calls, plan)
    assert [result.ok for result in results] == [True, True, False, False]
    assert results[0].output == "TEXT"
    assert results[1].output[0]["tools"][0]["defer_loading"] is True
    assert "another kind" in results[2].output


@pytest.mark.parametrize("query", ["send", "read"])
def test_a_namespace_is_described_alike_whichever_of_its_tools_is_found(query):
    about = {"send_mail": None, "read_mail": "About mail."}
    tools = [
        replace(
            dynamic_tool(name, "", {"type": "object"}, print, namespace="mcp__mail", exposure=Exposure.DEFERRED),
            namespace_description=words,
        )
        for name, words in about.items()
    ]
    plan = plan_tools(tools, StepState("s", model=ModelAbilities(supports_search=True)))
    (result,) = dispatch_all([ModelSearchCall("1", {"query": query}, "s")], plan)
    assert [entry["description"] for entry in result.output] == ["About mail."]


@pytest.mark.parametrize("arguments", [None, "mail", {}, {"query": 5}, {"query": "mail", "limit": 1.5}])
def test_a_search_that_cannot_be_understood_finds_nothing(arguments):
    deferred = dynamic_tool("send_mail", "Send", {"type": "object"}, print, exposure=Exposure.DEFERRED)
    plan = plan_tools([deferred], StepState("s", model=ModelAbilities(supports_search=True)))
    assert dispatch_all([ModelSearchCall("1", arguments, "s")], plan) == [ToolResult("1", True, [])]


def test_one_bad_call_stops_nobody_and_outputs_come_in_call_order():
    plan = plan_tools([dynamic_tool("t", "", SCHEMA, lambda arguments: arguments["n"])], StepState("s"))
    calls = [ModelFunctionCall(f"c{i}", "t", text, "s") for i, text in enumerate(['{"n":1}', "{", '{"n":2}', ""])]
    calls.append(ModelFunctionCall("c0", "t", '{"n":5}', "s"))  # an equal id is run and answered again
    results = dispatch_all(calls, plan)
    assert [(result.call_id, result.ok) for result in results] == [
        ("c0", True),
        ("c1", False),
        ("c2", True),
        ("c3", False),
        ("c0", True),
    ]


def test_parallel_safe_neighbours_run_side_by_side_and_others_alone():
    together = threading.Barrier(2, timeout=60)
    safe = dynamic_tool("safe", "", {"type": "object"}, lambda arguments: together.wait() and "", parallel_safe=True)
    running = []

    def alone(arguments):
        running.append(1)
        assert len(running) == 1
        running.pop()
        return "alone"

    plan = plan_tools([safe, dynamic_tool("alone", "", {"type": "object"}, alone)], StepState("s"))
    calls = [ModelFunctionCall(str(i), name, "{}", "s") for i, name in enumerate(["alone", "safe", "safe", "alone"])]
    assert [result.ok for result in dispatch_all(calls, plan)] == [True] * 4


def test_a_bug_of_our_own_is_fatal_and_everything_else_is_an_answer():
    assert not ask(raising(ArgumentError("late rule")), "{}").ok
    with pytest.raises(InternalError):
        ask(raising(InternalError("broken promise")), "{}")


def test_cancelled_calls_are_answered_and_none_starts_afterwards():
    cancelled, release, started = threading.Event(), threading.Event(), []

    def slow(arguments):
        started.append(1)
        cancelled.set()
        release.wait(60)
        return "late"

    plan = plan_tools([dynamic_tool("slow", "", {"type": "object"}, slow)], StepState("s"))
    calls = [ModelFunctionCall(str(i), "slow", "{}", "s") for i in range(3)]
    results = dispatch_all(calls, plan, cancelled=cancelled)
    assert results == [ToolResult(str(i), False, "aborted") for i in range(3)]
    assert started == [1]
    release.set()


def test_a_call_that_finishes_before_it_is_cancelled_keeps_its_result():
    plan = plan_tools([returning("done")], StepState("s"))
    calls = [ModelFunctionCall("1", "t", "{}", "s")]
    assert dispatch_all(calls, plan, cancelled=threading.Event(), timeout_s=60) == [ToolResult("1", True, "done")]


def test_the_name_of_an_unknown_tool_is_not_quoted_at_any_length():
    plan = plan_tools([], StepState("s"))
    assert len(dispatch_function_call(ModelFunctionCall("c", "x" * 10_000_000, "{}", "s"), plan).output) < 300
