"""A real provider: any endpoint that speaks the Responses API, through the official SDK.

What is ours, the encoder has written (instructions, input, tools, parallel calls); those bytes go out untouched. What
is not ours is filled in here: the model's name, streaming, no storing, how tools are chosen.

**A call is never run twice and never lost.** Nothing runs while an answer streams in: `respond` returns whole items,
and the turn dispatches them afterwards. If the stream breaks before any call is complete, nothing has happened, and the
same request is sent again. If it breaks after one, the complete items *are* the answer: asking again would make the
model call a second time. So the next request carries those calls and their outputs. Codex CLI 0.171.0 comes to the
same end by another way: it starts a call when its item is complete, and its retry carries call and output (measured).

The key is read from the environment when a request is sent, and appears in no message of ours.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson

from minicodex.errors import ProviderError
from minicodex.history import awaits_output
from minicodex.printable import printable
from minicodex.request import ApiRequest

if TYPE_CHECKING:
    import openai

__all__ = ["Attempt", "ResponsesModel"]

Event = Mapping[str, Any]

OURS = frozenset({"instructions", "input", "tools", "parallel_tool_calls", "stream"})
"""Keys of a request that no option may change: the encoder wrote them, or `respond` relies on them."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
"""Wait before the first retry, which doubles each time, and the longest one, in seconds."""

POLL_S = 0.05
"""How often a waiting model looks whether it was cancelled, in seconds."""

MAX_WORDS_CHARS = 300
"""Most characters of the endpoint's own words that go into an error."""

_RETRYABLE_STATUS = frozenset({408, 409, 429, *range(500, 600)})
_FATAL_CODES = frozenset({"insufficient_quota"})
_RETRYABLE_CODES = frozenset({"server_error", "rate_limit_exceeded", "server_is_overloaded"})
_END: Event = MappingProxyType({"type": "end of the stream"})


@dataclass(frozen=True)
class Attempt:
    """One request that was sent, and how it ended."""

    number: int
    """Counts the attempts at one answer, from 1."""
    outcome: str
    """`complete`, or what went wrong."""
    items: int
    """Complete items that arrived."""
    accepted: bool
    """Whether they became the answer."""


class _Broken(Exception):
    """An attempt that did not come to a good end."""

    def __init__(
        self, message: str, *, retryable: bool, wait_s: float | None = None, ended_by_endpoint: bool = False
    ) -> None:
        super().__init__(message)
        self.message, self.retryable, self.wait_s = message, retryable, wait_s
        self.ended_by_endpoint = ended_by_endpoint

    def leaves_an_answer(self, items: Iterable[Mapping[str, Any]]) -> bool:
        """Whether what had arrived stands: a call must not be asked for twice, and a short answer is an answer."""
        return any(self.ended_by_endpoint or awaits_output(item) for item in items)


