"""A turn as a picture: who sent what to whom, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from minicodex.dispatch import ModelCustomCall, ModelFunctionCall
from minicodex.lab.figures import COLOURS, Figure, draw
from minicodex.lab.view import counted
from minicodex.naming import ToolName
from minicodex.turn import Event, Turn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["turn_sequence"]

LANES = ("the model", "minicodex", "the tool's code")
_MODEL, _RUNTIME, _CODE = range(len(LANES))


def turn_sequence(turn: Turn) -> Figure:
    """Three lanes, one arrow for each thing that crosses from one to another."""
    arrows = [arrow for event in turn.events for arrow in _arrows(event)]
    words = "\n".join(f"{LANES[start]} → {LANES[end]}: {label}" for start, end, label in arrows)
    caption = "The model and the tool's code never touch. Both speak to `minicodex` only, and always in text."

    def paint(axes: Axes) -> None:
        height = len(arrows)
        for lane, name in enumerate(LANES):
            axes.plot([lane, lane], [0.3, height + 0.4], color="#8c8c8c", linewidth=1, linestyle=(0, (4, 3)))
            box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": COLOURS[lane], "linewidth": 2}
            axes.text(lane, 0, name, ha="center", va="center", fontweight="bold", bbox=box)
        for row, (start, end, label) in enumerate(arrows, 1):
            colour = COLOURS[start]
            axes.annotate(
                "",
                xy=(end, row),
                xytext=(start, row),
                arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2},
            )
            axes.text((start + end) / 2, row - 0.14, label, ha="center", va="bottom")
        axes.set_xlim(-0.2, len(LANES) - 0.8)
        axes.set_ylim(height + 0.5, -0.5)
        axes.set_axis_off()

    return draw(paint, caption=caption, words=words, size_inches=(9.0, 0.8 + 0.55 * len(arrows)))


def _arrows(event: Event) -> Iterator[tuple[int, int, str]]:
    if event.kind == "request":
        yield _RUNTIME, _MODEL, f"request: manual, {counted(len(event.payload['input']), 'item')} of history"
    elif event.kind == "answer":
        for item in event.payload:
            words = (
                "a call: name, id, arguments as text" if str(item["type"]).endswith("_call") else "an answer in words"
            )
            yield _MODEL, _RUNTIME, words
    elif event.kind == "call" and isinstance(event.payload, (ModelFunctionCall, ModelCustomCall)):
        yield _RUNTIME, _CODE, f"{ToolName.of(event.payload.canonical_name).name}: the text"
    elif event.kind == "result":
        yield _CODE, _RUNTIME, f"result for {event.payload.call_id}"
