"""Figures of what a benchmark measured: ratios, so that the machine hardly matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from minicodex.lab.figures import COLOURS, Figure, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ratio_bars"]


def ratio_bars(ratios: Mapping[str, float], *, base: str, caption: str) -> Figure:
    """A lying bar for each ratio, and a dashed line at 1.

    Args:
        ratios: name to ratio, in the order in which they are drawn.
        base: what 1 stands for.
        caption: the sentence below the figure.
    """

    def paint(axes: Axes) -> None:
        axes.barh(list(ratios), list(ratios.values()), color=COLOURS[0], height=0.6)
        for position, ratio in enumerate(ratios.values()):
            axes.text(ratio + max(*ratios.values(), 1) / 100, position, f"{ratio:g}", va="center")
        axes.axvline(1, color="#595959", linestyle="--", linewidth=1)
        axes.invert_yaxis()
        axes.set_xlabel(f"times {base} (dashed: 1)")

    words = [f"{name}: {ratio:g}" for name, ratio in ratios.items()]
    return draw(paint, caption=caption, words="\n".join(words), size_inches=(9.0, 0.9 + 0.5 * len(ratios)))
