"""What people ran into, and the arguments that show it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cases import field_reports

from minicodex.schema import Effect, SchemaTrace, adapt_mcp_schema, judge, trace_tool_schema

REPORTS = pytest.mark.parametrize("report", field_reports(), ids=lambda report: report["id"])

EFFECT_OF_FINDING = {
    "widened": Effect.WIDER,
    "narrowed": Effect.NARROWER,
    "unsatisfiable": Effect.CONTRADICTORY,
    "annotation_lost": Effect.TEXT_LOST,
    "nullable_lost": Effect.TEXT_LOST,
}

ALREADY_IN_THE_SOURCE = {"enum-type-clash"}
"""The author's own schema allows nothing; compiling it changed nothing."""


def traced(report: dict[str, Any]) -> SchemaTrace:
    return trace_tool_schema(adapt_mcp_schema(report["schema"]))


@REPORTS
def test_a_reported_schema_compiles_to_what_codex_offered(report: dict[str, Any]) -> None:
    trace = traced(report)
    if report["codex_output"] == "<DROPPED>":
        assert trace.error is not None
    else:
        assert trace.schema is not None
        assert json.dumps(trace.schema.to_json()) == json.dumps(report["codex_output"])


@REPORTS
def test_every_reported_witness_is_judged_as_reported(report: dict[str, Any]) -> None:
    trace = traced(report)
    for witness in report["expected"]["witnesses"]:
        arguments = json.loads(witness["arguments"])
        compiled = "n/a" if trace.schema is None else judge(trace.schema.to_json(), arguments)
        assert (judge(report["schema"], arguments), compiled) == (witness["source"], witness["compiled"]), arguments


@REPORTS
def test_every_reported_finding_about_compiling_is_a_loss_at_that_place(report: dict[str, Any]) -> None:
    if report["id"] in ALREADY_IN_THE_SOURCE:
        pytest.skip("no loss: the source is to blame")
    listed = {(loss.effect, loss.at) for loss in traced(report).losses}
    expected = {
        (EFFECT_OF_FINDING[finding["code"]], finding["at"])
        for finding in report["expected"]["lint"]
        if finding["code"] in EFFECT_OF_FINDING
    }
    assert expected <= listed


@REPORTS
def test_a_refused_schema_is_refused_at_the_reported_place(report: dict[str, Any]) -> None:
    places = [finding["at"] for finding in report["expected"]["lint"] if finding["code"] == "dropped_tool"]
    error = traced(report).error
    assert ([] if error is None else [error.pointer]) == places
