"""What the real CLI answered to the same calls: measured data for the chapter that compares.

Source: Codex CLI 0.171.0, against a model endpoint and an MCP server under our control. `<t>` and `<chunk>` stand for
what changes from run to run.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["CodexAnswer", "codex_answers"]


@dataclass(frozen=True)
class CodexAnswer:
    """One call, and what became of it."""

    case: str
    """What is odd about the call, in a few words."""
    tool: str
    namespace: str | None
    arguments: str
    """The text exactly as the model wrote it."""
    ran: bool
    """Whether the tool's own code, or its server, was reached."""
    output: str
    """The text that the model read next."""


@cache
def codex_answers() -> tuple[CodexAnswer, ...]:
    """Every measured call, in the order of measuring."""
    rows = json.loads(files("minicodex.lab").joinpath("codex_answers.json").read_text(encoding="utf-8"))
    return tuple(CodexAnswer(**row) for row in rows)
