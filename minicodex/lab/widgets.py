"""The thin layer: a view and the controls that change it. All logic is in the views, here is only wiring.

Why no Output widgets and no `interact`: both write into the notebook from behind, which neither a test nor a second
copy of the widget survives. A pane of HTML has a value, and the value is a pure function of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import ipywidgets as w

from minicodex.lab.html import Html, tag
from minicodex.lab.predict import Prediction
from minicodex.lab.view import View

__all__ = ["Live", "button", "picker", "predict", "row", "switch"]

State = TypeVar("State", bound=View)

Sync = Callable[[State], None]


class Live(w.VBox, Generic[State]):  # type: ignore[misc]
    """A view that can be driven: controls above, the drawn state below.

    Where there is no front end it is shown as the text of its state, and the tests compare that text.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._sync: Sync[State] = lambda _state: None
        self.pane = w.HTML(_held(state), layout=w.Layout(margin="4px 0 0", width="100%", overflow="visible"))
        super().__init__([self.pane], layout=w.Layout(width="100%", overflow="visible"))

    def driven_by(self, *controls: w.Widget, sync: Sync[State] | None = None) -> Live[State]:
        """Put controls above the pane. `sync` brings them in line with a state that changed by other means."""
        self._sync = sync or self._sync
        self.children = (*controls, self.pane)
        self._sync(self._state)
        return self

    @property
    def state(self) -> State:
        return self._state

    def show(self, state: State) -> None:
        """Go to a state: the pane is drawn anew, the controls follow."""
        if state == self._state:
            return
        self._state = state
        self.pane.value = _held(state)
        self._sync(state)

    def do(self, reduce: Callable[[State], State]) -> None:
        """Go to the state that a reducer makes of this one."""
        self.show(reduce(self._state))

    def text(self) -> str:
        return self._state.text()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**options), "text/plain": self.text()}


def _held(state: View) -> Html:
    """The drawn state in a box that cannot grow past the cell: what is wider scrolls inside."""
    return tag("div", state.html(), style="display: grid; grid-template-columns: minmax(0, 1fr)")


# --- controls: stock widgets, each with a name that is read out ------------------------------------------------------


def button(label: str, action: Callable[[], None], *, hint: str = "") -> w.Button:
    """Does something when it is pressed."""
    control = w.Button(
        description=label, tooltip=hint or label, layout=w.Layout(width="auto", margin="2px 8px 2px 2px")
    )
    control.on_click(lambda _button: action())
    return control


def picker(label: str, options: Mapping[str, Any] | Sequence[str], action: Callable[[Any], None]) -> w.Dropdown:
    """One of several. A mapping goes from what is shown to what the action gets.

    The widget's own value is always the shown text: a stock dropdown cannot hold None as a value.
    """
    meant = options if isinstance(options, Mapping) else None
    control = w.Dropdown(
        options=list(options),
        description=label,
        style={"description_width": "initial"},
        layout=w.Layout(width="max-content", max_width="100%", margin="2px 16px 2px 2px"),
    )
    control.observe(lambda change: action(meant[change["new"]] if meant else change["new"]), "value")
    return control


def switch(label: str, action: Callable[[bool], None], *, on: bool = False) -> w.Checkbox:
    """On or off."""
    layout = w.Layout(width="max-content", margin="2px 16px 2px 2px")
    control = w.Checkbox(value=on, description=label, indent=False, layout=layout)
    control.observe(lambda change: action(change["new"]), "value")
    return control


def row(*controls: w.Widget) -> w.HBox:
    """Controls side by side, on a second line where there is no room."""
    return w.HBox(list(controls), layout=w.Layout(flex_flow="row wrap", align_items="center", width="100%"))


# --- the prediction --------------------------------------------------------------------------------------------------


def predict(prediction: Prediction) -> Live[Prediction]:
    """The question with one button for each choice."""
    live = Live(prediction)
    answers: Iterable[tuple[str, str]] = zip(
        prediction.letters, (choice.claim for choice in prediction.choices), strict=True
    )
    buttons = [
        button(letter, lambda letter=letter: live.do(lambda asked: asked.answer(letter)), hint=claim)  # type: ignore[misc]
        for letter, claim in answers
    ]
    live.children = (live.pane, row(*buttons))
    return live
