"""MCP servers that do one thing wrong: `python misbehaving.py WHAT MARK`.

MARK does nothing. It stands in the command line, so that a test finds this process and its children.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import rpc

FOREVER_S = 600


def silent() -> None:
    """Never answers, but would leave when its stdin closes."""
    sys.stdin.read()


def exits_at_once() -> None:
    print("Traceback: \x1b[31mno database\x1b[0m at key=\u2066ABC", file=sys.stderr)
    sys.exit(3)


def killed_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def closes_stdout() -> None:
    os.close(1)
    sys.stdin.read()


def floods_stdout() -> None:
    with contextlib.suppress(BrokenPipeError):
        while True:
            os.write(1, b"Listening on port 8080 ...\n" * 1000)


def endless_line() -> None:
    with contextlib.suppress(BrokenPipeError):
        for _ in range(100):
            os.write(1, b"x" * 1_000_000)
    sys.stdin.read()


def refuses_the_handshake() -> None:
    rpc.send(id=next(rpc.requests())["id"], error={"code": -32603, "message": "no\nlicence", "data": {"x": 1}})
    sys.stdin.read()


def shakes_hands_wrongly() -> None:
    rpc.send(id=next(rpc.requests())["id"], result={"hello": "world"})
    sys.stdin.read()


def answers_with_a_list() -> None:
    """Lawful JSON, but no JSON-RPC: a result is an object. Then it leaves."""
    rpc.send(id=next(rpc.requests())["id"], result=["hello"])


def answers_with(value: str) -> None:
    """Answers `good` well, and everything else with a line of JSON that few readers take."""
    rpc.shake_hands()
    for request in rpc.requests():
        if request["params"].get("name") == "good":
            rpc.send(id=request["id"], result=rpc.text("still here"))
        else:
            print(f'{{"result":{{"structuredContent":{value}}},"jsonrpc":"2.0","id":{request["id"]}}}', flush=True)


def half_a_character() -> None:
    answers_with('"\\ud800"')


def thousands_of_digits() -> None:
    answers_with("9" * 5_000)


def nested_deep() -> None:
    answers_with("[" * 500 + "]" * 500)


def nested_beyond_all() -> None:
    answers_with("[" * 1_000_000 + "]" * 1_000_000)


def unknown_version() -> None:
    rpc.shake_hands(version="1999-12-31")
    sys.stdin.read()


def unknown_ids() -> None:
    rpc.send(id=999, result={"early": True})
    rpc.shake_hands()
    for request in rpc.requests():
        rpc.send(id="no-such", result={"tools": []})
        rpc.send(id=None, error={"code": -32700, "message": "parse error"})
        rpc.send(id=request["id"], result=rpc.text("right"))
        rpc.send(id=request["id"], result=rpc.text("twice"))


def chats_on_stdout() -> None:
    """Log lines, a byte that is not UTF-8 and an unlawful notification between lawful messages."""
    os.write(1, b"starting \xff ...\n\n[1, 2\n")
    rpc.shake_hands()
    rpc.send(method="notifications/progress", params={"progress": "much"})
    for request in rpc.requests():
        print("working ...", flush=True)
        rpc.send(id=request["id"], result=rpc.text("still here"))


def floods_stderr() -> None:
    rpc.shake_hands()
    for request in rpc.requests():
        for _ in range(100):
            os.write(2, b"debug " * 2000 + b"\n")
        rpc.send(id=request["id"], result=rpc.text("not blocked"))


def dies_in_a_call() -> None:
    rpc.shake_hands()
    next(rpc.requests())
    print("out of memory", file=sys.stderr, flush=True)
    os._exit(7)


def hangs_in_a_call() -> None:
    """Never answers `hang`, and answers everything else."""
    rpc.shake_hands()
    for request in rpc.requests():
        if request["params"]["name"] != "hang":
            rpc.send(id=request["id"], result=rpc.text("alive"))


def interrupts_its_client() -> None:
    """Answers `interrupt` with a signal to its parent, and everything else with the cancellations it was told of."""
    rpc.shake_hands()
    cancelled = 0
    for line in sys.stdin:
        message = json.loads(line)
        cancelled += message["method"] == "notifications/cancelled"
        if message["method"] == "tools/call" and message["params"]["name"] == "interrupt":
            os.kill(os.getppid(), signal.SIGINT)
        elif message["method"] == "tools/call":
            rpc.send(id=message["id"], result=rpc.text(str(cancelled)))


def closes_stdin() -> None:
    """Shakes hands, but will hear nothing more."""
    initialize = next(rpc.requests())
    os.close(0)
    rpc.greet(initialize)
    time.sleep(FOREVER_S)


def asks_back() -> None:
    """In the middle of a call it pings, and asks for what only a real client could do."""
    rpc.shake_hands()
    for request in rpc.requests():
        rpc.send(id="a", method="ping")
        rpc.send(id="b", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
        answers = sorted((json.loads(sys.stdin.readline()) for _ in range(2)), key=lambda answer: answer["id"])
        rpc.send(id=request["id"], result=rpc.text(" ".join(sorted(answers[0]) + sorted(answers[1]))))


def stops_reading() -> None:
    rpc.shake_hands()
    time.sleep(FOREVER_S)


def answers_at_length() -> None:
    """Repeats a letter as often as it is asked."""
    rpc.shake_hands()
    for request in rpc.requests():
        rpc.send(id=request["id"], result=rpc.text("x" * request["params"]["arguments"]["chars"]))


def lists_for_ever() -> None:
    """Answers a call with the number of pages so far."""
    _lists([])


def lists_many_tools() -> None:
    """Pages of 1,000 tools, without end. Answers a call with the number of pages so far."""
    _lists([{"name": "t", "inputSchema": {}}] * 1_000)


def lists_long_tools() -> None:
    """Pages of one tool of 10 MB, without end."""
    _lists([{"name": "t", "inputSchema": {}, "description": "x" * 10_000_000}])


def lists_10_000_tools() -> None:
    _lists([{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(10_000)], more=None)


def _lists(tools: list[dict[str, object]], more: str | None = "more") -> None:
    rpc.shake_hands()
    pages = 0
    for request in rpc.requests():
        if request["method"] == "tools/call":
            rpc.send(id=request["id"], result=rpc.text(str(pages)))
        else:
            pages += 1
            rpc.send(id=request["id"], result={"tools": tools, "nextCursor": more})


def lists_no_list() -> None:
    rpc.shake_hands()
    for request in rpc.requests():
        rpc.send(id=request["id"], result={"tools": {"echo": {}}})


def leaves_a_child() -> None:
    """Starts a child that outlives it, and leaves politely when its stdin closes."""
    _start_child()
    rpc.shake_hands()
    sys.stdin.read()


def stubborn() -> None:
    """Ignores the closing of stdin and every polite signal. So does its child. It never answers a call."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a child inherits this
    _start_child()
    rpc.shake_hands()
    time.sleep(FOREVER_S)


def _start_child() -> None:
    """A child that holds the pipes of its parent open."""
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER_S})", *sys.argv[2:]])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
