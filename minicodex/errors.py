"""Everything that can go wrong, and whose mistake it is.

    MinicodexError
    ├── ToolAuthorError            the tool's author: mend the definition or the code
    │   ├── InvalidToolSchema      the schema does not fit the typed subset; no contract exists
    │   ├── InvalidContract        a contract was put together wrongly (a name, a type)
    │   ├── ContractEncodingError  a contract holds what JSON cannot say; nothing was sent
    │   └── HandlerError           the handler raised, hung, or returned what cannot be sent
    ├── ToolFailed                 nobody's: the tool ran and reports a failure of its own
    ├── CallAborted                nobody's: the call was cancelled before it had a result
    ├── ModelError                 the model: it is told why, and may call again
    │   ├── ArgumentError          the arguments do not fit, or break a rule of the tool
    │   ├── UnsupportedCall        no tool of this name, or of this kind, in this step
    │   └── StepMismatch           the call belongs to the plan of another step
    ├── JsonTextError              a text is not JSON; who wrote it decides whose mistake it is
    ├── SourceError                a tool source (an MCP server) failed
    ├── ProviderError              the model's endpoint failed
    ├── HistoryError               a conversation that no provider would accept
    └── InternalError              minicodex itself: a bug, fatal

Every error carries its facts as fields, so that a test compares values and a program can act on them. Two errors
of one class with equal fields are equal. `FAILURES` at the end is the failure table of the course as data. Why a
stranger's schema or pattern cannot judge is a matter between the rooms that judge; their own errors reach no caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from minicodex.printable import printable

__all__ = [
    "FAILURES",
    "ArgumentError",
    "ArgumentFault",
    "CallAborted",
    "ContractEncodingError",
    "Failure",
    "HandlerError",
    "HistoryError",
    "InternalError",
    "InvalidContract",
    "InvalidToolSchema",
    "JsonTextError",
    "MinicodexError",
    "ModelError",
    "ProviderError",
    "Rank",
    "SourceError",
    "StepMismatch",
    "ToolAuthorError",
    "ToolFailed",
    "UnsupportedCall",
]


MAX_NAME_SHOWN_CHARS = 200
"""Longest name of an unknown tool that is quoted back."""


MAX_POINTER_SHOWN_CHARS = 200
"""Longest pointer that a message shows; the field `pointer` has all of it."""


class MinicodexError(Exception):
    """The root of the tree. `fields()` are the facts that make two errors equal.

    Attributes:
        turn: the `Turn` that the error ended, as far as it had come; None outside of one. What its tools did has
            happened, so whoever goes on begins with its history. No fact of the error.
    """

    turn: Any = None

    def fields(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "turn" and not name.startswith("_")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MinicodexError) and type(self) is type(other) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash((type(self), str(self)))


class ToolAuthorError(MinicodexError):
    """The tool's definition or its code is wrong. No model can mend it."""


class InvalidToolSchema(ToolAuthorError):
    """A schema that the typed subset cannot say: the tool does not come into being.

    Attributes:
        kind: a short fixed word, for programs (`"items_is_list"`).
        pointer: JSON pointer to the place in the schema; `""` is the root.
        expected: what may stand there.
        actual: what stands there, shortened.
        hint: a way out.
    """

    def __init__(self, kind: str, pointer: str, expected: str, actual: str, hint: str = "") -> None:
        self.kind, self.pointer, self.expected, self.actual, self.hint = kind, pointer, expected, actual, hint
        place = pointer or "the root"
        if len(place) > MAX_POINTER_SHOWN_CHARS:
            half = MAX_POINTER_SHOWN_CHARS // 2
            place = f"{place[:half]}…{place[-half:]}"
        super().__init__(f"at {printable(place)}: expected {expected}, found {actual}" + (f". {hint}" if hint else ""))


class InvalidContract(ToolAuthorError):
    """A contract or an implementation was put together from the wrong parts."""


class ContractEncodingError(ToolAuthorError):
    """A contract cannot be written as JSON. Raised before anything is sent.

    Attributes:
        tool: name of the tool, as far as it can be written.
        pointer: JSON pointer into the contract's wire form.
        reason: what JSON cannot say.
    """

    def __init__(self, tool: str, pointer: str, reason: str) -> None:
        self.tool, self.pointer, self.reason = tool, pointer, reason
        place = printable(pointer) or "the root"
        super().__init__(f"the contract of {tool!a} cannot be encoded: {reason} at {place}")


