"""The least that an MCP server over stdio needs, for the little servers of the tests. Standard library only."""

import json
import sys
from collections.abc import Iterator
from typing import Any

VERSION = "2025-11-25"


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def requests() -> Iterator[dict[str, Any]]:
    """Every request, without the notifications, until stdin closes."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            yield message


def shake_hands(version: str = VERSION, instructions: str | None = None) -> None:
    """Answer the client's first request, which is `initialize`."""
    greet(next(requests()), version, instructions)


def greet(request: dict[str, Any], version: str = VERSION, instructions: str | None = None) -> None:
    result = {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "test", "version": "1"},
    }
    if instructions is not None:
        result["instructions"] = instructions
    send(id=request["id"], result=result)


def text(words: str, **more: Any) -> dict[str, Any]:
    """A tool's result."""
    return {"content": [{"type": "text", "text": words}], **more}
