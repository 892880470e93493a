"""The map of the house: the rooms a contract passes, each in its own first sentence."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from minicodex.lab.html import FAINT, LINE, Html, panel, prose, tag
from minicodex.lab.view import View

__all__ = ["ROOMS", "PackageMap"]

ROOMS = (
    ("schema", "schema"),
    ("contract", "contract"),
    ("implementation", "tool"),
    ("implementation", "sources"),
    ("plan", "planner"),
    ("request", "request"),
    ("call", "models.scripted"),
    ("dispatch", "dispatch"),
    ("result", "history"),
    ("the whole", "turn"),
)
"""Stage of the strip to the room in which it happens."""


@dataclass(frozen=True, repr=False)
class PackageMap(View):
    """Stage, room, and what the room says about itself."""

    @cached_property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        return tuple((stage, *_room(module)) for stage, module in ROOMS)

    def text(self) -> str:
        width = max(len(path) for _, path, _ in self.rows)
        return "\n".join(f"{stage:<15}{path:<{width}}  {sentence}" for stage, path, sentence in self.rows)

    def html(self) -> Html:
        cell = f"text-align: left; vertical-align: top; padding: .2em .9em .2em 0; border-bottom: 1px solid {LINE}"
        head = tag("tr", *(tag("th", name, scope="col", style=cell) for name in ("stage", "room", "what it does")))
        body = [
            tag(
                "tr",
                tag("td", stage, style=f"{cell}; color: {FAINT}"),
                tag("td", prose(f"`{path}`"), style=f"{cell}; white-space: nowrap"),
                tag("td", prose(sentence), style=cell),
            )
            for stage, path, sentence in self.rows
        ]
        table = tag("table", tag("thead", head), tag("tbody", *body), style="border-collapse: collapse; margin: 0")
        return panel(table, label="Map of the package")


def _room(module: str) -> tuple[str, str]:
    """Path and first sentence of a module. It is read, not imported."""
    spec = find_spec(f"minicodex.{module}")
    file = Path(spec.origin if spec and spec.origin else "")
    document = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    path = "minicodex/" + module.replace(".", "/") + ("/" if file.name == "__init__.py" else ".py")
    return path, document.partition("\n")[0].rstrip(".")
