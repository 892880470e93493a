"""The two tables of a plan as text and as HTML."""

from dataclasses import replace

from minicodex import Exposure, StepState, dynamic_tool, plan_tools
from minicodex.lab.two_tables import TwoTables


def tool(name, **options):
    return dynamic_tool(name, "", {"type": "object"}, str, **options)


def test_tables_show_order_sizes_namespaces_and_what_is_not_shown():
    tools = [tool("b"), tool("x", namespace="mcp__s"), tool("a", exposure=Exposure.HIDDEN)]
    assert TwoTables(plan_tools(tools, StepState("s"))).text().splitlines() == [
        "contracts, in the order they are sent (2):",
        "  b                                 109 bytes",
        "  mcp__s                            203 bytes, namespace of 1 tool",
        "  mcp__s.x",
        "dispatch table, name to handler (3):",
        "  b                                 dynamic",
        "  mcp__s.x                          dynamic",
        "  a                                 dynamic         ◌ not shown",
    ]


def test_empty_plan_says_so():
    view = TwoTables(plan_tools([], StepState("s")))
    assert view.text().count("(none)") == 2
    assert view.html().count("(none)") == 2


def test_sources_and_names_are_escaped():
    html = TwoTables(plan_tools([replace(tool("a"), source="<script>")], StepState("s"))).html()
    assert "&lt;script&gt;" in html
    assert "<script" not in html
