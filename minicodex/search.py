"""Search over deferred tools: the model asks in words and gets contracts.

A found tool never enters the first list. Its contract stands in the search's output only, with `defer_loading`. The
ranking is BM25, in a few lines because the libraries bring numpy. Equal hits keep the order of their names, where the
real CLI's order varies from run to run (measured).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from minicodex.contract import FunctionContract, NamespaceContract, ToolSearchContract
from minicodex.naming import ToolName
from minicodex.schema import compile_tool_schema
from minicodex.tool import ToolImplementation, namespace_description

__all__ = ["SEARCH_TOOL", "search_tools"]

DEFAULT_LIMIT = 8
"""Hits given when the model names no limit."""

SEARCH_TOOL = ToolSearchContract(
    description="Find tools that are not in the list yet. Describe in a few words what the tool should do.",
    parameters=compile_tool_schema(
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What the tool should do, in a few words"},
                "limit": {"type": "number", "description": "Most tools to return"},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        trusted=True,
    ),
)

# The usual constants of BM25: how fast a repeated word saturates, and how much long texts are held back.
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75


def search_tools(arguments: Any, deferred: Mapping[ToolName, ToolImplementation]) -> list[Any]:
    """Contracts of the tools that fit best, grouped by namespace.

    A search that cannot be understood finds nothing and gives no reason, as in Codex CLI 0.171.0 (measured).
    """
    if not isinstance(arguments, dict) or not isinstance(query := arguments.get("query"), str):
        return []
    limit = arguments.get("limit", DEFAULT_LIMIT)
    if isinstance(limit, bool) or not isinstance(limit, int):
        return []
    hits = _rank(query, deferred)[: max(0, limit)]
    return _grouped([deferred[name] for name in hits], deferred.values())


def _rank(query: str, tools: Mapping[ToolName, ToolImplementation]) -> list[ToolName]:
    documents = {name: Counter(_words(_document(tool))) for name, tool in tools.items()}
    if not documents:
        return []
    mean_length = sum(document.total() for document in documents.values()) / len(documents) or 1
    frequency = Counter(word for document in documents.values() for word in document)
    scores: dict[ToolName, float] = {}
    for name, document in documents.items():
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * document.total() / mean_length)
        for word in set(_words(query)) & document.keys():
            rarity = math.log(1 + (len(documents) - frequency[word] + 0.5) / (frequency[word] + 0.5))
            gain = document[word] * (_SATURATION + 1) / (document[word] + damping)
            scores[name] = scores.get(name, 0.0) + rarity * gain
    return sorted(scores, key=lambda name: (-scores[name], str(name)))


def _document(tool: ToolImplementation) -> str:
    contract = tool.contract
    fields = contract.parameters.to_json().get("properties", {}) if isinstance(contract, FunctionContract) else {}
    return " ".join([str(tool.canonical_name), contract.description, tool.namespace_description or "", *fields])


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _grouped(hits: Iterable[ToolImplementation], deferred: Iterable[ToolImplementation]) -> list[Any]:
    members: dict[str | None, list[ToolImplementation]] = {}
    for tool in hits:
        members.setdefault(tool.namespace, []).append(tool)
    found: list[Any] = []
    for namespace, group in members.items():
        contracts = [_loaded(tool) for tool in group]
        if namespace is None:
            found += contracts
        else:
            words = namespace_description(namespace, [tool for tool in deferred if tool.namespace == namespace])
            found.append(NamespaceContract(namespace, words, tuple(contracts)))
    return found


def _loaded(tool: ToolImplementation) -> Any:
    contract = tool.contract
    return replace(contract, defer_loading=True) if isinstance(contract, FunctionContract) else contract
