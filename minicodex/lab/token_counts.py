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

from minicodex.lab.figures import Figure
from minicodex.lab.scatter_picture import Plane, scatter_picture
from minicodex.lab.view import counted
from minicodex.schema import BUDGET_BYTES

__all__ = ["EVERYDAY", "Corpus", "bytes_against_tokens", "token_counts"]

EVERYDAY = "everyday tools"
"""The corpus that stands for what people publish; seeded, so always the same."""

MIN_BYTES = 300
"""Smaller schemas are left out of the ratio: their few bytes are mostly punctuation."""

PLANE = Plane(8_000, 5_500, "bytes of compact JSON", "tokens", x_step=1_000, y_step=1_000)
"""What the figure shows."""


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
        around = f" (from {fewest:,} to {most:,})" if len(self.rows) > 1 else ""
        ratio = f"{counted(len(self.rows), 'schema')}, {median(self.bytes_per_token):.2f} bytes a token"
        return f"{self.name}: {ratio}; {BUDGET_BYTES:,} bytes are {middle:,} tokens{around}"


@cache
def token_counts() -> Mapping[str, Corpus]:
    """Every corpus by its name."""
    data = json.loads(files("minicodex.lab").joinpath("token_counts.json").read_text(encoding="utf-8"))
    return {name: Corpus(name, [(size, tokens) for size, tokens in rows]) for name, rows in data["corpora"].items()}


def bytes_against_tokens() -> Figure:
    """Every schema as a point, the budget as a line."""
    corpora = token_counts()
    points = {name: corpus.rows for name, corpus in corpora.items()}
    picture = scatter_picture(
        PLANE,
        points,
        slope=corpora[EVERYDAY].tokens_in(BUDGET_BYTES)[1] / BUDGET_BYTES,
        limit=BUDGET_BYTES,
        limit_label=f"the budget, {BUDGET_BYTES:,} bytes",
    )
    everyone = [row for rows in points.values() for row in rows]
    hidden = sum(not PLANE.holds(*row) for row in everyone)
    caption = f"Bytes and tokens of {len(everyone)} schemas; {hidden} are too large for the figure"
    return Figure(picture, caption, "\n".join(corpus.words for corpus in corpora.values()))
