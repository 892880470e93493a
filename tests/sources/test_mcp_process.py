"""A server that misbehaves gives one clear error of ours, and nothing of it is left behind.

Every server here is a real child process: see `tests/servers/misbehaving.py`.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from minicodex.errors import SourceError
from minicodex.sources.mcp import MAX_LIST_BYTES, MAX_PAGES, MAX_TOOLS, McpServer
from minicodex.sources.stdio import MAX_MESSAGE_BYTES

MISBEHAVING = Path(__file__).parent.parent / "servers" / "misbehaving.py"
SAFETY_S = 60.0
"""How long a test waits for what must happen anyway. No test measures time."""

Misbehaving = Callable[..., McpServer]


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the command line of everything that a test starts. Afterwards nothing may be left."""
    word = f"mark-{uuid.uuid4()}"
    me = psutil.Process()
    before = (set(threading.enumerate()), me.num_fds() if hasattr(me, "num_fds") else 0)
    yield word
    assert eventually(lambda: not processes(word)), "a process is left"
    assert eventually(lambda: not [child for child in me.children() if child.status() == "zombie"]), "a zombie"
    assert eventually(lambda: set(threading.enumerate()) <= before[0]), "a thread is left"
    assert eventually(lambda: not hasattr(me, "num_fds") or me.num_fds() <= before[1]), "a file is left open"


@pytest.fixture
def misbehaving(mark: str) -> Misbehaving:
    def server(what: str, **options: float) -> McpServer:
        command = [sys.executable, str(MISBEHAVING), what, mark]
        return McpServer("bad", command, **{"start_timeout_s": SAFETY_S, "call_timeout_s": SAFETY_S} | options)

    return server


def processes(word: str) -> list[psutil.Process]:
    """Living processes with this word in their command line; a zombie has no command line."""
    return [process for process in psutil.process_iter(["cmdline"]) if word in (process.info["cmdline"] or ())]


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SAFETY_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def failure_of(server: McpServer) -> SourceError:
    with pytest.raises(SourceError) as caught, server:
        pytest.fail("it started")
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).isprintable()
    return caught.value


# --- it does not start ----------------------------------------------------------------------------------------------


def test_a_command_that_does_not_exist_names_it_and_the_reason(mark: str) -> None:
    error = failure_of(McpServer("bad", ["no-such-command-here", mark]))
    assert error == SourceError(
        "bad",
        '"no-such-command-here" could not be started: No such file or directory.',
        "Check the command, that it is on PATH, and the folder it runs in.",
    )


@pytest.mark.parametrize("command", [[], [""], ["a\0b"]])
def test_a_command_that_cannot_be_one_is_an_error_of_ours(mark: str, command: list[str]) -> None:
    assert "could not be started" in failure_of(McpServer("bad", command)).message


def test_a_folder_that_does_not_exist(mark: str) -> None:
    server = McpServer("bad", [sys.executable, "-c", "0", mark], cwd="/no/such/folder")
    assert "could not be started: No such file" in failure_of(server).message


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("killed_at_once", "initialize failed: the server was ended by signal 9."),
        ("closes_stdout", "initialize failed: the server closed its stdout."),
        (
            "endless_line",
            f"initialize failed: the server sent a message of more than {MAX_MESSAGE_BYTES:,} bytes.",
        ),
        ("refuses_the_handshake", 'initialize was refused with -32603: "no\\nlicence" ({"x": 1}).'),
        ("floods_stdout", "initialize failed: the server wrote 1,000 lines in a row that are no messages."),
        (
            "unknown_version",
            'its answer to initialize is not MCP: "Unsupported protocol version from the server: 1999-12-31".',
        ),
    ],
)
def test_a_failed_start_says_what_happened(misbehaving: Misbehaving, what: str, message: str) -> None:
    assert failure_of(misbehaving(what)).message == message


