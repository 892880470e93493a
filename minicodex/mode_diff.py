"""One prompt in both API modes, side by side as one text: what stands only here, only there, and what only moved.

A contract is folded to one line, since its bytes are the same in both. That is not claimed but looked up: a contract
whose bytes are not in both bodies gets no `=`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from minicodex.contract import Contract, NamespaceContract
from minicodex.request import ApiMode, ApiRequest, PromptSnapshot, encode_model_request

__all__ = ["mode_diff"]

LEGEND = """\
-   only in ordinary Responses
+   only in Responses Lite
=   a contract, the same bytes in both: it only stands elsewhere
"""


def mode_diff(prompt: PromptSnapshot) -> str:
    """The difference between the two requests of one prompt, for a terminal.

    Raises:
        ContractEncodingError, HistoryError: the prompt cannot be encoded.
    """
    ordinary, lite = (encode_model_request(prompt, mode) for mode in (ApiMode.RESPONSES, ApiMode.RESPONSES_LITE))
    bodies = ordinary.to_bytes(), lite.to_bytes()
    folds = {
        json.dumps(contract.to_wire()): _fold(contract, same=all(contract.to_bytes() in body for body in bodies))
        for contract in prompt.tool_contracts
    }
    sizes = f"body: {len(bodies[0]):,} bytes in ordinary Responses, {len(bodies[1]):,} bytes in Responses Lite"
    return "\n".join([LEGEND, *_compared(_lines(ordinary, folds), _lines(lite, folds)), "", sizes])


_SAME, _NOT_SAME = "= ", "! "


def _fold(contract: Contract, *, same: bool) -> str:
    tools = f" with tools: {len(contract.tools)}" if isinstance(contract, NamespaceContract) else ""
    kind = contract.to_wire()["type"]
    return f"{_SAME if same else _NOT_SAME}{contract.name} ({kind}{tools}, {len(contract.to_bytes()):,} bytes)"


def _lines(request: ApiRequest, folds: dict[str, str]) -> list[str]:
    headers = [f"{name}: {value}" for name, value in request.headers.items()]
    return headers + json.dumps(_folded(request.to_json(), folds), indent=2, ensure_ascii=False).split("\n")


def _folded(value: Any, folds: dict[str, str]) -> Any:
    if isinstance(value, dict):
        fold = folds.get(json.dumps(value)) if "type" in value else None
        return fold or {key: _folded(child, folds) for key, child in value.items()}
    return [_folded(child, folds) for child in value] if isinstance(value, list) else value


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Lines with their marks. A comma at the end of a line is no difference."""
    old, new = ([line.removesuffix(",") for line in lines] for lines in (before, after))
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"    {line}" for line in after[new_start:new_end])
        else:
            yield from (_marked("-", line) for line in before[start:end])
            yield from (_marked("+", line) for line in after[new_start:new_end])


def _marked(mark: str, line: str) -> str:
    place = line.lstrip(" ")
    if place.startswith(f'"{_SAME}'):
        words = place.removesuffix(",").strip('"').removeprefix(_SAME)
        return f"{mark}=  {' ' * (len(line) - len(place))}{words}"
    return f"{mark}   {line}"
