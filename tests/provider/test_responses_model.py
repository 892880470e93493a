"""The live model against an endpoint that fails in every way a network and a provider can."""

import json
import logging
import socket
import subprocess
import sys
import threading
import traceback

import pytest
from event_stream_server import Reply, completed, done, error_body, failed, item_events, opening, serving

from minicodex import ApiMode, FunctionContract, PromptSnapshot, ToolImplementation, compile_tool_schema, run_turn
from minicodex.errors import ContractEncodingError, ProviderError
from minicodex.history import user, wire
from minicodex.models.responses import ResponsesModel
from minicodex.models.scripted import call, say
from minicodex.sources.dynamic import dynamic_tool

KEY = "sk-do-not-show-0123456789"
PROMPT = PromptSnapshot("Be brief.", [user("Pay.")])


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Till:
    """A tool whose side effect must happen exactly once for each call."""

    def __init__(self):
        self.paid = []
        schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
        self.tool = dynamic_tool("pay", "Pay a sum.", schema, self._pay)

    def _pay(self, arguments):
        self.paid.append(arguments["sum"])
        return f"paid {arguments['sum']}"


def model_at(server, **options):
    return ResponsesModel("m", base_url=server.base_url, **({"first_wait_s": 0.0} | options))


def pay(sum_, call_id):
    return call("pay", {"sum": sum_}, call_id=call_id)


BYE = done(say("Done."))
FIRST, SECOND = pay(1, "c1"), pay(2, "c2")
FIRST_DONE, SECOND_DONE = item_events(FIRST, 0), item_events(SECOND, 1)
NEVER = "a threading.Event that nobody sets: made for each test"

FAULTS = {
    "nothing goes wrong": ([done(FIRST, SECOND), BYE], [1, 2], ["complete"]),
    "the endpoint is slow": (
        [Reply((*opening(), b": wait\n\n", b"\n", *FIRST_DONE, b": wait\n\n", completed())), BYE],
        [1],
        ["complete"],
    ),
    "an event comes in pieces": (
        [
            Reply(
                (
                    b"data: " + json.dumps(FIRST_DONE[-1]).encode()[:20],
                    json.dumps(FIRST_DONE[-1]).encode()[20:],
                    b"\n\n",
                    completed(),
                )
            ),
            BYE,
        ],
        [1],
        ["complete"],
    ),
    "the endpoint falls silent before a call": (
        [Reply((*opening(), NEVER)), done(FIRST), BYE],
        [1],
        ["the endpoint was silent for 0.3 s", "complete"],
    ),
    "the endpoint falls silent after a call": (
        [Reply((*FIRST_DONE, NEVER)), BYE],
        [1],
        ["the endpoint was silent for 0.3 s"],
    ),
    "it is cut before any item": ([Reply(opening(), then="cut"), done(FIRST), BYE], [1], ["CUT", "complete"]),
    "it is cut within the arguments of a call": (
        [Reply((*opening(), *FIRST_DONE[:2]), then="cut"), done(FIRST), BYE],
        [1],
        ["CUT", "complete"],
    ),
    "it is cut after a call": ([Reply(FIRST_DONE, then="cut"), BYE], [1], ["CUT"]),
    "it is cut between two calls": ([Reply((*FIRST_DONE, *SECOND_DONE[:2]), then="cut"), BYE], [1], ["CUT"]),
    "it is cut after words only": (
        [Reply(item_events(say("Well")), then="cut"), done(FIRST), BYE],
        [1],
        ["CUT", "complete"],
    ),
    "it ends politely but too early": (
        [Reply(opening()), done(FIRST), BYE],
        [1],
        ["the stream ended before the answer did", "complete"],
    ),
    "it ends politely after a call": ([Reply(FIRST_DONE), BYE], [1], ["the stream ended before the answer did"]),
    "the connection is dropped unanswered": ([Reply(then="drop"), done(FIRST), BYE], [1], ["CUT", "complete"]),
    "HTTP 429, and it says when": (
        [Reply(error_body("slow down"), 429, {"retry-after": "0"}), done(FIRST), BYE],
        [1],
        ["the endpoint answered HTTP 429: slow down", "complete"],
    ),
    "HTTP 500": (
        [Reply(error_body("oops"), 500), Reply((b"<html>",), 503), done(FIRST), BYE],
        [1],
        ["the endpoint answered HTTP 500: oops", "the endpoint answered HTTP 503", "complete"],
    ),
    "rubbish in place of an event": (
        [Reply((b"data: {]\n\n",)), Reply((b"data: 5\n\n",)), done(FIRST), BYE],
        [1],
        [
            "the endpoint does not speak the event stream (JSONDecodeError)",
            "the endpoint sent an event that is no object",
            "complete",
        ],
    ),
    "a page in place of a stream": (
        [Reply((b"<html>hello</html>",)), done(FIRST), BYE],
        [1],
        ["the stream ended before the answer did", "complete"],
    ),
    "rubbish after a call": (
        [Reply((*FIRST_DONE, b"data: {]\n\n")), BYE],
        [1],
        ["the endpoint does not speak the event stream (JSONDecodeError)"],
    ),
    "events that nobody knows": (
        [Reply(({"type": "response.new_idea"}, *FIRST_DONE, {"type": "?", "item": 5}, completed())), BYE],
        [1],
        ["complete"],
    ),
    "one item is sent twice": ([Reply((*FIRST_DONE, FIRST_DONE[-1], completed())), BYE], [1], ["complete"]),
    "the provider fails before a call": (
        [Reply((*opening(), failed("server_error"))), done(FIRST), BYE],
        [1],
        ["the endpoint ended the answer: server_error: no more words", "complete"],
    ),
    "the provider fails after a call": (
        [Reply((*FIRST_DONE, failed("server_error"))), BYE],
        [1],
        ["the endpoint ended the answer: server_error: no more words"],
    ),
    "an error event in the stream": (
        [Reply(({"type": "error", "code": "rate_limit_exceeded", "message": "busy"},)), done(FIRST), BYE],
        [1],
        ["the endpoint ended the answer: rate_limit_exceeded: busy", "complete"],
    ),
    "the answer became too long": (
        [
            Reply(
                (
                    *FIRST_DONE,
                    {
                        "type": "response.incomplete",
                        "response": {"incomplete_details": {"reason": "max_output_tokens"}},
                    },
                )
            ),
            BYE,
        ],
        [1],
        ["the endpoint ended the answer: max_output_tokens"],
    ),
}
"""Name of a fault: replies of the endpoint, sums that were paid, outcome of each attempt at the first answer."""

