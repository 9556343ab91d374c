"""Clients over HTTP: limits their sessions, and gives errors the id of a request."""

from __future__ import annotations

import json
from collections.abc import Iterator

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from secateur_agents.mcp.messages import BYTE_ORDER_MARK, read_message

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
