"""The table of the real CLI's answers against the captures it was taken from."""

import json
from pathlib import Path

from minicodex.lab.codex_answers import codex_answers

CASES = json.loads((Path(__file__).parent / "data/captures/dispatch_errors.json").read_text())["cases"]


def test_every_row_is_what_was_captured():
    captured = {}
    for case in CASES:
        outputs = [item["output"] for item in case["next_request_new_input"] if "output" in item]
        if len(case["model_items"]) == 1 and case["model_items"][0]["type"] == "function_call":
            call, output = case["model_items"][0], outputs[0]
            captured[case["case"]] = (
                call["name"],
                call.get("namespace"),
                call["arguments"],
                output if isinstance(output, str) else output[-1]["text"],
            )
    table = {row.case: (row.tool, row.namespace, row.arguments, row.output) for row in codex_answers()}
    assert table == captured


def test_what_was_forwarded_counts_as_run():
    ran = {row.case for row in codex_answers() if row.ran}
    assert {case["case"] for case in CASES if "forwarded_to_mcp_server" in case} <= ran
    assert not any(
        row.output.startswith(("failed to parse", "unsupported", "err: ")) for row in codex_answers() if row.ran
    )
