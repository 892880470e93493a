"""What planning costs, as `tests/bench/planning.py` measured it on a thousand tools, and as a figure."""

from __future__ import annotations

import json
from pathlib import Path

from minicodex.lab.figures import Figure
from minicodex.lab.measured_ratios import ratio_bars

__all__ = ["MEASURED", "planning_figure"]

MEASURED = Path(__file__).with_suffix(".json")
"""Written by `python -m tests.bench.planning --save`."""


def planning_figure() -> Figure:
    """Planning for the first time, again, and with one tool changed."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    caption = (
        f"Planning a step of {measured['tools']:,} tools, in units of one JSON round trip of their schemas. "
        f"{measured['plans']} live plans of one list take {measured['memory_ratio']:g} times the memory of one."
    )
    base = "one parsing and writing of the same schemas as JSON"
    return ratio_bars(measured["ratios"], base=base, caption=caption)
