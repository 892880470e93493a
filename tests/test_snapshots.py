"""Which version ran? Real threads, late calls and upgrades between them."""

import itertools
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from minicodex import ModelFunctionCall, StepState, dispatch_function_call, dynamic_tool, plan_tools
from minicodex.lab.naive_registry import NaiveRegistry

CALLERS, CALLS_EACH = 8, 500


@pytest.fixture(autouse=True)
def hasty_threads():
    """Threads take turns a hundred times as often as usual, so that an upgrade meets a call in any run."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 100)
    yield
    sys.setswitchinterval(usual)


def version(number):
    """The tool after so many upgrades. Its handler says which version it is; its contract stays the same."""
    return dynamic_tool("run", "", {"type": "object"}, lambda arguments: str(number))


def hijacks(offer, upgrade, handle):
    """Calls that were handled by another version than the one the model saw.

    offer() gives the version on offer and what a call of it has to carry; upgrade(n) replaces the tool;
    handle(carried, call) answers.
    """
    stolen: list[tuple[str, str]] = []
    start = threading.Barrier(CALLERS + 1, timeout=60)

    def calling(seed):
        dice = random.Random(seed)
        start.wait()
        waiting = []
        for number in range(CALLS_EACH):
            waiting.append(offer())
            dice.shuffle(waiting)  # late, and out of order
            if len(waiting) > 20 or number == CALLS_EACH - 1:
                for seen, carried in waiting:
                    call = ModelFunctionCall(f"{seed}-{number}", "run", "{}", f"step_{seen}")
                    output = handle(carried, call).output
                    if output != str(seen):
                        stolen.append((str(seen), output))
                waiting.clear()

    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(calling, seed) for seed in range(CALLERS)]
        start.wait()
        numbers = itertools.count(1)
        while not all(caller.done() for caller in callers):  # no caller is left alone with one version
            upgrade(next(numbers))
        for caller in callers:
            caller.result()
    return stolen


def test_no_late_call_is_handled_by_a_foreign_plan():
    newest = [(0, plan_tools([version(0)], StepState("step_0")))]

    def upgrade(number):
        newest[0] = (number, plan_tools([version(number)], StepState(f"step_{number}")))

    stolen = hijacks(lambda: newest[0], upgrade, lambda plan, call: dispatch_function_call(call, plan))
    assert stolen == []
    assert newest[0][0] > 0


def test_the_same_calls_are_hijacked_in_a_registry_that_is_changed_in_place():
    registry, newest = NaiveRegistry(), [0]
    registry.register(version(0))

    def upgrade(number):
        registry.register(version(number))
        newest[0] = number

    stolen = hijacks(lambda: (newest[0], None), upgrade, lambda _, call: registry.dispatch(call))
    assert len(stolen) > 0


def test_a_tool_that_is_gone_is_still_run_for_the_step_that_offered_it():
    old = plan_tools([version(1)], StepState("step_1"))
    new = plan_tools([], StepState("step_2"))
    late = ModelFunctionCall("c", "run", "{}", "step_1")
    assert dispatch_function_call(late, old).output == "1"
    assert not dispatch_function_call(late, new).ok
    registry = NaiveRegistry()
    registry.register(version(1))
    registry.remove("run")
    assert registry.dispatch(late).output == "unsupported call: run"
