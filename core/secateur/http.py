"""Requests to the server that a user configured for a language model: the only module that opens a connection.

    server = server_at(settings.base_url, key_from(environ, settings.api_key_env, "llm", LlmError), "llm", ConfigError)
    with Client(server, "/v1/chat/completions", timeout=60, most_bytes=1 << 24) as client:
        reply = client.post({"model": "…"})     # bytes, or a RequestFailure: a server's fault raises nothing

The address and the name of the key's variable come from the user's own configuration. The key is sent only to that
address and is in no message; redirects are not followed; time and size have limits. From a server's error, only known
words are used.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from secateur.errors import SecateurError
from secateur.hosts import is_this_machine

MOST_REFUSAL = 64 * 1024  # bytes of an error that are searched for the names of parameters
CONNECTING = 10.0  # seconds after which a server counts as not listening
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # status codes after which another attempt makes sense

# A text that is surely the name of a variable. Anything else may be a misplaced key, and is not repeated.
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")

_MEANINGS = {
    401: "the key is not accepted",
    402: "the account has no credit left",
    403: "the key does not allow it",
    404: "the address or the model does not exist",
    408: "the server took too long",
    413: "the request is too long",
    429: "too many requests, or the quota is used up",
}
# Words in errors of servers and their translation. The rest of an error may hold anything, even the key.
_KNOWN_CODES = {
    "model_not_found": "the model does not exist",
    "context_length_exceeded": "the text is longer than the model's window",
    "exceed_context_size_error": "the text is longer than the model's window",
    "insufficient_quota": "the quota is used up",
    "invalid_api_key": "the key is not accepted",
}

_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")


class ServerKey:
    """A server's key, possibly empty. Printing it never shows the key."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "ServerKey(***)"

    def headers(self) -> dict[str, str]:
        """Returns the headers that carry the key."""
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def is_in(self, text: str) -> bool:
        """Tells whether a text contains the key."""
        return bool(self._text) and self._text in text


@dataclass(frozen=True, slots=True)
class Server:
    """A server from a table of the configuration."""

    origin: str  # scheme, host and port, for people
    path: str  # of the base URL, without a trailing slash
    loopback: bool  # on this machine: it is reached without the environment's proxies
    table: str  # its table in the configuration, for messages: "llm"
    key: ServerKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """The reason why a request failed."""

    problem: str  # for people
    status: int = 0  # 0: the reply was not complete
    spent: bool = False  # the server may have processed it, so it is not sent again
    again: bool = False  # another attempt makes sense
    final: bool = False  # the next request would fail too
    wait: float | None = None  # seconds that the server asks to wait
    too_long: bool = False  # the text exceeds the model's window
    refusal: str = ""  # the error's text, which may name an unsupported parameter; never shown


