"""The JavaScript engine in a process of its own; started by `runner` as a program, never imported.

Why a process: inside Python, the engine ignores its time limit while it fills a large array, its memory limit knows
nothing of buffers, and when it runs out of memory for good it takes the whole interpreter with it (seen with
mini-racer 0.14.1). A process can be ended whatever it is doing.

Lines in, lines out: each line goes to `advance` of `prelude.js`, and `report` says what came of it. The engine itself
has no files, no network and no processes to offer. It runs without a compiler (`--jitless`), which also takes
WebAssembly away and lets the system count its memory.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

MiB = 1024 * 1024
PROCESS_EXTRA_BYTES = 192 * MiB
"""What the process may use beside the script's own memory: Python, the engine, and its work on the script."""


def bound(memory_bytes: int, cpu_s: int) -> None:
    """Have the system end what the engine does not: on Windows there is no such service."""
    try:
        import resource
    except ImportError:
        return
    for name, value in (
        ("RLIMIT_DATA", memory_bytes + PROCESS_EXTRA_BYTES),
        ("RLIMIT_CPU", cpu_s),
        ("RLIMIT_CORE", 0),
    ):
        try:
            resource.setrlimit(getattr(resource, name), (value, value + 1))  # the first is the one that is felt
        except (AttributeError, OSError, ValueError):
            continue  # this system has no such limit, or a lower one already


def main(memory_bytes: int, cpu_s: int) -> None:
    """Serve one script: read lines until there are no more, or the engine can go on no longer."""
    bound(memory_bytes, cpu_s)
    from py_mini_racer import JSEvalException, MiniRacer, init_mini_racer

    init_mini_racer(flags=("--single-threaded", "--jitless"))
    engine = MiniRacer()
    prelude = Path(__file__).with_name("prelude.js").read_text(encoding="utf-8")
    advance, report = cast("Any", engine.eval(prelude))
    engine.set_hard_memory_limit(memory_bytes)
    for line in sys.stdin.buffer:
        try:
            advance(line.decode())
            answer = report()
        except JSEvalException:
            answer = json.dumps({"stopped": "memory" if engine.was_hard_memory_limit_reached() else "broken"})
        sys.stdout.buffer.write(str(answer).encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    finally:
        os._exit(0)  # an engine that has run out of memory may wait for itself for ever when it is closed
