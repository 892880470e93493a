"""The race: real threads, calls that are handled late, and upgrades of the tool between them.

Each round is an upgrade. At its start every caller takes a call that the model has made in the newest step; then the
upgrade and the handling of calls run at the same time. The first caller handles its call at once, the others one, two
and three rounds late. So some calls race with an upgrade, and the others certainly meet a newer tool.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from minicodex.dispatch import ModelFunctionCall
from minicodex.lab.late_calls import Runtime
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import ToolImplementation

__all__ = ["Race", "race"]

CALLERS = 4
TIMEOUT_S = 60.0
"""A thread that waits longer than this for the others gives up."""


@dataclass(frozen=True)
class Race:
    """How it ended."""

    calls: int
    upgrades: int
    hijacked: int
    """Calls that were handled by another version than the one the model saw."""


def race(runtime: Runtime, *, upgrades: int = 50) -> Race:
    """Let four callers make one call in each round."""
    runtime.upgrade(_version(0))
    runtime.plan("step_0")
    barrier = threading.Barrier(CALLERS + 1, timeout=TIMEOUT_S)

    def caller(delay: int) -> tuple[int, int]:
        waiting: deque[int] = deque()
        handled = hijacked = 0
        for newest in range(upgrades + delay):
            if newest < upgrades:
                waiting.append(newest)
                barrier.wait()  # everybody has seen the newest step; now it is upgraded
            if newest >= delay:
                seen = waiting.popleft()
                call = ModelFunctionCall(f"call_{delay}_{seen}", "version", "{}", f"step_{seen}")
                hijacked += runtime.dispatch(call).output != str(seen)
                handled += 1
            if newest < upgrades:
                barrier.wait()
        return handled, hijacked

    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(caller, delay) for delay in range(CALLERS)]
        for number in range(1, upgrades + 1):
            barrier.wait()
            runtime.upgrade(_version(number))
            runtime.plan(f"step_{number}")
            barrier.wait()
        results = [one.result() for one in callers]
    return Race(sum(handled for handled, _ in results), upgrades, sum(hijacked for _, hijacked in results))


def _version(number: int) -> ToolImplementation:
    """The tool after so many upgrades. Its handler says which version it is; its contract stays the same."""
    return dynamic_tool("version", "", {"type": "object"}, lambda _arguments: str(number))
