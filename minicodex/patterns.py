"""Patterns written by strangers, matched in bounded time.

Why not just `re.search`: a pattern such as `^(a+)+$` takes Python's engine longer than the age of the universe on
thirty characters, and nothing can interrupt it. The Rust engine inside pydantic needs linear time for any pattern, but
has no lookaround and no back-references. Patterns that need those go to Python's engine if they are tame: no repeat of
a group that repeats or branches inside. The rest cannot be used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from minicodex.errors import MinicodexError

__all__ = ["MAX_MATCH_STEPS", "TextTooLong", "UnusablePattern", "refuse_wild", "search"]

MAX_MATCH_STEPS = 10_000_000
"""Bound for a tame pattern in Python's engine: (length of the text) to the power of (number of open repeats), and twice
that for each part that is optional or an alternative."""

SHORT_TEXT_CHARS = 64
"""A pattern that cannot be matched in a text of this length is no good; a longer text is too long for it."""


class UnusablePattern(MinicodexError):
    """No engine can match this pattern in bounded time, or it is no pattern at all."""


class TextTooLong(UnusablePattern):
    """The pattern is fine, this text is not: whoever sent it is to send less."""


def search(pattern: str, text: str) -> bool:
    """Whether the pattern matches anywhere in the text, as JSON Schema's `pattern` asks.

    Raises:
        UnusablePattern: it is broken, could hang, or the text is too long for it.
    """
    return _matcher(pattern)(text)


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> Callable[[str], bool]:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except (SchemaError, UnicodeEncodeError):
        return _python_matcher(pattern)


def _python_matcher(pattern: str) -> Callable[[str], bool]:
    freedom = _open_repeats(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of forms that other engines know
            compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnusablePattern("the pattern is broken") from error

    def match(text: str) -> bool:
        _refuse_long(freedom, len(text))
        return compiled.search(text) is not None

    return match


def refuse_wild(pattern: str, text_chars: int) -> None:
    """Make sure that Python's own engine can match this pattern in a text of this length.

    Raises:
        UnusablePattern: it could hang.
    """
    _refuse_long(_open_repeats(pattern), text_chars)


def _refuse_long(freedom: tuple[int, int], text_chars: int) -> None:
    repeats, choices = freedom
    if max(1, text_chars) ** (repeats + 1) << choices > MAX_MATCH_STEPS:
        if text_chars <= SHORT_TEXT_CHARS:
            raise UnusablePattern("the pattern can be tried in too many ways")
        raise TextTooLong("the text is too long for this pattern")


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)


_UNREADABLE = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")
"""Comments and verbose mode: what stands in them would be counted wrongly."""


def _open_repeats(pattern: str) -> tuple[int, int]:
    """Count the repeats, bounded ones too, and the parts that are optional or alternatives.

    Raises:
        UnusablePattern: a repeat stands around a group that repeats or branches inside.
    """
    if _UNREADABLE.search(pattern):
        raise UnusablePattern("the pattern holds comments or uses verbose mode")
    repeats, choices, before = 0, 0, ""
    groups = [False]  # per open group: does it repeat or branch inside?
    closed = False  # was the piece before this one a group that does?
    for piece in _PIECE.findall(pattern):
        is_choice = piece == "|" or (piece == "?" and before != "(")
        choices += is_choice
        groups[-1] |= is_choice
        before = piece
        if piece == "(":
            groups.append(False)
        elif piece == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] |= closed
            continue
        elif piece in ("*", "+") or (piece[0] == "{" and piece.endswith("}")):
            if closed:
                raise UnusablePattern("the pattern repeats a group that repeats or branches inside, which can hang")
            repeats += 1
            groups[-1] = True
        closed = False
    return repeats, choices
