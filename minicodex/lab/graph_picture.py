"""A small directed graph as SVG: boxes in columns, arrows between them, circles included.

Why not a drawing library: a column per step is all the layout there is, and a picture of a few hundred characters
follows a slider at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from minicodex.lab.html import Pill

__all__ = ["Edge", "graph_picture"]

WIDTH, HEIGHT, GAP, PITCH, MARGIN = 134, 32, 56, 70, 20
LONGEST = 14
"""Characters of a name that fit a box."""


class Edge(NamedTuple):
    """An arrow."""

    start: str
    end: str


def graph_picture(columns: Sequence[Sequence[str]], edges: Sequence[Edge], boxes: Mapping[str, Pill]) -> str:
    """The picture on white ground. The pill of a box is its state: sign, ground and ink."""
    places = {
        name: (MARGIN + x * (WIDTH + GAP), MARGIN + y * PITCH)
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    width = 2 * MARGIN + max(len(columns), 1) * (WIDTH + GAP) - GAP + 20
    height = 2 * MARGIN + max(map(len, columns), default=1) * PITCH - (PITCH - HEIGHT) + 22
    parts = [*(_arrow(places[edge.start], places[edge.end]) for edge in edges), *_boxes(places, boxes)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="15"><rect width="{width}" height="{height}" fill="white"/>'
        f"{''.join(parts)}</svg>"
    )


def _boxes(places: Mapping[str, tuple[int, int]], boxes: Mapping[str, Pill]) -> Iterator[str]:
    for name, (x, y) in places.items():
        pill = boxes[name]
        shown = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
        dashes = ' stroke-dasharray="4 3"' if pill.sign == "?" else ""
        yield (
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{pill.ground}" stroke="{pill.ink}"'
            f'{dashes}/><text x="{x + 9}" y="{y + 21}" fill="{pill.ink}">{pill.sign} {escape(shown)}</text>'
        )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From the right side of a box to the left side of one further right; otherwise around."""
    (x1, y1), (x2, y2) = start, end
    if start == end:  # to itself: a loop around the lower right corner
        x, y = x1 + WIDTH, y1 + HEIGHT // 2
        return _path(f"M{x} {y} C{x + 40} {y} {x - 22} {y + 52} {x - 22} {y + 24}", (x - 22, y + 16), (0, -1))
    y1, y2 = y1 + HEIGHT // 2, y2 + HEIGHT // 2
    if x2 > x1:
        middle = (x1 + WIDTH + x2) / 2
        return _path(f"M{x1 + WIDTH} {y1} C{middle} {y1} {middle} {y2} {x2 - 7} {y2}", (x2, y2), (1, 0))
    if x2 == x1:  # within a column: out and in on the right side
        side = x1 + WIDTH + 44
        line = f"M{x1 + WIDTH} {y1 - 5} C{side} {y1 - 5} {side} {y2 + 6} {x2 + WIDTH + 7} {y2 + 6}"
        return _path(line, (x2 + WIDTH, y2 + 6), (-1, 0))
    low1, low2, x1, x2 = y1 + HEIGHT // 2, y2 + HEIGHT // 2, x1 + WIDTH // 2, x2 + WIDTH // 2 + 12
    line = f"M{x1} {low1} C{x1} {low1 + 36} {x2} {low2 + 36} {x2} {low2 + 7}"  # back: below the boxes
    return _path(line, (x2, low2), (0, -1))


def _path(line: str, tip: tuple[float, float], towards: tuple[int, int]) -> str:
    (x, y), (dx, dy) = tip, towards
    left, right = (x - 8 * dx - 4 * dy, y - 8 * dy - 4 * dx), (x - 8 * dx + 4 * dy, y - 8 * dy + 4 * dx)
    head = f"{x},{y} {left[0]},{left[1]} {right[0]},{right[1]}"
    return f'<path d="{line}" fill="none" stroke="#555" stroke-width="1.5"/><polygon points="{head}" fill="#555"/>'
