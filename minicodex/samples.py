"""The few tools and scripts that every chapter and many tests use.

Two tools travel through the course. `update_plan` is ours and clean. `create_event` is a stranger's: over the budget,
with definitions that nobody uses, unions, a tuple-like list, limits and units that stand only in descriptions.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from minicodex.models.scripted import Answer, call, say
from minicodex.sources.builtin import update_plan_tool
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import ToolImplementation

__all__ = [
    "CREATE_EVENT_SCHEMA",
    "PLAN_ARGUMENTS",
    "EventBook",
    "create_event_tool",
    "plan_script",
    "update_plan_tool",
]

PLAN_ARGUMENTS: dict[str, Any] = {
    "explanation": "Two small steps.",
    "plan": [
        {"step": "Read the notes", "status": "completed"},
        {"step": "Write the summary", "status": "in_progress"},
    ],
}
"""A good call of `update_plan`."""


def plan_script() -> list[Answer]:
    """The course's first turn: one call of `update_plan`, then an answer in words."""
    return [call("update_plan", PLAN_ARGUMENTS), say("The plan is set.")]


class EventBook:
    """Where `create_event` writes: the side effect that must not happen by mistake."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def add(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.events.append(deepcopy(arguments))
        return {"id": f"evt_{len(self.events)}", "title": arguments["title"]}


def create_event_tool(book: EventBook | None = None) -> ToolImplementation:
    """The calendar tool, as an MCP server would offer it."""
    return dynamic_tool(
        "create_event",
        "Create a calendar event.",
        CREATE_EVENT_SCHEMA,
        (book or EventBook()).add,
        output_schema={
            "type": "object",
            "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
        },
    )


def _text(description: str, **rules: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **rules}


CREATE_EVENT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "CreateEventRequest",
    "type": "object",
    "description": "An event for the calendar. Times without a zone are taken as the calendar's own zone.",
    "properties": {
        "title": _text("Short title, shown in the day view. No line breaks.", minLength=1, maxLength=120),
        "duration": {
            "type": "integer",
            "description": "Length in minutes, not in hours. A whole-day event has 1440.",
            "minimum": 1,
            "maximum": 20160,
        },
        "start": {"$ref": "#/$defs/Moment", "description": "When it begins"},
        "visibility": {"enum": ["default", "public", "private"], "description": "Who may read the details"},
        "priority": {"enum": [1, 2, 3], "description": "1 is urgent"},
        "is_all_day": True,
        "place": {
            "description": "Where it happens: a room, an address, or a link for a call",
            "anyOf": [
                {"$ref": "#/$defs/Room"},
                {"$ref": "#/$defs/Address"},
                {"type": "string", "format": "uri"},
            ],
        },
        "corner": {
            "type": "array",
            "description": "Latitude and longitude of the meeting point, in degrees, in this order",
            "prefixItems": [
                {"type": "number", "minimum": -90, "maximum": 90},
                {"type": "number", "minimum": -180, "maximum": 180},
            ],
            "minItems": 2,
            "maxItems": 2,
        },
        "tags": {"type": "array", "description": "Free words for filters", "uniqueItems": True},
        "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}, "maxItems": 200},
        "repeat": {"$ref": "#/$defs/Recurrence"},
        "reminders": {
            "type": "array",
            "description": "Messages before the event. At most five; the earliest is sent first.",
            "maxItems": 5,
            "items": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "by": {"const": "email"},
                            "before": {
                                "type": "integer",
                                "description": "Minutes before the start",
                                "minimum": 0,
                            },
                            "template": {
                                "type": "object",
                                "description": "What the message looks like",
                                "properties": {
                                    "subject": _text("Subject line; {title} is replaced", maxLength=200),
                                    "body": _text("Plain text; {title} and {start} are replaced", maxLength=4000),
                                    "attachments": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "properties": {
                                                "name": _text("File name with its ending"),
                                                "url": _text("Where it can be fetched", format="uri"),
                                                "size": {"type": "integer", "description": "Size in bytes"},
                                            },
                                            "required": ["name", "url"],
                                        },
                                    },
                                },
                                "required": ["subject"],
                            },
                        },
                        "required": ["by", "before"],
                    },
                    {
                        "type": "object",
                        "properties": {
                            "by": {"const": "push"},
                            "before": {
                                "type": "integer",
                                "description": "Minutes before the start",
                                "minimum": 0,
                            },
                            "sound": {"type": "string", "enum": ["none", "bell", "chime"]},
                        },
                        "required": ["by", "before"],
                    },
                ]
            },
        },
        "call": {
            "description": "How to join from elsewhere. Leave it out for a meeting in one room.",
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "kind": {"const": "phone"},
                        "number": _text("Number to dial, with the country code and a leading +", pattern="^\\+\\d+$"),
                        "pin": _text("Digits to key in after the tone; shown to invited guests only"),
                    },
                    "required": ["kind", "number"],
                },
                {
                    "type": "object",
                    "properties": {
                        "kind": {"const": "video"},
                        "link": _text("Address of the room; it opens ten minutes before the start", format="uri"),
                        "record": {"type": "boolean", "description": "Needs the consent of every guest beforehand"},
                    },
                    "required": ["kind", "link"],
                },
            ],
        },
        "catering": {
            "type": "object",
            "description": "What the kitchen prepares. Orders close at noon on the day before.",
            "properties": {
                "portions": {"type": "integer", "description": "Portions, not guests: plan one and a half each"},
                "budget": {"type": "number", "description": "Upper limit in cents for the whole order", "minimum": 0},
                "diets": {
                    "type": "array",
                    "description": "Portions of each kind; the rest is served without restrictions",
                    "items": {
                        "type": "object",
                        "properties": {
                            "diet": {"type": "string", "enum": ["vegetarian", "vegan", "halal", "kosher", "no nuts"]},
                            "portions": {"type": "integer", "description": "Portions of this kind", "minimum": 1},
                        },
                        "required": ["diet", "portions"],
                    },
                },
            },
        },
        "metadata": {
            "type": "object",
            "description": "Anything that other programs want to keep with the event",
            "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": False,
        },
        "colour": {
            "description": "Colour in the month view, as a name or as six hex digits",
            "pattern": "^#?[a-z0-9]+$",
        },
    },
    "required": ["title", "start", "duration"],
    "additionalProperties": False,
    "$defs": {
        "Moment": {
            "type": "object",
            "description": "A point in time. Give either a local time with a zone, or an instant in UTC.",
            "properties": {
                "local": _text(
                    "Local date and time, for example 2031-04-05T09:30",
                    pattern="^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$",
                ),
                "zone": _text("Name of the time zone in the tz database, for example Europe/Lisbon"),
                "instant": _text("Instant in UTC, ending in Z", format="date-time"),
            },
            "anyOf": [{"required": ["local", "zone"]}, {"required": ["instant"]}],
        },
        "Room": {
            "type": "object",
            "properties": {
                "building": _text("Code of the building, two letters"),
                "room": _text("Number of the room, with its floor"),
                "seats": {
                    "type": "integer",
                    "description": "Seats needed; the booking fails if it has fewer",
                },
            },
            "required": ["building", "room"],
        },
        "Address": {
            "type": "object",
            "properties": {
                "street": _text("Street and number"),
                "city": _text("City or village"),
                "country": _text("Two-letter country code of ISO 3166", minLength=2, maxLength=2),
                "hint": _text("How to find the door, for people who come for the first time"),
            },
            "required": ["city", "country"],
        },
        "Guest": {
            "type": "object",
            "properties": {
                "email": _text("Address for the invitation", format="email"),
                "role": {"type": "string", "enum": ["chair", "required", "optional"], "default": "required"},
                "delegate": {"$ref": "#/$defs/Guest", "description": "Who comes instead"},
                "note": {"type": ["string", "null"], "description": "Shown to this guest only"},
            },
            "required": ["email"],
        },
        "Recurrence": {
            "type": "object",
            "description": "How it repeats. Without an end it repeats for two years.",
            "properties": {
                "every": {"type": "string", "enum": ["day", "week", "month", "year"]},
                "interval": {
                    "type": "integer",
                    "description": "Every n-th day, week, month or year",
                    "minimum": 1,
                },
                "weekdays": {
                    "type": "array",
                    "description": "For weekly events",
                    "items": {"type": "string", "enum": ["mo", "tu", "we", "th", "fr", "sa", "su"]},
                    "uniqueItems": True,
                },
                "until": {"$ref": "#/$defs/Moment", "description": "Last possible start"},
                "count": {
                    "type": "integer",
                    "description": "Number of times; not together with until",
                    "minimum": 1,
                },
                "except": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Moment"},
                    "description": "Starts to leave out",
                },
            },
            "required": ["every"],
        },
        "Webhook": {
            "type": "object",
            "description": "Left over from an older version of this service; nothing refers to it.",
            "properties": {
                "url": _text("Where changes are posted", format="uri"),
                "secret": _text("Signs the posts"),
            },
        },
    },
}
"""The input schema of `create_event`, as its author wrote it."""
