"""How fast the schema compiler is, beside the libraries that people use for a similar job.

    python -m tests.bench.schema            the table of ratios and the scaling table
    python -m tests.bench.schema --quick    fewer blocks, for a look

Every figure is a ratio: the time of a block of work over the time of one `orjson.loads` and `orjson.dumps` of the same
schemas. A block stands between two blocks of the base, and the figure is the median over many such pairs: a machine
that slows down slows both. The peers come with `pip install minicodex[bench]`; one that is missing is left out, and
one that cannot take a schema is measured on those that it takes. A peer that changes its argument gets a copy.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib.metadata
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from minicodex.schema import adapt_mcp_schema, compile_tool_schema, compile_tool_schema_json

GOLDEN = Path(__file__).parent.parent / "data" / "golden_cases.json"
BUDGET_BYTES = 5_000
TOO_SLOW_SECONDS = 0.2
"""A schema that takes a peer longer than this is left out for that peer, and counted."""

Work = Callable[[Any], Any]


class Sample(NamedTuple):
    """One schema: as text and as data."""

    text: bytes
    schema: Any


class Subject(NamedTuple):
    """Somebody's way from a schema to the bytes that are sent."""

    name: str
    work: Work
    takes_text: bool = False


# --- what is measured ------------------------------------------------------------------------------------------------


def our_subjects() -> list[Subject]:
    return [
        Subject("minicodex, data to bytes", lambda schema: compile_tool_schema(schema).to_bytes()),
        Subject("minicodex, with the model", lambda schema: compile_tool_schema(schema).model),
        Subject("minicodex, text, remembered", lambda text: compile_tool_schema_json(text).to_bytes(), takes_text=True),
        Subject("copy.deepcopy, for scale", copy.deepcopy),
    ]


def peers() -> Iterator[Subject]:
    for name, distribution, load in PEERS:
        try:
            work = load()
        except ImportError:
            print(f"({name} is not installed)", file=sys.stderr)
            continue
        version = importlib.metadata.version(distribution)
        yield Subject(f"{name} {version}", lambda schema, work=work: orjson.dumps(work(schema)))


def _fastmcp() -> Work:
    from fastmcp.utilities.json_schema import compress_schema

    return compress_schema


def _openai_sdk() -> Work:
    from openai.lib._pydantic import _ensure_strict_json_schema

    def strict(schema: Any) -> Any:
        own = copy.deepcopy(schema)
        return _ensure_strict_json_schema(own, path=(), root=own)

    return strict


def _openai_agents() -> Work:
    from agents.strict_schema import ensure_strict_json_schema

    return lambda schema: ensure_strict_json_schema(copy.deepcopy(schema))


def _langchain() -> Work:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return lambda schema: convert_to_openai_tool({**schema, "title": "tool", "description": "d"}, strict=True)


def _pydantic_ai() -> Work:
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    return lambda schema: OpenAIJsonSchemaTransformer(schema, strict=True).walk()


PEERS: tuple[tuple[str, str, Callable[[], Work]], ...] = (
    ("fastmcp compress_schema", "fastmcp", _fastmcp),
    ("openai SDK strict", "openai", _openai_sdk),
    ("openai-agents strict", "openai-agents", _openai_agents),
    ("langchain-core convert", "langchain-core", _langchain),
    ("pydantic-ai transformer", "pydantic-ai-slim", _pydantic_ai),
)


# --- the schemas -----------------------------------------------------------------------------------------------------


def golden_samples() -> list[Sample]:
    """The measured inputs that compile and that every JSON library can write."""
    cases = orjson.loads(GOLDEN.read_bytes())
    return [sample for case in cases if case["output"] is not None and (sample := _sample(case["input"]))]


def seeded_samples(count: int = 300) -> list[Sample]:
    """Tools as people publish them: described parameters, some enums, optional ones, a few definitions."""
    draw = random.Random(20_260_101)
    return [sample for _ in range(count) if (sample := _sample(_tool(draw)))]