def test_a_server_that_exits_at_once_shows_its_stderr_on_one_printable_line(misbehaving: Misbehaving) -> None:
    assert failure_of(misbehaving("exits_at_once")) == SourceError(
        "bad",
        "initialize failed: the server ended with exit code 3.",
        'Its stderr ends: "Traceback: \\u001b[31mno database\\u001b[0m at key=\\u2066ABC". '
        "Run the command by hand to see why.",
    )


def test_what_is_no_message_on_stdout_is_shown(misbehaving: Misbehaving) -> None:
    assert failure_of(misbehaving("floods_stdout")).hint == (
        'It wrote a line to stdout that is no message: "Listening on port 8080 ...". '
        "Its stdout is for messages only; its log belongs on stderr."
    )
    assert 'that is no message: "{\\"jsonrpc\\"' in failure_of(misbehaving("answers_with_a_list")).hint


def test_an_answer_of_another_shape_is_not_mcp(misbehaving: Misbehaving) -> None:
    assert failure_of(misbehaving("answers_with_a_list")).message == (
        "its answer to initialize cannot be used: it is not the shape of a JSON-RPC answer."
    )
    assert "its answer to initialize is not MCP" in failure_of(misbehaving("shakes_hands_wrongly")).message


def test_a_server_that_never_answers_runs_into_the_start_timeout(misbehaving: Misbehaving) -> None:
    assert failure_of(misbehaving("silent", start_timeout_s=0.3)) == SourceError(
        "bad", "no answer to initialize within 0.3 s.", "If the server is only slow, allow more time."
    )


# --- it starts, and then ... ----------------------------------------------------------------------------------------


def test_answers_to_unknown_ids_are_no_answers(misbehaving: Misbehaving) -> None:
    with misbehaving("unknown_ids") as server:
        assert [server.call_tool("a")["content"][0]["text"] for _ in range(3)] == ["right"] * 3


def test_a_forgotten_print_is_forgiven(misbehaving: Misbehaving) -> None:
    with misbehaving("chats_on_stdout") as server:
        assert [server.call_tool("a")["content"][0]["text"] for _ in range(3)] == ["still here"] * 3


def test_what_a_server_does_oddly_is_not_printed(mark: str) -> None:
    done = run_program(USES_TWICE, "chats_on_stdout", mark)
    assert (done.returncode, done.stdout, done.stderr) == (0, "still here\n", "")


def test_a_flood_on_stderr_blocks_nothing(misbehaving: Misbehaving) -> None:
    with misbehaving("floods_stderr") as server:
        assert server.call_tool("a")["content"][0]["text"] == "not blocked"


def test_a_server_that_dies_in_a_call_fails_this_call_and_every_later_one(misbehaving: Misbehaving) -> None:
    with misbehaving("dies_in_a_call") as server:
        for _ in range(2):
            with pytest.raises(SourceError) as caught:
                server.call_tool("a")
            assert caught.value == SourceError(
                "bad",
                "tools/call failed: the server ended with exit code 7.",
                'Its stderr ends: "out of memory". Run the command by hand to see why.',
            )


def test_after_a_call_that_hangs_the_connection_is_still_good(misbehaving: Misbehaving) -> None:
    with misbehaving("hangs_in_a_call", call_timeout_s=0.5) as server:
        with pytest.raises(SourceError) as caught:
            server.call_tool("hang")
        assert caught.value.message == "no answer to tools/call within 0.5 s."
        server.call_timeout_s = SAFETY_S
        assert server.call_tool("other")["content"][0]["text"] == "alive"


def test_a_server_that_closes_its_stdin_is_given_up(misbehaving: Misbehaving) -> None:
    with misbehaving("closes_stdin") as server:
        for _ in range(2):
            with pytest.raises(SourceError) as caught:
                server.call_tool("a")
            assert caught.value.message == "tools/call failed: the server closed its stdin."


