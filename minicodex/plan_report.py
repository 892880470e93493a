"""A plan as text for a terminal, and as JSON: what is shown, what can be called, what was stopped and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from minicodex.naming import ToolName
from minicodex.planner import Decision, ToolPlan
from minicodex.printable import printable
from minicodex.request import ApiMode, PromptSnapshot, encode_model_request

__all__ = ["as_json", "explained", "report"]


def explained(plan: ToolPlan) -> str:
    """One line for each candidate: how far it came, and why."""
    names = _names(plan.decisions)
    lines = []
    for decision, name in zip(plan.decisions, names, strict=True):
        far = "visible" if decision.visible else "callable" if decision.dispatchable else "stopped"
        question = f" [{decision.stopped_at.value}?]" if decision.stopped_at else ""
        lines.append(f"{name}  {far:<8}  {_line(decision.reason)}{question}{_raw_name(decision, plan)}")
    return "\n".join(lines) or "the server offers no tools"


def as_json(plan: ToolPlan) -> dict[str, Any]:
    """Contracts as they are sent, and every decision, for programs."""
    decisions = [
        {
            "name": None if decision.name is None else str(decision.name),
            "source": decision.source,
            "stopped_at": decision.stopped_at.value if decision.stopped_at else None,
            "visible": decision.visible,
            "dispatchable": decision.dispatchable,
            "reason": decision.reason,
        }
        for decision in plan.decisions
    ]
    return {"tools": plan.contracts.top_level.decoded(), "decisions": decisions}


def report(title: str, plan: ToolPlan) -> str:
    """What a person wants to know first: which tools, how large, and where each mode puts them."""
    prompt = PromptSnapshot(tool_contracts=plan.contracts)
    lines = [title, f"{len(plan.decisions)} tools offered, {len(plan.dispatch)} can be called", ""]
    decisions = sorted(plan.decisions, key=lambda decision: (not decision.visible, str(decision.name)))
    for decision, name in zip(decisions, _names(decisions), strict=True):
        mark = "+" if decision.visible else "-"
        lines.append(f"  {mark} {name}  {_size(decision.name, plan)}  {_line(decision.reason)}")
    ordinary = encode_model_request(prompt, ApiMode.RESPONSES).to_json()["tools"]
    lines += ["", f'Ordinary Responses: {len(plan.contracts.top_level.raw):,} bytes under the key "tools"']
    lines += [orjson.dumps(ordinary, option=orjson.OPT_INDENT_2).decode()]
    lite = encode_model_request(prompt, ApiMode.RESPONSES_LITE).to_json()["input"][:1]
    lines += ["", "Responses Lite: no such key; the first input item carries the same contracts, byte for byte"]
    for item in lite:
        names = [entry.get("name", entry["type"]) for entry in item["tools"]]
        head = {key: value for key, value in item.items() if key != "tools"} | {"tools": names}
        lines.append(orjson.dumps(head).decode())
    return "\n".join(lines)


def _size(name: ToolName | None, plan: ToolPlan) -> str:
    tool = plan.implementations.get(name) if name is not None else None
    return f"{len(tool.contract.to_bytes()):>6,} bytes" if tool else " " * len("     0 bytes")


def _raw_name(decision: Decision, plan: ToolPlan) -> str:
    tool = plan.implementations.get(decision.name) if decision.dispatchable and decision.name else None
    return f", its server calls it {_line(tool.raw_name)}" if tool and tool.raw_name else ""


def _names(decisions: Sequence[Decision]) -> list[str]:
    """The names of the candidates, all of one width."""
    names = [_line(decision.name or "(no name)") for decision in decisions]
    width = max(map(len, names), default=0)
    return [f"{name:<{width}}" for name in names]


def _line(words: object, limit: int = 200) -> str:
    """A stranger's words on one line of a terminal, without its control characters."""
    return printable(str(words)[:limit])
