"""The trace as text for a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from minicodex.json_text import shorten
from minicodex.printable import printable

if TYPE_CHECKING:
    from minicodex.schema.losses import Loss
    from minicodex.schema.trace import SchemaTrace, StageTrace

__all__ = ["text_of_trace"]

WIDTH = 100
MAX_PLACES = 6
"""Places that are listed for one rule; the rest is counted."""


def text_of_trace(trace: SchemaTrace) -> str:
    """Stages with their sizes, under each what it lost, at the end the proof or the refusal."""
    lines = [line for stage in trace.stages for line in _stage(stage)]
    return "\n".join([*lines, *_verdict(trace)])


def _stage(stage: StageTrace) -> Iterator[str]:
    mark = "ran    " if stage.ran else "skipped"
    yield f"{stage.name:<32}{stage.size_bytes:>9,} bytes   {mark} {stage.why}"[:WIDTH]
    by_rule: dict[tuple[str, str], list[Loss]] = {}
    for loss in stage.losses:
        by_rule.setdefault((loss.effect.value, loss.sentence), []).append(loss)
    for (effect, sentence), losses in by_rule.items():
        yield from wrap(f"{effect.replace('_', ' ')}: {sentence}", WIDTH, initial_indent="  ", subsequent_indent="    ")
        for loss in losses[:MAX_PLACES]:
            yield "      " + _place(loss)
        if len(losses) > MAX_PLACES:
            yield f"      and {len(losses) - MAX_PLACES:,} more"


def _place(loss: Loss) -> str:
    place = printable(loss.at) or "(the root)"
    before, after = (shorten(value, 30) if value is not None else "nothing" for value in (loss.before, loss.after))
    change = f"  {before} -> {after}" if loss.after is not None else f"  {before}"
    return shorten_text(place, WIDTH - 6 - len(change)) + change


def _verdict(trace: SchemaTrace) -> Iterator[str]:
    yield ""
    if trace.error is not None:
        yield from wrap(f"refused ({trace.error.kind}): {trace.error}", WIDTH, subsequent_indent="  ")
        return
    assert trace.schema is not None
    yield f"sent: {trace.schema.size_bytes:,} bytes"
    if trace.witness is not None:
        words = {"accept": "allows", "reject": "refuses"}
        yield "proof of loss: " + shorten(trace.witness.arguments, WIDTH - 15)
        yield (
            f"  the author's schema {words[trace.witness.source]} it, "
            f"the compiled one {words[trace.witness.compiled]} it ({trace.witness.effect.value})"
        )
    elif any(loss.is_felt for loss in trace.losses):
        yield "no arguments were found that prove a loss; that is no proof that there is none"
    else:
        yield "nothing was lost that arguments could show"


def shorten_text(text: str, limit: int) -> str:
    """A text of at most so many characters; the middle goes."""
    if len(text) <= limit:
        return text
    half = max((limit - 1) // 2, 1)
    return text[:half] + "…" + text[-half:]
