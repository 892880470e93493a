"""The same argument texts, given to the real CLI and to minicodex: who let them through, and what each said.

The CLI's side is measured data. Our side is dispatched now, to tools that publish the same schemas as those of the CLI
and do nothing but count that they were run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minicodex.dispatch import ModelFunctionCall, dispatch_function_call
from minicodex.lab.clinic import shown
from minicodex.lab.codex_answers import CodexAnswer, codex_answers
from minicodex.lab.html import FAINT, LINE, MONO, Html, Pill, heading, panel, tag
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, picker, row
from minicodex.naming import ToolName
from minicodex.planner import StepState, plan_tools
from minicodex.sources.builtin import PlanBoard, update_plan_tool
from minicodex.sources.dynamic import dynamic_tool

__all__ = ["Beside", "beside"]

TOOLS = ("exec_command", "update_plan", "typed")
"""The measured tools that are compared. The first two are the CLI's own, the last one is an MCP tool."""

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}

EXEC_COMMAND: dict[str, Any] = {
    "type": "object",
    "properties": {
        "cmd": _TEXT,
        "sandbox_permissions": {"type": "string", "enum": ["use_default", "require_escalated"]},
        "workdir": _TEXT,
        "yield_time_ms": _NUMBER,
    },
    "required": ["cmd"],
    "additionalProperties": False,
}
"""What Codex CLI 0.171.0 publishes for `exec_command` (measured), as far as the texts use it."""

TYPED: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": _TEXT},
    "required": ["n"],
}
"""The schema of the measured MCP tool."""

_VERDICTS = {
    (True, True): Pill("=", "both let it through", ground="#d3e6fb", ink="#062c57"),
    (False, False): Pill("=", "both refuse it", ground="#c8efdc", ink="#06361f"),
    (True, False): Pill("≠", "only ours refuses it", ground="#fdebb2", ink="#453300"),
    (False, True): Pill("≠", "only Codex refuses it", ground="#e8daf8", ink="#35105e"),
}
"""(Codex ran it, ours ran it) to what that means."""


@dataclass(frozen=True)
class Pair:
    """One text, and both answers."""

    codex: CodexAnswer
    ours: str
    ours_ran: bool

    @property
    def name(self) -> str:
        prefix = "" if ":" in self.codex.case else f"{self.codex.tool}: "
        return prefix + self.codex.case

    @property
    def verdict(self) -> Pill:
        return _VERDICTS[self.codex.ran, self.ours_ran]


@dataclass(frozen=True, repr=False)
class Beside(View):
    """Every compared text; one of them at length."""

    index: int = 0

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return _compared()

    @property
    def pair(self) -> Pair:
        return self.pairs[self.index]

    @property
    def names(self) -> list[str]:
        return [pair.name for pair in self.pairs]

    def go(self, index: int) -> Beside:
        """To a text by its number from 0; beyond either end is the end."""
        return replace(self, index=max(0, min(index, len(self.pairs) - 1)))

    def at(self, name: str) -> Beside:
        """To a text by its name."""
        return self.go(self.names.index(name))

    def summary(self) -> str:
        """Every text by what became of it."""
        counts = Counter(pair.verdict.word for pair in self.pairs)
        lines = []
        for pill in _VERDICTS.values():
            lines.append(f"{pill.sign} {pill.word}: {counts[pill.word]}")
            lines += [
                f"    {pair.name:<48}{shown(pair.codex.arguments, 48)}"
                for pair in self.pairs
                if pair.verdict is pill and pill.sign == "≠"
            ]
        return "\n".join(lines)

    def text(self) -> str:
        pair = self.pair
        return "\n".join(
            [
                f"{self.index + 1} of {len(self.pairs)}: {pair.name}",
                f"arguments: {shown(pair.codex.arguments)}",
                f"{pair.verdict.sign} {pair.verdict.word}",
                f"Codex ({_ran(pair.codex.ran)}): {pair.codex.output.rstrip()}",
                f"ours ({_ran(pair.ours_ran)}): {pair.ours}",
            ]
        )

    def html(self) -> Html:
        pair = self.pair
        title = heading(pair.name, f"{self.index + 1} of {len(self.pairs)}")
        code = tag("div", shown(pair.codex.arguments), style=f"{MONO}; white-space: pre-wrap; margin-bottom: .5em")
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24em), 1fr)); gap: 1.2em"
        both = [
            _column("Codex CLI 0.171.0", _ran(pair.codex.ran), pair.codex.output),
            _column("minicodex", _ran(pair.ours_ran), pair.ours),
        ]
        verdict = tag("p", pair.verdict.html(), style="margin: .2em 0 .7em")
        return panel(title, code, verdict, tag("div", *both, style=columns), label="The same text, two runtimes")


def _ran(ran: bool) -> str:  # noqa: FBT001 - one word for one fact
    return "ran" if ran else "not run"


def _column(title: str, note: str, words: str) -> Html:
    body = tag("div", words, style=f"{MONO}; white-space: pre-wrap; border-left: 2px solid {LINE}; padding-left: .7em")
    return tag(
        "div", heading(title, note), body, style=f"min-width: 0; color: {FAINT}" if not words else "min-width: 0"
    )


def _compared() -> tuple[Pair, ...]:
    """Every measured text for the three tools, dispatched here as well."""
    entered: list[Any] = []
    board = PlanBoard()

    def enter(arguments: Any) -> str:
        entered.append(arguments)
        return "ran"

    tools = [
        dynamic_tool("exec_command", "", EXEC_COMMAND, enter),
        update_plan_tool(board),
        dynamic_tool("typed", "", TYPED, enter, namespace="mcp__p"),
    ]
    plan = plan_tools(tools, StepState("step_1"))
    pairs = []
    for answer in codex_answers():
        name = ToolName.from_wire(answer.tool, answer.namespace)
        if answer.tool in TOOLS and name in plan.dispatch:
            before = len(entered) + board.updates
            result = dispatch_function_call(ModelFunctionCall("c", name, answer.arguments, "step_1"), plan)
            pairs.append(Pair(answer, str(result.output), ours_ran=len(entered) + board.updates > before))
    return tuple(pairs)


# --- the widget ------------------------------------------------------------------------------------------------------


def beside(first: str | None = None) -> Live[Beside]:
    """A list of the measured texts, and buttons to step through them."""
    start = Beside()
    live: Live[Beside] = Live(start if first is None else start.at(first))
    back = button("◀ back", lambda: live.do(lambda state: state.go(state.index - 1)), hint="the text before")
    forth = button("next ▶", lambda: live.do(lambda state: state.go(state.index + 1)), hint="the next text")
    texts = picker("text", start.names, lambda name: live.do(lambda state: state.at(name)))

    def sync(state: Beside) -> None:
        back.disabled, forth.disabled = state.index == 0, state.index == len(state.pairs) - 1
        texts.value = state.names[state.index]

    return live.driven_by(row(back, forth, texts), sync=sync)
