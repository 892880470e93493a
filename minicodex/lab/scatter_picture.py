"""Points in a plane as SVG: kinds told apart by shape and colour, one line each way, axes with round numbers.

Why not a drawing library: loading one takes longer than everything else in the chapter that shows this figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from minicodex.lab.figures import COLOURS

__all__ = ["Plane", "scatter_picture"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 400, 70, 20, 18, 56
GREY = "#555555"


@dataclass(frozen=True)
class Plane:
    """The part of the plane that is drawn, from zero, and how its axes are called."""

    x_most: float
    y_most: float
    x_label: str
    y_label: str
    x_step: int
    y_step: int

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return round(LEFT + across * x / self.x_most, 1), round(HEIGHT - BOTTOM - up * y / self.y_most, 1)

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is within the part that is drawn."""
        return 0 <= x <= self.x_most and 0 <= y <= self.y_most


def scatter_picture(
    plane: Plane, points: Mapping[str, Sequence[tuple[float, float]]], *, slope: float, limit: float, limit_label: str
) -> str:
    """The picture on white ground.

    Args:
        plane: what is drawn of the plane.
        points: the points by kind; the first kind lies on top.
        slope: of a line through the origin.
        limit: where a dashed line stands upright.
        limit_label: what is written beside it.
    """
    parts = [*_axes(plane), _line(plane, (0, 0), (plane.x_most, slope * plane.x_most), COLOURS[0])]
    parts.append(_line(plane, (limit, 0), (limit, plane.y_most), GREY, ' stroke-dasharray="6 5"'))
    x, y = plane.at(limit, plane.y_most)
    parts.append(f'<text x="{x + 8}" y="{y + 14}">{escape(limit_label)}</text>')
    for number, (kind, places) in reversed(list(enumerate(points.items()))):
        marks = "".join(_mark(number, *plane.at(*place)) for place in places if plane.holds(*place))
        legend = LEFT + 24, TOP + 16 + 24 * number
        parts.append(f'<g fill-opacity=".55" stroke-opacity=".8">{marks}</g>{_mark(number, *legend)}')
        parts.append(f'<text x="{legend[0] + 16}" y="{legend[1] + 5}">{escape(kind)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="15" fill="#222222">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>{"".join(parts)}</svg>'
    )


def _axes(plane: Plane) -> Iterator[str]:
    yield _line(plane, (0, 0), (plane.x_most, 0), GREY)
    yield _line(plane, (0, 0), (0, plane.y_most), GREY)
    for value in range(0, int(plane.x_most) + 1, plane.x_step):
        x, y = plane.at(value, 0)
        yield f'<path d="M{x} {y}v5" stroke="{GREY}"/><text x="{x}" y="{y + 21}" text-anchor="middle">{value:,}</text>'
    for value in range(0, int(plane.y_most) + 1, plane.y_step):
        x, y = plane.at(0, value)
        yield f'<path d="M{x} {y}h-5" stroke="{GREY}"/><text x="{x - 9}" y="{y + 5}" text-anchor="end">{value:,}</text>'
    middle, _ = plane.at(plane.x_most / 2, 0)
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(plane.x_label)}</text>'
    _, centre = plane.at(0, plane.y_most / 2)
    turn = f"rotate(-90 16 {centre})"
    yield f'<text x="16" y="{centre}" text-anchor="middle" transform="{turn}">{escape(plane.y_label)}</text>'


def _line(plane: Plane, start: tuple[float, float], end: tuple[float, float], colour: str, dashes: str = "") -> str:
    (x1, y1), (x2, y2) = plane.at(*start), plane.at(*end)
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" stroke-width="1.5"{dashes}/>'


def _mark(kind: int, x: float, y: float) -> str:
    """A disc, a square or a cross."""
    colour = COLOURS[kind]
    if kind == 0:
        return f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
    if kind == 1:
        return f'<rect x="{round(x - 4, 1)}" y="{round(y - 4, 1)}" width="8" height="8" fill="{colour}"/>'
    return f'<path d="M{round(x - 4, 1)} {round(y - 4, 1)}l8 8m0-8l-8 8" stroke="{colour}" stroke-width="1.8"/>'
