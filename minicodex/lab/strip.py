"""The lifecycle strip: eight boxes in a row, and you are here."""

from __future__ import annotations

from dataclasses import dataclass

from minicodex.lab.html import FAINT, GROUND, INK, LINE, Html, Pill, tag
from minicodex.lab.view import View

__all__ = ["STAGES", "LifecycleStrip"]

STAGES = ("schema", "contract", "implementation", "plan", "request", "call", "dispatch", "result")
"""A contract's life. Left of `call` the runtime speaks, right of it the runtime listens."""

_HERE = Pill("●", "you are here", ground="#0b4f8a", ink="#ffffff")


@dataclass(frozen=True, repr=False)
class LifecycleStrip(View):
    """The eight stages, with any of them marked."""

    here: frozenset[str] = frozenset()

    @classmethod
    def at(cls, *stages: str) -> LifecycleStrip:
        """The strip with these stages marked.

        Raises:
            ValueError: there is no stage of that name.
        """
        for stage in stages:
            if stage not in STAGES:
                raise ValueError(f"no stage is called {stage!r}; they are {', '.join(STAGES)}")
        return cls(frozenset(stages))

    def text(self) -> str:
        return " → ".join(f"[{stage.upper()}]" if stage in self.here else stage for stage in STAGES)

    def html(self) -> Html:
        boxes = [self._box(stage) for stage in STAGES]
        style = (
            "display: flex; flex-wrap: wrap; gap: .3em 0; font-size: 95%; list-style: none; margin: .2em 0; padding: 0"
        )
        return tag("ol", *boxes, aria_label="Life of a contract", style=style)

    def _box(self, stage: str) -> Html:
        here = stage in self.here
        colours = f"background: {_HERE.ground}; color: {_HERE.ink}; font-weight: 600" if here else f"color: {INK}"
        box = f"{colours}; border: 1px solid {_HERE.ground if here else LINE}; border-radius: 4px; padding: .1em .4em"
        ground = "" if here else f"; background: {GROUND}"
        arrow = (
            ""
            if stage == STAGES[-1]
            else tag("span", "→", aria_hidden="true", style=f"color: {FAINT}; padding: 0 .2em")
        )
        name = tag("span", f"{_HERE.sign} {stage}" if here else stage, style=box + ground)
        return tag("li", name, arrow, aria_current="step" if here else None, style="margin: 0")
