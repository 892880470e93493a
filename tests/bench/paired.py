"""Timing in pairs: a block of work between two blocks of a base, so that a machine that slows down slows both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

Work = Callable[[], object]


def seconds(work: Work, times: int) -> float:
    """How long so many runs take."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return time.perf_counter() - start


def paired_ratio(work: Work, base: Work, *, pairs: int = 31, block_s: float = 0.004) -> float:
    """Median time of one run of `work` over one run of `base`.

    Args:
        pairs: blocks of work, each between two blocks of the base.
        block_s: seconds that a block should take at least; quick work is repeated.
    """
    work(), base()
    of_work = max(1, round(block_s / max(seconds(work, 1), 1e-9)))
    of_base = max(1, round(block_s / max(seconds(base, 1), 1e-9)))
    ratios = []
    for _ in range(pairs):
        before, own, after = seconds(base, of_base), seconds(work, of_work), seconds(base, of_base)
        ratios.append((own / of_work) / ((before + after) / (2 * of_base)))
    return statistics.median(ratios)
