"""Chapter 9: the map shows what happened, the mutation lab breaks and mends, the checks of the exercises speak."""

import threading

import pytest

from minicodex import NamespaceContract, StepState, plan_tools
from minicodex.errors import FAILURES
from minicodex.lab import chapter_09 as lab
from minicodex.lab.behaviours import BEHAVIOURS
from minicodex.lab.failure_map import FailureMap, failure_map
from minicodex.lab.mutation_lab import HEALTHY, MutationLab, mutation_lab
from minicodex.lab.sabotage import SWITCHES, patched, sabotaged
from minicodex.request import ApiMode, ContractList
from minicodex.schema import compiler
from minicodex.sources.builtin import PlanBoard, update_plan_tool

# --- the failure map -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.key)
def test_map_shows_the_row_and_what_happened(failure):
    view = FailureMap().pick(failure.key)
    assert view.text().count("▶") == 1
    assert f"▶ {failure.key}" in view.text()
    assert failure.way_back in view.text()
    assert view.reproduction.came.split("\n")[0].replace("`", "") in view.text()
    assert 'aria-current="true"' in view.html()


def test_an_unknown_row_is_refused():
    with pytest.raises(ValueError, match="no row is called 'x'; they are schema_outside_subset"):
        FailureMap().pick("x")


def test_two_maps_do_not_move_each_other():
    first, second = failure_map(), failure_map()
    (rows,) = first.children[0].children
    rows.set_state({"index": 9})
    assert first.state.key == "unknown_name"
    assert second.state.key == "schema_outside_subset"


# --- the mutation lab ------------------------------------------------------------------------------------------------


def test_a_healthy_runtime_keeps_every_promise():
    assert MutationLab().red == []
    assert HEALTHY in MutationLab().text()


def test_each_switch_is_noticed_by_one_check_and_each_check_notices_one_switch():
    noticed = [name for switch in SWITCHES for name in MutationLab(switch).red]
    assert noticed == list(BEHAVIOURS)
    assert MutationLab().red == []


def test_a_red_check_shows_what_differs():
    view = MutationLab("trust_the_model")
    assert '"times run": 1,   ← changed, was 0' in view.text()
    assert "1 of 8 checks are red" in view.html()


def test_an_unknown_switch_is_refused():
    with pytest.raises(ValueError, match="no switch is called 'x'; they are tidy_keys"):
        MutationLab().turn_on("x")


def test_what_was_there_is_put_back_even_after_an_error():
    before = compiler.PASSES, ApiMode.RESPONSES_LITE
    for switch in SWITCHES:
        with pytest.raises(ZeroDivisionError), sabotaged(switch):
            raise ZeroDivisionError
    assert before == (compiler.PASSES, ApiMode.RESPONSES_LITE)


@pytest.mark.parametrize("compile_json", [compiler.compile_tool_schema_json, compiler.compile_mcp_schema_json])
def test_the_compiler_remembers_nothing_across_a_sabotage(compile_json):
    before, inside = (f'{{"type":"object","description":"{"x" * 6_000}","$comment":"{word}"}}' for word in "ab")
    healthy = compile_json(before).to_bytes()
    with patched(compiler, "PASSES", ()):
        assert b"xxx" in compile_json(before).to_bytes(), "what is known from before would hide the fault"
        assert b"xxx" in compile_json(inside).to_bytes()
    assert compile_json(before).to_bytes() == compile_json(inside).to_bytes() == healthy


def test_contracts_remember_no_bytes_across_a_sabotage():
    contract = plan_tools([update_plan_tool(PlanBoard())], StepState("s")).contracts[0]
    family = [contract, NamespaceContract("n", "", (contract,)), ContractList([contract])]

    def encoded():
        return [family[0].to_bytes(), family[1].to_bytes(), family[2].top_level.raw, family[2].developer_item.raw]

    with sabotaged("be_explicit"):
        first_encoded_inside = encoded()
    healthy = encoded()
    with sabotaged("be_explicit"):
        known_before = encoded()
    assert all(b"defer_loading" in told for told in first_encoded_inside + known_before)
    assert not any(b"defer_loading" in told for told in healthy + encoded())


