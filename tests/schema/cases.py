"""The measured cases and the field reports, read so that every number keeps its text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent.parent / "data"


class Case(NamedTuple):
    """What went into Codex CLI 0.171.0 and what it offered the model; None: the tool was left out."""

    name: str
    input_text: str
    output_text: str | None

    @property
    def input(self) -> Any:
        return json.loads(self.input_text)


@cache
def golden_cases() -> tuple[Case, ...]:
    """Every line of the file is one case: name, group, input, output, in this order."""
    lines = (DATA / "golden_cases.json").read_text(encoding="utf-8").split("\n")
    return tuple(_case(line.rstrip(",")) for line in lines if line.startswith("{"))


def _case(line: str) -> Case:
    _, end = json.JSONDecoder().raw_decode(line, start := line.index('"input":') + len('"input":'))
    output = line[end:].removeprefix(',"output":').removesuffix("}")
    return Case(json.loads(line)["name"], line[start:end], None if output == "null" else output)


@cache
def field_reports() -> tuple[dict[str, Any], ...]:
    """Troubles that people reported about schemas, each with what Codex made of it."""
    reports = json.loads((DATA / "field_reports.json").read_text(encoding="utf-8"))
    return tuple(report for report in reports if report["part"] == 1 and isinstance(report["schema"], dict))
