"""The wiring: a control changes the state, the pane follows, nothing else moves."""

from dataclasses import dataclass, replace

from minicodex.lab.html import Html, tag
from minicodex.lab.predict import Choice, Prediction
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, predict, row, switch


@dataclass(frozen=True, repr=False)
class Lamp(View):
    on: bool = False
    colour: str = "red"

    def text(self) -> str:
        return f"{self.colour}, {'on' if self.on else 'off'}"

    def html(self) -> Html:
        return tag("p", self.text())


def test_pane_shows_the_state():
    live = Live(Lamp())
    live.show(Lamp(on=True))
    assert "<p>red, on</p>" in live.pane.value
    assert live.text() == "red, on"


def test_equal_state_is_not_drawn_again():
    live, drawn = Live(Lamp()), []
    live.pane.observe(lambda change: drawn.append(change["new"]), "value")
    live.show(Lamp())
    live.show(Lamp(on=True))
    live.show(Lamp(on=True))
    assert ["<p>red, on</p>" in html for html in drawn] == [True]


def test_controls_reduce_the_state_and_follow_it():
    live = Live(Lamp())
    on = switch("on", lambda on: live.do(lambda lamp: replace(lamp, on=on)))
    colour = picker("colour", {"red": "red", "blue": "blue"}, lambda to: live.do(lambda lamp: replace(lamp, colour=to)))
    reset = button("reset", lambda: live.show(Lamp()))

    def sync(lamp):
        on.value, colour.value = lamp.on, lamp.colour

    live.driven_by(row(on, colour, reset), sync=sync)
    on.set_state({"value": True})  # the way a front end uses
    colour.set_state({"index": 1})
    assert live.text() == "blue, on"
    reset.click()
    assert (live.text(), on.value, colour.value) == ("red, off", False, "red")


def test_every_control_has_a_name_to_read_out():
    pressed = button("next", print, hint="one event forth")
    assert (pressed.description, pressed.tooltip) == ("next", "one event forth")
    assert picker("tool", ["a"], print).description == "tool"
    assert switch("strict", print).description == "strict"


def test_text_form_stands_in_for_the_widget():
    bundle = Live(Lamp())._repr_mimebundle_()
    assert bundle["text/plain"] == "red, off"
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_prediction_widget_answers_and_two_of_them_are_independent():
    asked = Prediction("Which?", (Choice("this", "yes", right=True), Choice("that", "no")))
    first, second = predict(asked), predict(asked)
    first.children[1].children[1].click()
    assert first.state.chosen == "b"
    assert "you chose b" in first.pane.value
    assert second.state.chosen is None
    assert [control.tooltip for control in second.children[1].children] == ["this", "that"]


def test_picker_can_mean_none():
    chosen = []
    control = picker("defer_loading", {"absent": None, "false": False, "true": True}, chosen.append)
    for index in (1, 0, 2, 0):
        control.set_state({"index": index})
    assert chosen == [False, None, True, None]
