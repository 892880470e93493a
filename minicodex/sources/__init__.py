"""Where tools come from. A source offers candidates, anew for each step; the planner decides.

A source that fails takes nothing away but its own tools, and it does not fail silently: it becomes a `RejectedTool`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from minicodex.errors import MinicodexError, SourceError
from minicodex.tool import Candidate, RejectedTool

if TYPE_CHECKING:
    from minicodex.planner import StepState

__all__ = ["Candidate", "ToolSource", "collect_tools"]

COLLECT_TIMEOUT_S = 30.0
"""How long one source may take to offer its tools, in seconds."""


class ToolSource(Protocol):
    """Anything that offers tools."""

    @property
    def name(self) -> str: ...

    def candidates(self, step: StepState) -> Iterable[Candidate]:
        """The tools of this source in this step. Those that could not be built come as `RejectedTool`."""
        ...


def collect_tools(
    sources: Iterable[ToolSource], step: StepState, *, timeout_s: float | None = COLLECT_TIMEOUT_S
) -> list[Candidate]:
    """Ask every source, in order. One that raises or hangs gives one `RejectedTool`; the others are not touched.

    Args:
        timeout_s: seconds for each source; None asks without a thread and waits as long as it takes.
    """
    return [candidate for source in sources for candidate in _ask(source, step, timeout_s)]


def _ask(source: ToolSource, step: StepState, timeout_s: float | None) -> list[Candidate]:
    name = str(getattr(source, "name", type(source).__name__))
    answers: list[list[Candidate]] = []

    def ask() -> None:
        try:
            answers.append(list(source.candidates(step)))
        except MinicodexError as error:
            answers.append([RejectedTool(None, name, error)])
        except (Exception, SystemExit) as error:
            answers.append([RejectedTool(None, name, SourceError(name, f"raised {type(error).__name__}."))])

    if timeout_s is None:
        ask()
    else:
        thread = threading.Thread(target=ask, name=f"minicodex-source-{name}", daemon=True)
        thread.start()
        thread.join(timeout_s)
    if answers:
        return answers[0]
    late = SourceError(name, f"no tools after {timeout_s} s.", "The step goes on without them.")
    return [RejectedTool(None, name, late)]