def _sample(schema: Any) -> Sample | None:
    try:
        return Sample(orjson.dumps(schema), adapt_mcp_schema(schema))
    except TypeError:
        return None


def _words(draw: random.Random, fewest: int, most: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(fewest, most)))


WORDS = (
    "the", "path", "of", "a", "file", "to", "read", "list", "search", "query", "user", "name", "optional", "filter",
    "result", "page", "number", "date", "time", "zone", "id",
)  # fmt: skip


def _parameter(draw: random.Random, depth: int, definitions: list[str]) -> Any:
    node: dict[str, Any] = {"title": _words(draw, 1, 2).title()} if draw.random() < 0.4 else {}
    if draw.random() < 0.85:
        node["description"] = _words(draw, 4, 30)
    kind = draw.choice(
        ("string", "string", "string", "integer", "boolean", "enum", "array", "object", "optional", "ref")
    )
    if kind == "enum":
        return {**node, "type": "string", "enum": [_words(draw, 1, 1) for _ in range(draw.randint(2, 8))]}
    if kind == "ref" and definitions:
        return {**node, "$ref": f"#/$defs/{draw.choice(definitions)}"}
    if kind == "optional":
        return {**node, "anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    if kind == "array" and depth < 4:
        return {**node, "type": "array", "items": _parameter(draw, depth + 1, definitions)}
    if kind == "object" and depth < 4:
        return {**node, **_object(draw, depth + 1, definitions, draw.randint(1, 5))}
    if kind == "integer":
        return {**node, "type": "integer", "minimum": 0, "default": draw.randint(0, 99)}
    return {**node, "type": "boolean" if kind == "boolean" else "string"}


def _object(draw: random.Random, depth: int, definitions: list[str], size: int) -> Any:
    names = [f"{draw.choice(WORDS)}_{i}" for i in range(size)]
    properties = {name: _parameter(draw, depth, definitions) for name in names}
    return {"type": "object", "properties": properties, "required": [name for name in names if draw.random() < 0.4]}


def _tool(draw: random.Random) -> Any:
    definitions = [f"Part{i}" for i in range(draw.choice((0, 0, 0, 2, 6)))]
    schema = _object(draw, 0, definitions, draw.choice((1, 2, 3, 4, 6, 8, 12, 25, 50)))
    if definitions:
        schema["$defs"] = {name: _object(draw, 2, definitions, draw.randint(1, 4)) for name in definitions}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema, "additionalProperties": False}


# --- measuring -------------------------------------------------------------------------------------------------------


def block_seconds(work: Work, inputs: list[Any]) -> float:
    start = time.perf_counter()
    for given in inputs:
        work(given)
    return time.perf_counter() - start


def base(text: bytes) -> bytes:
    return orjson.dumps(orjson.loads(text))


def ratio(subject: Subject, samples: list[Sample], pairs: int) -> float:
    """The median over pairs of blocks; blocks of small schemas are repeated until they can be timed."""
    texts = [sample.text for sample in samples]
    inputs = texts if subject.takes_text else [sample.schema for sample in samples]
    repeat = max(1, round(0.002 / max(block_seconds(base, texts), 1e-9)))
    texts, inputs = texts * repeat, inputs * repeat
    block_seconds(subject.work, inputs[: len(samples)])
    ratios = []
    for _ in range(pairs):
        before, own, after = block_seconds(base, texts), block_seconds(subject.work, inputs), block_seconds(base, texts)
        ratios.append(2 * own / (before + after))
    return statistics.median(ratios)


def taken(subject: Subject, samples: list[Sample]) -> list[Sample]:
    """The schemas that this subject takes without an error and in bearable time."""
    fine = []
    for sample in samples:
        start = time.perf_counter()
        try:
            subject.work(sample.text if subject.takes_text else sample.schema)
        except Exception:  # noqa: BLE001 (whatever a peer raises, it did not take the schema)
            continue
        if time.perf_counter() - start < TOO_SLOW_SECONDS:
            fine.append(sample)
    return fine


