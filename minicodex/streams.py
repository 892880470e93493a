"""The three standard streams and the files of a command: what is read is bounded, what is shown takes nothing over.

A stream may be closed, full, without an end, or a terminal. Each gives one sentence, or the bytes as they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from minicodex.json_text import MAX_TEXT_CHARS, shorten
from minicodex.printable import printable_lines

__all__ = ["CannotRunError", "CannotWriteError", "give_up_output", "lines", "opened", "read_bounded", "say", "write"]

MAX_INPUT_BYTES = 4 * MAX_TEXT_CHARS
"""Longest file or line that is read: the longest text, in characters of four bytes each."""


class CannotRunError(Exception):
    """One sentence for the person at the terminal: what happened and what to do."""


class CannotWriteError(CannotRunError):
    """Standard output takes no more. No sentence where its reader has seen enough."""


@contextmanager
def opened(file: str | None) -> Iterator[BinaryIO]:
    """A file to read; standard input for None and `-`.

    Raises:
        CannotRunError: it cannot be opened, or not be read to its end.
    """
    name = "standard input" if file in (None, "-") else shorten(file)
    try:
        if file is None or file == "-":
            yield _standard_input()
        else:
            with Path(file).open("rb") as stream:
                yield stream
    except OSError as error:
        raise CannotRunError(f"{name} cannot be read: {error.strerror}") from None


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # closed by whoever started this program
        raise CannotRunError("standard input is closed; name a file, or feed it with | or <")
    return sys.stdin.buffer


def read_bounded(read: Callable[[int], bytes]) -> bytes:
    """A file or a line, as `read` gives it, up to a number of bytes.

    Raises:
        CannotRunError: it is longer than `MAX_INPUT_BYTES`; some never end.
    """
    data = read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise CannotRunError(f"the input is longer than {MAX_INPUT_BYTES:,} bytes; give less at a time")
    return data


def lines(stream: BinaryIO) -> Iterator[bytes]:
    r"""Lines without their `\n`. Nothing else ends a line: U+2028 and a bare CR are content."""
    while line := read_bounded(stream.readline):
        yield line.removesuffix(b"\n")


def write(data: bytes) -> None:
    """Print UTF-8. A program gets the bytes as they are, a terminal without what could take it over.

    Raises:
        CannotWriteError: standard output is closed, full or has no reader.
    """
    if sys.stdout is None:  # closed by whoever started this program
        raise CannotWriteError("standard output is closed; send it to a terminal, a file or a pipe")
    try:
        sys.stdout.buffer.write(printable_lines(data.decode()).encode() if sys.stdout.isatty() else data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise CannotWriteError from None
    except OSError as error:
        raise CannotWriteError(f"standard output cannot be written: {error.strerror}") from None


def give_up_output() -> None:
    """Let what could not be written go: Python would try once more at exit, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """One sentence for the person, on standard error; nothing where that is closed."""
    if sys.stderr is not None:  # closed by whoever started this program
        sys.stderr.write(f"minicodex: {printable_lines(sentence)}\n")
