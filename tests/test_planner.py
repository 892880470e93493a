"""Planning: two tables from one pass, and a decision for every candidate."""

import dataclasses

import pytest

from minicodex import (
    Exposure,
    RejectedTool,
    StepState,
    ToolMode,
    ToolName,
    compile_tool_schema,
    dynamic_tool,
    plan_tools,
)
from minicodex.errors import InvalidContract, InvalidToolSchema
from minicodex.planner import Filter, ModelAbilities, ProviderAbilities
from minicodex.sources import collect_tools

STEP = StepState(id="s1")
SEARCHING = StepState(id="s1", model=ModelAbilities(supports_search=True))


def tool(name, description="", **options):
    return dynamic_tool(name, description, {"type": "object", "properties": {}}, lambda arguments: name, **options)


def names(plan):
    return [contract.name for contract in plan.contracts]


def test_everything_visible_is_dispatched_to_the_handler_it_came_from():
    tools = [tool("a"), tool("b", namespace="mcp__p"), tool("c", exposure=Exposure.HIDDEN)]
    plan = plan_tools(tools, STEP)
    assert names(plan) == ["a", "mcp__p"]
    assert dict(plan.dispatch) == {one.canonical_name: one.handler for one in tools}
    assert plan.step_id == "s1"


def test_hidden_and_deferred_tools_are_dispatchable_and_not_in_the_contracts():
    plan = plan_tools([tool("h", exposure=Exposure.HIDDEN), tool("d", exposure=Exposure.DEFERRED)], STEP)
    assert plan.contracts == ()
    assert set(plan.dispatch) == {"h", "d"}
    assert "nobody finds it" in plan.explain("d")


def test_the_search_tool_is_offered_only_where_there_is_something_to_find():
    assert names(plan_tools([tool("d", exposure=Exposure.DEFERRED), tool("a")], SEARCHING)) == ["a", "tool_search"]
    assert names(plan_tools([tool("a")], SEARCHING)) == ["a"]


@pytest.mark.parametrize("first", list(Exposure))
def test_the_first_candidate_owns_the_name_in_both_tables_visible_or_not(first):
    owner, second = tool("x", exposure=first, source="one"), tool("x", source="two")
    plan = plan_tools([owner, second], STEP)
    assert plan.dispatch["x"] is owner.handler
    assert names(plan) == (["x"] if first.is_direct else [])
    assert plan.decisions[1].stopped_at is Filter.NAME
    assert "the name belongs to the tool of one" in plan.explain("x")


def test_a_denied_candidate_does_not_own_the_name():
    denied = dataclasses.replace(tool("x"), gate=lambda step: "needs an account")
    allowed = tool("x", source="two")
    plan = plan_tools([denied, allowed], STEP)
    assert plan.dispatch["x"] is allowed.handler
    assert [decision.reason for decision in plan.decisions] == ["needs an account", "in the first list"]


def test_a_gate_sees_the_step_and_a_gate_that_raises_keeps_its_tool_out():
    on_linux = dataclasses.replace(tool("x"), gate=lambda s: None if s.platform == "linux" else "linux only")
    broken = dataclasses.replace(tool("y"), gate=lambda s: 1 / 0)
    assert names(plan_tools([on_linux, broken], StepState("s", platform="linux"))) == ["x"]
    plan = plan_tools([on_linux, broken], StepState("s", platform="windows"))
    assert [decision.reason for decision in plan.decisions] == ["linux only", "its gate raised ZeroDivisionError"]


def test_a_gate_is_asked_in_each_step_and_sees_its_id():
    seen = []
    gated = dataclasses.replace(tool("a"), gate=lambda step: seen.append(step.id))
    plans = [plan_tools([gated], StepState(step_id)) for step_id in ("s_1", "s_2")]
    assert seen == ["s_1", "s_2"]
    assert plans[0].dispatch == plans[1].dispatch


def test_any_collection_of_names_can_turn_tools_off():
    assert plan_tools([tool("a")], StepState("s", disabled_tools={"a"})).dispatch == {}


def test_the_configuration_turns_tools_off_by_their_canonical_name():
    step = StepState("s", disabled_tools=frozenset({"a", "mcp__p.b"}))
    plan = plan_tools([tool("a"), tool("b"), tool("b", namespace="mcp__p")], step)
    assert names(plan) == ["b"]


@pytest.mark.parametrize("name", ["", "a b", "é", "a.b", "x\n", "\ud800", "x" * 129])
def test_an_unlawful_name_is_a_decision(name):
    plan = plan_tools([tool(name), tool("good")], STEP)
    assert names(plan) == ["good"]
    assert plan.decisions[0].stopped_at is Filter.EXISTS


def test_a_rejected_tool_is_a_decision_with_its_reason():
    error = InvalidToolSchema("items_is_list", "/items", "one schema", "a list")
    plan = plan_tools([RejectedTool("bad", "mcp:p", error), RejectedTool(None, "mcp:q", error)], STEP)
    assert "could not be built: at /items" in plan.explain("bad")
    assert plan.decisions[1].name is None


