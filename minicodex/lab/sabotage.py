"""Sabotage: one named place of the runtime is broken, for as long as a `with` block lasts.

The real runtime is broken, not a copy of it. Whoever runs something meanwhile, in another widget or another thread,
would run the broken one too; so a lock lets only one block at a time, and what was there is always put back.
Inside a block the runtime remembers nothing of what it compiled and encoded outside, nor the other way round.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from minicodex import validation
from minicodex.contract import FreeformContract, FunctionContract, NamespaceContract, ToolSearchContract
from minicodex.request import ApiMode, ContractList, SharedRawJson
from minicodex.schema import compiler
from minicodex.schema.cache import TextCache

__all__ = ["SWITCHES", "Switch", "patched", "sabotaged"]

_one_at_a_time = threading.RLock()
_INHERITED = object()


@contextmanager
def patched(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Put a value in place of an attribute of a module or a class; take it away at the end, whatever happens.

    What the runtime remembers neither comes in nor goes out.

    Raises:
        AttributeError: there is no such attribute.
    """
    with _one_at_a_time, _without_memory(), _replaced(owner, name, value):
        yield


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    getattr(owner, name)
    own = vars(owner).get(name, _INHERITED)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


_REMEMBERED_TEXTS: Final = ("_COMPILED", "_COMPILED_FOR_MCP")
"""The compiler's memories; each is a pair of caches."""

_REMEMBERED_BYTES: Final = (
    (FunctionContract, "_encoded"),
    (NamespaceContract, "_encoded"),
    (FreeformContract, "_encoded"),
    (ToolSearchContract, "_encoded"),
    (ContractList, "top_level"),
    (ContractList, "developer_item"),
)
"""What objects that outlive a block keep of their own encoding."""


@contextmanager
def _without_memory() -> Iterator[None]:
    """The runtime with a memory of its own for the length of the block, empty at first."""
    with ExitStack() as stack:
        for name in _REMEMBERED_TEXTS:
            stack.enter_context(_replaced(compiler, name, (TextCache(), TextCache())))
        for owner, name in _REMEMBERED_BYTES:
            kept = vars(owner)[name]
            if isinstance(kept, cached_property):  # a block inside another finds a property already
                stack.enter_context(_replaced(owner, name, _kept_apart(kept.func)))
        yield


def _kept_apart(compute: Callable[[Any], Any]) -> property:
    """A `cached_property` that keeps nothing in the object. A property goes before what the object has kept itself."""
    memory: dict[int, tuple[Any, Any]] = {}

    def value(owner: Any) -> Any:
        if id(owner) not in memory:
            memory[id(owner)] = owner, compute(owner)  # the owner too, so that its id stays its own
        return memory[id(owner)][1]

    return property(value)


@dataclass(frozen=True)
class Switch:
    """One way to break the runtime."""

    excuse: str
    """The change, as somebody would say it who thinks that it does no harm."""
    place: str
    """What is replaced, as `module.attribute`."""
    owner: Any
    name: str
    broken: Callable[[Any], Any]
    """From what is there to what is put in its place."""


def _sorted_head(head: Callable[[Any], dict[str, Any]]) -> Any:
    return lambda contract: dict(sorted(head(contract).items()))


def _with_output_schema(head: Callable[[Any], dict[str, Any]]) -> Any:
    def told(contract: FunctionContract) -> dict[str, Any]:
        extra = {} if contract.output_schema is None else {"output_schema": contract.output_schema}
        return head(contract) | extra

    return told


def _with_deferred_key(head: Callable[[Any], dict[str, Any]]) -> Any:
    return lambda contract: head(contract) | {"defer_loading": bool(contract.defer_loading)}


def _without_false(_: Any) -> Any:
    def top_level(contracts: ContractList) -> SharedRawJson:
        raw = b",".join(contract.to_bytes() for contract in contracts)
        return SharedRawJson(b"[" + raw.replace(b'"strict":false,', b"") + b"]")

    return property(top_level)


def _do_nothing(*_: Any) -> None:
    """In place of a check."""


def _swapped(passes: tuple[Any, ...]) -> tuple[Any, ...]:
    return (passes[1], passes[0], *passes[2:])


SWITCHES: Mapping[str, Switch] = {
    "tidy_keys": Switch(
        "The keys of a contract are sorted: JSON does not care about their order.",
        "contract.FunctionContract._head",
        FunctionContract,
        "_head",
        _sorted_head,
    ),
    "say_it_all": Switch(
        "The output schema is sent as well: the more a model knows, the better.",
        "contract.FunctionContract._head",
        FunctionContract,
        "_head",
        _with_output_schema,
    ),
    "be_explicit": Switch(
        "`defer_loading` is always written, `false` where it is not wanted: explicit is better.",
        "contract.FunctionContract._head",
        FunctionContract,
        "_head",
        _with_deferred_key,
    ),
    "save_bytes": Switch(
        "What is `false` is left out of the shared bytes: it is the default anyway.",
        "request.ContractList.top_level",
        ContractList,
        "top_level",
        _without_false,
    ),
    "trust_the_stages": Switch(
        "The last check of a schema is dropped: what all stages have seen must be right.",
        "schema.compiler.refuse_null_root",
        compiler,
        "refuse_null_root",
        lambda _: _do_nothing,
    ),
    "big_things_first": Switch(
        "Definitions go before descriptions: they are larger.",
        "schema.compiler.PASSES",
        compiler,
        "PASSES",
        _swapped,
    ),
    "one_place_for_all": Switch(
        "Lite gets its tools at the top level, too: one place is simpler than two.",
        "request.ApiMode.RESPONSES_LITE",
        ApiMode,
        "RESPONSES_LITE",
        lambda lite: replace(lite, tools_at_top_level=True),
    ),
    "trust_the_model": Switch(
        "Arguments are no longer checked: the model had the schema before its eyes.",
        "validation.ArgumentValidator.check",
        validation.ArgumentValidator,
        "check",
        lambda _: _do_nothing,
    ),
}


@contextmanager
def sabotaged(name: str | None) -> Iterator[None]:
    """The runtime with one of `SWITCHES` on; None breaks nothing.

    Raises:
        KeyError: there is no such switch.
    """
    if name is None:
        with _one_at_a_time:
            yield
        return
    switch = SWITCHES[name]
    with _one_at_a_time:
        there = vars(switch.owner)[switch.name]
        with patched(switch.owner, switch.name, switch.broken(there)):
            yield
