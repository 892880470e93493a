"""The command line, as a person or a script uses it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from minicodex.cli import main
from minicodex.dispatch import dispatch_function_call

SERVER = [sys.executable, "-m", "mcp_server_time"]

PROGRAM = "import sys; from minicodex.cli import main; sys.exit(main(sys.argv[1:]))"


@contextlib.contextmanager
def streams(data):
    """Standard streams of our own, as bytes."""
    ours = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (data, b"", b"")]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = ours
    try:
        yield ours[1], ours[2]
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def run(*words, text="", code=0):
    """Run one command line; returns what it printed."""
    with streams(text if isinstance(text, bytes) else text.encode()) as written:
        try:
            ended = main(words)
        except SystemExit as leaving:  # argparse: help, or a word that it does not know
            ended = leaving.code
        for stream in written:
            stream.flush()
        printed = tuple(stream.buffer.getvalue().decode() for stream in written)
    assert ended == code, printed
    return printed


def test_a_process_ends_with_the_exit_code_and_shows_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "compile", "--jsonl"],
        input=b'{"type":"object"}\n{\n\xff',
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.count(b"\n") == 3


@pytest.mark.parametrize("words", [("compile", "--nope"), ("inspect", "--sear"), ("call", "t", "{}", "--nope")])
def test_an_unknown_option_shows_the_usage_of_its_own_command(words):
    _, problem = run(*words, code=2)
    assert problem.startswith(f"usage: minicodex {words[0]} ")
    assert f"unknown: {words[-1]}" in problem


@pytest.mark.parametrize("words", [("inspect", "python"), ("call", "t", "{}", "python")])
def test_a_server_command_without_its_dashes_is_told_where_they_go(words):
    assert "the server's command stands behind --" in run(*words, "-m", "mcp_server_time", code=2)[1]


def test_version_is_the_one_of_the_package():
    assert run("--version") == (f"minicodex {metadata.version('minicodex')}\n", "")


@pytest.fixture
def tools(tmp_path):
    file = tmp_path / "tools.json"
    definitions = [
        {
            "name": "get.user",
            "inputSchema": {
                "type": "object",
                "properties": {"n": {"type": "integer", "minimum": 3}},
                "required": ["n"],
            },
        },
        {"name": "broken", "inputSchema": {"type": "object", "properties": {"x": {"items": [1]}}}},
        {"name": "no schema"},
        5,
    ]
    file.write_text(json.dumps({"tools": definitions}))
    return str(file)


@pytest.mark.parametrize("command", [[], ["compile"], ["inspect"], ["call"]])
def test_help_shows_examples(command):
    out, _ = run(*command, "--help")
    assert "examples:\n  " in out
    assert "  minicodex " in out


def test_without_a_command_the_help_is_shown():
    assert run()[0] == run("--help")[0]
    assert "lab" in run()[0]


def test_a_schema_is_compiled_as_for_mcp_unless_raw():
    assert run("compile", text="{}")[0] == '{"type":"object","properties":{}}\n'
    assert run("compile", "--raw", text="{}")[0] == "{}\n"


def test_a_file_is_compiled_and_number_literals_stay(tmp_path):
    file = tmp_path / "schema.json"
    file.write_text('{"type":"object","properties":{"a":{"enum":[1.10,1E5]}}}')
    assert '"enum":[1.10,1e+5]' in run("compile", str(file))[0]


def test_a_refused_schema_is_one_sentence_and_exit_code_1():
    out, err = run("compile", text='{"type":"object","properties":{"a":{"items":[]}}}', code=1)
    assert out == ""
    assert err.startswith("minicodex: refused (")
    assert "/properties/a/items" in err
    assert err.count("\n") == 1


def test_every_line_gives_one_line_blank_and_broken_ones_too():
    lines = ['{"type":"object"}', "", "{", '{"type":"null"}', '{"title":"\u2028"}', "\r", "nul", "5"]
    out, _ = run("compile", "--jsonl", text="\n".join(lines) + "\n", code=1)
    results = [json.loads(line) for line in out.removesuffix("\n").split("\n")]
    assert len(results) == len(lines)
    assert results[0] == {"parameters": {"type": "object", "properties": {}}}
    assert [sorted(result) for result in results] == [
        *[["parameters"], ["error"], ["error"], ["error"]],
        *[["parameters"], ["error"], ["error"], ["error"]],
    ]
    assert all(set(result["error"]) == {"kind", "message"} for result in results if "error" in result)


def test_bytes_that_are_not_utf_8_give_an_error_line():
    out, _ = run("compile", "--jsonl", text=b'\xff\n{"type":"object"}\n', code=1)
    assert ["error" in json.loads(line) for line in out.splitlines()] == [True, False]


def test_good_lines_only_give_exit_code_0_and_no_line_gives_nothing():
    run("compile", "--jsonl", text='{"type":"object"}')
    assert run("compile", "--jsonl", text="") == ("", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["compile", "/nowhere/schema.json"], "cannot be read"),
        (["compile", "."], "cannot be read"),
        (["inspect"], "name the server's command behind --"),
        (["call", "x", "{}"], "name the server's command behind --"),
        (["call", "x", "--tools", "f"], "call needs TOOL and ARGUMENTS"),
        (["call", "x", "{}", "--tools", "/nowhere"], "cannot be read"),
        (["inspect", "--", "/nowhere/server"], "could not be started"),
        (["inspect", "--", sys.executable, "-c", "print('no MCP here')"], "minicodex: "),
        (["nonsense"], "invalid choice"),
    ],
)
def test_what_cannot_run_is_one_sentence_and_exit_code_2(words, says):
    out, err = run(*words, code=2)
    assert out == ""
    assert says in err


def test_a_call_through_definitions_in_a_file_echoes_what_was_decoded(tools):
    assert run("call", "get.user", '{"n": 3.0}', "--tools", tools)[0] == '{"n":3.0}\n'
    out, _ = run("call", "get.user", '{"n": 2}', "--tools", tools, code=1)
    assert "expected a number of at least 3; got the number 2" in out


def test_calls_by_the_line_say_what_ran(tools):
    calls = [
        {"name": "get.user", "arguments": '{"n":4}'},
        {"name": "get.user", "arguments": "{"},
        {"name": "broken", "arguments": "{}"},
        {"name": "no schema", "arguments": "{}"},
        {"name": "nope", "arguments": "{}"},
        {"name": "get.user", "arguments": {"n": 4}},
        [],
    ]
    text = "\n".join(map(json.dumps, calls)) + "\n\nxx"
    out, _ = run("call", "--jsonl", "--tools", tools, text=text, code=1)
    results = [json.loads(line) for line in out.removesuffix("\n").split("\n")]
    assert results[0] == {"ran": True, "ok": True, "output": '{"n":4}'}
    assert [(result["ran"], result["ok"]) for result in results[1:]] == [(False, False)] * 8
    assert "could not be built" in results[2]["output"]
    assert results[4]["output"].startswith("unsupported call: nope")
    assert "arguments as JSON text" in results[5]["output"]


@pytest.mark.parametrize("content", ["{", "5", '{"a":1}', "\ufffe", "[" * 3_000])
def test_a_file_that_holds_no_tools_is_refused(tmp_path, content):
    file = tmp_path / "tools.json"
    file.write_text(content)
    assert "is no list of MCP tools" in run("call", "x", "{}", "--tools", str(file), code=2)[1]


def test_a_real_server_is_shown_in_both_modes():
    out, _ = run("inspect", "--name", "time", "--", *SERVER)
    assert "2 tools offered, 2 can be called" in out
    assert '"name": "convert_time"' in out
    assert 'under the key "tools"' in out
    assert '{"type":"additional_tools","id":"at_0","role":"developer","tools":["mcp__time"]}' in out
    decisions = json.loads(run("inspect", "--json", "--", *SERVER)[0])["decisions"]
    assert [decision["visible"] for decision in decisions] == [True, True]


def test_each_mode_prints_the_exact_body():
    ordinary = json.loads(run("inspect", "--mode", "responses", "--", *SERVER)[0])
    lite = json.loads(run("inspect", "--mode", "lite", "--", *SERVER)[0])
    assert ordinary["tools"] == lite["input"][0]["tools"]


def test_the_two_modes_are_shown_as_one_text_with_marks():
    lines = run("inspect", "--diff", "--name", "time", "--", *SERVER)[0].splitlines()
    marks = {mark: [line[4:].strip() for line in lines[4:] if line[:2] == mark] for mark in ("- ", "+ ", "-=", "+=")}
    assert marks["-="] == marks["+="]
    assert marks["-="][0].startswith("mcp__time (namespace with tools: 2, ")
    assert '"parallel_tool_calls": true' in marks["- "]
    assert '"parallel_tool_calls": false' in marks["+ "]
    assert '"instructions": "(the instructions)",' in marks["- "]
    assert "x-openai-internal-codex-responses-lite: true" in marks["+ "]
    assert '"text": "(what the user says)"' in [line[4:].strip() for line in lines if line.startswith("    ")]
    assert lines[-1].startswith("body: ")


def test_a_tool_of_a_real_server_is_called_and_broken_arguments_are_answered():
    good = '{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}'
    assert "+9.0h" in run("call", "convert_time", good, "--", *SERVER)[0]
    out, _ = run("call", "convert_time", '{"source_timezone":5}', "--", *SERVER, code=1)
    assert "- at /source_timezone: wrong type; expected a string; got the number 5" in out
    assert json.loads(run("call", "nope", "{}", "--json", "--", *SERVER, code=1)[0])["ran"] is False


def test_a_reader_that_stops_reading_gets_no_complaint():
    shell = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "compile", "--jsonl"], stdin=-1, stdout=-1, stderr=subprocess.PIPE
    )
    shell.stdout.close()
    _, err = shell.communicate(b'{"type":"object"}\n' * 50_000, timeout=60)
    assert err == b""
    assert shell.returncode == 2


def test_every_decision_is_explained(tmp_path):
    toolbox = str(Path(__file__).parent / "servers/toolbox.py")
    out, _ = run("inspect", "--explain", "--name", "p", "--", sys.executable, toolbox, code=1)
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "visible   in the first list" in lines["mcp__p.echo"]
    renamed = {name: line.rpartition("its server calls it ")[2] for name, line in lines.items() if "get_user_" in name}
    assert sorted(renamed.values()) == ["get-user", "get.user"], "who is renamed can still be told apart"
    assert "its server calls it" not in lines["mcp__p.echo"]
    assert "stopped   could not be built: inputSchema must be an object" in lines["mcp__p.list_as_schema"]
    out, _ = run("inspect", "--explain", "--search", "--flat", "--", *SERVER)
    assert out.startswith("mcp__server__get_current_time  callable  deferred: found by a search")


def test_a_trace_shows_every_stage_with_its_losses():
    out, _ = run("compile", "--trace", text='{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}')
    assert "normalize_supported_keywords" in out
    assert "/properties/n/minimum" in out
    assert "collapse_deep_objects" in out
    out, _ = run("compile", "--trace", text='{"items":[]}', code=1)
    assert "/items" in out
    assert "no JSON" in run("compile", "--trace", text="x", code=1)[0]


def test_a_closed_standard_input_is_one_sentence():
    before, sys.stdin = sys.stdin, None
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", io.StringIO())
            assert main(["compile"]) == 2
            assert "standard input is closed" in sys.stderr.getvalue()
    finally:
        sys.stdin = before


ESCAPE = "\x1b[31mred\u202e"
HOSTILE_SCHEMAS = [{"items": []}, {"enum": [1]}, {"$ref": "#/$defs/x", "pattern": "a"}]


@pytest.mark.parametrize("words", [("compile", "--raw"), ("compile", "--trace"), ("compile", "--jsonl")])
@pytest.mark.parametrize("schema", HOSTILE_SCHEMAS)
def test_no_name_of_a_stranger_moves_the_cursor(words, schema):
    with streams(json.dumps({"properties": {ESCAPE: schema}}).encode()) as written:
        main(words)
        for stream in written:
            stream.flush()
        printed = "".join(stream.buffer.getvalue().decode() for stream in written)
    assert "red" in printed
    assert "\x1b" not in printed


def test_nor_does_the_name_of_a_call(tools):
    (printed, _) = run("call", ESCAPE, "{}", "--tools", str(tools), code=1)
    assert "unsupported call: \\x1b[31mred" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize(
    "words",
    [
        (f"nonsense{ESCAPE}",),
        ("compile", f"--{ESCAPE}"),
        ("compile", "a", ESCAPE),
        ("inspect", "--timeout", ESCAPE),
        ("inspect", "--mode", ESCAPE),
        ("compile", f"/nowhere/{ESCAPE}"),
        ("inspect", "--name", ESCAPE, "--", "/nowhere/server"),
        ("inspect", "--", f"/nowhere/{ESCAPE}"),
    ],
)
def test_nor_does_a_word_of_the_command_line_that_is_complained_of(words):
    problem = run(*words, code=2)[1]
    assert "\x1b" not in problem
    assert "\u202e" not in problem


def test_nor_does_the_name_of_a_server():
    printed = run("inspect", "--name", ESCAPE, "--", *SERVER)[0]
    assert printed.startswith("\\x1b[31mred\\u202e: ")
    assert "\x1b" not in printed


posix = pytest.mark.skipif(os.name != "posix", reason="a terminal of our own needs a pty, a closed stream needs sh")


def on_a_terminal(*words, text=""):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, input=text.encode(), stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    return shown


@posix
def test_on_a_terminal_a_servers_words_are_shown_without_what_could_take_it_over(tools):
    shown = on_a_terminal("call", "get.user", '{"n": 3, "text": "a\u202eb"}', "--tools", str(tools))
    assert "\\u202e" in shown
    assert "\u202e" not in shown


TAKES_OVER = "\x9b31m\x7f\u202e"


@posix
@pytest.mark.parametrize("words", [["compile"], ["compile", "--jsonl"], ["compile", "--trace"]])
def test_on_a_terminal_so_is_json_and_a_program_gets_its_exact_bytes(words):
    schema = json.dumps({"properties": {TAKES_OVER: {"type": "number", "minimum": 1}}}, ensure_ascii=False)
    shown = on_a_terminal(*words, text=schema)
    assert "\\x9b31m\\x7f\\u202e" in shown
    assert not set(TAKES_OVER) - set("31m") & set(shown)
    assert TAKES_OVER in run("compile", text=schema)[0]


def without_output(redirection, *words, text=b'{"type":"object"}'):
    """Exit code and stderr of a process whose standard output goes nowhere."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(shell, input=text, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, done.stderr.decode()