@dataclass(repr=False)
class ResponsesModel:
    """Answers requests over the network.

    Not for several threads at once: one model serves one turn at a time.

    Raises:
        ProviderError: the SDK is not installed, or an option would change a key that is ours.
    """

    model: str
    """The model's name at the endpoint."""
    base_url: str | None = None
    """The endpoint up to and including `/v1`; None for the SDK's own choice."""
    key_variable: str = "OPENAI_API_KEY"
    """Name of the environment variable that holds the key. The key itself is no field."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the request: `reasoning`, `text`, `prompt_cache_key`, …"""
    max_attempts: int = 4
    """How often one request is sent at most."""
    timeout_s: float = 600.0
    """Longest time for one attempt, in seconds."""
    idle_timeout_s: float = 60.0
    """Longest silence of the endpoint, in seconds."""
    first_wait_s: float = FIRST_WAIT_S
    """Wait before the first retry, in seconds. An endpoint that names a time is obeyed instead."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Once it is set, a running answer ends with an error, at once. Give `run_turn` the same event."""
    on_event: Callable[[Event], None] | None = None
    """Is shown every event of the stream as it arrives; those of an attempt that breaks, too."""
    attempts: list[Attempt] = field(default_factory=list, init=False)
    """Everything that was sent, and what came of it."""

    def __post_init__(self) -> None:
        try:
            import openai
        except ImportError:
            raise ProviderError('a real provider needs the extra "live": pip install "minicodex[live]"') from None
        if taken := sorted(OURS & self.options.keys()):
            raise ProviderError(f"these keys of a request are not options: {', '.join(taken)}")
        self._sdk = openai
        self._client: openai.OpenAI | None = None

    def __repr__(self) -> str:
        return f"ResponsesModel(model={self.model!r}, base_url={self.base_url!r}, key_variable={self.key_variable!r})"

    # --- one answer -------------------------------------------------------------------------------------------------

    def respond(self, request: ApiRequest) -> Sequence[Mapping[str, Any]]:
        """The complete items of one answer.

        Raises:
            ProviderError: no answer could be had, or the model was cancelled. Nothing of an answer is kept then.
        """
        body = self._body(request)
        for number in range(1, self.max_attempts + 1):
            items: dict[int, Mapping[str, Any]] = {}
            try:
                self._collect(body, request.headers, items)
                self.attempts.append(Attempt(number, "complete", len(items), accepted=True))
                break
            except _Broken as broken:
                accepted = broken.leaves_an_answer(items.values()) and not self.cancelled.is_set()
                self.attempts.append(Attempt(number, broken.message, len(items), accepted))
                if accepted:
                    break
                self._wait_or_raise(broken, number)
        return list(items.values())

    def _body(self, request: ApiRequest) -> bytes:
        reasoning = {**self.options.get("reasoning", {}), **request.mode.reasoning}
        try:
            return orjson.dumps(
                {
                    "model": self.model,
                    "stream": True,
                    **request.members,
                    "tool_choice": "auto",
                    "store": False,
                    "include": ["reasoning.encrypted_content"],
                    **self.options,
                    **({"reasoning": reasoning} if reasoning else {}),
                }
            )
        except TypeError as error:
            raise ProviderError(f"an option cannot be encoded: {error}") from None

    def _wait_or_raise(self, broken: _Broken, number: int) -> None:
        if not broken.retryable or number == self.max_attempts:
            times = "" if number == 1 else f" ({number} attempts)"
            raise ProviderError(broken.message + times, retryable=broken.retryable) from None
        wait_s = self.first_wait_s * 2 ** (number - 1) if broken.wait_s is None else broken.wait_s
        if self.cancelled.wait(min(wait_s, LONGEST_WAIT_S)):
            raise ProviderError("cancelled") from None

    def _collect(self, body: bytes, headers: Mapping[str, str], items: dict[int, Mapping[str, Any]]) -> None:
        """Put every item that becomes complete into `items`, under its place in the answer.

        Deltas are no items. An item that is sent twice has one place, so it counts once.

        Raises:
            _Broken: the stream did not come to its proper end.
        """
        with closing(self._events(body, headers)) as events:
            for event in events:
                if self.on_event is not None and event is not _END:
                    self.on_event(event)
                match event:
                    case {"type": "response.output_item.done", "item": dict(item)}:
                        index = event.get("output_index")
                        items[index if isinstance(index, int) else -1 - len(items)] = item
                    case {"type": "response.completed"}:
                        return
                    case {"type": "response.incomplete" | "response.failed" | "error"}:
                        raise self._refusal(event)
        raise _Broken("the stream ended before the answer did", retryable=True)

    # --- the stream -------------------------------------------------------------------------------------------------

    def _events(self, body: bytes, headers: Mapping[str, str]) -> Generator[Event, None, None]:
        """The events of one attempt. A thread of its own reads them, so that waiting can stop at any moment.

        The thread ends with the stream, or with the first sign of the endpoint after it was given up.
        """
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        given_up = threading.Event()
        client, deadline = self._connect(), time.monotonic() + self.timeout_s
        reader = threading.Thread(
            target=_read, args=(client, body, headers, arrived, given_up), name="minicodex-stream", daemon=True
        )
        reader.start()
        try:
            while (event := self._next(arrived, deadline)) is not _END:
                if not isinstance(event, Mapping):
                    raise _Broken("the endpoint sent an event that is no object", retryable=True)
                yield event
        finally:
            given_up.set()

    def _next(self, arrived: queue.SimpleQueue[Any], deadline: float) -> Event:
        while True:
            if self.cancelled.is_set():
                raise _Broken("cancelled", retryable=False)
            if (left := deadline - time.monotonic()) <= 0:
                raise _Broken(f"no complete answer within {self.timeout_s:g} s", retryable=True)
            try:
                event: Event | Exception = arrived.get(timeout=min(left, POLL_S))
            except queue.Empty:
                continue
            if isinstance(event, Exception):
                raise self._breakage(event) from None
            return event

    def _connect(self) -> openai.OpenAI:
        """The SDK's client, which asks for the key anew each time. Its own retries are off: ours look at the items."""
        self._key()
        if self._client is None:
            timeout = self._sdk.Timeout(self.idle_timeout_s)
            self._client = self._sdk.OpenAI(api_key=self._key, base_url=self.base_url, timeout=timeout, max_retries=0)
        return self._client

    def _key(self) -> str:
        key = os.environ.get(self.key_variable)
        if not key:
            raise ProviderError(f"there is no key: set the environment variable {self.key_variable}")
        return key

    # --- what went wrong --------------------------------------------------------------------------------------------

    def _breakage(self, error: Exception) -> _Broken:
        """An exception of the SDK in our words."""
        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            status, code = error.status_code, error.code or ""
            retryable = status in _RETRYABLE_STATUS and code not in _FATAL_CODES
            return _Broken(
                f"the endpoint answered HTTP {status}{self._words(error.body)}",
                retryable=retryable,
                wait_s=_seconds(error.response.headers.get("retry-after")),
            )
        if isinstance(error, sdk.APITimeoutError):
            return _Broken(f"the endpoint was silent for {self.idle_timeout_s:g} s", retryable=True)
        if isinstance(error, sdk.APIConnectionError):
            return _Broken("the endpoint cannot be reached, or the connection broke", retryable=True)
        if isinstance(error, sdk.APIError):  # an error that came as an event of the stream
            return self._refusal({"error": {"code": error.code, "message": error.message}})
        return _Broken(f"the endpoint does not speak the event stream ({type(error).__name__})", retryable=True)

    def _refusal(self, event: Event) -> _Broken:
        """An event that says that there is no whole answer, as `response.failed` does."""
        response = _object(event.get("response"))
        places = (event.get("error"), response.get("error"), response.get("incomplete_details"), event)
        details = next(place for place in map(_object, places) if place)
        code = str(details.get("code") or details.get("reason") or "no reason given")
        return _Broken(
            f"the endpoint ended the answer: {code}{self._words(details)}",
            retryable=code in _RETRYABLE_CODES,
            ended_by_endpoint=event.get("type") == "response.incomplete",
        )

    def _words(self, body: Any) -> str:
        """The endpoint's own words on one line behind a colon, without the key that some endpoints repeat."""
        said = body.get("message") if isinstance(body, Mapping) else None
        if not isinstance(said, str):
            return ""
        text = " ".join(said.split())
        if key := os.environ.get(self.key_variable):
            text = text.replace(key, "[the key]")
        text = printable(text)
        return ": " + (text if len(text) <= MAX_WORDS_CHARS else text[:MAX_WORDS_CHARS] + "…")


def _read(
    client: openai.OpenAI,
    body: bytes,
    headers: Mapping[str, str],
    arrived: queue.SimpleQueue[Any],
    given_up: threading.Event,
) -> None:
    """Send one request and pass on its events; at the end `_END`, or the exception that ended it."""
    import openai

    try:
        with client.post(
            "/responses",
            content=body,
            options={"headers": {"content-type": "application/json", **headers}},
            cast_to=object,
            stream=True,
            stream_cls=openai.Stream[object],
        ) as stream:
            for event in stream:
                if given_up.is_set():
                    return
                arrived.put(event)
        arrived.put(_END)
    except Exception as error:  # noqa: BLE001 - whatever it is, the one who waits must hear of it
        arrived.put(error)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(retry_after: str | None) -> float | None:
    """The number of seconds in a `retry-after` header; None for a date or nothing."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return None
