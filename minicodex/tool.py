"""A tool as a whole: its contract and the code behind it, tied together in one implementation.

Contract and handler travel together because two registries kept in step by care drift apart: one rename in one of
them, and the model that obeys its contract best fails most reliably. The price: a test double must bring both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, get_type_hints

from minicodex.contract import FreeformContract, FunctionContract, default_namespace_description
from minicodex.errors import ArgumentError, InvalidContract
from minicodex.naming import ToolName
from minicodex.schema import compile_tool_schema
from minicodex.typescript import to_typescript

if TYPE_CHECKING:
    from minicodex.planner import StepState, ToolPlan
    from minicodex.typed_arguments import TypedArguments

__all__ = [
    "ArgumentError",
    "Exposure",
    "Handler",
    "PlanAware",
    "RejectedTool",
    "ToolImplementation",
    "TwoViews",
    "function_tool",
    "namespace_description",
]


class Exposure(Enum):
    """Who may see a tool at first. Seeing is not calling: all of them can be dispatched."""

    DIRECT = "direct"
    """In the first list, unless code mode takes it off."""
    DIRECT_ONLY = "direct_only"
    """In the first list in every mode, and no script can call it."""
    DEFERRED = "deferred"
    """Found by a search."""
    HIDDEN = "hidden"
    """Never shown; kept so that old callers go on working."""

    @property
    def is_direct(self) -> bool:
        return self in (Exposure.DIRECT, Exposure.DIRECT_ONLY)


@dataclass(frozen=True)
class TwoViews:
    """A result that `run` may return where a script gets more than the model reads."""

    text: str
    """For the model."""
    value: Any
    """For a script in code mode: plain JSON data."""


class Handler(Protocol):
    """The code behind a contract. Only it knows the types of its arguments."""

    def decode_arguments(self, raw_arguments: str) -> Any:
        """Turn the model's text into values that `run` may trust.

        Raises:
            ArgumentError: they do not fit. The business code is not entered; the model is told why.
        """
        ...

    def run(self, arguments: Any, *, call_id: str) -> Any:
        """Do the work. The result is a text, or anything that JSON can say."""
        ...


class PlanAware:
    """A handler that calls other tools, and so must know those of its own step: the `exec` tool of code mode.

    A plain class, as every dispatch asks for it: a protocol that can be asked at run time is slow.
    """

    def bound_to(self, plan: ToolPlan) -> Handler:
        """The handler for calls of this plan's step."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ToolImplementation:
    """One contract with its handler, and who may see it."""

    contract: FunctionContract | FreeformContract
    handler: Handler
    exposure: Exposure = Exposure.DIRECT
    namespace: str | None = None
    source: str = "builtin"
    """Where it came from, for messages: `"builtin"`, `"dynamic"`, `"mcp:calendar"`."""
    parallel_safe: bool = False
    """Whether it may run beside other calls of the same answer."""
    gate: Callable[[StepState], str | None] | None = None
    """Asked in each step whether the tool may exist: None to allow it, a reason to deny it."""
    namespace_description: str | None = None
    """What the model reads about the namespace; None for the default words."""
    is_mcp: bool = False
    """Whether its results have MCP's form; a script gets them as a `CallToolResult`, errors too."""
    raw_name: str | None = None
    """What its source calls it, where that is not the name in the contract."""
    canonical_name: ToolName = field(init=False)
    """What a call has to name: set from the contract's name and the namespace."""
    name_flaw: str | None = field(init=False)
    """Why no provider would accept the name; None if it is lawful."""

    def __post_init__(self) -> None:
        if not isinstance(self.contract, (FunctionContract, FreeformContract)):
            raise InvalidContract(
                f"contract must be a function or freeform contract, found {type(self.contract).__name__}"
            )
        if not all(callable(getattr(self.handler, name, None)) for name in ("decode_arguments", "run")):
            raise InvalidContract(
                f"{self.contract.name!a}: a handler has decode_arguments(raw_arguments) and run(arguments, *, call_id)"
            )
        if not isinstance(self.exposure, Exposure):
            raise InvalidContract(f"{self.contract.name!a}: exposure must be a member of Exposure")
        name = ToolName(self.contract.name, self.namespace)
        object.__setattr__(self, "canonical_name", name)
        object.__setattr__(self, "name_flaw", name.flaw())

    @cached_property
    def flattened(self) -> ToolImplementation:
        """The same tool for a provider without namespaces: its contract is renamed with it."""
        name = f"{self.namespace}__{self.contract.name}"
        return replace(self, contract=replace(self.contract, name=name), namespace=None)

    @cached_property
    def signature(self) -> str:
        """What scripts see of it, as TypeScript: `(args: { city: string; }): Promise<unknown>`.

        The input type is that of the compiled schema, the output type that of the author's own, whole.
        Source: Codex CLI 0.171.0 (measured).
        """
        if isinstance(self.contract, FreeformContract):
            return "(input: string): Promise<unknown>"
        given, returned = self.contract.parameters.to_json(), self.contract.output_schema
        result = "unknown" if returned is None else to_typescript(returned)
        if self.is_mcp:
            result = "CallToolResult" if returned is None else f"CallToolResult<{result}>"
        return f"(args: {to_typescript(given)}): Promise<{result}>"

    @cached_property
    def is_freeform(self) -> bool:
        return isinstance(self.contract, FreeformContract)


