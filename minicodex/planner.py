"""Planning: one pass over one list of candidates, two tables out.

Every candidate meets four filters, and ends with a decision that says how far it came:

1. may it exist in this step?      (built, named lawfully, allowed by its gate and the configuration)
2. may it be shown at first?       (direct; not deferred, not hidden)
3. is its canonical name free?     (the first that may exist owns the name in both tables, shown or not)
4. does the operating mode leave it on the top level?

Filters 1 and 3 decide what can run, 2 and 4 only what is seen at first. Because both tables come out of this one
pass, nothing can be visible that cannot be dispatched, and a name always leads to the handler of the very contract the
model saw. The price: every step plans anew; contracts and their bytes are kept with the implementation, so a repeated
plan is cheap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from minicodex.contract import Contract, NamespaceContract, default_namespace_description
from minicodex.errors import InvalidContract
from minicodex.naming import MAX_NAME_CHARS, ToolName
from minicodex.request import ContractList
from minicodex.search import SEARCH_TOOL
from minicodex.tool import Exposure, Handler, RejectedTool, ToolImplementation

__all__ = [
    "Decision",
    "Filter",
    "ModelAbilities",
    "ProviderAbilities",
    "StepState",
    "ToolMode",
    "ToolPlan",
    "plan_tools",
]


class ToolMode(Enum):
    """How the model reaches its tools. The API mode, where they are written in the request, is the encoder's alone."""

    DIRECT = "direct"
    CODE_MODE = "code_mode"
    CODE_MODE_ONLY = "code_mode_only"


@dataclass(frozen=True)
class ModelAbilities:
    """What the catalog says about the model."""

    name: str = "scripted"
    supports_search: bool = False
    """Whether it can search for deferred tools."""


@dataclass(frozen=True)
class ProviderAbilities:
    """What the endpoint understands."""

    namespaces: bool = True
    """Whether tools may come in namespaces; where not, names are flattened to `namespace__name`."""


