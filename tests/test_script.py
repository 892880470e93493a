"""Running scripts in the real engine: what they find, and that nothing they do goes on after them."""

import json
import signal
import sys
import threading
from pathlib import Path

import pytest

from minicodex.script import Reply, ScriptLimits, ScriptOutcome, ScriptTool, run_script
from minicodex.script.runner import _Engine

MIB = 1024 * 1024
PATIENT = ScriptLimits(time_s=120.0, memory_bytes=16 * MIB)
"""The limit under test is another one than time, however slow the machine."""


def tool(name, *, takes_text=False):
    return ScriptTool(name, f"The tool {name}.", name, takes_text=takes_text)


def run(source, *names, answer=lambda calls, left: [Reply(ok=True, json=call.text) for call in calls], limits=PATIENT):
    return run_script(source, [tool(name) for name in names], answer, limits)


def children():
    """Process ids of our children, where the system tells."""
    found = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in found for pid in pids}


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = children(), set(threading.enumerate())
    yield
    assert (children(), set(threading.enumerate())) == before


# --- what a script finds --------------------------------------------------------------------------------------------


def test_text_writes_strings_as_they_are_and_anything_else_as_json():
    source = """
    for (const value of ["a\\nb", 2, null, undefined, {a: [1n < 2n]}, [], 5n, Symbol("s"), new Error("e"), text.name])
      text(value);
    text();"""
    assert run(source).texts == (
        *("a\nb", "2", "null", "undefined", '{"a":[true]}', "[]", "5", "Symbol(s)", "Error: e", "text"),
        "undefined",
    )


def test_texts_before_an_error_are_kept():
    assert run("text('a'); throw {code: 5}") == ScriptOutcome(("a",), '{"code":5}', 1)


def test_calls_of_one_moment_come_together_and_are_answered_in_order():
    batches = []

    def answer(calls, left):
        batches.append([tuple(call) for call in calls])
        return [Reply(ok=call.name != "bad", json=json.dumps(call.name)) for call in calls]

    source = """
    const got = await Promise.allSettled([tools.a({x: 1}), tools.bad(), tools.a()]);
    text(got.map((one) => one.value ?? one.reason));
    text(await tools.a());"""
    assert run(source, "a", "bad", answer=answer).texts == ('["a","bad","a"]', "a")
    assert batches == [[("a", '{"x":1}'), ("bad", "{}"), ("a", "{}")], [("a", "{}")]]


def test_a_call_that_nobody_waits_for_is_made_all_the_same():
    seen = []
    outcome = run("tools.a(); throw 1", "a", answer=lambda calls, left: seen.extend(calls) or [])
    assert outcome.error == "1"
    assert len(seen) == 1


def test_places_of_an_error_are_those_of_the_script():
    source = "const f = () => { null.x };\nclass A { m() { f() } }\n\nnew A().m()"
    assert run(source).error == (
        "TypeError: Cannot read properties of null (reading 'x')\n"
        "    at f (exec_main.mjs:1:24)\n    at m (exec_main.mjs:2:17)\n    at exec_main.mjs:4:9"
    )


@pytest.mark.parametrize("source", ["}", "await", "import fs from 'fs'", "}); (async () => {", "with (x) {}"])
def test_what_is_no_script_is_a_syntax_error_without_places(source):
    error = run(source).error
    assert error.startswith("SyntaxError: ")
    assert "\n" not in error


def test_all_characters_survive_both_ways():
    words = "é😀\u2028\0\\\"'`${}</script>\r\n"
    outcome = run(f"text(await tools.a({{w: {json.dumps(words)}}}))", "a")
    assert json.loads(outcome.texts[0]) == {"w": words}
    assert run("text('\\ud800')").texts == ("\ufffd",)


def test_a_name_that_every_object_has_is_a_tool_or_nothing():
    assert run("text(await tools.__proto__({a: 1}))", "__proto__").texts == ('{"a":1}',)
    assert run("tools.toString()").error.startswith("TypeError: tools.toString is not a function")


ABSENT = "process require module Deno Bun fetch XMLHttpRequest WebSocket Worker importScripts setTimeout setInterval"
ABSENT += (
    " WebAssembly Atomics ArrayBuffer SharedArrayBuffer Uint8Array Float64Array DataView load read print quit os std"
)


def test_there_is_no_way_to_files_network_processes_or_the_clock():
    source = f"text({ABSENT.split()}.filter((name) => globalThis[name] !== undefined))"
    assert run(source).texts == ("[]",)
    outcome = run("import('fs').then(() => text('got it'), (e) => text(typeof e)); await tools.a()", "a")
    assert "got it" not in outcome.texts
    assert run("text(tools.a.constructor('return this')() === globalThis)", "a").texts == ("true",)


# --- the limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "text('a'); await tools.a(); for (;;) await null;",
        "/(a+)+$/.test('a'.repeat(50) + 'b')",
        "new Array(1e9).fill(0)",
    ],
)
def test_a_script_without_end_is_ended(source):
    outcome = run(source, "a", limits=ScriptLimits(time_s=1.0))
    assert outcome.error in (
        "the script was stopped after 1 s",
        "the script was stopped: it needs more memory than it may use",
        "the engine ended; most likely the script needs more memory than it may use",
    )