class HandlerError(ToolAuthorError):
    """The tool's own code failed: its decoder, its work, or the result it gave.

    Attributes:
        tool: name of the tool.
        reason: one sentence, safe to show to the model.
    """

    def __init__(self, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"{tool}: {reason}")


class ToolFailed(MinicodexError):
    """The tool ran and says itself that it failed. Its words go to the model unchanged; raise it from `run`."""


class CallAborted(MinicodexError):
    """The call was cancelled. What it had begun may still go on; the model reads the one word that Codex sends."""

    def __init__(self) -> None:
        super().__init__("aborted")


class ModelError(MinicodexError):
    """The model asked for something that cannot be done. The text goes back to it as feedback."""


class Rank(IntEnum):
    """What a model should read first about its arguments: what spoils everything before what spoils one value."""

    NOT_JSON = auto()
    WRAPPED = auto()
    ENCODED_TWICE = auto()
    MISSING = auto()
    TYPE = auto()
    CHOICE = auto()
    UNKNOWN = auto()
    LIMIT = auto()
    OTHER = auto()
    OWN_RULE = auto()


class ArgumentFault(NamedTuple):
    """One thing that is wrong with the arguments of one call.

    Every field but `problem` may be empty. No field holds a secret, a path of this machine, or a library's words.
    """

    problem: str
    """What is wrong, in a few words: `"wrong type"`."""
    pointer: str = ""
    """JSON pointer into the arguments; `""` is the whole."""
    expected: str = ""
    """What may stand there: `"an integer"`."""
    got: str = ""
    """What came, shortened: `'the string "5"'`."""
    hint: str = ""
    """One way to do it right, as an order: `"send the number without quotes"`."""
    rank: Rank = Rank.OWN_RULE
    """Where it stands among others."""
    written: str = ""
    """What the model wrote where one of `choices` was wanted; feedback looks for the nearest, which takes a while."""
    choices: tuple[str, ...] = ()


_RANK = attrgetter("rank")


class ArgumentError(ModelError):
    """The arguments of a call do not fit; raised by `Handler.decode_arguments`, or by a business rule in `run`.

    `ArgumentError("only one step may be in progress")` is enough for a business rule.
    """

    def __init__(self, *faults: ArgumentFault | str) -> None:
        for fault in faults:
            if not isinstance(fault, (str, ArgumentFault)):
                found = type(fault).__name__
                raise TypeError(f"ArgumentError takes texts and ArgumentFaults, one by one; found {found}")
        listed = [ArgumentFault(fault) if isinstance(fault, str) else fault for fault in faults]
        self.faults: Sequence[ArgumentFault] = tuple(sorted(listed, key=_RANK))
        self.ran = False
        super().__init__(*self.faults)

    def __str__(self) -> str:
        return "; ".join(f"{fault.pointer}: {fault.problem}".removeprefix(": ") for fault in self.faults)

    def after_running(self) -> ArgumentError:
        """The same error, marked as raised by the business code itself: then it is not true that nothing was run."""
        self.ran = True
        return self


class UnsupportedCall(ModelError):
    """The step's dispatch table has no such tool, or the tool is of another kind.

    Attributes:
        name: the name as the model wrote it.
        hint: what the model can do instead.
    """

    def __init__(self, name: str, hint: str = "") -> None:
        self.name, self.hint = name, hint
        shown = printable(name if len(name) <= MAX_NAME_SHOWN_CHARS else name[:MAX_NAME_SHOWN_CHARS] + "…")
        super().__init__(f"unsupported call: {shown}" + (f". {hint}" if hint else ""))


class StepMismatch(ModelError):
    """A call reached the plan of another step. It was not run: its contract may have meant something else.

    Attributes:
        call_step: the step whose contract the model saw.
        plan_step: the step whose plan was asked.
    """

    def __init__(self, call_step: str, plan_step: str) -> None:
        self.call_step, self.plan_step = call_step, plan_step
        super().__init__(
            f"this call belongs to step {call_step!a} but reached the plan of step {plan_step!a}; it was not run"
        )