@dataclass(frozen=True)
class StepState:
    """Everything a plan depends on, frozen for one request to the model. Gates read it; nothing else is asked."""

    id: str
    model: ModelAbilities = ModelAbilities()
    provider: ProviderAbilities = ProviderAbilities()
    tool_mode: ToolMode = ToolMode.DIRECT
    disabled_tools: frozenset[str] = frozenset()
    """Canonical names that the configuration turns off, as `name` or `namespace.name`."""
    configuration: Mapping[str, Any] = field(default_factory=dict, hash=False)
    account: str = ""
    platform: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("configuration", "environment"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


class Filter(Enum):
    """The four questions."""

    EXISTS = "may it exist"
    SHOWN = "may it be shown"
    NAME = "is its name free"
    MODE = "does the mode leave it on the top level"


@dataclass(frozen=True)
class Decision:
    """What became of one candidate."""

    name: ToolName | None
    """None where the candidate has no usable name."""
    source: str
    stopped_at: Filter | None
    """The filter that kept it off the first list; None if it is visible."""
    reason: str

    @property
    def visible(self) -> bool:
        return self.stopped_at is None

    @property
    def dispatchable(self) -> bool:
        return self.stopped_at not in (Filter.EXISTS, Filter.NAME)


@dataclass(frozen=True, eq=False)
class ToolPlan:
    """The result of planning one step. Immutable; a call of this step is handled by this plan, however late."""

    step_id: str
    contracts: ContractList
    """What the model sees at first. Deferred and hidden tools are not in it."""
    implementations: Mapping[ToolName, ToolImplementation]
    """What can run, by canonical name."""
    dispatch: Mapping[ToolName, Handler]
    """The dispatch table: canonical name to handler. A plain string is a name without namespace."""
    decisions: tuple[Decision, ...]

    def explain(self, name: ToolName | str) -> str:
        """One sentence for each candidate of this name."""
        sentences = [
            f"{decision.name} ({decision.source}): {decision.reason}"
            for decision in self.decisions
            if decision.name is not None and name in (decision.name, str(decision.name))
        ]
        return "\n".join(sentences) or f"{name}: no source offered a tool of this name in step {self.step_id}"


def plan_tools(candidates: Iterable[ToolImplementation | RejectedTool], step: StepState) -> ToolPlan:
    """Plan one step: decide about every candidate, and build both tables from the same decisions.

    Args:
        candidates: what the sources offer, in order of priority.
        step: all that the plan may depend on.

    Raises:
        InvalidContract: something in the list is neither an implementation nor a rejected tool.
    """
    owners: dict[ToolName, ToolImplementation] = {}
    decisions: list[Decision] = []
    visible: list[ToolImplementation] = []
    for candidate in candidates:
        tool = _named_for_provider(candidate, step)
        decision = _decide(tool, step, owners)
        decisions.append(decision)
        if isinstance(tool, ToolImplementation) and decision.dispatchable:
            owners[tool.canonical_name] = tool
            if decision.visible:
                visible.append(tool)
    contracts: list[Contract] = merge_supported_namespaces(visible)
    if step.model.supports_search and any(tool.exposure is Exposure.DEFERRED for tool in owners.values()):
        contracts.append(SEARCH_TOOL)
    return ToolPlan(
        step_id=step.id,
        contracts=ContractList(contracts),
        implementations=MappingProxyType(owners),
        dispatch=MappingProxyType({name: tool.handler for name, tool in owners.items()}),
        decisions=tuple(decisions),
    )


def _decide(
    candidate: ToolImplementation | RejectedTool,
    step: StepState,
    owners: Mapping[ToolName, ToolImplementation],
) -> Decision:
    if isinstance(candidate, RejectedTool):
        name = ToolName(candidate.name) if isinstance(candidate.name, str) else None
        return Decision(name, candidate.source, Filter.EXISTS, f"could not be built: {candidate.error}")
    name = candidate.canonical_name
    if (denied := _denied(candidate, step)) is not None:
        stopped_at, reason = Filter.EXISTS, denied
    elif (owner := owners.get(name)) is not None:
        stopped_at, reason = Filter.NAME, f"the name belongs to the tool of {owner.source}, which came first"
    elif (unseen := _not_shown(candidate, step)) is not None:
        stopped_at, reason = Filter.SHOWN, unseen
    elif step.tool_mode is ToolMode.CODE_MODE_ONLY:
        stopped_at, reason = Filter.MODE, "the mode takes it off the top level; a call of it is handled"
    else:
        return Decision(name, candidate.source, None, "in the first list")
    return Decision(name, candidate.source, stopped_at, reason)


# --- filter 1: may it exist -----------------------------------------------------------------------------------------

_LAWFUL_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")


def _denied(tool: ToolImplementation, step: StepState) -> str | None:
    name = tool.canonical_name
    for part in (name.name, name.namespace):
        if part is not None and not (isinstance(part, str) and _LAWFUL_NAME.match(part)):
            return "no provider accepts its name: use letters, digits, _ and - only"
    if len(name.name) + len(name.namespace or "") > MAX_NAME_CHARS:
        return f"its name is longer than {MAX_NAME_CHARS} characters"
    if str(name) in step.disabled_tools:
        return "turned off by the configuration"
    return _gate_verdict(tool, step)


def _gate_verdict(tool: ToolImplementation, step: StepState) -> str | None:
    if tool.gate is None:
        return None
    try:
        return tool.gate(step)
    except Exception as error:  # a gate is a stranger's code; in doubt the tool stays out
        return f"its gate raised {type(error).__name__}"


# --- filter 2: may it be shown --------------------------------------------------------------------------------------


def _not_shown(tool: ToolImplementation, step: StepState) -> str | None:
    if tool.exposure is Exposure.HIDDEN:
        return "hidden: never shown, but a call of it is handled"
    if tool.exposure is Exposure.DEFERRED:
        found = "found by a search" if step.model.supports_search else "this model cannot search, so nobody finds it"
        return f"deferred: {found}, and a call of it is handled"
    return None


# --- namespaces -----------------------------------------------------------------------------------------------------


def _named_for_provider(
    candidate: ToolImplementation | RejectedTool, step: StepState
) -> ToolImplementation | RejectedTool:
    """Flatten the name where the provider knows no namespaces. The contract is renamed with it."""
    if isinstance(candidate, RejectedTool):
        return candidate
    if not isinstance(candidate, ToolImplementation):
        raise InvalidContract(
            f"a candidate must be a ToolImplementation or a RejectedTool, found {type(candidate).__name__}"
        )
    if candidate.namespace is None or step.provider.namespaces:
        return candidate
    flat = f"{candidate.namespace}__{candidate.contract.name}"
    return replace(candidate, contract=replace(candidate.contract, name=flat), namespace=None)


def merge_supported_namespaces(visible: Sequence[ToolImplementation]) -> list[Contract]:
    """One contract for each namespace, behind the tools without one.

    Order: tools without a namespace as they came, then namespaces by name; inside, tools by name. Both sorts are by
    code point. Source: Codex CLI 0.171.0 (measured).
    """
    members: dict[str, list[ToolImplementation]] = {}
    for tool in visible:
        if tool.namespace is not None:
            members.setdefault(tool.namespace, []).append(tool)
    return [tool.contract for tool in visible if tool.namespace is None] + [
        NamespaceContract(
            name,
            next((tool.namespace_description for tool in tools if tool.namespace_description), None)
            or default_namespace_description(name),
            tuple(sorted((tool.contract for tool in tools), key=lambda contract: contract.name)),
        )
        for name, tools in sorted(members.items())
    ]