def test_the_loop_that_needs_no_memory_is_ended_by_the_clock():
    outcome = run("await tools.a(); for (;;);", "a", limits=ScriptLimits(time_s=1.0))
    assert outcome.to_text() == "Script failed\nOutput:\nScript error:\nthe script was stopped after 1 s"


@pytest.mark.parametrize(
    "source",
    [
        "const all = []; for (;;) all.push(new Array(10_000).fill(1.5))",
        "const all = []; for (let i = 0; ; i++) all.push(('y' + i).repeat(1e5).split('').join(','))",
        "const all = {}; for (let i = 0; ; i++) all['k' + i] = {i}",
        "const all = []; for (let i = 0n; ; i++) all.push(2n ** (2n ** 20n) + i)",
    ],
)
def test_a_script_that_fills_the_heap_is_ended(source):
    assert run(source).error == "the script was stopped: it needs more memory than it may use"


def test_memory_beside_the_heap_is_bounded_too_where_the_system_can():
    source = "new Function('a=1;'.repeat(1e7)); text('there is enough')"
    outcome = run(source)
    if sys.platform == "linux":
        assert outcome.error == "the engine ended; most likely the script needs more memory than it may use"


@pytest.mark.parametrize("source", ["await new Promise(() => {})", "const f = await tools; await {then() {}}"])
def test_a_script_that_waits_for_ever_is_known_at_once(source):
    assert run(source).error == "the script waits for something that never comes"


def test_deep_recursion_is_an_error_that_can_be_caught():
    source = "const f = () => f(); try { f() } catch (e) { text(String(e)) } f()"
    outcome = run(source)
    assert outcome.texts == ("RangeError: Maximum call stack size exceeded",)
    assert outcome.error.startswith(outcome.texts[0])


def test_the_output_is_cut_and_the_cut_is_named():
    limits = ScriptLimits(output_chars=10)
    outcome = run("text('abcd'); for (let i = 0; i < 1e5; i++) text('e'.repeat(100))", limits=limits)
    assert outcome.to_text() == ("Script completed\nOutput:\nabcd\neeeee\n(cut: 9 of 10,000,004 characters shown)")
    assert len(run("for (let i = 0; i < 1e5; i++) text('')", limits=limits).texts) == 10


def test_calls_are_counted():
    limits = ScriptLimits(calls=3)
    outcome = run("for (;;) text(await tools.a())", "a", limits=limits)
    assert outcome == ScriptOutcome(("{}",) * 3, "the script was stopped: it may call 3 tools", 6)


def test_arguments_too_large_are_an_error_that_can_be_caught():
    source = "for (const n of [3e6, 3e6]) tools.a({x: 'y'.repeat(n)}).catch((e) => text(String(e)))"
    assert run(source, "a").texts == ("RangeError: the arguments of the calls of one moment are too large",)


def test_a_report_too_large_to_read_ends_the_script():
    outcome = run("Array.prototype.toJSON = () => 'x'.repeat(2e7)", limits=ScriptLimits(time_s=120.0))
    assert outcome.error == "the script was stopped: its calls and texts are too large"


def test_the_error_text_is_bounded():
    assert len(run("throw 'x'.repeat(1e6)").error) == 10_000


# --- a script against its own world ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        "Object.prototype.toJSON = () => 5; await tools.a()",
        "Array.prototype.toJSON = () => [['exec', 1]]; await tools.a()",
        "Array.prototype.push = function (x) { this[0] = ['nobody', '{}'] }; await tools.a()",
        "String.prototype.slice = () => 5; text('a'); throw 1",
    ],
)
def test_a_script_that_breaks_its_world_breaks_nothing_else(attack):
    answered = []
    outcome = run(
        attack, "a", answer=lambda calls, left: answered.extend(calls) or [Reply(ok=True, json="1")] * len(calls)
    )
    assert outcome.error is not None
    assert [call for call in answered if call.name != "a"] == []


def test_json_and_promises_of_the_script_are_not_ours():
    source = "JSON.stringify = JSON.parse = () => '{}'; Promise.prototype.then = () => {}; text(await tools.a({x: 1}))"
    assert run(source, "a").texts == ('{"x":1}',)


def test_errors_that_cannot_be_shown_are_errors():
    assert run("throw {toJSON() { throw 1 }}").error == "an error that cannot be shown"
    assert run("throw Object.create(null)").error == "{}"


def test_scripts_share_nothing():
    assert run("globalThis.left = 5; Array.prototype.left = 5").error is None
    assert run("text([typeof left, [].left === undefined])").texts == ('["undefined",true]',)


def test_an_interrupt_ends_the_engine():
    def interrupted(calls, left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("await tools.a()", "a", answer=interrupted)


@pytest.mark.skipif(sys.platform == "win32", reason="there a process has no signal to end by")
def test_leaving_ends_an_engine_that_is_busy():
    with _Engine(ScriptLimits(time_s=2.0)) as engine:
        world = {"source": "text(1); for (;;);", "tools": [], "output_chars": 9}
        engine._child.stdin.write(json.dumps(world).encode() + b"\n")
        engine._child.stdin.flush()
    assert engine._child.returncode == -signal.SIGKILL


def test_the_engines_own_program_needs_nothing_of_the_package():
    program = Path(__file__).parents[1] / "minicodex" / "script" / "engine.py"
    assert "minicodex" not in program.read_text(encoding="utf-8").split('"""', 2)[2]
