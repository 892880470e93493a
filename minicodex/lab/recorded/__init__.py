"""Requests of the real Codex CLI, caught on their way to the provider. Ids and prose are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["recording"]


@cache
def recording(name: str) -> Mapping[str, Any]:
    """`ordinary` or `lite`: headers and bodies, with the MCP tools that led to them. Source: Codex CLI 0.171.0."""
    path = Path(__file__).parent / f"{name}.json"
    recorded: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return recorded