@pytest.mark.parametrize("what", ["half_a_character", "thousands_of_digits", "nested_deep"])
def test_an_answer_that_cannot_be_read_ends_the_wait_for_it_alone(misbehaving: Misbehaving, what: str) -> None:
    with misbehaving(what) as server:
        with pytest.raises(SourceError, match="its answer to tools/call cannot be used: Invalid JSON: "):
            server.call_tool("odd")
        assert server.call_tool("good")["content"][0]["text"] == "still here"


def test_an_answer_that_nobody_can_read_ends_the_connection(misbehaving: Misbehaving) -> None:
    with misbehaving("nested_beyond_all") as server, pytest.raises(SourceError, match="nested too deep to be read"):
        server.call_tool("odd")


def test_a_server_that_asks_back_is_answered(misbehaving: Misbehaving) -> None:
    with misbehaving("asks_back") as server:
        assert server.call_tool("a")["content"][0]["text"] == "id jsonrpc result error id jsonrpc"


def test_a_server_that_stops_reading_is_given_up(misbehaving: Misbehaving) -> None:
    with misbehaving("stops_reading", call_timeout_s=0.5) as server:
        with pytest.raises(SourceError):
            server.call_tool("a", {"more than a pipe holds": "x" * 1_000_000})
        with pytest.raises(SourceError) as caught:
            server.call_tool("b")
        assert caught.value.message == "tools/call failed: the server has read nothing for 0.5 s."


def test_a_long_answer_arrives_and_one_beyond_the_bound_is_named(misbehaving: Misbehaving) -> None:
    with misbehaving("answers_at_length") as server:
        chars = MAX_MESSAGE_BYTES // 2
        assert len(server.call_tool("a", {"chars": chars})["content"][0]["text"]) == chars
        with pytest.raises(SourceError, match=f"more than {MAX_MESSAGE_BYTES:,} bytes"):
            server.call_tool("a", {"chars": 2 * MAX_MESSAGE_BYTES})


def test_a_list_that_never_ends_is_cut_off(misbehaving: Misbehaving) -> None:
    with misbehaving("lists_for_ever") as server:
        with pytest.raises(SourceError, match=f"more than {MAX_PAGES} pages"):
            server.definitions()
        assert server.call_tool("pages")["content"][0]["text"] == str(MAX_PAGES)


