"""A slider: one of the bench's controls, moved by mouse or by arrow keys."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

__all__ = ["slider"]


def slider(label: str, low: int, high: int, action: Callable[[int], None], *, value: int | None = None) -> w.IntSlider:
    """A whole number between two others, both included. It acts while it is moved."""
    control = w.IntSlider(
        value=low if value is None else value,
        min=low,
        max=high,
        description=label,
        style={"description_width": "initial"},
        layout=w.Layout(width="26em", max_width="100%", margin="2px 16px 2px 2px"),
    )
    control.observe(lambda change: action(change["new"]), "value")
    return control