@posix
@pytest.mark.parametrize("words", [["--version"], ["compile"], ["compile", "--jsonl"], ["compile", "--help"], []])
def test_a_closed_or_full_standard_output_is_one_sentence(words):
    closed = "minicodex: standard output is closed; send it to a terminal, a file or a pipe\n"
    assert without_output(">&-", *words) == (2, closed)
    if Path("/dev/full").exists():
        full = "minicodex: standard output cannot be written: No space left on device\n"
        assert without_output("> /dev/full", *words) == (2, full)


@posix
def test_that_is_not_taken_for_a_fault_of_the_file_that_is_read(tools):
    assert "standard output is closed" in without_output(">&-", "compile", "--jsonl", tools)[1]
    assert without_output(">&- 2>&-", "compile", tools) == (2, "")


@pytest.mark.parametrize("words", [["compile"], ["compile", "--jsonl"], ["compile", "--trace"], ["call", "--jsonl"]])
def test_an_input_that_is_too_long_is_one_sentence(words, tools, monkeypatch):
    monkeypatch.setattr("minicodex.streams.MAX_INPUT_BYTES", 1_000)
    words = [*words, "--tools", tools] if "call" in words else words
    assert "the input is longer than 1,000 bytes" in run(*words, text=" " * 1_001, code=2)[1]
    assert "is longer than" not in run(*words, text="{" + " " * 999, code=1)[1]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="an input without an end")