def test_a_sabotage_leaves_the_memory_of_the_healthy_runtime():
    text = '{"type": "object", "title": "known before"}'
    known = compiler.compile_tool_schema_json(text)
    with sabotaged("tidy_keys"):
        pass
    assert compiler.compile_tool_schema_json(text) is known


def test_another_thread_waits_until_the_runtime_is_whole_again():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(MutationLab().red))
    with sabotaged("trust_the_model"):
        thread.start()
        thread.join(0.2)
        assert seen == []
    thread.join(60)
    assert seen == [[]]


def test_switches_of_two_widgets_are_independent():
    first, second = mutation_lab(), mutation_lab()
    (switch,) = first.children[0].children
    switch.set_state({"index": 1})
    assert first.state.switch == "tidy_keys"
    assert second.state.switch is None
    assert "0 of 8 checks are red" in second.pane.value


# --- exercises -------------------------------------------------------------------------------------------------------

RIGHT = dict(zip("ABCDE", lab._KEYS, strict=True))


@pytest.mark.parametrize(
    ("diagnoses", "sentence"),
    [
        ("A", "must be a dict with the keys A, B, C, D, E"),
        (RIGHT | {"A": "hidden"}, "A: `hidden` is no row"),
        (RIGHT | {"B": "bad_arguments"}, "B: not at the boundary `return`; think of the moment before"),
        (RIGHT | {"D": "unknown_name"}, "D: the boundary is right, the row is not"),
    ],
)
def test_diagnoses_are_told_what_is_wrong(diagnoses, sentence):
    assert sentence in lab.check_diagnoses(diagnoses).text()
    assert lab.check_diagnoses(RIGHT).done


def watch(index=0):
    tools = [update_plan_tool(PlanBoard()) for _ in range(2)]
    plan = plan_tools(tools, StepState("s"))
    return plan.dispatch["update_plan"] is tools[index].handler and plan.contracts[0] is tools[index].contract


def watches_one_table():
    tools = [update_plan_tool(PlanBoard()) for _ in range(2)]
    return plan_tools(tools, StepState("s")).dispatch["update_plan"] is tools[0].handler


def watches_the_other_table():
    tools = [update_plan_tool(PlanBoard()) for _ in range(2)]
    return plan_tools(tools, StepState("s")).contracts[0] is tools[0].contract


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (True, "must be a function"),
        (lambda: None, "must return True or False, not None"),
        (lambda: True, "in a planner where the last tool of a name wins it still returns True"),
        (lambda: watch(1), "the runtime is healthy, and it returns False"),
        (watches_one_table, "ask both tables"),
        (watches_the_other_table, "done"),
    ],
)
def test_watch_is_told_what_it_misses(answer, sentence):
    assert sentence in lab.check_watch(answer).text()
    assert lab.check_watch(watch).done


@pytest.mark.parametrize(
    ("switch", "sentence"),
    [
        ("x", "must be a tuple"),
        (("minicodex.schema.compiler", "PASSES", ()), "the lab has this switch already"),
        (("minicodex.lab.behaviours", "BEHAVIOURS", {}), "choose a module of the runtime"),
        (("os", "sep", "x"), "choose a module of the runtime"),
        (("minicodex.dispatch", "MAX_OUTPUT_CHARS", 10), "0 checks go red; it must be exactly one"),
        (("minicodex.request", "no_such_thing", 1), "AttributeError"),
        (("minicodex.no_such_room", "x", 1), "ModuleNotFoundError"),
    ],
)
def test_own_switch_is_told_what_is_wrong(switch, sentence):
    assert sentence in lab.check_own_switch(switch).text()
    assert MutationLab().red == []


def test_patching_what_a_class_inherits_leaves_nothing_behind():
    class Base:
        word = "old"

    class Child(Base):
        pass

    with patched(Child, "word", "new"):
        assert Child.word == "new"
    assert "word" not in vars(Child)
