"""A server that speaks the chat protocol on loopback, and every fault that a server can have."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-5ecret"


@dataclass(frozen=True)
class Back:
    """What goes back: a status, a body, headers; or less than that."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    promised: int | None = None  # Content-Length that is sent; None: the true one
    until: threading.Event | None = (
        None  # what is waited for before the answer; the connection is then closed without one
    )


Answer = Callable[[dict[str, Any]], Back]


def said(content: object, prompt_tokens: int = 11, completion_tokens: int = 5) -> Back:
    """A chat completion that says `content`: a text, or what becomes JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return Back(body=json.dumps({"choices": [choice], "usage": usage}).encode())


def refusal(status: int, message: str = "", **headers: str) -> Back:
    """An error as servers put it."""
    return Back(
        status,
        json.dumps({"error": {"message": message}}).encode(),
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


class ChatServer:
    """Answers by `answer(body)`, or by the entries of `script` as long as there are any; remembers what it was sent."""

    def __init__(self, answer: Answer, script: Sequence[Back] = ()) -> None:
        self.answer, self.script = answer, list(script)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_at_once = 0
        self._at_once, self._lock = 0, threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._handle(self)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that hangs up is part of the tests."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.bodies.append(body)
            self.headers.append(dict(request.headers.items()))
            self.paths.append(request.path)
            back = self.script.pop(0) if self.script else None
        try:
            back = back or self.answer(body)
            if back.until is not None:
                back.until.wait(20)
                request.close_connection = True
                return
        finally:
            with self._lock:
                self._at_once -= 1
        request.send_response_only(back.status)
        for name, value in back.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(back.body) if back.promised is None else back.promised))
        request.end_headers()
        request.wfile.write(back.body)
        request.close_connection = back.promised is not None

    def texts(self) -> list[str]:
        """The user's message of each request, in the order in which they came."""
        return [body["messages"][-1]["content"] for body in self.bodies]


@contextmanager
def chat_server(answer: Answer, script: Sequence[Back] = ()) -> Iterator[ChatServer]:
    """A server while the block runs."""
    server = ChatServer(answer, script)
    thread = threading.Thread(target=server._http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server._http.shutdown()
        thread.join()
        server._http.server_close()
