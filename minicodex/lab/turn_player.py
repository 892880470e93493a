"""The turn player: go through what happened in a turn, event by event.

A turn leaves a transcript, so nothing is run again here. For each event the player shows whose move it is, the room of
the package, the object in hand, and the history with what this event added. It takes several turns, so that a broken
one can be laid beside a whole one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minicodex.history import wire
from minicodex.lab.html import Html, Pill, heading, panel, prose, tag
from minicodex.lab.json_diff import ABSENT, Mark, one_line
from minicodex.lab.json_view import JsonView
from minicodex.lab.strip import LifecycleStrip
from minicodex.lab.view import View, counted
from minicodex.lab.widgets import Live, button, picker, row
from minicodex.turn import Event, Turn

__all__ = ["TurnPlayer", "item_line", "turn_player"]

LINE_CHARS = 70
"""Most characters of a call's arguments or output in the history."""

_OURS = Pill("◆", "our side", ground="#d3e6fb", ink="#062c57")
_THEIRS = Pill("◇", "the model's side", ground="#e8daf8", ink="#35105e")

_STORY: dict[str, tuple[tuple[str, ...], str]] = {
    "plan": (("plan",), "One pass over the tools gives two tables: what the model sees, and what can run."),
    "update": (
        ("request",),
        "Since the model was last told, its tools have changed. Items with the news are put into the history.",
    ),
    "request": (("request",), "Instructions, history and contracts become one text. No function is in it."),
    "answer": (("call",), "The model has read that text, and has written a text. It has run nothing."),
    "dropped": (("call",), "An item that cannot be read is neither kept nor answered. Here it is at least recorded."),
    "call": (
        ("call",),
        "The text became a call. Its name is looked up in the table of this step; its arguments are text.",
    ),
    "result": (
        ("dispatch", "result"),
        "The handler decoded the arguments and, if they fitted, ran. One call, one result, the same id.",
    ),
    "end": ((), "The model asked for no more calls, or a limit was met. The turn is over."),
}
"""Event kind to its places on the strip and what happens there."""


@dataclass(frozen=True, repr=False)
class TurnPlayer(View):
    """One or more turns, and the event that is being looked at."""

    turns: Mapping[str, Turn]
    """The turns by the names under which they are offered."""
    name: str = ""
    """The turn on show; the first one by default."""
    index: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or next(iter(self.turns)))

    # --- reducers -----------------------------------------------------------------------------------------------

    def at(self, label: str) -> TurnPlayer:
        """To an event by its label."""
        return self.go(self.labels.index(label))

    def go(self, index: int) -> TurnPlayer:
        """To an event by its number from 0; beyond either end is the end."""
        return replace(self, index=max(0, min(index, len(self.turn.events) - 1)))

    def step(self, count: int) -> TurnPlayer:
        """Forth, or back with a negative count."""
        return self.go(self.index + count)

    def play(self, name: str) -> TurnPlayer:
        """Another turn, from its start."""
        return self if name == self.name else replace(self, name=name, index=0)

    # --- what is on show ----------------------------------------------------------------------------------------

    @property
    def turn(self) -> Turn:
        return self.turns[self.name]

    @property
    def event(self) -> Event:
        return self.turn.events[self.index]

    @property
    def labels(self) -> list[str]:
        """One line for each event, for a list to choose from."""
        return [f"{number}. {event.kind}: {event.summary}" for number, event in enumerate(self.turn.events, 1)]

    @cached_property
    def history(self) -> tuple[tuple[Any, bool], ...]:
        """The items so far, each with whether this very event added it."""
        before, after = self._items_after(self.index - 1), self._items_after(self.index)
        return tuple((item, number >= before) for number, item in enumerate(wire(self.turn.history)[:after]))

    def _items_after(self, index: int) -> int:
        """How long the history is after an event. Answers add what could be read of them, results their output."""
        added = [_items_added(self.turn.events, position) for position in range(len(self.turn.events))]
        return len(self.turn.history) - sum(added[max(index + 1, 0) :])

    @cached_property
    def in_hand(self) -> JsonView:
        """The object of this event as JSON. A request is compared with the one before it."""
        event = self.event
        before = ABSENT
        if event.kind == "request":
            earlier = [other.payload for other in self.turn.events[: self.index] if other.kind == "request"]
            before = earlier[-1] if earlier else ABSENT
        return JsonView(_plain(event), before, open_at=("/input",), open_depth=1)

    # --- twins --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        event, (stages, story) = self.event, _STORY[self.event.kind]
        lines = [
            f"{self.name}: event {self.index + 1} of {len(self.turn.events)}, {event.kind} ({event.step_id})",
            f"{_side(event).word}, {_place(event)}: {event.summary}",
            *([LifecycleStrip.at(*stages).text()] if stages else []),
            story,
            "in hand:",
            self.in_hand.text(),
            f"history ({counted(len(self.history), 'item')}):",
            *(f"{Mark.NEW.value.sign if new else ' ':<3}{item_line(item)}" for item, new in self.history),
        ]
        return "\n".join(lines)

    def html(self) -> Html:
        event, (stages, story) = self.event, _STORY[self.event.kind]
        title = heading(
            f"Event {self.index + 1} of {len(self.turn.events)}: {event.kind}", f"{event.step_id} · {event.summary}"
        )
        where = tag("p", _side(event).html(), " ", prose(f"`{_place(event)}`"), " ", story, style="margin: .5em 0")
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: .9em"
        hand = _window("In hand", "", self.in_hand.html())
        past = _window("History", counted(len(self.history), "item"), self._history_html())
        strip = LifecycleStrip.at(*stages).html()
        return panel(title, strip, where, tag("div", hand, past, style=columns), label=f"Turn: {self.name}")

    def _history_html(self) -> Html:
        items = [
            tag("li", *([Mark.NEW.value.html(), " "] if new else []), item_line(item), style="margin: .15em 0")
            for item, new in self.history
        ]
        return tag("ol", *items, style="margin: 0; padding-left: 1.8em")