def test_something_else_in_the_list_is_refused():
    with pytest.raises(InvalidContract, match="found dict"):
        plan_tools([{"name": "x"}], STEP)


def test_namespaces_are_sorted_and_their_tools_too():
    tools = [tool(n, namespace=space) for space in ("mcp__b", "mcp__a") for n in ("_u", "a", "A", "2", "10")]
    plan = plan_tools([*tools, tool("zz")], STEP)
    assert names(plan) == ["zz", "mcp__a", "mcp__b"]
    assert [inner.name for inner in plan.contracts[1].tools] == ["10", "2", "A", "_u", "a"]
    assert plan.contracts[1].description == "Tools in the mcp__a namespace."


def test_a_provider_without_namespaces_gets_flat_names_that_dispatch():
    step = StepState("s", provider=ProviderAbilities(namespaces=False))
    one = tool("x", namespace="mcp__p")
    plan = plan_tools([one], step)
    assert names(plan) == ["mcp__p__x"]
    assert plan.dispatch["mcp__p__x"] is one.handler
    assert ToolName("x", "mcp__p") not in plan.dispatch


def test_code_mode_only_takes_tools_off_the_top_level_and_leaves_them_callable():
    plan = plan_tools([tool("a")], StepState("s", tool_mode=ToolMode.CODE_MODE_ONLY))
    assert "a" not in names(plan)
    assert "a" in plan.dispatch


def test_a_plan_cannot_be_changed():
    plan = plan_tools([tool("a")], STEP)
    with pytest.raises(TypeError):
        plan.dispatch["b"] = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.step_id = "other"
    with pytest.raises(TypeError):
        StepState("s", environment={"a": "b"}).environment["a"] = "c"


def test_equal_candidates_give_equal_bytes():
    tools = [tool("a", "é"), tool("b", namespace="mcp__p")]
    assert plan_tools(tools, STEP).contracts.top_level == plan_tools(tools, STEP).contracts.top_level


class Source:
    def __init__(self, name, offer):
        self.name, self.offer = name, offer

    def candidates(self, step):
        return self.offer(step)


def test_a_source_that_fails_takes_nothing_away_but_its_own_tools():
    def raises(step):
        raise RuntimeError("secret path")

    def stops_half_way(step):
        yield tool("half")
        raise RuntimeError

    sources = [Source("bad", raises), Source("half", stops_half_way), Source("good", lambda step: [tool("a")])]
    plan = plan_tools(collect_tools(sources, STEP), STEP)
    assert names(plan) == ["a"]
    assert [(d.source, d.reason) for d in plan.decisions[:2]] == [
        ("bad", "could not be built: bad: raised RuntimeError."),
        ("half", "could not be built: half: raised RuntimeError."),
    ]


@pytest.mark.parametrize("timeout_s", [None, 5.0])
def test_a_source_that_wants_to_leave_the_program_has_failed(timeout_s):
    def leaves(step):
        raise SystemExit(3)

    (rejected,) = collect_tools([Source("bad", leaves)], StepState("s"), timeout_s=timeout_s)
    assert "raised SystemExit" in str(rejected.error)


def test_a_source_that_hangs_is_left_behind():
    import threading

    release = threading.Event()
    hanging = Source("slow", lambda step: [release.wait(60)])
    candidates = collect_tools([hanging, Source("good", lambda step: [tool("a")])], STEP, timeout_s=0.05)
    release.set()
    assert isinstance(candidates[0], RejectedTool)
    assert "no tools after 0.05 s" in str(candidates[0].error)
    assert len(candidates) == 2


def test_ten_thousand_candidates_of_which_half_are_doubles():
    schema = compile_tool_schema({"type": "object"})
    base = tool("x")
    tools = [
        dataclasses.replace(base, contract=dataclasses.replace(base.contract, name=f"t{i % 5000}", parameters=schema))
        for i in range(10_000)
    ]
    plan = plan_tools(tools, STEP)
    assert len(plan.dispatch) == 5_000
    assert len(plan.decisions) == 10_000


def test_an_equal_step_shares_the_tables_of_a_plan_that_is_still_alive():
    tools = [tool("a"), RejectedTool("b", "x", ValueError())]
    first = plan_tools(tools, StepState("s1"))
    second = plan_tools(list(tools), StepState("s2"))
    assert (first.step_id, second.step_id) == ("s1", "s2")
    assert second.contracts is first.contracts
    assert second.dispatch is first.dispatch
    assert plan_tools(tools, StepState("s3", platform="other")).dispatch is not first.dispatch
    assert plan_tools(tools[:1], StepState("s4")).dispatch is not first.dispatch


def test_a_plan_is_freed_with_its_last_holder():
    import gc
    import weakref

    tools = [tool("a")]
    plans = [plan_tools(tools, StepState(f"s{i}", platform=str(i))) for i in range(50)]
    living = [weakref.ref(plan) for plan in plans]
    kept = plans[7]
    del plans
    gc.collect()
    assert [ref() for ref in living if ref() is not None] == [kept]
    assert kept.dispatch["a"] is tools[0].handler