@dataclass(frozen=True, eq=False)
class RejectedTool:
    """A candidate that could not be built. Planning keeps it as a decision, so that nothing vanishes silently."""

    name: str | None
    """None where the definition has no usable name, or where a whole source failed."""
    source: str
    error: Exception


Candidate = ToolImplementation | RejectedTool
"""What a source offers and a step plans with."""


# --- a typed Python function as a tool ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FunctionHandler:
    function: Callable[..., Any]
    types: TypedArguments
    wants_call_id: bool

    def decode_arguments(self, raw_arguments: str) -> dict[str, Any]:
        return self.types.decode(raw_arguments)

    def run(self, arguments: dict[str, Any], *, call_id: str) -> Any:
        extra = {"call_id": call_id} if self.wants_call_id else {}
        return self.function(**arguments, **extra)


def namespace_description(namespace: str, tools: Iterable[ToolImplementation]) -> str:
    """What the model reads about a namespace: the first description that a tool of it brings, or the default words."""
    brought = (tool.namespace_description for tool in tools)
    return next(filter(None, brought), None) or default_namespace_description(namespace)


def function_tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    exposure: Exposure = Exposure.DIRECT,
    namespace: str | None = None,
    strict: bool = False,
    parallel_safe: bool = False,
    trusted: bool = False,
    source: str = "builtin",
    output_schema: Any = None,
    gate: Callable[[StepState], str | None] | None = None,
) -> Any:
    """Make a tool of a typed Python function, as `@function_tool` or `@function_tool(name=…)`.

    The parameters' types become the contract, and pydantic checks the arguments against the same types, strictly:
    `"5"` is no integer, but `3.0` is one, as JSON Schema says. Unknown fields are refused. A parameter called
    `call_id` is filled in by the runtime and not shown to the model.

    Returns:
        A `ToolImplementation`, or the decorator that makes one.

    Raises:
        InvalidContract: the function's parameters cannot be typed arguments.
        InvalidToolSchema: their schema is outside the subset.
    """
    from minicodex.typed_arguments import TypedArguments  # brings pydantic, which only typed tools need

    def build(function: Callable[..., Any]) -> ToolImplementation:
        parameters, wants_call_id = _parameters(function)
        types = TypedArguments.of(name or function.__name__, parameters)
        contract = FunctionContract(
            name=name or function.__name__,
            description=inspect.getdoc(function) or "" if description is None else description,
            parameters=compile_tool_schema(types.json_schema(), trusted=trusted),
            strict=strict,
            output_schema=output_schema,
        )
        return ToolImplementation(
            contract=contract,
            handler=_FunctionHandler(function, types, wants_call_id),
            exposure=exposure,
            namespace=namespace,
            source=source,
            parallel_safe=parallel_safe,
            gate=gate,
        )

    return build if function is None else build(function)


def _parameters(function: Callable[..., Any]) -> tuple[dict[str, tuple[Any, Any]], bool]:
    """Name to (type, default) of each parameter; `...` stands for a required one."""
    hints = get_type_hints(function, include_extras=True)
    parameters: dict[str, tuple[Any, Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidContract(f"{function.__name__}: the parameter {parameter.name} cannot be given by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        parameters[parameter.name] = (hints.get(parameter.name, Any), default)
    return parameters, parameters.pop("call_id", None) is not None
