"""A lawful MCP server with tools for the tests. Its list comes in two pages and holds some malformed entries."""

import json
import os
from collections.abc import Callable
from typing import Any

import rpc

ANYTHING = {"type": "object"}


def tool(name: str, schema: Any = ANYTHING, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


ECHO = tool(
    "echo",
    {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]},
    annotations={"readOnlyHint": True},
    outputSchema={"type": "object", "properties": {"r": {"type": "string"}}},
)
GOOD = [tool(name) for name in ("fails", "refuses", "structured", "picture", "not_a_number", "environment", "dies")]
CLASHING = [tool("get.user"), tool("get-user")]
MALFORMED = [
    "not an object",
    {"inputSchema": ANYTHING},
    {"name": "no_schema"},
    {"name": "list_as_schema", "inputSchema": []},
    {"name": "list_as_annotations", "inputSchema": ANYTHING, "annotations": []},
    tool("null_root", {"type": "null"}),
]
SWITCHES = [tool("change"), tool("break_the_list")]

first_page: list[Any] = [ECHO, *MALFORMED, *GOOD]
second_page: list[Any] = [*CLASHING, *SWITCHES]
state = {"times_listed": 0, "broken": False}


def list_tools(request: dict[str, Any]) -> None:
    state["times_listed"] += 1
    if state["broken"]:
        rpc.send(id=request["id"], error={"code": -32603, "message": "the list is lost"})
    elif request.get("params", {}).get("cursor") == "2":
        rpc.send(id=request["id"], result={"tools": second_page})
    else:
        rpc.send(id=request["id"], result={"tools": first_page, "nextCursor": "2"})


def echo(arguments: Any) -> dict[str, Any]:
    return rpc.text(json.dumps(arguments))


def fails(_: Any) -> dict[str, Any]:
    return rpc.text("the disk is full", isError=True)


def structured(_: Any) -> dict[str, Any]:
    """Does not match any output schema; nobody asks for that."""
    content = {"r": 5, "big": 12345678901234567890123, "f": 1.5}
    return {"_meta": {"took_ms": 3}, "structuredContent": content, **rpc.text("not this")}


def picture(_: Any) -> dict[str, Any]:
    items = [{"type": "text", "text": "two\nlines"}, {"type": "image", "mimeType": "image/png", "data": "x" * 4000}]
    return {"content": items}


def not_a_number(_: Any) -> dict[str, Any]:
    """Python writes NaN into JSON, where it is unlawful."""
    return rpc.text("", structuredContent={"r": float("nan")})


def environment(_: Any) -> dict[str, Any]:
    return rpc.text(json.dumps(dict(os.environ)))


def dies(_: Any) -> dict[str, Any]:
    os.write(2, b"a secret on stderr")
    os._exit(1)


def change(_: Any) -> dict[str, Any]:
    state["broken"] = False
    first_page[:] = [tool("echo", {"type": "object", "properties": {"text": {"type": "string"}}}), tool("fresh")]
    rpc.send(method="notifications/tools/list_changed")
    return rpc.text(f"listed {state['times_listed']} times")


def break_the_list(_: Any) -> dict[str, Any]:
    state["broken"] = True
    rpc.send(method="notifications/tools/list_changed")
    return rpc.text(f"listed {state['times_listed']} times")


TOOLS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "get.user": lambda _: rpc.text("dot"),
    "get-user": lambda _: rpc.text("dash"),
    "fresh": lambda _: rpc.text("new"),
} | {f.__name__: f for f in (echo, fails, structured, picture, not_a_number, environment, dies, change, break_the_list)}


def call_tool(request: dict[str, Any]) -> None:
    name = request["params"]["name"]
    if name == "refuses":
        rpc.send(id=request["id"], error={"code": -32602, "message": "bad arg", "data": {"x": 1}})
    else:
        rpc.send(id=request["id"], result=TOOLS[name](request["params"].get("arguments")))


if __name__ == "__main__":
    rpc.shake_hands(instructions="  A box of tools.\n")
    for message in rpc.requests():
        {"tools/list": list_tools, "tools/call": call_tool}[message["method"]](message)