@pytest.mark.parametrize("words", [["compile"], ["compile", "--jsonl"], ["call", "t", "{}", "--tools"]])
def test_an_input_that_never_ends_is_one_sentence(words):
    out, problem = run(*words, "/dev/zero", code=2)
    assert (out, problem) == ("", "minicodex: the input is longer than 40,000,000 bytes; give less at a time\n")


@pytest.mark.parametrize("seconds", ["nan", "-1", "0", "-0.0", "inf", "-inf", "1e300", "86401", "soon", ""])
@pytest.mark.parametrize("command", ["inspect", "call"])
def test_only_a_number_of_seconds_is_a_timeout(command, seconds):
    problem = run(command, f"--timeout={seconds}", "--", *SERVER, code=2)[1]
    assert problem.startswith(f"usage: minicodex {command} ")
    assert f'must be seconds, above 0 and at most 86,400; got "{seconds}"' in problem


def test_the_timeout_holds_for_definitions_in_a_file_too(tools, monkeypatch):
    given = []

    def dispatch(call, plan, *, timeout_s):
        given.append(timeout_s)
        return dispatch_function_call(call, plan, timeout_s=timeout_s)

    monkeypatch.setattr("minicodex.cli.dispatch_function_call", dispatch)
    run("call", "get.user", '{"n": 3}', "--tools", tools)
    run("call", "get.user", '{"n": 3}', "--tools", tools, "--timeout", "2.5")
    assert given == [10.0, 2.5]
