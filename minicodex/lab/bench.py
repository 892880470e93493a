"""The workshop bench: the few names that a chapter uses again and again, in one import.

Importing it in a notebook also makes an error of minicodex one line long: where it was raised inside the package says
nothing to the reader of a chapter. Any other error keeps its traceback.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from minicodex.errors import MinicodexError
from minicodex.lab.json_view import JsonView
from minicodex.lab.strip import LifecycleStrip
from minicodex.lab.widgets import predict

__all__ = ["JsonView", "LifecycleStrip", "predict"]


def _one_line(
    shell: Any, kind: type[Exception], error: Exception, _trace: TracebackType, tb_offset: int | None = None
) -> None:
    assert tb_offset is None or tb_offset >= 0
    shell._showtraceback(kind, error, [f"{kind.__name__}: {error}"])  # noqa: SLF001 - IPython offers no other way


def _shorten_errors() -> None:
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((MinicodexError,), _one_line)


_shorten_errors()