@pytest.mark.parametrize(
    ("what", "reason", "pages"),
    [
        ("lists_many_tools", f"more than {MAX_TOOLS:,} tools", MAX_TOOLS // 1_000 + 1),
        ("lists_long_tools", f"more than {MAX_LIST_BYTES:,} bytes", MAX_LIST_BYTES // 10_000_000 + 1),
    ],
)
def test_a_list_that_is_too_long_is_not_read_on(misbehaving: Misbehaving, what: str, reason: str, pages: int) -> None:
    with misbehaving(what) as server:
        with pytest.raises(SourceError, match=reason) as caught:
            server.definitions()
        assert "several servers" in caught.value.hint
        assert server.call_tool("pages")["content"][0]["text"] == str(pages)


def test_ten_thousand_tools_are_not_too_many(misbehaving: Misbehaving) -> None:
    with misbehaving("lists_10_000_tools") as server:
        assert len(server.definitions()) == 10_000


def test_a_list_that_is_no_list(misbehaving: Misbehaving) -> None:
    with misbehaving("lists_no_list") as server, pytest.raises(SourceError, match="holds no list of tools"):
        server.definitions()


def test_a_failed_list_is_asked_for_again(misbehaving: Misbehaving) -> None:
    with misbehaving("lists_no_list") as server:
        for _ in range(2):
            with pytest.raises(SourceError):
                server.definitions()


def test_arguments_that_are_no_json_are_not_sent_and_harm_nothing(misbehaving: Misbehaving) -> None:
    with misbehaving("answers_at_length") as server:
        for value in (float("nan"), object(), "\ud800"):
            with pytest.raises(SourceError, match="tools/call was not sent"):
                server.call_tool("a", {"value": value})
        assert server.call_tool("a", {"chars": 3})["content"][0]["text"] == "xxx"


# --- how it ends ----------------------------------------------------------------------------------------------------


def test_children_of_a_server_that_leaves_politely_are_ended_too(misbehaving: Misbehaving, mark: str) -> None:
    with misbehaving("leaves_a_child"):
        assert eventually(lambda: len(processes(mark)) == 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no signal that can be ignored")
def test_a_server_that_ignores_everything_is_killed_with_its_children(misbehaving: Misbehaving, mark: str) -> None:
    with misbehaving("stubborn"):
        assert eventually(lambda: len(processes(mark)) == 2)


def test_a_closed_server_says_so_and_can_be_started_again(misbehaving: Misbehaving) -> None:
    server = misbehaving("unknown_ids")
    for _ in range(2):
        with pytest.raises(SourceError, match="it is not running"):
            server.call_tool("a")
        with server:
            with pytest.raises(SourceError, match="it is running already"):
                server.__enter__()
            assert server.call_tool("a")["content"][0]["text"] == "right"
    server.close()


def test_closing_answers_whoever_still_waits(misbehaving: Misbehaving) -> None:
    errors: list[SourceError] = []

    def call(server: McpServer) -> None:
        with pytest.raises(SourceError) as caught:
            server.call_tool("hang")
        errors.append(caught.value)

    with misbehaving("hangs_in_a_call") as server:
        waiting = threading.Thread(target=call, args=[server])
        waiting.start()
        server.call_tool("after the other")
    waiting.join(SAFETY_S)
    assert [error.message for error in errors] == ["tools/call failed: the connection was closed."]


def test_an_error_in_the_with_block_passes_unchanged(misbehaving: Misbehaving) -> None:
    with pytest.raises(ZeroDivisionError), misbehaving("unknown_ids"):
        raise ZeroDivisionError


INTERRUPTED = """
import sys
from minicodex.sources.mcp import McpServer
server = McpServer("bad", sys.argv[1:], start_timeout_s=600, call_timeout_s=600)
print("starting", flush=True)
with server:
    print("calling", flush=True)
    server.call_tool("hang")
"""

NOT_CLOSED = """
import sys
from minicodex.sources.mcp import McpServer
server = McpServer("bad", sys.argv[1:], start_timeout_s=600).__enter__()
"""


USES_TWICE = """
import sys
from minicodex.sources.mcp import McpServer
with McpServer("bad", sys.argv[1:], start_timeout_s=600, call_timeout_s=600) as server:
    server.call_tool("a")
    print(server.call_tool("a")["content"][0]["text"])
"""


def program(text: str, what: str, mark: str) -> list[str]:
    """A command that runs a Python text, which starts a misbehaving server in its turn."""
    return [sys.executable, "-c", text, sys.executable, str(MISBEHAVING), what, mark]


def run_program(text: str, what: str, mark: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(program(text, what, mark), capture_output=True, text=True, timeout=SAFETY_S, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(("what", "moment"), [("silent", "starting"), ("stubborn", "calling")])
def test_an_interrupt_ends_the_server(mark: str, what: str, moment: str) -> None:
    command = program(INTERRUPTED, what, mark)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        while running.stdout.readline().strip() != moment:
            pass
        assert eventually(lambda: len(processes(mark)) >= 2)
        os.kill(running.pid, signal.SIGINT)
        stderr = running.communicate(timeout=SAFETY_S)[1]
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupted_call_is_cancelled_and_the_connection_stays(misbehaving: Misbehaving) -> None:
    with misbehaving("interrupts_its_client", call_timeout_s=10 * SAFETY_S) as server:
        with pytest.raises(KeyboardInterrupt):
            server.call_tool("interrupt")
        assert eventually(lambda: server.call_tool("told")["content"][0]["text"] == "1")


def test_the_end_of_the_interpreter_ends_a_server_that_nobody_closed(mark: str) -> None:
    done = run_program(NOT_CLOSED, "stubborn", mark)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
