"""The server over streamable HTTP, on the loopback interface only."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from secateur import SecateurError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from secateur_agents.mcp.messages import BYTE_ORDER_MARK, MOST_BYTES, read_message

HOST = "127.0.0.1"
PATH = "/mcp"

MOST_CONNECTIONS = 64
"""Most connections at once; more are refused."""

MOST_SESSIONS = 32
"""Most known clients. One more ends the session that has been idle longest."""

IDLE_SECONDS = 30 * 60.0
"""A session that is idle for so long ends."""

_ENDING_SECONDS = 1


def application(server: Server[Any], port: int) -> ASGIApp:
    """Returns the server as an ASGI application. A request with another Host or Origin is refused: a web page could
    send it."""
    names = [f"{host}:{port}" for host in (HOST, "localhost")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    protocol = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MOST_BYTES,
        max_sessions=MOST_SESSIONS + MOST_CONNECTIONS,  # while all are asking, and more come
        session_idle_timeout=IDLE_SECONDS,
        transport_security=security,
        host=HOST,
    )
    return SessionLimit(add_request_ids(protocol), MOST_SESSIONS)


async def serve_http(server: Server[Any], port: int, report_address: Callable[[str], None]) -> None:
    """Serves until the process is told to end.

    Args:
        port: 0: any free port. told: receives the address.

    Raises:
        SecateurError: the port is taken, or may not be used.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # a client may come as soon as it is told the address
        except OSError as error:
            raise SecateurError(
                f"cannot listen on {HOST}:{port}: {error.strerror or error}",
                hint="choose another --http PORT; 0 takes any free one",
                code="PORT",
            ) from error
        own: int = listening.getsockname()[1]
        config = uvicorn.Config(
            application(server, own),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=_ENDING_SECONDS,
            ws="none",
        )
        report_address(f"http://{HOST}:{own}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])
    finally:
        listening.close()


_SESSION = b"mcp-session-id"
_JSON = [(b"content-type", b"application/json")]
_ACCEPTED, _BAD_REQUEST = 202, 400


class SessionLimit:
    """Limits the number of sessions: a new one ends the session that has been idle longest. A session with a running
    request is not ended; one that only listens is.

    >>> application = SessionLimit(application, most=32)
    """

    def __init__(self, application: ASGIApp, most: int) -> None:
        self._application, self._most = application, most
        self._asking: dict[bytes, int] = {}  # session -> its requests under way; the one that asked last is last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection of ASGI."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        session = dict(scope["headers"]).get(_SESSION)
        if scope["method"] != "POST":
            if scope["method"] == "DELETE":
                self._asking.pop(session or b"", None)
            await self._application(scope, receive, send)
            return
        opens = session is None
        self._count(session, 1)

        async def note_session(message: Message) -> None:
            nonlocal session
            if opens and message["type"] == "http.response.start" and message["status"] < _BAD_REQUEST:
                session = dict(message["headers"]).get(_SESSION)
                if session is not None:
                    self._asking[session] = 1
                    await self._make_room(scope)
            await send(message)

        try:
            await self._application(scope, receive, note_session)
        finally:
            self._count(session, -1)

    def _count(self, session: bytes | None, change: int) -> None:
        """Counts requests. Ignores a session that is unknown or has ended."""
        if session is not None and session in self._asking:
            self._asking[session] = self._asking.pop(session) + change

    async def _make_room(self, scope: Scope) -> None:
        """Ends idle sessions as their clients would do."""
        idle = [session for session, requests in self._asking.items() if not requests]
        for session in idle[: max(0, len(self._asking) - self._most)]:
            del self._asking[session]
            address = [header for header in scope["headers"] if header[0] in (b"host", b"origin")]
            end = {**scope, "method": "DELETE", "headers": [*address, (_SESSION, session)]}
            with anyio.CancelScope(shield=True):
                await self._application(end, _no_body, _drop)


async def _no_body() -> Message:
    return {"type": "http.request"}


async def _drop(_message: Message) -> None:
    pass


def add_request_ids(application: ASGIApp) -> ASGIApp:
    """Wraps an application: a body that is not a message is answered with errors that have the ids of its requests, and
    a byte order mark is accepted. Address and body size are checked before, as usual."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await application(scope, receive, send)
            return
        body, whole, replaced = bytearray(), False, False

        async def note_body() -> Message:
            nonlocal whole
            message = await receive()
            if message["type"] == "http.request":
                part = message.get("body", b"")
                if not body:
                    part = part.removeprefix(BYTE_ORDER_MARK)
                body.extend(part)
                whole = not message.get("more_body", False)
                message = {**message, "body": part}
            return message

        async def replace_answer(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] in (_ACCEPTED, _BAD_REQUEST) and whole:
                read = read_message(bytes(body))
                errors = list(read) if isinstance(read, Iterator) else []
                if errors:
                    replaced = True
                    text = json.dumps(errors[0] if len(errors) == 1 else errors)
                    await send({**message, "status": _BAD_REQUEST, "headers": _JSON})
                    await send({"type": "http.response.body", "body": text.encode()})
            if not replaced:
                await send(message)

        await application(scope, note_body, replace_answer)

    return answer
