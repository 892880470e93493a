"""What a step costs with a thousand tools: planning cold, again, and with one tool changed; memory of many plans.

    python -m tests.bench.planning            print it
    python -m tests.bench.planning --save     and keep it for the figure of chapter 4

Every figure is a ratio to one `orjson.loads` and `orjson.dumps` of the thousand raw schemas (see `paired`).
"""

from __future__ import annotations

import argparse
import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson

from minicodex import StepState, ToolImplementation, ToolPlan, dynamic_tool, plan_tools
from minicodex.lab.planning_costs import MEASURED
from tests.bench.paired import paired_ratio
from tests.bench.schema import seeded_samples

TOOLS = 1_000
LIVE_PLANS = 100


def implementation(number: int, schema: Any) -> ToolImplementation:
    return dynamic_tool(f"tool_{number}", "Does something with the words given", schema, lambda arguments: "ok")


def planned(tools: list[ToolImplementation], step: str = "s") -> ToolPlan:
    """A plan with its contracts encoded, as a request needs it."""
    plan = plan_tools(tools, StepState(step))
    assert plan.contracts.top_level.raw
    return plan


def one_changed(tools: list[ToolImplementation], schemas: list[Any]) -> Callable[[], object]:
    def work() -> object:
        tools[TOOLS // 2] = implementation(TOOLS // 2, schemas[TOOLS // 2])
        return planned(tools)

    return work


def memory_bytes(make: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    kept = make()
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept
    return used


def fresh(schemas: list[Any]) -> list[ToolImplementation]:
    return [implementation(number, schema) for number, schema in enumerate(schemas)]


def many_plans(schemas: list[Any], count: int) -> list[ToolPlan]:
    tools = fresh(schemas)
    return [planned(tools, f"step_{number}") for number in range(count)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=15)
    options.add_argument("--save", action="store_true")
    chosen = options.parse_args()
    samples = seeded_samples(TOOLS)
    texts, schemas = [sample.text for sample in samples], [sample.schema for sample in samples]

    def base() -> object:
        return [orjson.dumps(orjson.loads(text)) for text in texts]

    tools = fresh(schemas)
    alive = planned(tools)
    rows = {
        "cold, with compilation": lambda: planned(fresh(schemas)),
        "the same list again": lambda: planned(tools),
        "one tool changed": one_changed(fresh(schemas), schemas),
    }
    print(f"{TOOLS:,} tools, {sum(map(len, texts)):,} bytes of schemas; ratio to one orjson round trip of them")
    ratios = {}
    for name, work in rows.items():
        ratios[name] = round(paired_ratio(work, base, pairs=chosen.pairs), 3)
        print(f"  {name:<26}{ratios[name]:>8.3f}x", flush=True)
    one, many = (memory_bytes(lambda n=n: many_plans(schemas, n)) for n in (1, LIVE_PLANS))
    print(f"  memory of {LIVE_PLANS} live plans{many / one:>12.3f}x that of one ({one:,} bytes)")
    if chosen.save:
        kept = {"tools": TOOLS, "ratios": ratios, "plans": LIVE_PLANS, "memory_ratio": round(many / one, 3)}
        MEASURED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    assert alive.step_id


if __name__ == "__main__":
    main()