def print_ratios(pairs: int) -> None:
    corpora: list[tuple[str, list[Sample]]] = []
    for name, samples in (("golden", golden_samples()), ("seeded", seeded_samples())):
        fits = {id(s): compile_tool_schema(s.schema, trusted=True).size_bytes <= BUDGET_BYTES for s in _ours(samples)}
        corpora.append((f"{name}, fits", [s for s in samples if fits.get(id(s)) is True]))
        corpora.append((f"{name}, over", [s for s in samples if fits.get(id(s)) is False]))
    print(f"{'ratio to one orjson round trip (schemas taken)':<46}" + "".join(f"{name:>18}" for name, _ in corpora))
    print(
        f"{'  mean size of a schema in bytes':<46}"
        + "".join(f"{_mean_size(samples):>18,.0f}" for _, samples in corpora)
    )
    for subject in [*our_subjects(), *peers()]:
        row = f"{subject.name:<46}"
        for _, samples in corpora:
            fine = taken(subject, samples)
            row += f"{ratio(subject, fine, pairs):>9.2f}x ({len(fine):>4})" + " " if fine else f"{'none':>18}"
        print(row, flush=True)


def _ours(samples: list[Sample]) -> list[Sample]:
    trusted = Subject("", lambda schema: compile_tool_schema(schema, trusted=True))
    return taken(trusted, samples)


def _mean_size(samples: list[Sample]) -> float:
    return statistics.mean(len(sample.text) for sample in samples)


# --- scaling ---------------------------------------------------------------------------------------------------------


def chain(length: int) -> Any:
    """Each definition refers to the next."""
    nodes = {f"D{i}": {"type": "object", "properties": {"next": _to(i + 1)}} for i in range(length)}
    return _rooted({**nodes, f"D{length}": {"type": "string"}})


def diamond(length: int) -> Any:
    """Each definition refers to the next twice: two to the power of length paths."""
    nodes = {f"D{i}": {"type": "object", "properties": {"a": _to(i + 1), "b": _to(i + 1)}} for i in range(length)}
    return _rooted({**nodes, f"D{length}": {"type": "string"}})


def cycle(length: int) -> Any:
    """A chain whose last definition refers to the first."""
    nodes = {f"D{i}": {"type": "object", "properties": {"next": _to((i + 1) % length)}} for i in range(length)}
    return _rooted(nodes)


def _to(index: int) -> Any:
    return {"$ref": f"#/$defs/D{index}"}


def _rooted(definitions: Any) -> Any:
    return {"type": "object", "properties": {"first": _to(0)}, "$defs": definitions}


def peak_ratio(schema: Any, text: bytes) -> float:
    tracemalloc.start()
    compile_tool_schema(schema)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / len(text)


def print_scaling(pairs: int) -> None:
    subject = our_subjects()[0]
    print(f"\n{'definitions':<22}{'raw bytes':>12}{'time':>12}{'ratio':>9}{'peak memory / raw bytes':>27}")
    for shape in (chain, diamond, cycle):
        for length in (100, 1_000, 10_000, 100_000):
            sample = _sample(shape(length))
            assert sample is not None
            seconds = min(block_seconds(subject.work, [sample.schema]) for _ in range(3))
            figure = ratio(subject, [sample], max(3, pairs // (10 if length > 1_000 else 1)))
            peak = peak_ratio(sample.schema, sample.text)
            name = f"{shape.__name__} {length:,}"
            print(f"{name:<22}{len(sample.text):>12,}{seconds * 1e3:>9.2f} ms{figure:>8.2f}x{peak:>26.1f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer blocks")
    pairs = 7 if parser.parse_args().quick else 31
    gc.collect()
    gc.freeze()
    print_ratios(pairs)
    print_scaling(pairs)


if __name__ == "__main__":
    main()
