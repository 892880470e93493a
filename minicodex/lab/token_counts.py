"""Bytes against tokens: counts of a real tokenizer over some hundred schemas, as data and as a figure.

`tests/bench/tokens.py` counts and writes the data. Here nothing is counted: a learner needs no tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING

from minicodex.lab.figures import COLOURS, Figure, draw
from minicodex.schema import BUDGET_BYTES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EVERYDAY", "Corpus", "bytes_against_tokens", "token_counts"]

EVERYDAY = "everyday tools"
"""The corpus that stands for what people publish; seeded, so always the same."""

MIN_BYTES = 300
"""Smaller schemas are left out of the ratio: their few bytes are mostly punctuation."""

MAX_BYTES_DRAWN, MAX_TOKENS_DRAWN = 8_000, 5_500

_MARKERS = ("o", "s", "x")


@dataclass(frozen=True)
class Corpus:
    """Schemas of one kind."""

    name: str
    rows: Sequence[tuple[int, int]]
    """Bytes and tokens of each."""

    @cached_property
    def bytes_per_token(self) -> list[float]:
        """Of each schema that is large enough, sorted."""
        return sorted(size / tokens for size, tokens in self.rows if size >= MIN_BYTES)

    def tokens_in(self, size_bytes: int) -> tuple[int, int, int]:
        """So many bytes hold how many tokens: at the least, at the median, at the most."""
        ratios = self.bytes_per_token
        fewest, middle, most = size_bytes / ratios[-1], size_bytes / median(ratios), size_bytes / ratios[0]
        return round(fewest), round(middle), round(most)

    @property
    def words(self) -> str:
        fewest, middle, most = self.tokens_in(BUDGET_BYTES)
        return (
            f"{self.name}: {len(self.rows)} schemas, {median(self.bytes_per_token):.2f} bytes a token; "
            f"{BUDGET_BYTES:,} bytes are {middle:,} tokens (from {fewest:,} to {most:,})"
        )


@cache
def token_counts() -> Mapping[str, Corpus]:
    """Every corpus by its name."""
    data = json.loads(files("minicodex.lab").joinpath("token_counts.json").read_text(encoding="utf-8"))
    return {name: Corpus(name, [(size, tokens) for size, tokens in rows]) for name, rows in data["corpora"].items()}


def bytes_against_tokens() -> Figure:
    """Every schema as a point, the budget as a line."""
    corpora = list(token_counts().values())

    def paint(axes: Axes) -> None:
        for number, corpus in enumerate(reversed(corpora)):
            colour, marker = COLOURS[len(corpora) - 1 - number], _MARKERS[len(corpora) - 1 - number]
            sizes, tokens = [row[0] for row in corpus.rows], [row[1] for row in corpus.rows]
            axes.scatter(sizes, tokens, s=16, marker=marker, color=colour, alpha=0.65, label=corpus.name, linewidths=1)
        axes.axvline(BUDGET_BYTES, color="#555555", linestyle=(0, (5, 4)))
        axes.text(BUDGET_BYTES + 60, MAX_TOKENS_DRAWN * 0.93, f"the budget, {BUDGET_BYTES:,} bytes", va="top")
        middle = token_counts()[EVERYDAY].tokens_in(MAX_BYTES_DRAWN)[1]
        axes.plot([0, MAX_BYTES_DRAWN], [0, middle], color=COLOURS[0], linewidth=1)
        axes.set(xlim=(0, MAX_BYTES_DRAWN), ylim=(0, MAX_TOKENS_DRAWN), xlabel="bytes of compact JSON", ylabel="tokens")
        axes.legend(frameon=False, loc="upper left")

    hidden = sum(size > MAX_BYTES_DRAWN or tokens > MAX_TOKENS_DRAWN for c in corpora for size, tokens in c.rows)
    caption = f"Bytes and tokens of {sum(len(c.rows) for c in corpora)} schemas; {hidden} are too large for the figure"
    return draw(paint, caption=caption, words="\n".join(c.words for c in corpora), size_inches=(9.0, 4.0))
