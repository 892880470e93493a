"""The drift lab: edit one of two registries, or the one implementation, and let a model make ten calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from minicodex.lab.drift import HABITS, VERSIONS, OneImplementation, Outcome, Runtime, TwoRegistries, make_calls
from minicodex.lab.figures import COLOURS, Figure, draw
from minicodex.lab.html import FAINT, LINE, Html, Pill, heading, panel, prose, tag
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, picker, row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FAILED", "RAN", "DriftLab", "drift_lab", "obedience_figure"]

FIRST, RENAMED, *_ = VERSIONS

AGREE = Pill("=", "agree", ground="#c8efdc", ink="#06361f")
DIFFER = Pill("≠", "differ", ground="#fadbd5", ink="#5c1206")
RAN = Pill("✓", "ran", ground="#c8efdc", ink="#06361f")
FAILED = Pill("✗", "failed", ground="#fadbd5", ink="#5c1206")


@dataclass(frozen=True, repr=False)
class DriftLab(View):
    """Two registries beside one implementation, and how obedient the model is (0 to 10)."""

    contract: str = FIRST
    """Version in the first registry: what the model sees."""
    handler: str = FIRST
    """Version in the second registry: what runs."""
    implementation: str = FIRST
    obedience: int = 8

    def with_(self, **edits: Any) -> DriftLab:
        """The lab after an edit, for example `lab.with_(handler="exec_command(command: string)")`."""
        return replace(self, **edits)

    @property
    def sides(self) -> Mapping[str, Runtime]:
        return {
            "Two registries": TwoRegistries(self.contract, self.handler),
            "One implementation": OneImplementation(self.implementation),
        }

    def text(self) -> str:
        lines = [f"The model follows the contract in {self.obedience} of 10 calls."]
        for title, runtime in self.sides.items():
            outcomes = make_calls(runtime, self.obedience)
            lines += [
                f"{title}: {_count(outcomes)}",
                f"  contract  {runtime.contract}",
                f"  handler   {runtime.handler}",
                f"  {_agreement(runtime).sign} they {_agreement(runtime).word}",
                *(f"  {_verdict(outcome).sign} {_origin(outcome):<12} {_line(outcome)}" for outcome in outcomes),
            ]
        return "\n".join(lines)

    def html(self) -> Html:
        columns = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28em), 1fr)); gap: 1.4em"
        sides = [_side(title, runtime, self.obedience) for title, runtime in self.sides.items()]
        return panel(tag("div", *sides, style=columns), label="Drift lab")


def _side(title: str, runtime: Runtime, obedience: int) -> Html:
    outcomes = make_calls(runtime, obedience)
    label = f"color: {FAINT}; display: inline-block; width: 5.5em"
    tables = [
        tag("div", tag("span", word, style=label), prose(f"`{version}`"))
        for word, version in (("contract", runtime.contract), ("handler", runtime.handler))
    ]
    pill = _agreement(runtime)
    verdict = tag("div", pill.html(f"they {pill.word}"), style="margin: .35em 0 .7em")
    calls = tag("ol", *map(_row, outcomes), style="margin: 0; padding: 0; list-style: none")
    return tag("div", heading(title, _count(outcomes)), *tables, verdict, calls, style="min-width: 0")


def _row(outcome: Outcome) -> Html:
    written = prose(f"`{outcome.written}`") if outcome.written else "no call"
    origin = tag("span", _origin(outcome), style=f"color: {FAINT}")
    answer = tag("div", outcome.answer, style=f"color: {FAINT}; font-size: 92%")
    head = tag("div", _verdict(outcome).html(), " ", written, " ", origin)
    return tag("li", head, answer, style=f"border-top: 1px solid {LINE}; padding: .2em 0")


def _agreement(runtime: Runtime) -> Pill:
    return AGREE if runtime.contract == runtime.handler else DIFFER


def _verdict(outcome: Outcome) -> Pill:
    return RAN if outcome.ok else FAILED


def _origin(outcome: Outcome) -> str:
    return "by contract" if outcome.obedient else "by habit"


def _line(outcome: Outcome) -> str:
    return f"{outcome.written or 'no call'} → {outcome.answer}"


def _count(outcomes: tuple[Outcome, ...]) -> str:
    return f"{sum(outcome.ok for outcome in outcomes)} of {len(outcomes)} calls ran"


# --- the figure ------------------------------------------------------------------------------------------------------

CALLS_PER_LEVEL = 10 * len(HABITS)
"""So that at every level of obedience the habits come up equally often."""


def failures_percent(runtime: Runtime) -> list[float]:
    """Failed calls in percent, for each obedience from 0 to 10."""
    runs = [make_calls(runtime, level, CALLS_PER_LEVEL) for level in range(11)]
    return [100 * sum(not outcome.ok for outcome in outcomes) / len(outcomes) for outcomes in runs]


def obedience_figure() -> Figure:
    """Obedience against failure, after the same rename in one of two registries and in one implementation."""
    lines = {
        "handler renamed, contract not": failures_percent(TwoRegistries(FIRST, RENAMED)),
        "one implementation, renamed": failures_percent(OneImplementation(RENAMED)),
    }
    levels = range(0, 101, 10)

    def paint(axes: Axes) -> None:
        for number, (name, values) in enumerate(lines.items()):
            colour, marker = COLOURS[(5, 0)[number]], "so"[number]
            axes.plot(levels, values, color=colour, marker=marker, linestyle=("-", "--")[number], linewidth=2)
            axes.text(102, values[-1], name, color=colour, va="center", fontweight="bold")
        axes.set_xlabel("calls that follow the contract, in percent", loc="left")
        axes.set_ylabel("failed calls, in percent")
        axes.spines["bottom"].set_bounds(0, 100)
        axes.set_xlim(-2, 150)
        axes.set_xticks(list(levels)[::2])
        axes.set_ylim(-4, 104)

    words = "\n".join(
        [f"calls that follow the contract, in percent: {_listed(levels)}"]
        + [f"failed, {name}: {_listed(values)}" for name, values in lines.items()]
    )
    caption = f"Obedience against failure ({CALLS_PER_LEVEL} calls for each mark, all of them run)"
    return draw(paint, caption=caption, words=words, size_inches=(9.0, 3.4))


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


# --- the widget ------------------------------------------------------------------------------------------------------


def drift_lab() -> Live[DriftLab]:
    """One list for each thing that can be edited, and one for the model's obedience."""
    live: Live[DriftLab] = Live(DriftLab())

    def edit(**edits: Any) -> None:
        live.do(lambda lab: lab.with_(**edits))

    levels = {f"{level} of 10 calls": level for level in range(11)}
    obedience = picker("obedience", levels, lambda level: edit(obedience=level))
    obedience.value = f"{live.state.obedience} of 10 calls"

    return live.driven_by(
        row(
            picker("contract", list(VERSIONS), lambda version: edit(contract=version)),
            picker("handler", list(VERSIONS), lambda version: edit(handler=version)),
        ),
        row(
            picker("implementation", list(VERSIONS), lambda version: edit(implementation=version)),
            obedience,
        ),
    )
