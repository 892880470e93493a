"""Forty argument texts that something is wrong with, as data: the patients of the clinic.

All of them were seen from models or are one step from what was seen. Each is meant for one of the two tools of the
course. What becomes of a text is not written here: the runtime says it, and a test holds the two together.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from minicodex.samples import PLAN_ARGUMENTS

__all__ = ["CASES", "GOOD", "Case", "case"]


class Case(NamedTuple):
    """One argument text, and what is odd about it."""

    name: str
    tool: str
    text: str


EVENT: dict[str, Any] = {
    "title": "Lunch",
    "duration": 45,
    "start": {"local": "2031-04-05T12:30", "zone": "Europe/Lisbon"},
}
"""A good call of `create_event`."""


def _event(**changes: Any) -> str:
    """The good event with some fields changed; `...` takes a field out."""
    return json.dumps({key: value for key, value in (EVENT | changes).items() if value is not ...})


def _plan(*items: Any) -> str:
    return json.dumps({"plan": list(items)})


_READ = {"step": "Read", "status": "completed"}
_WRITE = {"step": "Write", "status": "in_progress"}
_EVENT_TEXT = json.dumps(EVENT)

GOOD = (
    Case("a good plan", "update_plan", json.dumps(PLAN_ARGUMENTS)),
    Case("a good event", "create_event", _EVENT_TEXT),
)
"""Two texts with nothing wrong, to compare."""

CASES = (
    # not JSON at all, or no longer
    Case("not JSON", "update_plan", "I would like to set a plan."),
    Case("JSON in a fence of Markdown", "update_plan", f"```json\n{_plan(_READ)}\n```"),
    Case("cut in the middle", "create_event", _EVENT_TEXT[:38]),
    Case("cut at the last brace", "create_event", _EVENT_TEXT[:-1]),
    Case("trailing comma", "update_plan", '{"plan": [{"step": "Read", "status": "completed"},]}'),
    Case("single quotes", "update_plan", str({"plan": [_READ]})),
    Case("keys without quotes", "create_event", '{title: "Lunch", duration: 45}'),
    Case("a comment", "update_plan", '{"plan": [] /* nothing yet */}'),
    Case("two objects", "create_event", _EVENT_TEXT + _EVENT_TEXT),
    Case("words behind the object", "update_plan", _plan(_READ) + " Done!"),
    Case("a byte order mark", "update_plan", "\ufeff" + _plan(_READ)),
    Case("a line break in a string", "create_event", '{"title": "Lunch\nwith Ada", "duration": 45}'),
    # JSON that not everybody reads alike
    Case("NaN", "create_event", _event(duration="#").replace('"#"', "NaN")),
    Case("a number too large to be one", "create_event", _event(duration="#").replace('"#"', "1e999")),
    Case("the same key twice", "create_event", _EVENT_TEXT[:-1] + ', "duration": 4500}'),
    Case("half of an emoji", "create_event", _event(title="#").replace("#", "\\ud83c")),
    Case("200 lists inside each other", "update_plan", '{"plan": ' + "[" * 200 + "]" * 200 + "}"),
    # JSON, but not one object with the right fields
    Case("nothing", "update_plan", ""),
    Case("null", "update_plan", "null"),
    Case("a bare list", "update_plan", json.dumps([_READ, _WRITE])),
    Case("a bare string", "create_event", '"Lunch at half past twelve"'),
    Case("encoded twice", "create_event", json.dumps(_EVENT_TEXT)),
    Case("wrapped in one more object", "create_event", json.dumps({"arguments": EVENT})),
    Case("no fields", "create_event", "{}"),
    Case("one field missing", "create_event", _event(duration=...)),
    Case("one field missing deep inside", "update_plan", _plan(_READ, {"step": "Write"})),
    Case("a field that is not known", "create_event", _event(urgent=True)),
    Case("a field misspelt", "create_event", _event(duration=..., duraton=45)),
    Case("a field with a letter that only looks right", "update_plan", _plan(_READ).replace("plan", "pl\u0430n")),
    # the right fields, the wrong values
    Case("a number as text", "create_event", _event(duration="45")),
    Case("a number with its unit", "create_event", _event(duration="45 minutes")),
    Case("half a minute", "create_event", _event(duration=0.5)),
    Case("a list as text", "update_plan", json.dumps({"plan": json.dumps([_READ])})),
    Case("an object as text", "create_event", _event(start="2031-04-05T12:30")),
    Case("null for an optional field", "create_event", _event(visibility=None)),
    Case("a word that is not in the list", "update_plan", _plan({"step": "Read", "status": "done"})),
    Case("hours where minutes are meant, and none", "create_event", _event(duration=0)),
    Case("a title of 20,000 characters", "create_event", _event(title="Lunch " * 3_333 + "!!")),
    Case("a list where one word belongs", "update_plan", _plan({"step": ["Read"], "status": "completed"})),
    # everything fits, and yet
    Case("two steps in progress", "update_plan", _plan({"step": "Read", "status": "in_progress"}, _WRITE)),
)
"""The forty."""


def case(name: str) -> Case:
    """A case by its name.

    Raises:
        KeyError: there is none.
    """
    return {case.name: case for case in (*GOOD, *CASES)}[name]
