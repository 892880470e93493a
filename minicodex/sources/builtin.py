"""Our own tools: a plan with real state, and one file tool that cannot leave its folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from minicodex.errors import ArgumentError, ArgumentFault
from minicodex.tool import ToolImplementation, function_tool

if TYPE_CHECKING:
    from minicodex.planner import StepState

__all__ = ["Builtins", "PlanBoard", "PlanItem", "read_file_tool", "update_plan_tool"]

MAX_FILE_BYTES = 100_000
"""Most bytes that `read_file` returns of one file."""


class PlanItem(BaseModel):
    """One step of the plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: str
    status: Literal["pending", "in_progress", "completed"]


@dataclass
class PlanBoard:
    """The plan that `update_plan` changes: the side effect that the course watches."""

    items: list[PlanItem] = field(default_factory=list)
    explanation: str = ""
    updates: int = 0
    """How often business code really ran."""

    def update(self, items: list[PlanItem], explanation: str = "") -> None:
        """Replace the plan.

        Raises:
            ArgumentError: more than one step is in progress. Nothing is changed then.
        """
        active = [index for index, item in enumerate(items) if item.status == "in_progress"]
        if len(active) > 1:
            raise ArgumentError(
                ArgumentFault(
                    "a second step is in progress",
                    pointer=f"/plan/{active[1]}/status",
                    expected='at most one step with the status "in_progress"',
                    got=f"{len(active)} of them",
                    hint='set every step but one to "pending" or "completed"',
                )
            )
        self.items, self.explanation, self.updates = list(items), explanation, self.updates + 1

    def text(self) -> str:
        """The plan as a person reads it."""
        marks = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
        return "\n".join(f"{marks[item.status]} {item.step}" for item in self.items) or "(no plan yet)"


def update_plan_tool(board: PlanBoard) -> ToolImplementation:
    """The tool that travels through the whole course. Name and shape are those of Codex, the words are ours."""

    def update_plan(
        plan: Annotated[list[PlanItem], Field(description="The steps, in order")],
        explanation: str = "",
    ) -> str:
        """Replace the plan of the current task. Each step has a status; at most one may be in progress."""
        board.update(plan, explanation)
        return "Plan updated"

    tool: ToolImplementation = function_tool(update_plan)
    return tool


def read_file_tool(folder: Path) -> ToolImplementation:
    """A read-only tool for text files below `folder`. Links that lead out of it are refused like `..` is."""
    root = folder.resolve()

    def read_file(path: Annotated[str, Field(description="Path below the working folder")]) -> str:
        """Read a UTF-8 text file of the working folder."""
        file = _inside(root, path)
        with file.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
        text = content[:MAX_FILE_BYTES].decode("utf-8", "replace")
        return text + f"\n(cut after {MAX_FILE_BYTES:,} bytes)" if len(content) > MAX_FILE_BYTES else text

    tool: ToolImplementation = function_tool(read_file, parallel_safe=True)
    return tool


def _inside(root: Path, path: str) -> Path:
    try:
        file = (root / path).resolve()
        usable = file.is_relative_to(root) and file.is_file()
    except (OSError, ValueError, RuntimeError):  # a NUL, a name too long, a circle of links
        usable = False
    if not usable:
        raise ArgumentError(
            ArgumentFault(
                "no such file",
                pointer="/path",
                expected="the path of a text file below the working folder",
                hint="name a file below the working folder, without a leading / and without ..",
            )
        )
    return file


@dataclass(frozen=True)
class Builtins:
    """The source of our own tools."""

    board: PlanBoard
    folder: Path | None = None
    name: str = "builtin"

    def candidates(self, step: StepState) -> Iterable[ToolImplementation]:
        yield update_plan_tool(self.board)
        if self.folder is not None:
            yield read_file_tool(self.folder)
