"""What a request costs when the contracts are many: encoding them once, embedding them in every request.

    python -m tests.bench.requests            the table
    python -m tests.bench.requests --quick    fewer blocks, for a look
    python -m tests.bench.requests --save     only what chapter 7 shows; writes it to minicodex/lab/request_costs.json

Every figure is a ratio, as in `tests.bench.schema`: the time of one piece of work for 1,000 tools over one
`orjson.loads` and `orjson.dumps` of the 1,000 raw schemas. The bound: a warm request body costs at most 0.02 of that,
and the hundredth request of a conversation costs what the first did.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from minicodex import ApiMode, PromptSnapshot, StepState, encode_model_request, plan_tools
from minicodex.history import counter, user
from minicodex.json_text import to_compact_bytes
from minicodex.lab.request_costs import MEASURED
from minicodex.request import AdditionalTools, ContractList
from minicodex.sources.definitions import DefinedTools
from minicodex.tool_updates import declare_changes
from tests.bench.paired import paired_ratio, seconds
from tests.bench.schema import base, seeded_samples

TOOLS = 1_000
CLONES = 100
BOUND = 0.02
"""Most that a warm request body may cost, as a ratio."""

SCHEMAS = [sample.schema for sample in seeded_samples(TOOLS)]
TEXTS = [sample.text for sample in seeded_samples(TOOLS)]
STEP = StepState("s")
MODES = (ApiMode.RESPONSES, ApiMode.RESPONSES_LITE)


def candidates(schemas: list[Any]) -> Any:
    """Tools of ten servers; built anew, so nothing of them is encoded yet."""
    servers = [schemas[number::10] for number in range(10)]
    return [
        tool
        for number, own in enumerate(servers)
        for tool in DefinedTools.build(
            [{"name": f"tool_{n}", "description": "Does it.", "inputSchema": schema} for n, schema in enumerate(own)],
            server=f"server_{number}",
            run=lambda name, arguments: arguments,
        ).candidates
    ]


def prompt(contracts: ContractList) -> PromptSnapshot:
    return PromptSnapshot("Be brief.", [user("hello")], contracts)


def body(snapshot: PromptSnapshot, mode: ApiMode) -> bytes:
    return encode_model_request(snapshot, mode).to_bytes()


def round_trips() -> None:
    for text in TEXTS:
        base(text)


def ratio(work: Callable[[], Any], pairs: int) -> float:
    """The median over pairs of blocks, each long enough to be timed."""
    return paired_ratio(work, round_trips, pairs=pairs)


def ratio_of_first(work: Callable[[Any], Any], pairs: int, make: Callable[[], Any]) -> float:
    """The same for what can be done but once with an input; `make` prepares one for each block, outside of its time."""
    ratios = []
    for _ in range(pairs):
        given = make()
        before, own, after = (
            seconds(round_trips, 1),
            seconds(lambda given=given: work(given), 1),
            seconds(round_trips, 1),
        )
        ratios.append(2 * own / (before + after))
    return statistics.median(ratios)


def print_row(name: str, figure: float, remark: str = "") -> None:
    print(f"{name:<66}{figure:>8.4f}x  {remark}", flush=True)


def print_encoding(pairs: int) -> None:
    tools = candidates(SCHEMAS)
    warm = prompt(plan_tools(tools, STEP).contracts)
    for mode in MODES:
        print_row(f"first body of fresh contracts, {mode.name}", ratio_of_first(
            lambda fresh, mode=mode: body(fresh, mode), max(5, pairs // 5),
            make=lambda: prompt(plan_tools(candidates(SCHEMAS), STEP).contracts),
        ))  # fmt: skip
        body(warm, mode)
        figure = ratio(lambda mode=mode: body(warm, mode), pairs)
        print_row(f"warm body, {mode.name}", figure, "within the bound" if figure <= BOUND else "OVER THE BOUND")
        print_row(f"next step: plan anew, then its body, {mode.name}", ratio(
            lambda mode=mode: body(prompt(plan_tools(tools, STEP).contracts), mode), pairs
        ))  # fmt: skip


def print_clones(pairs: int) -> None:
    first = prompt(plan_tools(candidates(SCHEMAS), STEP).contracts)
    size = len(body(first, ApiMode.RESPONSES))
    tracemalloc.start()
    clones = [first.with_history(user(f"clone {number}")) for number in range(CLONES)]
    requests = [encode_model_request(clone, ApiMode.RESPONSES) for clone in clones]
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print_row("body of the first of the clones", ratio(lambda: body(clones[0], ApiMode.RESPONSES), pairs))
    print_row(f"body of the last of {CLONES} clones", ratio(lambda: body(clones[-1], ApiMode.RESPONSES), pairs))
    print(f"memory of a clone and its request: {grown / len(requests):,.0f} bytes; its body has {size:,} bytes")


def print_updates(pairs: int) -> None:
    tools = candidates(SCHEMAS)
    history = [AdditionalTools(plan_tools(tools, STEP).contracts), user("hello")]
    changed = replace(tools[0], contract=replace(tools[0].contract, description="Does it better."))
    for name, now in (("nothing", tools), ("one tool", [changed, *tools[1:]])):
        contracts = plan_tools(now, STEP).contracts
        print_row(
            f"what to tell a Lite conversation when {name} changed",
            ratio(lambda contracts=contracts: declare_changes(history, contracts, counter()), pairs),
        )


def plain_body(snapshot: PromptSnapshot) -> bytes:
    """The same body without sharing: every contract becomes data and is written again."""
    data = encode_model_request(replace(snapshot, tool_contracts=()), ApiMode.RESPONSES).to_json()
    return to_compact_bytes(data | {"tools": [contract.to_wire() for contract in snapshot.tool_contracts]})


def save_for_the_chapter(pairs: int) -> None:
    warm = prompt(plan_tools(candidates(SCHEMAS), STEP).contracts)
    size = len(body(warm, ApiMode.RESPONSES))
    assert plain_body(warm) == body(warm, ApiMode.RESPONSES)
    ratios = {
        "every contract written again": round(ratio(lambda: plain_body(warm), max(5, pairs // 5)), 3),
        "encoded once, embedded": round(ratio(lambda: body(warm, ApiMode.RESPONSES), pairs), 3),
    }
    for name, figure in ratios.items():
        print_row(name, figure)
    kept = {"tools": TOOLS, "body_bytes": size, "ratios": ratios}
    MEASURED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer blocks")
    parser.add_argument("--save", action="store_true", help="write what chapter 7 shows")
    options = parser.parse_args()
    pairs = 7 if options.quick else 51
    gc.collect()
    gc.freeze()
    print(
        f"{TOOLS:,} tools, {sum(map(len, TEXTS)):,} bytes of raw schemas; base: one orjson round trip of these bytes\n"
    )
    if options.save:
        save_for_the_chapter(pairs)
        return
    print_encoding(pairs)
    print_clones(pairs)
    print_updates(pairs)


if __name__ == "__main__":
    main()
