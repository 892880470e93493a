"""Planning: one pass over one list of candidates, two tables out.

Every candidate meets four filters, and ends with a decision that says how far it came:

1. may it exist in this step?      (built, named lawfully, allowed by its gate and the configuration)
2. is its canonical name free?     (the first that may exist owns the name in both tables, shown or not)
3. may it be shown at first?       (direct; not deferred, not hidden)
4. does the operating mode leave it on the top level?

Filters 1 and 2 decide what can run, 3 and 4 only what is seen at first. Because both tables come out of this one
pass, nothing can be visible that cannot be dispatched, and a name always leads to the handler of the very contract the
model saw. The price: every step is planned; contracts and their bytes are kept with the implementation, and equal plans
share their tables, so a repeated plan is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from minicodex.code_mode import (
    CodeModeOptions,
    ToolMode,
    adapt_contract_for_mode,
    nested_tools,
    own_tools,
    stays_on_top,
)
from minicodex.contract import Contract, NamespaceContract
from minicodex.errors import InvalidContract
from minicodex.naming import ToolName
from minicodex.request import ContractList
from minicodex.search import SEARCH_TOOL
from minicodex.tool import Candidate, Exposure, Handler, RejectedTool, ToolImplementation, namespace_description

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
    code_mode: CodeModeOptions = field(default_factory=CodeModeOptions)
    """Matters in the two code modes only."""
    disabled_tools: frozenset[str] = frozenset()
    """Canonical names that the configuration turns off, as `name` or `namespace.name`."""
    configuration: Mapping[str, Any] = field(default_factory=dict, hash=False)
    account: str = ""
    platform: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "disabled_tools", frozenset(self.disabled_tools))
        for name in ("configuration", "environment"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def offers_search(self) -> bool:
        """Whether deferred tools are found by `tool_search`. Code mode has none, as in Codex CLI 0.171.0 (measured)."""
        return self.model.supports_search and self.tool_mode is ToolMode.DIRECT


class Filter(Enum):
    """The four questions, in the order in which they are asked."""

    EXISTS = "may it exist"
    NAME = "is its name free"
    SHOWN = "may it be shown"
    MODE = "does the mode leave it on the top level"


class Decision(NamedTuple):
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
    twin: ToolPlan | None = field(default=None, repr=False)
    """The plan whose tables this one shares; holding it keeps them known to the steps that follow."""

    def explain(self, name: ToolName | str) -> str:
        """One sentence for each candidate of this name."""
        sentences = [
            f"{decision.name} ({decision.source}): {decision.reason}"
            for decision in self.decisions
            if decision.name is not None and name in (decision.name, str(decision.name))
        ]
        return "\n".join(sentences) or f"{name}: no source offered a tool of this name in step {self.step_id}"


_PlanKey = tuple[tuple[Candidate, ...], StepState]

_living_plans: WeakValueDictionary[_PlanKey, ToolPlan] = WeakValueDictionary()
"""Plans that somebody still holds, by all that they depend on. Being in here keeps no plan alive."""


def plan_tools(candidates: Iterable[Candidate], step: StepState) -> ToolPlan:
    """Plan one step: decide about every candidate, and build both tables from the same decisions.

    Where a plan of the very same candidates for an equal step (but for its id) is still alive, its tables and its
    encoded contracts are shared: a plan depends on nothing else. Unless one of the candidates has a gate: that is code
    of its own, and asked in each step.

    Args:
        candidates: what the sources offer, in order of priority.
        step: all that the plan may depend on.

    Raises:
        InvalidContract: something in the list is neither an implementation nor a rejected tool.
    """
    offered = tuple(candidates)
    for candidate in offered:
        if not isinstance(candidate, (ToolImplementation, RejectedTool)):
            kind = type(candidate).__name__
            raise InvalidContract(f"a candidate must be a ToolImplementation or a RejectedTool, found {kind}")
    # A gate is asked in each step, and may look at its id; where there is none, equal steps have equal plans.
    is_gated = any(isinstance(candidate, ToolImplementation) and candidate.gate for candidate in offered)
    key = (offered, step if is_gated else replace(step, id=""))
    twin = _living_plans.get(key)
    if twin is None:
        twin = _living_plans[key] = _plan(*key)
    return replace(twin, step_id=step.id, twin=twin)


def _plan(candidates: Sequence[Candidate], step: StepState) -> ToolPlan:
    """The one pass. Both tables are filled here, from the same decision, and nowhere else."""
    owners: dict[ToolName, ToolImplementation] = {}
    decisions: list[Decision] = []
    visible: list[ToolImplementation] = []
    for candidate in (*own_tools(step.tool_mode, step.code_mode), *candidates):
        if isinstance(candidate, RejectedTool):
            decisions.append(_rejected(candidate))
            continue
        tool = candidate if candidate.namespace is None or step.provider.namespaces else candidate.flattened
        stopped_at, reason = _verdict(tool, step, owners)
        decisions.append(Decision(tool.canonical_name, tool.source, stopped_at, reason))
        if stopped_at is not Filter.EXISTS and stopped_at is not Filter.NAME:
            owners[tool.canonical_name] = tool
        if stopped_at is None:
            visible.append(tool)
    if step.tool_mode is not ToolMode.DIRECT:
        nested = nested_tools(owners.values(), step.code_mode)
        visible = [adapt_contract_for_mode(tool, step.tool_mode, nested) for tool in visible]
    contracts: list[Contract] = merge_supported_namespaces(visible)
    if step.offers_search and any(tool.exposure is Exposure.DEFERRED for tool in owners.values()):
        contracts.append(SEARCH_TOOL)
    return ToolPlan(
        step_id=step.id,
        contracts=ContractList(contracts),
        implementations=MappingProxyType(owners),
        dispatch=MappingProxyType({name: tool.handler for name, tool in owners.items()}),
        decisions=tuple(decisions),
    )


def _rejected(candidate: RejectedTool) -> Decision:
    name = ToolName(candidate.name) if isinstance(candidate.name, str) else None
    return Decision(name, candidate.source, Filter.EXISTS, f"could not be built: {candidate.error}")


def _verdict(
    tool: ToolImplementation, step: StepState, owners: Mapping[ToolName, ToolImplementation]
) -> tuple[Filter | None, str]:
    """The filter that stops the tool, if any, and the reason in words."""
    if (denied := _denied(tool, step)) is not None:
        return Filter.EXISTS, denied
    if (owner := owners.get(tool.canonical_name)) is not None:
        return Filter.NAME, f"the name belongs to the tool of {owner.source}, which came first"
    if not tool.exposure.is_direct:
        return Filter.SHOWN, _not_shown(tool.exposure, step)
    if step.tool_mode is ToolMode.CODE_MODE_ONLY and not stays_on_top(tool, step.code_mode):
        return Filter.MODE, "the mode takes it off the top level; a call of it is handled"
    return None, "in the first list"


# --- filter 1: may it exist -----------------------------------------------------------------------------------------


def _denied(tool: ToolImplementation, step: StepState) -> str | None:
    if tool.name_flaw is not None:
        return tool.name_flaw
    if step.disabled_tools and str(tool.canonical_name) in step.disabled_tools:
        return "turned off by the configuration"
    if tool.gate is None:
        return None
    try:
        return tool.gate(step)
    except Exception as error:  # a gate is a stranger's code; in doubt the tool stays out
        return f"its gate raised {type(error).__name__}"


# --- filter 3: may it be shown --------------------------------------------------------------------------------------


def _not_shown(exposure: Exposure, step: StepState) -> str:
    if exposure is Exposure.HIDDEN:
        return "hidden: never shown, but a call of it is handled"
    if step.tool_mode is not ToolMode.DIRECT:
        found = "scripts find it in ALL_TOOLS"
    else:
        found = "found by a search" if step.offers_search else "this model cannot search, so nobody finds it"
    return f"deferred: {found}, and a call of it is handled"


# --- namespaces -----------------------------------------------------------------------------------------------------


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
            namespace_description(name, tools),
            tuple(sorted((tool.contract for tool in tools), key=lambda contract: contract.name)),
        )
        for name, tools in sorted(members.items())
    ]
