"""One style for all figures, and a figure that can be read without being seen.

A figure is drawn on solid white, so that it reads in the dark theme, too. Colours are Okabe and Ito's, which
colour-blind people can tell apart; hatches and markers say the same again. The picture is SVG with its text as text,
no date and a fixed salt: equal data give equal bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minicodex.lab.html import FAINT, Html, prose, tag
from minicodex.lab.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "HATCHES", "Figure", "bars", "draw"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
HATCHES = ("", "///", "xx", "\\\\\\", "--", "++")

_STYLE: Any = {
    "svg.hashsalt": "minicodex",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.color": "white",
    "hatch.linewidth": 1.0,
}


@dataclass(frozen=True, repr=False)
class Figure(View):
    """A drawn figure with its caption, and everything it shows in words."""

    svg: str
    caption: str
    words: str
    """The data as lines of text. It is the alternative text, and what the tests compare."""

    def text(self) -> str:
        return f"Figure: {self.caption}\n{self.words}"

    def html(self) -> Html:
        source = "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode()
        picture = tag("img", src=source, alt=self.text(), style="max-width: 100%; height: auto; border-radius: 6px")
        caption = tag("figcaption", prose(self.caption), style=f"color: {FAINT}; margin-top: .3em")
        return tag("figure", Html(picture.removesuffix("</img>")), caption, style="margin: .3em 0")


def draw(
    paint: Callable[[Axes], None], *, caption: str, words: str, size_inches: tuple[float, float] = (9.0, 3.0)
) -> Figure:
    """Let `paint` draw on one pair of axes, in the style of the course.

    matplotlib is imported here, at the first figure, and its global state is left alone.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with rc_context(_STYLE):
        canvas = Canvas(figsize=size_inches, layout="constrained")
        FigureCanvasSVG(canvas)
        paint(canvas.add_subplot())
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return Figure(buffer.getvalue(), caption, words)


def bars(rows: Sequence[tuple[str, Sequence[float]]], series: Sequence[str], *, unit: str, caption: str) -> Figure:
    """Lying bars, each made of the same parts, with every number written out."""

    def paint(axes: Axes) -> None:
        names = [name for name, _ in rows]
        starts = [0.0] * len(rows)
        for number, part in enumerate(series):
            widths = [values[number] for _, values in rows]
            axes.barh(
                names,
                widths,
                left=starts,
                label=part,
                color=COLOURS[number % len(COLOURS)],
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor="white",
                height=0.6,
            )
            starts = [start + width for start, width in zip(starts, widths, strict=True)]
        for position, total in enumerate(starts):
            axes.text(total + max(starts) / 100, position, f"{total:,.0f} {unit}", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, max(starts) * 1.15)
        axes.set_xlabel(unit)
        axes.legend(frameon=False, ncols=len(series), loc="lower center", bbox_to_anchor=(0.5, 1.0))

    parts = [
        f"{name}: " + ", ".join(f"{part} {value:,.0f}" for part, value in zip(series, values, strict=True)) + f" {unit}"
        for name, values in rows
    ]
    return draw(paint, caption=caption, words="\n".join(parts), size_inches=(9.0, 1.3 + 0.55 * len(rows)))
