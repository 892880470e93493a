"""Eight behaviours that no change may break, each as a check that really runs the runtime.

A check gives two JSON values: what must come, and what came. Everything it needs is made anew each time, so that no
bytes of a healthy runtime are left over from before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from minicodex.contract import FunctionContract
from minicodex.dispatch import ModelFunctionCall, ModelSearchCall, dispatch_all, dispatch_function_call
from minicodex.planner import ModelAbilities, StepState, plan_tools
from minicodex.request import ApiMode, PromptSnapshot, encode_model_request
from minicodex.schema import BUDGET_BYTES, compile_tool_schema, trace_tool_schema
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import Exposure

__all__ = ["BEHAVIOURS", "Behaviour", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What a check found."""

    expected: Any
    actual: Any

    @property
    def is_kept(self) -> bool:
        return bool(self.expected == self.actual)


@dataclass(frozen=True)
class Behaviour:
    """One promise, and how to find out whether it is kept."""

    promise: str
    check: Callable[[], Outcome]


_SCHEMA = {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]}
_RESULT = {"type": "object", "properties": {"booked": {"type": "boolean"}}}


def _contract() -> FunctionContract:
    return FunctionContract("book", "Book a room.", compile_tool_schema(_SCHEMA), output_schema=_RESULT)


def _wire_form() -> Outcome:
    wanted = ["type", "name", "description", "strict", "parameters"]
    return Outcome(wanted, [key for key in _contract().to_wire() if key in wanted])


def _output_schema_inside() -> Outcome:
    return Outcome({"output_schema sent": False}, {"output_schema sent": b'"booked"' in _contract().to_bytes()})


def _deferred_key() -> Outcome:
    tool = dynamic_tool("book", "Book a room.", _SCHEMA, str, exposure=Exposure.DEFERRED)
    plan = plan_tools([tool], StepState("step", model=ModelAbilities(supports_search=True)))
    (result,) = dispatch_all([ModelSearchCall("c", {"query": "book a room"}, "step")], plan)
    return Outcome(
        {"in the first list": "no such key", "in a search result": True},
        {
            "in the first list": _contract().to_wire().get("defer_loading", "no such key"),
            "in a search result": result.output[0].get("defer_loading", "no such key"),
        },
    )


def _request(mode: ApiMode) -> Any:
    return encode_model_request(PromptSnapshot("Be brief.", (), [_contract()]), mode)


def _shared_equals_plain() -> Outcome:
    return Outcome([_contract().to_wire()], _request(ApiMode.RESPONSES).to_json().get("tools"))


def _null_root_refused() -> Outcome:
    error = trace_tool_schema({"type": "null"}).error
    return Outcome("refused: null_root", f"refused: {error.kind}" if error else "sent")


def _passes_in_order() -> Outcome:
    words = "x" * BUDGET_BYTES
    schema = {
        "type": "object",
        "description": words,
        "properties": {"room": {"$ref": "#/$defs/Room"}},
        "$defs": {"Room": {"type": "object", "properties": {"floor": {"type": "integer"}}}},
    }
    left = compile_tool_schema(schema).to_json()
    return Outcome(
        {"descriptions": "gone", "definitions": "there"},
        {
            "descriptions": "there" if "description" in left else "gone",
            "definitions": "there" if "$defs" in left else "gone",
        },
    )


def _lite_carries_the_tools() -> Outcome:
    body = _request(ApiMode.RESPONSES_LITE).to_json()
    head = (body["input"] or [{}])[0]
    carried = [entry.get("name") for entry in head.get("tools", [])]
    return Outcome(
        {"key tools": False, "first item": "additional_tools", "carries": ["functions"]},
        {"key tools": "tools" in body, "first item": head.get("type"), "carries": carried},
    )


def _handler_decides() -> Outcome:
    ran: list[Any] = []
    plan = plan_tools([dynamic_tool("book", "", _SCHEMA, ran.append)], StepState("step"))
    result = dispatch_function_call(ModelFunctionCall("c", "book", '{"minutes": "ten"}', "step"), plan)
    return Outcome({"times run": 0, "ok": False}, {"times run": len(ran), "ok": result.ok})


BEHAVIOURS: Mapping[str, Behaviour] = {
    "wire_form": Behaviour("A function tool has its keys in one fixed order.", _wire_form),
    "output_schema_inside": Behaviour("The output schema is in no function tool's JSON.", _output_schema_inside),
    "deferred_key_if_needed": Behaviour("`defer_loading` is there only where it is true.", _deferred_key),
    "shared_equals_plain": Behaviour("Shared bytes say what the contracts say.", _shared_equals_plain),
    "null_root_refused": Behaviour("A root that allows only null is refused.", _null_root_refused),
    "passes_in_order": Behaviour("Descriptions go first, and then nothing more than needed.", _passes_in_order),
    "lite_carries_the_tools": Behaviour("In Lite the first item carries the tools.", _lite_carries_the_tools),
    "handler_decides": Behaviour("What does not fit never runs.", _handler_decides),
}
