"""What planning costs, as `tests/bench/planning.py` measured it on a thousand tools, and as a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from minicodex.lab.figures import COLOURS, Figure, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MEASURED", "planning_figure"]

MEASURED = Path(__file__).with_suffix(".json")
"""Written by `python -m tests.bench.planning --save`: ratios, so that the machine hardly matters."""


def planning_figure() -> Figure:
    """Planning for the first time, again, and with one tool changed."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    ratios: dict[str, float] = measured["ratios"]

    def paint(axes: Axes) -> None:
        axes.barh(list(ratios), list(ratios.values()), color=COLOURS[0], height=0.6)
        for position, ratio in enumerate(ratios.values()):
            axes.text(ratio + max(ratios.values()) / 100, position, f"{ratio:g}", va="center")
        axes.axvline(1, color="#595959", linestyle="--", linewidth=1)
        axes.invert_yaxis()
        axes.set_xlabel("times one parsing and writing of the same schemas as JSON (dashed: 1)")

    words = [f"{name}: {ratio:g}" for name, ratio in ratios.items()]
    caption = (
        f"Planning a step of {measured['tools']:,} tools, in units of one JSON round trip of their schemas. "
        f"{measured['plans']} live plans of one list take {measured['memory_ratio']:g} times the memory of one."
    )
    return draw(paint, caption=caption, words="\n".join(words), size_inches=(9.0, 2.4))
