"""An MCP server as a source: its definitions become tools of a step, its results become what the model reads."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minicodex.dispatch import ModelFunctionCall, ToolResult, dispatch_all, dispatch_function_call
from minicodex.errors import SourceError
from minicodex.naming import ToolName
from minicodex.planner import ModelAbilities, StepState, ToolPlan, plan_tools
from minicodex.sources import collect_tools
from minicodex.sources.mcp import McpServer, model_output
from minicodex.tool import RejectedTool, ToolImplementation

TOOLBOX = [sys.executable, str(Path(__file__).parent.parent / "servers" / "toolbox.py")]


@pytest.fixture
def box() -> Iterator[McpServer]:
    with McpServer("box", TOOLBOX, start_timeout_s=60.0) as server:
        yield server


def plan(server: McpServer, step_id: str = "s1", **abilities: bool) -> ToolPlan:
    step = StepState(step_id, ModelAbilities(**abilities))
    return plan_tools(collect_tools([server], step), step)


def call(plan: ToolPlan, name: str, arguments: str = "{}") -> ToolResult:
    wire_name = ToolName(name, "mcp__box")
    return dispatch_function_call(ModelFunctionCall("c", wire_name, arguments, plan.step_id), plan)


def names(plan: ToolPlan) -> list[str]:
    return [contract["name"] for namespace in plan.contracts for contract in namespace.to_wire()["tools"]]


# --- definitions become tools ---------------------------------------------------------------------------------------


def test_definitions_are_the_servers_own_words_over_all_pages(box: McpServer) -> None:
    definitions = box.definitions()
    assert definitions[0] == {
        "name": "echo",
        "description": "The tool echo.",
        "inputSchema": {
            "type": "object",
            "properties": {"n": {"type": "integer", "maximum": 9}},
            "required": ["n"],
        },
        "annotations": {"readOnlyHint": True},
        "outputSchema": {"type": "object", "properties": {"r": {"type": "string"}}},
    }
    assert definitions[1] == "not an object"
    assert definitions[-1]["name"] == "break_the_list"


def test_the_namespace_is_described_by_the_servers_instructions(box: McpServer) -> None:
    assert box.instructions == "A box of tools."
    (namespace,) = plan(box).contracts
    assert (namespace.to_wire()["name"], namespace.to_wire()["description"]) == ("mcp__box", "A box of tools.")


def test_a_tool_is_shown_compiled_and_without_its_output_schema(box: McpServer) -> None:
    (namespace,) = plan(box).contracts
    echo = next(tool for tool in namespace.to_wire()["tools"] if tool["name"] == "echo")
    assert echo == {
        "type": "function",
        "name": "echo",
        "description": "The tool echo.",
        "strict": False,
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    }


def test_an_input_schema_without_properties_gets_an_empty_table(box: McpServer) -> None:
    (namespace,) = plan(box).contracts
    fails = next(tool for tool in namespace.to_wire()["tools"] if tool["name"] == "fails")
    assert fails["parameters"] == {"type": "object", "properties": {}}


def test_an_implementation_knows_its_source_its_output_and_whether_it_only_reads(box: McpServer) -> None:
    implementations = plan(box).implementations
    echo, fails = (implementations[ToolName(name, "mcp__box")] for name in ("echo", "fails"))
    assert (echo.source, echo.parallel_safe, fails.parallel_safe) == ("mcp:box", True, False)
    assert echo.contract.output_schema == {"type": "object", "properties": {"r": {"type": "string"}}}


def test_a_malformed_definition_is_one_rejected_tool_and_the_rest_stays(box: McpServer) -> None:
    candidates = box.candidates(StepState("s1"))
    rejected = {tool.name: str(tool.error) for tool in candidates if isinstance(tool, RejectedTool)}
    unnamed = [str(t.error) for t in candidates if isinstance(t, RejectedTool) and t.name is None]
    assert unnamed == [
        'a tool definition must be an object, found the string "not an object"',
        "name must be a text, found nothing",
    ]
    assert rejected["mcp__box.no_schema"] == "inputSchema must be an object, found nothing"
    assert rejected["mcp__box.list_as_schema"] == "inputSchema must be an object, found an empty list"
    assert rejected["mcp__box.list_as_annotations"] == "annotations must be an object, found an empty list"
    assert "null" in rejected["mcp__box.null_root"]
    assert len([tool for tool in candidates if isinstance(tool, ToolImplementation)]) == 12


def test_names_that_meet_are_all_hashed_and_lead_to_their_own_tool(box: McpServer) -> None:
    step = plan(box)
    dotted, dashed = (name for name in names(step) if name.startswith("get_user_"))
    assert {call(step, dotted).output, call(step, dashed).output} == {"dot", "dash"}


def test_the_same_plan_twice_shares_the_compiled_contracts(box: McpServer) -> None:
    first, second = plan(box, "s1"), plan(box, "s2")
    echo = ToolName("echo", "mcp__box")
    assert first.implementations[echo].contract is second.implementations[echo].contract


def test_for_a_model_that_searches_every_tool_is_deferred_and_still_callable(box: McpServer) -> None:
    step = plan(box, supports_search=True)
    assert [contract.name for contract in step.contracts] == ["tool_search"]
    assert call(step, "echo", '{"n": 1}').output == '{"n": 1}'


def test_a_namespace_can_be_given(box: McpServer) -> None:
    with McpServer("box", TOOLBOX, start_timeout_s=60.0, namespace="mcp__my_box") as other:
        (namespace,) = plan(other).contracts
    assert namespace.name == "mcp__my_box"


# --- calls and what the model reads ---------------------------------------------------------------------------------


def test_good_arguments_reach_the_server_as_they_are(box: McpServer) -> None:
    step = plan(box)
    assert call(step, "echo", '{"n": 3, "more": [1.5, null, 12345678901234567890123]}') == ToolResult(
        "c", ok=True, output='{"n": 3, "more": [1.5, null, 12345678901234567890123]}'
    )


@pytest.mark.parametrize("arguments", ['{"n": "3"}', '{"n": 10}', "{}", "not json", "[3]"])
def test_arguments_are_checked_by_the_authors_schema_before_they_are_sent(box: McpServer, arguments: str) -> None:
    result = call(plan(box), "echo", arguments)
    assert not result.ok
    assert "nothing was run" in result.output


def test_structured_content_wins_and_is_not_checked(box: McpServer) -> None:
    result = call(plan(box), "structured")
    assert (result.ok, result.output) == (True, '{"r":5,"big":12345678901234567890123,"f":1.5}')


def test_a_result_that_is_an_error_is_not_ok_and_speaks_for_itself(box: McpServer) -> None:
    assert call(plan(box), "fails") == ToolResult("c", ok=False, output="the disk is full")


def test_a_protocol_error_is_not_ok_and_shows_the_servers_words(box: McpServer) -> None:
    result = call(plan(box), "refuses")
    assert (result.ok, result.output) == (
        False,
        'refuses: tools/call was refused with -32602: "bad arg" ({"x": 1}).',
    )


def test_a_result_that_is_no_json_is_not_ok(box: McpServer) -> None:
    assert call(plan(box), "not_a_number") == ToolResult(
        "c", ok=False, output="not_a_number: its result is no JSON: the number nan at /r"
    )


def test_items_are_joined_and_bytes_are_left_out(box: McpServer) -> None:
    assert call(plan(box), "picture").output == (
        'two\nlines\n{"type":"image","mimeType":"image/png","data":"4,000 characters of base64"}'
    )


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({}, ""),
        ({"content": "text"}, ""),
        ({"content": [{"type": "text", "text": 5}, "bare", None]}, '{"type":"text","text":5}\n"bare"\nnull'),
        ({"content": [{"type": "text", "text": "seen"}], "structuredContent": None}, "seen"),
        ({"content": [], "structuredContent": {}}, "{}"),
    ],
)
def test_odd_results_are_still_text(result: dict[str, object], output: str) -> None:
    assert model_output(result) == output


def test_a_server_that_died_tells_the_model_the_fact_and_the_person_the_rest(box: McpServer) -> None:
    step = plan(box)
    assert call(step, "dies").output == "dies: tools/call failed: the server ended with exit code 1."
    assert call(step, "echo", '{"n": 1}').output == "echo: tools/call failed: the server ended with exit code 1."
    with pytest.raises(SourceError, match="a secret on stderr"):
        box.call_tool("echo", {"n": 1})


def test_parallel_safe_calls_share_one_connection(box: McpServer) -> None:
    step = plan(box)
    echo = ToolName("echo", "mcp__box")
    calls = [ModelFunctionCall(str(n), echo, f'{{"n": {n % 10}}}', "s1") for n in range(40)]
    assert [result.output for result in dispatch_all(calls, step)] == [f'{{"n": {n % 10}}}' for n in range(40)]


# --- the list changes -----------------------------------------------------------------------------------------------


def test_a_changed_list_is_read_by_the_next_step_and_not_before(box: McpServer) -> None:
    old = plan(box, "s1")
    assert call(old, "change").output == "listed 2 times"
    assert call(old, "change").output == "listed 2 times"
    assert call(old, "echo", '{"n": 1}').ok  # by the old contract, though the server has a new one
    new = plan(box, "s2")
    assert call(new, "fresh").output == "new"
    assert not call(old, "fresh").ok
    assert call(new, "echo", '{"text": "x"}').ok
    assert call(new, "change").output == "listed 4 times"


def test_an_unchanged_list_is_read_once(box: McpServer) -> None:
    for step_id in ("s1", "s2", "s3"):
        step = plan(box, step_id)
    box.definitions()
    assert call(step, "change").output == "listed 2 times"


def test_a_list_that_cannot_be_read_again_stays_and_says_so(box: McpServer) -> None:
    call(plan(box, "s1"), "break_the_list")
    step = plan(box, "s2")
    assert call(step, "echo", '{"n": 1}').ok
    assert [decision.reason for decision in step.decisions if "lost" in decision.reason] == [
        'could not be built: box: tools/list was refused with -32603: "the list is lost".'
    ]
    call(step, "change")  # mends it
    assert call(plan(box, "s3"), "fresh").output == "new"


def test_a_server_that_died_between_steps_is_a_decision_and_its_tools_stay(box: McpServer) -> None:
    call(plan(box, "s1"), "dies")
    step = plan(box, "s2")
    assert "echo" in names(step)
    assert [decision.reason for decision in step.decisions if "exit code" in decision.reason] == [
        (
            "could not be built: box: tools/list failed: the server ended with exit code 1. "
            'Its stderr ends: "a secret on stderr". Run the command by hand to see why.'
        )
    ]


def test_a_server_that_is_started_again_is_asked_again() -> None:
    server = McpServer("box", TOOLBOX, start_timeout_s=60.0)
    for _ in range(2):
        with server:
            assert "echo" in names(plan(server))
            assert call(plan(server), "change").output == "listed 2 times"


def test_a_source_without_any_list_is_a_decision_of_the_plan() -> None:
    step = plan(McpServer("box", TOOLBOX))
    assert [decision.reason for decision in step.decisions] == [
        "could not be built: box: it is not running. Use it inside `with McpServer(…) as server:`."
    ]


# --- surroundings ---------------------------------------------------------------------------------------------------


def test_a_server_sees_few_variables_and_those_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "not for servers")
    with McpServer("box", TOOLBOX, env={"GIVEN": "yes"}, start_timeout_s=60.0) as server:
        seen = json.loads(server.call_tool("environment")["content"][0]["text"])
    assert seen["GIVEN"] == "yes"
    assert "PATH" in seen
    assert "SOME_API_KEY" not in seen


def test_importing_minicodex_does_not_import_the_sdk() -> None:
    program = "import sys, minicodex, minicodex.sources; sys.exit('mcp' in sys.modules or 'anyio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_the_sdk_one_sentence_says_what_to_install() -> None:
    program = "import sys; sys.modules['mcp'] = None; import minicodex.sources.mcp"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        'ImportError: MCP servers need the official SDK: pip install "minicodex[mcp]"'
    )


def test_real_servers_of_the_package_index(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with (
        McpServer("time", [sys.executable, "-m", "mcp_server_time"], start_timeout_s=60.0) as time,
        McpServer("git", [sys.executable, "-m", "mcp_server_git"], start_timeout_s=60.0) as git,
    ):
        step = StepState("s1")
        both = plan_tools(collect_tools([time, git], step), step)
        assert [contract.name for contract in both.contracts] == ["mcp__git", "mcp__time"]

        def run(namespace: str, name: str, **arguments: str) -> ToolResult:
            wire = ModelFunctionCall("c", ToolName(name, namespace), json.dumps(arguments), "s1")
            return dispatch_function_call(wire, both)

        berlin = run("mcp__time", "get_current_time", timezone="Europe/Berlin")
        assert (berlin.ok, json.loads(berlin.output)["timezone"]) == (True, "Europe/Berlin")
        assert not run("mcp__time", "get_current_time", timezone="Nowhere").ok
        assert "No commits yet" in run("mcp__git", "git_status", repo_path=str(tmp_path)).output
