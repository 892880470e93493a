"""Canonical names, against what Codex CLI 0.171.0 made of the same servers (measured)."""

import json
from pathlib import Path

import pytest

from minicodex.naming import MAX_NAME_CHARS, ToolName, canonical_names, canonical_namespaces

CASES = json.loads((Path(__file__).parent / "data/captures/names.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_names_are_those_of_the_real_cli(case):
    namespaces = canonical_namespaces(case["servers"])
    named: dict[str, set[str]] = {}
    for server, offer in case["servers"].items():
        for canonical in canonical_names(server, namespaces[server], offer["tools"]).values():
            named.setdefault(canonical.namespace, set()).add(canonical.name)
    expected = {
        entry["namespace"]: {name for name, _ in entry["tools"]}
        for entry in case["wire_namespaces_tool_name_and_raw_name"]
    }
    assert named == expected


def test_no_name_is_longer_than_the_limit_and_none_are_equal():
    raw_names = ["x" * length for length in range(90, 200)] + ["y.z", "y_z"]
    for server in ("s", "s" * 60, "s" * 125):
        names = canonical_names(server, f"mcp__{server}", raw_names).values()
        assert all(len(name.namespace) + 2 + len(name.name) <= MAX_NAME_CHARS for name in names)
        assert len(set(names)) == len(raw_names)


def test_a_name_without_namespace_is_its_text_and_one_with_a_namespace_is_not():
    table = {ToolName("update_plan"): 1, ToolName("x", "mcp__p"): 2}
    assert table["update_plan"] == 1
    assert "mcp__p.x" not in table
    assert ToolName("x", "mcp__p") != ToolName("x")
    assert str(ToolName("x", "mcp__p")) == "mcp__p.x"


@pytest.mark.parametrize("namespace", [None, "", "functions"])
def test_three_ways_to_write_no_namespace(namespace):
    assert ToolName.from_wire("update_plan", namespace) == "update_plan"


def test_half_a_surrogate_pair_in_a_name_is_renamed_like_any_other_character():
    assert canonical_names("s", "mcp__s", ["a\ud800"])["a\ud800"] == ToolName("a_", "mcp__s")
