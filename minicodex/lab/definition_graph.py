"""Definitions as a graph that grows from the root: what is reached is sent, what is not is left out.

Who refers to whom is asked of the compiler itself. Each part is compiled alone beside empty definitions; those that are
kept are the ones it refers to. So the picture cannot see a reference that the compiler does not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import ipywidgets as w

from minicodex.errors import InvalidToolSchema
from minicodex.json_text import to_compact_bytes
from minicodex.lab.figures import Figure
from minicodex.lab.graph_picture import Edge, graph_picture
from minicodex.lab.html import FAINT, Html, Pill, heading, panel, tag
from minicodex.lab.view import View, counted
from minicodex.lab.widgets import Live, button, picker, row
from minicodex.schema import compile_tool_schema, trace_tool_schema

__all__ = ["ROOT", "DefinitionGraph", "definition_graph", "references_of"]

ROOT = "the root"
TABLES = ("$defs", "definitions")
MAX_DRAWN = 40
"""Definitions that a picture can hold."""

MAX_ROWS = 5
"""Definitions below each other, as long as nothing has reached them."""

NEW, REACHED, WAITING, LEFT_OUT = "reached now", "reached", "not reached yet", "left out"
STATES = {
    NEW: Pill("●", NEW, ground="#0b4f8a", ink="#ffffff"),
    REACHED: Pill("✓", REACHED, ground="#d3e6fb", ink="#062c57"),
    WAITING: Pill("?", WAITING, ground="#ffffff", ink="#444444"),
    LEFT_OUT: Pill("✗", LEFT_OUT, ground="#fadbd5", ink="#5c1206"),
}


def references_of(schema: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For the root and for each definition: the definitions it refers to itself, not through others.

    A definition that does not fit the subset refers to nothing here.
    """
    tables = {table: schema[table] for table in TABLES if isinstance(schema.get(table), dict)}
    empty: dict[str, Any] = {table: {name: {} for name in entries} for table, entries in tables.items()}
    references = {ROOT: _kept({**schema, **empty})}
    for table, entries in tables.items():
        for name, definition in entries.items():
            alone = "alone"
            while alone in entries:
                alone += "_"
            with_it = {**empty, table: {**empty[table], alone: definition}}
            kept = _kept({"$ref": f"#/{table}/{alone}", **with_it})
            references[_label(table, name)] = tuple(other for other in kept if other != _label(table, alone))
    return references


