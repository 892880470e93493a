"""A small memory for compiled texts, bounded in entries and in bytes.

The key is the text itself, never the identity of an object that somebody may change; the result is immutable. Reading
takes no lock: a lookup in a dict is atomic. The oldest entry goes first.
"""

from __future__ import annotations

import sys
from threading import Lock
from typing import Final

from minicodex.schema.model import ToolSchema

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "TextCache"]

MAX_ENTRIES: Final = 1_024
"""Compiled texts that are remembered."""

MAX_BYTES: Final = 16_000_000
"""Memory that texts and results may take together, in bytes; one of more than an eighth is not kept."""


class TextCache:
    """Remembers results by text."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._results: dict[str | bytes, ToolSchema] = {}
        self._max_entries, self._max_bytes, self._used_bytes = max_entries, max_bytes, 0
        self._writing = Lock()
        self.get = self._results.get
        """The result for a text, or None."""

    def put(self, text: str | bytes, result: ToolSchema) -> None:
        """Remember a result; whatever is oldest makes room."""
        cost = _cost(text, result)
        if cost > self._max_bytes // 8:
            return
        with self._writing:
            if text in self._results:
                return
            self._results[text] = result
            self._used_bytes += cost
            while len(self._results) > self._max_entries or self._used_bytes > self._max_bytes:
                oldest = next(iter(self._results))
                self._used_bytes -= _cost(oldest, self._results.pop(oldest))

    def __len__(self) -> int:
        return len(self._results)


def _cost(text: str | bytes, result: ToolSchema) -> int:
    return sys.getsizeof(text) + result.size_bytes
