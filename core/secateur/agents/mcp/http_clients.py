"""Clients over HTTP: errors that have the id of a request."""

from __future__ import annotations

import json
from collections.abc import Iterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from secateur.agents.mcp.messages import BYTE_ORDER_MARK, read_message

_JSON = [(b"content-type", b"application/json")]
_ACCEPTED, _BAD_REQUEST = 202, 400


def with_ids_of_requests(application: ASGIApp) -> ASGIApp:
    """The application, which answers a body that is no message with errors that have the ids of its requests, and
    accepts a byte order mark. Address and size of the body are checked before, as they were."""

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