def _kept(schema: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        sent = compile_tool_schema(dict(schema), trusted=True).to_json()
    except InvalidToolSchema:
        return ()
    return tuple(_label(table, name) for table in TABLES for name in sent.get(table, ()))


def _label(table: str, name: str) -> str:
    return name if table == TABLES[0] else f"{table}/{name}"


@dataclass(frozen=True, eq=False)
class _Grown:
    """One schema: its graph, the waves in which it is reached, and what the compiler makes of it."""

    schema: Mapping[str, Any]

    @cached_property
    def references(self) -> dict[str, tuple[str, ...]]:
        return references_of(self.schema)

    @cached_property
    def waves(self) -> tuple[tuple[str, ...], ...]:
        """The root, then what it refers to, then what those refer to, until nothing new comes."""
        waves: list[tuple[str, ...]] = [(ROOT,)]
        seen = {ROOT}
        while waves[-1]:
            found = [name for known in waves[-1] for name in self.references.get(known, ())]
            waves.append(tuple(name for name in dict.fromkeys(found) if name not in seen))
            seen.update(waves[-1])
        return tuple(waves[:-1])

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Bytes of each definition with its name, as the author wrote it."""
        return {
            _label(table, name): len(to_compact_bytes({name: definition})) - 1
            for table in TABLES
            for name, definition in (self.schema.get(table) or {}).items()
        }

    @cached_property
    def kept(self) -> frozenset[str]:
        """What the compiler keeps of the whole schema, by its own account."""
        stages = trace_tool_schema(self.schema, trusted=True).stages
        sent = stages[1].schema if len(stages) > 1 else {}
        return frozenset(_label(table, name) for table in TABLES for name in sent.get(table, ()))


@dataclass(frozen=True, repr=False)
class DefinitionGraph(View):
    """A graph, grown so many steps from the root."""

    schemas: Mapping[str, Any] = field(compare=False)
    name: str = ""
    steps: int = 0
    grown: _Grown | None = field(default=None, compare=False)
    """Follows from the name; kept, so that a step does not ask the compiler again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or next(iter(self.schemas)))
        if self.grown is None:
            object.__setattr__(self, "grown", _Grown(self.schemas[self.name]))

    # --- reducers -----------------------------------------------------------------------------------------------

    def go(self, steps: int) -> DefinitionGraph:
        """Grown so many steps; beyond either end is the end. At the last one it is decided what is left out."""
        return replace(self, steps=max(0, min(steps, self.last)))

    def step(self, count: int) -> DefinitionGraph:
        """Grow on, or back with a negative count."""
        return self.go(self.steps + count)

    def pick(self, name: str) -> DefinitionGraph:
        """Another schema, from its root."""
        return self if name == self.name else DefinitionGraph(self.schemas, name)

    # --- what is on show ----------------------------------------------------------------------------------------

    @property
    def _graph(self) -> _Grown:
        assert self.grown is not None
        return self.grown

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self._graph.waves)

    @property
    def is_done(self) -> bool:
        return self.steps == self.last

    def state_of(self, name: str) -> str:
        """What is known of a definition at this step."""
        for number, wave in enumerate(self._graph.waves[: self.steps + 1]):
            if name in wave:
                return NEW if number == self.steps else REACHED
        if self.is_done:
            return REACHED if name in self._graph.kept else LEFT_OUT
        return WAITING

    @property
    def summary(self) -> str:
        """What the step found, or in the end what the compiler kept."""
        if not self.is_done:
            return f"step {self.steps}: " + (", ".join(self._graph.waves[self.steps]) or "nothing new")
        out = [name for name in self._graph.sizes if name not in self._graph.kept]
        saved = sum(self._graph.sizes[name] for name in out)
        told = f"left out: {', '.join(out)} ({saved:,} bytes)" if out else "nothing is left out"
        return f"nothing new was found; kept: {', '.join(sorted(self._graph.kept)) or 'none'}; {told}"

    def text(self) -> str:
        lines = [f"{self.name}, {self.summary}"]
        for name, found in self._graph.references.items():
            state = self.state_of(name)
            arrow = f" → {', '.join(found)}" if found and state in (NEW, REACHED) else ""
            lines.append(f"{STATES[state].sign} {name}{arrow}   ({state})")
        return "\n".join(lines)

    @cached_property
    def picture(self) -> Figure:
        """The graph as it is known at this step: the references of what is not reached are not."""
        references = self._graph.references
        known = {name for name in references if self.state_of(name) in (NEW, REACHED)}
        columns = [*self._graph.waves[: self.steps + 1]]
        rest = [name for name in references if not any(name in wave for wave in columns)]
        columns += [tuple(rest[start : start + MAX_ROWS]) for start in range(0, len(rest), MAX_ROWS)]
        edges = [Edge(name, other) for name in references if name in known for other in references[name]]
        boxes = {name: STATES[self.state_of(name)] for name in references}
        return Figure(graph_picture(columns, edges, boxes), self.summary, self.text())

    def html(self) -> Html:
        count = len(self._graph.references) - 1
        note = f"{counted(count, 'definition')}, step {self.steps} of {self.last}"
        legend = tag("div", *(Html(f"{pill.html(small=True)} ") for pill in STATES.values()))
        drawn = (
            self.picture.html()
            if count <= MAX_DRAWN
            else tag("pre", self.text(), style=f"color: {FAINT}; white-space: pre-wrap")
        )
        return panel(heading(self.name, note), legend, drawn, label=f"Definitions of {self.name}")


# --- the widget ------------------------------------------------------------------------------------------------------


def definition_graph(schemas: Mapping[str, Any]) -> Live[DefinitionGraph]:
    """A list of schemas, buttons and a slider to let the graph grow."""
    live: Live[DefinitionGraph] = Live(DefinitionGraph(schemas))
    names = picker("schema", list(schemas), lambda name: live.do(lambda graph: graph.pick(name)))
    back = button("◀ back", lambda: live.do(lambda graph: graph.step(-1)), hint="one step back")
    grow = button("grow ▶", lambda: live.do(lambda graph: graph.step(1)), hint="follow the references one step on")
    steps = w.IntSlider(description="steps", max=1, layout=w.Layout(width="20em"))
    steps.observe(lambda change: live.do(lambda graph: graph.go(change["new"])), "value")

    def sync(graph: DefinitionGraph) -> None:
        back.disabled, grow.disabled = graph.steps == 0, graph.is_done
        steps.max = graph.last
        steps.value = graph.steps

    return live.driven_by(row(*([names] if len(schemas) > 1 else []), back, grow, steps), sync=sync)