CUT = "the endpoint cannot be reached, or the connection broke"


def fresh(reply):
    events = tuple(threading.Event() if event is NEVER else event for event in reply.events)
    return Reply(events, reply.status, reply.headers, reply.then)


@pytest.mark.parametrize("fault", FAULTS)
def test_no_call_is_lost_and_none_is_run_twice_when(fault):
    replies, paid, outcomes = FAULTS[fault]
    till = Till()
    with serving(*map(fresh, replies)) as server:
        model = model_at(server, idle_timeout_s=0.3)
        turn = run_turn(model, lambda step: [till.tool], PROMPT)
    assert till.paid == paid
    expected = [CUT if outcome == "CUT" else outcome for outcome in outcomes]
    assert [attempt.outcome for attempt in model.attempts] == [*expected, "complete"]
    assert (turn.text, turn.ended_by, len(server.replies)) == ("Done.", "answer", 0)
    last = server.bodies[-1]["input"]
    assert [item["call_id"] for item in last if item["type"] == "function_call"] == [f"c{sum_}" for sum_ in paid]
    assert [item["output"] for item in last if item["type"] == "function_call_output"] == [f"paid {n}" for n in paid]
    assert all(body == server.bodies[0] for body in server.bodies[: len(outcomes)])


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (
            Reply(error_body(f"Incorrect API key provided: {KEY}."), 401),
            "HTTP 401: Incorrect API key provided: [the key].",
        ),
        (Reply(error_body("no such model", "model_not_found"), 404), "HTTP 404: no such model"),
        (Reply(error_body("pay first", "insufficient_quota"), 429), "HTTP 429: pay first"),
        (Reply((failed("invalid_prompt", "not this"),)), "invalid_prompt: not this"),
        (
            Reply(({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}},)),
            "content_filter",
        ),
    ],
)
def test_what_another_attempt_cannot_cure_is_tried_once(reply, says):
    with serving(reply) as server, pytest.raises(ProviderError) as caught:
        run_turn(model_at(server), lambda step: [], PROMPT)
    assert str(caught.value).endswith(says)
    assert not caught.value.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.failed"},
        {"type": "response.failed", "response": 5},
        {"type": "error", "message": ["x"]},
        {"type": "error", "error": "a text"},
        {"type": "response.incomplete", "response": {"incomplete_details": [1]}},
        {"type": "response.output_item.done", "item": {"type": ["function_call"]}, "output_index": {}},
        {"type": "response.output_item.done", "item": {"type": "function_call", "name": "pay"}},
        {"type": ["response.completed"]},
        {"no": "type"},
        [],
    ],
)
def test_whatever_shape_an_event_has_the_error_is_ours(event):
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    with serving(Reply((data,))) as server, pytest.raises(ProviderError):
        run_turn(model_at(server, max_attempts=1), lambda step: [], PROMPT)


