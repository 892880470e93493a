"""`jsonschema`, the reference implementation, loaded at first use and without a grammar that nobody here needs.

Why not simply import it: beside Jupyter stands a package with the grammar of international web addresses, which the
library loads for its checks of `format`. Ours check none, and it takes ten times as long to load as all the rest.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Final

__all__ = ["load_jsonschema"]

GRAMMAR: Final = "rfc3987_syntax"


def load_jsonschema() -> ModuleType:
    """The library. Who loaded it earlier, or wants the grammar, gets what they would get without us."""
    if "jsonschema" in sys.modules or GRAMMAR in sys.modules:
        return import_module("jsonschema")
    sys.modules[GRAMMAR] = None  # type: ignore[assignment]  # Python's own way to say: not installed
    try:
        return import_module("jsonschema")
    finally:
        del sys.modules[GRAMMAR]
