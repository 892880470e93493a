"""What is remembered of compiled texts: by the text, within bounds, and nothing that a caller could change."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from minicodex.schema import ToolSchema, compile_mcp_schema_json, compile_tool_schema_json
from minicodex.schema.cache import TextCache


def test_adapting_and_trust_are_remembered_apart() -> None:
    text = '{"enum":["a"],"description":"%s"}' % ("d" * 6_000)
    seen = {
        compile_tool_schema_json(text).to_bytes(),
        compile_tool_schema_json(text, trusted=True).to_bytes(),
        compile_mcp_schema_json(text).to_bytes(),
        compile_mcp_schema_json(text, trusted=True).to_bytes(),
    }
    assert len(seen) == 4
    assert compile_tool_schema_json(text.encode()).to_bytes() == compile_tool_schema_json(text).to_bytes()


def test_a_caller_cannot_change_what_the_next_one_gets() -> None:
    text = '{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}'
    first = compile_tool_schema_json(text)
    first.to_json()["properties"].clear()
    assert first.model.properties is not None
    first.model.properties.clear()
    again = compile_tool_schema_json(text)
    assert again.to_json()["properties"] == {"a": {"type": "string", "enum": ["x"]}}
    assert again.model.properties


def test_the_memory_is_bounded_in_entries_and_in_bytes() -> None:
    cache = TextCache(max_entries=3, max_bytes=10_000)
    for i in range(10):
        cache.put(f"text {i}", ToolSchema(b"{}"))
    assert len(cache) == 3
    assert (cache.get("text 6"), cache.get("text 9")) == (None, ToolSchema(b"{}"))
    for i in range(10):
        cache.put("x" * 1_000 + str(i), ToolSchema(b"{}"))
    cache.put("y" * 5_000, ToolSchema(b"{}"))
    assert cache.get("y" * 5_000) is None
    small = TextCache(max_entries=100, max_bytes=10_000)
    for i in range(50):
        small.put("x" * 1_000 + str(i), ToolSchema(b"{}"))
    assert len(small) == 9


def test_many_threads_may_compile_at_once() -> None:
    texts = [f'{{"type":"object","properties":{{"p":{{"const":{i % 7}.10}}}}}}' for i in range(400)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: compile_tool_schema_json(text).to_bytes(), texts))
    assert all(b'"enum":[%d.10]' % (i % 7) in sent for i, sent in enumerate(results))


def test_compiling_loads_neither_jsonschema_nor_pydantic_models() -> None:
    code = """
import sys
import minicodex.schema as s
s.compile_tool_schema({"type": "object"}); s.compile_tool_schema_json("{}"); s.adapt_mcp_schema({})
s.trace_tool_schema({"type": "object"}).text(); s.ToolSchema(b"{}").to_json()
sys.exit("jsonschema" in sys.modules or "referencing" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
