"""A Responses endpoint on loopback that does what a test tells it, faults included. Real sockets, real event streams.

Each connection that sends a request gets the next `Reply`. A reply is raw bytes and silences, so every fault of a
network can be written down: `Reply(events=[...], then="cut")`.
"""

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Reply:
    """What the endpoint sends for one request."""

    events: tuple = ()
    """Objects become events; bytes are sent as they are; an `Event` of `threading` is waited for, in silence."""
    status: int = 200
    headers: dict = field(default_factory=dict)
    then: str = "close"
    """`close` ends the body properly, `cut` breaks the connection, `drop` breaks it before a byte was sent."""


def done(*items):
    """The events of a whole answer."""
    return Reply((*opening(), *(event for n, item in enumerate(items) for event in item_events(item, n)), completed()))


def opening():
    return ({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},)


def item_events(item, index=0):
    """An item as real endpoints stream it: added, its text in deltas, done."""
    added = {"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}}
    text = item.get("arguments", "")
    deltas = [
        {"type": "response.function_call_arguments.delta", "output_index": index, "delta": part}
        for part in (text[: len(text) // 2], text[len(text) // 2 :])
        if part
    ]
    return (added, *deltas, {"type": "response.output_item.done", "output_index": index, "item": item})


def completed():
    return {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}}


def failed(code, message="no more words"):
    return {"type": "response.failed", "response": {"error": {"code": code, "message": message}}}


def error_body(message, code=None):
    return (json.dumps({"error": {"message": message, "type": "x", "code": code}}).encode(),)


class EventStreamServer(ThreadingHTTPServer):
    """Serves the replies in order and keeps what it was sent."""

    daemon_threads = True

    def __init__(self, replies):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.connections = 0
        self.requests = []
        self.headers = []
        self.lock = threading.Lock()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def bodies(self):
        return [json.loads(request) for request in self.requests]

    def get_request(self):
        self.connections += 1
        return super().get_request()

    def handle_error(self, request, client_address):
        """A client that goes away in the middle is part of a test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = self.server.replies.pop(0)
        assert self.path == "/v1/responses"
        if reply.then != "drop":
            self._send(reply)
        if reply.then in ("cut", "drop"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _send(self, reply):
        self.send_response(reply.status)
        streamed = "text/event-stream" if reply.status == 200 else "application/json"
        for name, value in {"content-type": streamed, "transfer-encoding": "chunked", **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for event in reply.events:
            if isinstance(event, threading.Event):
                event.wait(20)
            else:
                self._chunk(event if isinstance(event, bytes) else _as_event(event))
        if reply.then == "close":
            self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *args):
        pass


def _as_event(event):
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


@contextmanager
def serving(*replies):
    """A running server. All that waits in it is let go at the end."""
    server = EventStreamServer(replies)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        for reply in replies:
            for event in reply.events:
                if isinstance(event, threading.Event):
                    event.set()
        server.shutdown()
        server.server_close()
        thread.join()