def test_attempts_come_to_an_end():
    with serving(*[Reply(error_body("oops"), 500)] * 3) as server, pytest.raises(ProviderError) as caught:
        run_turn(model_at(server, max_attempts=3), lambda step: [], PROMPT)
    assert str(caught.value) == "the endpoint answered HTTP 500: oops (3 attempts)"
    assert caught.value.retryable
    assert server.replies == []


def test_an_endpoint_that_is_not_there_is_an_error():
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        with pytest.raises(ProviderError, match="cannot be reached"):
            run_turn(ResponsesModel("m", base_url=url, max_attempts=2, first_wait_s=0), lambda step: [], PROMPT)


def test_an_answer_that_never_ends_meets_its_time_limit():
    drip = Reply((*[b": still here\n\n"] * 3, threading.Event()))
    with serving(drip) as server, pytest.raises(ProviderError, match=r"no complete answer within 0\.2 s"):
        run_turn(model_at(server, timeout_s=0.2, idle_timeout_s=2, max_attempts=1), lambda step: [], PROMPT)


def test_what_had_run_before_the_endpoint_failed_is_not_lost():
    till = Till()
    with serving(done(FIRST), Reply(error_body("gone"), 401), BYE) as server:
        model = model_at(server)
        with pytest.raises(ProviderError) as caught:
            run_turn(model, lambda step: [till.tool], PROMPT)
        unfinished = caught.value.turn
        assert (unfinished.ended_by, [result.output for result in unfinished.results]) == ("error", ["paid 1"])
        turn = run_turn(model, lambda step: [till.tool], PromptSnapshot("Be brief.", unfinished.history))
    assert (turn.text, till.paid) == ("Done.", [1])
    assert server.bodies[2] == server.bodies[1]


# --- cancelling -----------------------------------------------------------------------------------------------------


def test_cancelling_ends_an_answer_that_is_being_waited_for():
    stop, till = threading.Event(), Till()
    with serving(Reply((*FIRST_DONE, threading.Event()))) as server:
        model = model_at(server, cancelled=stop, on_event=lambda event: stop.set() if event == FIRST_DONE[-1] else None)
        turn = run_turn(model, lambda step: [till.tool], PROMPT, cancelled=stop)
    assert (turn.ended_by, till.paid, turn.results) == ("cancelled", [], ())
    assert [attempt.accepted for attempt in model.attempts] == [False]


def set_after_an_attempt(stop, model):
    while not model.attempts:
        stop.wait(0.01)
    stop.set()


def test_cancelling_ends_the_wait_before_a_retry():
    stop = threading.Event()
    with serving(Reply(error_body("later"), 429, {"retry-after": "3600"})) as server:
        model = model_at(server, cancelled=stop)
        threading.Thread(target=set_after_an_attempt, args=(stop, model)).start()
        with pytest.raises(ProviderError, match="cancelled"):
            model.respond(request())
    assert len(server.requests) == 1


def test_calls_that_were_cancelled_are_answered_as_aborted():
    stop, ran = threading.Event(), []

    def first(arguments):
        ran.append(1)
        stop.set()
        threading.Event().wait(0.2)

    tools = [dynamic_tool("first", "", {"type": "object"}, first), Till().tool]
    with serving(done(call("first", {}, call_id="a"), pay(5, "b"))) as server:
        turn = run_turn(model_at(server), lambda step: tools, PROMPT, cancelled=stop)
    assert turn.ended_by == "cancelled"
    assert [(item["call_id"], item["output"]) for item in wire(turn.history)[-2:]] == [
        ("a", "aborted"),
        ("b", "aborted"),
    ]
    assert ran == [1]


# --- what goes over the wire ----------------------------------------------------------------------------------------