def server_at(base_url: str, key: ServerKey, table: str, error: type[SecateurError]) -> Server:
    """Returns the server of `[table] base_url`. Raises `error`: it is not an http or https address, or holds a name, a
    password or a query."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[A-Za-z0-9.:_%-]+", host):
        raise error(
            f"{table}.base_url is not an http or https address",
            hint=f'for example {table}.base_url = "http://localhost:11434/v1"',
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise error(
            f"{table}.base_url holds more than an address",
            hint=f"put the key into an environment variable and name the variable in {table}.api_key_env",
        )
    shown = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{shown}{f':{port}' if port else ''}"
    return Server(origin, parts.path.rstrip("/"), host.endswith(".localhost") or is_this_machine(host), table, key)


def key_from(environ: Mapping[str, str], variable: str, table: str, error: type[SecateurError]) -> ServerKey:
    """Returns the key in the variable that `[table] api_key_env` names; an empty key if it names none. Raises `error`:
    the variable is not set, or its value does not fit into a header."""
    if not variable:
        return ServerKey("")
    shown = (
        f"the environment variable {variable}"
        if _VARIABLE.fullmatch(variable)
        else f"the environment variable that {table}.api_key_env names"
    )
    if not (text := environ.get(variable, "").strip()):
        raise error(
            f"{shown} is not set",
            hint=f"set it to the server's key; {table}.api_key_env holds the name of the variable, never the key",
        )
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise error(
            f"{shown} holds no key: it contains blanks or letters that a header cannot carry",
            hint="set it to the server's key and nothing else",
        )
    return ServerKey(text)


class Client:
    """Posts JSON to one address of a server, from any number of threads."""

    def __init__(self, server: Server, path: str, *, timeout: float, most_bytes: int) -> None:
        """`path`: replaces the path of the server's address. `timeout`: seconds from the request to the last byte.
        Replies larger than `most_bytes` are rejected."""
        self._server, self._url, self._timeout, self._most_bytes = server, server.origin + path, timeout, most_bytes
        self._lock, self._under_way, self._closed = threading.Lock(), set[_Exchange](), threading.Event()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def post(self, body: Mapping[str, Any]) -> bytes | RequestFailure:
        """Returns the body of a reply with status 200, or the failure."""
        exchange = _Exchange(self._server, self._url, self._most_bytes)
        with self._lock:
            self._under_way.add(exchange)
        try:
            if self._closed.is_set():
                return RequestFailure("it was stopped", final=True)
            # Uses its own thread: looking up a name, and a handshake, cannot be interrupted.
            arguments = (json.dumps(body).encode(), min(CONNECTING, self._timeout))
            threading.Thread(target=exchange.run, args=arguments, name="secateur-request", daemon=True).start()
            exchange.done.wait(self._timeout)
            return exchange.unfinished(self._timeout) if exchange.outcome is None else exchange.outcome
        finally:
            exchange.end()
            with self._lock:
                self._under_way.discard(exchange)

    def wait(self, seconds: float) -> None:
        """Waits, but at most until the client is closed."""
        self._closed.wait(seconds)

    def close(self) -> None:
        """Ends all running requests, and refuses further ones."""
        self._closed.set()
        with self._lock:
            under_way = list(self._under_way)
        for exchange in under_way:
            exchange.end()


class _Connection(http.client.HTTPConnection):
    """A connection that reports to its exchange when it is open."""

    def __init__(self, host: str, *, exchange: _Exchange, **options: Any) -> None:
        super().__init__(host, **options)
        self._exchange = exchange

    def connect(self) -> None:
        super().connect()
        self._exchange.connected(self.sock)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Exchange(urllib.request.AbstractHTTPHandler):
    """One request and its reply. The only other handler is that of proxies, so redirects are not followed."""

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def __init__(self, server: Server, url: str, most_bytes: int) -> None:
        super().__init__()
        self.outcome: bytes | RequestFailure | None = None
        self.done = threading.Event()
        self._server, self._url, self._most_bytes = server, url, most_bytes
        self._socket: socket.socket | None = None

    def run(self, body: bytes, connecting: float) -> None:
        """Sends the request and reads the reply into `outcome`."""
        try:
            self.outcome = self._reply(body, connecting)
        except (OSError, ValueError, http.client.HTTPException):
            self.outcome = self._connection_failure()
        finally:
            self.done.set()

    def unfinished(self, timeout: float) -> RequestFailure:
        """Returns the failure of a request that was ended before it had an outcome."""
        if self._socket is None:
            return self._connection_failure()
        return RequestFailure(f"the answer was not complete within {timeout:g} s", spent=True)

    def end(self) -> None:
        """Releases the waiting caller, and wakes the reading thread."""
        self.done.set()
        if self._socket is not None:
            with suppress(OSError):  # it may be closed already. The method of a TLS socket would disturb the reader
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def connected(self, opened: socket.socket) -> None:
        """Turns off the socket's timeout. Only the exchange's time limit counts: a slow server is never silent."""
        if self.done.is_set():
            raise OSError("the request was ended")
        opened.settimeout(None)
        self._socket = opened

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Connection, exchange=self), request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_SecureConnection, exchange=self), request)

    def _reply(self, body: bytes, connecting: float) -> bytes | RequestFailure:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "secateur"}
        request = urllib.request.Request(self._url, body, headers | self._server.key.headers())
        opener = urllib.request.OpenerDirector()
        proxies = {} if self._server.loopback else urllib.request.getproxies()
        general = proxies.get("all", "")  # of schemes without their own
        if general.startswith("http"):
            proxies = {"http": general, "https": general} | proxies
        opener.add_handler(urllib.request.ProxyHandler(proxies))
        opener.add_handler(self)
        with opener.open(request, timeout=connecting) as reply:
            if reply.status != 200:
                return self._status_failure(reply)
            if reply.headers.get("content-encoding", "identity") != "identity":
                return RequestFailure("it answered with a compression that was not requested", spent=True)
            raw: bytes = reply.read(self._most_bytes + 1)
            if len(raw) > self._most_bytes:
                return RequestFailure(f"it answered with more than {self._most_bytes:,} bytes", spent=True)
            return self._connection_failure() if reply.length else raw

    def _connection_failure(self) -> RequestFailure:
        if self._socket is None:
            return RequestFailure(f"{self._server.origin} cannot be reached", again=True, final=True)
        return RequestFailure("the connection broke before the answer was complete", spent=True)

    def _status_failure(self, reply: http.client.HTTPResponse) -> RequestFailure:
        status, text = reply.status, ""
        if 300 <= status < 400:
            return RequestFailure(
                f"it redirects to another address (status {status}), which gets neither key nor text; set"
                f" {self._server.table}.base_url to that address",
                status,
                final=True,
            )
        with suppress(OSError, http.client.HTTPException):  # the status says enough
            text = reply.read(MOST_REFUSAL).decode("utf-8", "replace")
        code = next((code for code in _KNOWN_CODES if re.search(rf"\b{code}\b", text)), "")
        meaning = _KNOWN_CODES.get(code) or _MEANINGS.get(
            status, "the server failed" if status >= 500 else "the request was refused"
        )
        wait = _wait(reply.headers)
        return RequestFailure(
            f"{meaning} (status {status}{f', retry after {wait:,.0f} s' if wait else ''})",
            status,
            again=status in BUSY and code != "insufficient_quota",
            final=status in (401, 402, 403, 404, 405) or code in ("insufficient_quota", "model_not_found"),
            wait=wait,
            too_long=code in _TOO_LONG,
            refusal=text,
        )


def _wait(headers: Message) -> float | None:
    """Returns the seconds that the server asks to wait, from a number, or from a date compared with the server's
    clock."""
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", asked):
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
