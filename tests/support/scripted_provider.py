"""A model provider on loopback that answers as a test says, and keeps every request as it came."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Provider:
    """What came, and where it came."""

    url: str
    paths: list[str] = field(default_factory=list)  # as in the request line
    headers: list[list[tuple[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


def answer(body: bytes = b"{}", status: int = 200, *headers: tuple[str, str]) -> Answer:
    """Answers at once."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response_only(status)
        for name, value in (*headers, ("content-length", str(len(body)))):
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def begin_stream(handler: BaseHTTPRequestHandler) -> Callable[[bytes], None]:
    """Begins an answer in chunks; an empty one ends it."""
    handler.send_response_only(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()

    def send(chunk: bytes) -> None:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        handler.wfile.flush()

    return send


@contextmanager
def provider(script: Answer = answer(), certificate: Path | None = None) -> Iterator[Provider]:  # noqa: B008
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _take(self) -> None:
            made.paths.append(self.path)
            made.headers.append(self.headers.items())
            made.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
            script(self)

        do_GET = do_POST = do_HEAD = do_PUT = _take  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign] - a client that goes away is part of a test
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    made = Provider(f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def unused_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