def _window(title: str, note: str, body: Html) -> Html:
    """A part that scrolls, with the keyboard too: its height is always the same, so the buttons stay where they are."""
    box = tag("div", body, role="region", aria_label=title, tabindex="0", style="height: 20em; overflow: auto")
    return tag("div", heading(title, note), box, style="min-width: 0")


def _items_added(events: tuple[Event, ...], index: int) -> int:
    event = events[index]
    if event.kind == "answer":
        dropped = 0
        while events[index + 1 + dropped].kind == "dropped":
            dropped += 1
        return len(event.payload) - dropped
    return len(event.payload) if event.kind == "update" else int(event.kind == "result")


def _side(event: Event) -> Pill:
    return _THEIRS if event.kind == "answer" else _OURS


def _place(event: Event) -> str:
    return f"minicodex/{event.room}" + ("/" if event.room == "models" else ".py")


def _plain(event: Event) -> Any:
    """The payload as JSON: what a plan decided, what a call or result holds."""
    payload = event.payload
    if event.kind == "plan":
        return {
            "contracts": [str(decision.name) for decision in payload if decision.visible],
            "dispatch": [str(decision.name) for decision in payload if decision.dispatchable],
            "decisions": {str(decision.name): decision.reason for decision in payload},
        }
    if event.kind == "call":
        return {key: str(value) if key == "canonical_name" else value for key, value in vars(payload).items()}
    return dict(vars(payload)) if event.kind == "result" else payload


def item_line(item: Mapping[str, Any]) -> str:
    """An item of the history in one line."""
    kind = str(item.get("type"))
    if kind == "message":
        return f"{item['role']}: {''.join(part.get('text', '') for part in item['content'])}"
    if kind.endswith("_output"):
        return f"output of {item['call_id']}: {_cut(item.get('output', item.get('tools')))}"
    if kind.endswith("_call"):
        return f"call {item['call_id']}: {item.get('name', kind)} {_cut(item.get('arguments', item.get('input')))}"
    return kind


def _cut(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else one_line(value)).split())
    return text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"


# --- the widget ------------------------------------------------------------------------------------------------------


def turn_player(turns: Mapping[str, Turn]) -> Live[TurnPlayer]:
    """Buttons to step, a list to jump, and a list of turns if there are several."""
    live: Live[TurnPlayer] = Live(TurnPlayer(turns))
    back = button("◀ back", lambda: live.do(lambda player: player.step(-1)), hint="one event back")
    forth = button("next ▶", lambda: live.do(lambda player: player.step(1)), hint="one event forth")
    events = picker("event", live.state.labels, lambda label: live.do(lambda player: player.at(label)))
    names = picker("turn", list(turns), lambda name: live.do(lambda player: player.play(name)))

    def sync(player: TurnPlayer) -> None:
        back.disabled, forth.disabled = player.index == 0, player.index == len(player.turn.events) - 1
        names.value = player.name
        if list(events.options) != player.labels:
            events.options = player.labels
        events.value = player.labels[player.index]

    return live.driven_by(row(*([names] if len(turns) > 1 else []), back, forth, events), sync=sync)