def request(mode=ApiMode.RESPONSES, tools=()):
    from minicodex import StepState, encode_model_request, plan_tools

    plan = plan_tools(tools, StepState("s"))
    return encode_model_request(PromptSnapshot("Be brief.", [user("hi")], plan.contracts), mode)


def test_the_body_is_what_the_encoder_wrote_and_what_a_provider_needs_beside_it():
    with serving(BYE) as server:
        model_at(server, options={"prompt_cache_key": "k"}).respond(request(tools=[Till().tool]))
    (body,) = server.bodies
    ours = request(tools=[Till().tool]).to_json()
    assert {key: body.pop(key) for key in ours} == ours
    assert body == {
        "model": "m",
        "stream": True,
        "tool_choice": "auto",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k",
    }
    assert request(tools=[Till().tool]).members["tools"] is not None
    assert ours["tools"] == [Till().tool.contract.to_wire()]
    assert Till().tool.contract.to_bytes() in server.requests[0]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_lite_sends_its_marker_and_its_reasoning():
    with serving(BYE) as server:
        model_at(server, options={"reasoning": {"effort": "low"}}).respond(request(ApiMode.RESPONSES_LITE))
    assert server.headers[0]["x-openai-internal-codex-responses-lite"] == "true"
    assert server.bodies[0]["reasoning"] == {"effort": "low", "context": "all_turns"}
    assert "tools" not in server.bodies[0]


def test_nothing_is_sent_if_a_contract_cannot_be_encoded():
    good = Till().tool
    bad = ToolImplementation(
        FunctionContract("bad", "half a pair: \ud800", compile_tool_schema({"type": "object"})), good.handler
    )
    with serving(BYE) as server:
        with pytest.raises(ContractEncodingError) as caught:
            run_turn(model_at(server), lambda step: [good, bad], PROMPT)
        assert (caught.value.tool, caught.value.pointer) == ("bad", "/description")
        assert server.connections == 0
        run_turn(model_at(server), lambda step: [good], PROMPT)
        assert server.connections == 1


@pytest.mark.parametrize("mode", [ApiMode.RESPONSES, ApiMode.RESPONSES_LITE])
def test_a_whole_turn_is_the_same_with_a_script_and_over_the_network(mode):
    from minicodex.models.scripted import ScriptedModel

    script = [[FIRST, SECOND], say("Done.")]
    scripted = run_turn(ScriptedModel(script), lambda step: [Till().tool], PROMPT, mode=mode)
    with serving(done(FIRST, SECOND), BYE) as server:
        live = run_turn(model_at(server), lambda step: [Till().tool], PROMPT, mode=mode)
    assert live.events == scripted.events
    assert wire(live.history) == wire(scripted.history)


# --- the key --------------------------------------------------------------------------------------------------------


def test_the_key_is_in_no_log_no_repr_and_no_error(caplog):
    caplog.set_level(logging.DEBUG)
    replies = [Reply(error_body(f"wrong key {KEY}"), 500), Reply(error_body(f"wrong key {KEY}"), 401)]
    with serving(*replies) as server:
        model = model_at(server)
        with pytest.raises(ProviderError) as caught:
            run_turn(model, lambda step: [], PROMPT)
    error = caught.value
    seen = [caplog.text, repr(model), repr(vars(model)), repr(error), repr(error.turn), str(model.attempts)]
    frames = traceback.TracebackException.from_exception(error, capture_locals=True).stack
    seen += [str(frame.locals) for frame in frames if frame.filename != __file__]
    assert server.headers[0]["authorization"].endswith(KEY)
    assert "wrong key [the key]" in str(error)
    assert not [text for text in seen if KEY in text]
    assert caplog.text  # something was logged, so there was something to look into


def test_without_a_key_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(BYE) as server, pytest.raises(ProviderError, match="set the environment variable OPENAI_API_KEY"):
        run_turn(model_at(server), lambda step: [], PROMPT)
    assert server.connections == 0


def test_the_keys_that_are_ours_are_no_options():
    with pytest.raises(ProviderError, match="not options: input, tools"):
        ResponsesModel("m", options={"tools": [], "input": [], "text": {}})


def test_without_the_sdk_one_sentence_names_the_extra():
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from minicodex.models.responses import ResponsesModel\n"
        "try: ResponsesModel('m')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert printed == 'ProviderError a real provider needs the extra "live": pip install "minicodex[live]"\n'