class JsonTextError(MinicodexError):
    """A text that is not JSON, or not JSON that everybody reads alike.

    Attributes:
        reason: what is wrong, in our words (no library's).
        line: line of the place, from 1.
        column: column of the place in characters, from 1.
        hint: one way to mend it, as an order.
    """

    pointer = ""
    """Of the whole text; what is no JSON has no places that a pointer could name."""

    def __init__(self, reason: str, line: int, column: int, hint: str = "") -> None:
        self.reason, self.line, self.column, self.hint = reason, line, column, hint
        super().__init__(f"{reason} at line {line} column {column}")


class SourceError(MinicodexError):
    """A tool source failed: it could not be started, or stopped answering.

    Attributes:
        source: its name.
        message: what happened.
        hint: what to do.
    """

    def __init__(self, source: str, message: str, hint: str = "") -> None:
        self.source, self.message, self.hint = source, message, hint
        super().__init__(f"{source}: {message}" + (f" {hint}" if hint else ""))


class ProviderError(MinicodexError):
    """The endpoint of the model failed. No text of it holds a key or a header.

    Attributes:
        message: what happened.
        retryable: whether the same request may be sent again.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.message, self.retryable = message, retryable
        super().__init__(message)


class HistoryError(MinicodexError):
    """A history that no provider would accept: an output without its call, or an item that cannot be written."""


class InternalError(MinicodexError):
    """A promise of minicodex itself is broken. Please report it; the turn ends."""


Boundary = Literal["build", "expose", "encode", "return"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One row of the failure table: where a contract's life can end, and how it goes on."""

    key: str
    where: str
    boundary: Boundary
    """`build` (no contract yet), `expose` (planning), `encode` (before sending), `return` (a call came back)."""
    error: type[MinicodexError] | None
    """None where nothing is stopped: the row is a way of working, not an error."""
    already_done: str
    model_sees: str
    way_back: str


FAILURES: tuple[Failure, ...] = (
    Failure(
        "schema_outside_subset",
        "an external schema does not fit the subset",
        "build",
        InvalidToolSchema,
        "no contract exists",
        "usually no such tool",
        "mend the source definition; the next step builds it again",
    ),
    Failure(
        "null_root",
        "the root of a schema accepts only null",
        "build",
        InvalidToolSchema,
        "it was normalised; the final check refuses it",
        "no contract",
        "use an object, a scalar or a lawful union",
    ),
    Failure(
        "over_budget",
        "a schema is over the budget",
        "build",
        None,
        "descriptions, definitions and deep parts may be gone",
        "the compacted contract",
        "smaller tools, less nesting, or the trusted path with care",
    ),
    Failure(
        "duplicate_name",
        "two tools have one name",
        "expose",
        None,
        "all candidates were collected",
        "one canonical contract",
        "remove the clash, or state the priority",
    ),
    Failure(
        "not_shown",
        "the policy does not show the tool directly",
        "expose",
        None,
        "it may be dispatchable already",
        "nothing of it in the first list",
        "search, an indirect mode, or another policy",
    ),
    Failure(
        "contract_not_json",
        "a contract cannot be encoded",
        "encode",
        ContractEncodingError,
        "nothing was sent",
        "no sampling happens",
        "mend the contract's data and build the request again",
    ),
    Failure(
        "lite_placement",
        "Responses Lite has no top-level tools",
        "encode",
        None,
        "the tools are in the developer item",
        "the tools, as always",
        "look in the right place",
    ),
    Failure(
        "bad_arguments",
        "the arguments do not fit the business types",
        "return",
        ArgumentError,
        "intent and call id exist; the business code has not run",
        "an argument error it can correct",
        "the model calls again",
    ),
    Failure(
        "step_mismatch",
        "call and plan belong to different steps",
        "return",
        StepMismatch,
        "nothing has run",
        "an error that names the mismatch",
        "handle it with the plan it came from",
    ),
    Failure(
        "unknown_name",
        "no tool of this name in this step",
        "return",
        UnsupportedCall,
        "nothing has run",
        "the call is not supported in this step",
        "search, or another tool",
    ),
)
