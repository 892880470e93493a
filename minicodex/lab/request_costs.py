"""What a request body costs, as `tests/bench/requests.py` measured it on a thousand tools, and as a figure."""

from __future__ import annotations

import json
from pathlib import Path

from minicodex.lab.figures import Figure
from minicodex.lab.measured_ratios import ratio_bars

__all__ = ["MEASURED", "request_figure"]

MEASURED = Path(__file__).with_suffix(".json")
"""Written by `python -m tests.bench.requests --save`."""


def request_figure() -> Figure:
    """A body written the plain way, and one that embeds what was encoded once."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    caption = (
        f"Writing one request body of {measured['tools']:,} tools ({measured['body_bytes']:,} bytes), in units of one "
        "JSON round trip of their schemas."
    )
    base = "one parsing and writing of the same schemas as JSON"
    return ratio_bars(measured["ratios"], base=base, caption=caption)
