"""The server on standard input and output, one JSON message per line, for the client that started it.

Standard output carries only the protocol: other output goes to standard error. A client that sends too much, or reads
nothing, does not make the process grow. The protocol's kit has a transport like this one; that reads a line of any
length, does not answer a line that is not a message, and ignores signals until its client sends the next line.
"""

import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import pydantic_core
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from secateur import AWAITED

MOST_UNREAD = 64  # most answers that wait for the client to read them; until then, no further message is read
MOST_BYTES = 4 << 20  # Most bytes of a message, as over HTTP. A longer one is answered with an error and not parsed.

# Bytes at the start and end of a message that is not parsed in which the id of the request is searched.
_ID_SEARCH_BYTES = 1 << 16

_CHUNK = 1 << 16  # bytes that a pipe holds
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_ID = r'"id"\s*+:\s*+(-?\d{1,15}(?![\d.eE])|"[^"\\\x00-\x1f]{0,200}+")'
_NAMED = r'"(?:jsonrpc|method)"\s*+:\s*+"[^"\\]*+"\s*+'
# Clients write the id at the start of a request or at its end, beside these two.
_FIRST_ID = re.compile(rf"\s*+\{{\s*+(?:{_NAMED},\s*+)*+{_ID}")
_LAST_ID = re.compile(rf"{_ID}\s*+(?:,\s*+{_NAMED})*+\}}\s*+\Z")


async def serve(server: Server[Any]) -> int:
    """Serves until the client closes its end. Returns the number of the signal that ended it earlier, or 0. Threads
    that still wait for the client do not keep the process from ending."""
    got, written = 0, anyio.Event()
    awaited = [sig for sig in AWAITED if signal.getsignal(sig) is not signal.SIG_IGN]  # `nohup`
    coming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, going = anyio.create_memory_object_stream[SessionMessage](0)
    errors = answers.clone()

    async def wait_for_signals() -> None:
        nonlocal got
        with anyio.open_signal_receiver(*awaited) as signals:
            async for sig in signals:
                got = int(sig)
                group.cancel_scope.cancel()

    async def wait_for_room() -> None:
        nonlocal written
        while errors.statistics().tasks_waiting_send >= MOST_UNREAD:
            written = anyio.Event()
            await written.wait()

    async def read() -> None:
        async with coming, errors:
            async for message in read_messages(requests, wait_for_room):
                if isinstance(message, list):
                    for error in message:
                        await errors.send(SessionMessage(error))
                else:
                    await coming.send(SessionMessage(message))
            await anyio.wait_all_tasks_blocked()  # the last request must have started, or the end leaves it unanswered

    async def write() -> None:
        async with going:
            async for answer in going:
                text = answer.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
                data = memoryview(text.encode("utf-8", "replace"))
                while data:
                    data = data[await run_sync(os.write, replies, data[:_CHUNK], abandon_on_cancel=True) :]
                written.set()

    requests, replies = os.dup(0), os.dup(1)
    try:
        # What else reads standard input gets nothing, and what else writes goes to standard error.
        with suppress(OSError), Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        with suppress(OSError):
            sys.stdout.flush()
            os.dup2(2, 1)
        async with anyio.create_task_group() as group:
            group.start_soon(wait_for_signals)
            async with anyio.create_task_group() as transport:
                transport.start_soon(read)
                transport.start_soon(write)
                await server.run(received, answers, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
        pass  # the client has closed, or we end while it sends
    finally:
        for own, stream in ((requests, 0), (replies, 1)):
            os.dup2(own, stream)
            os.close(own)
    return got


# --- messages ---------------------------------------------------------------------------------------------------------


async def read_messages(
    number: int, wait_for_room: Callable[[], Awaitable[None]]
) -> AsyncIterator[mcp_types.JSONRPCMessage | list[mcp_types.JSONRPCError]]:
    """Yields the message of each line, or the errors that answer it; see `parse_message`. `number`: a file descriptor.
    `wait_for_room`: is awaited before more is read."""
    line, too_long = bytearray(), False
    while True:
        await wait_for_room()
        data = await run_sync(os.read, number, _CHUNK, abandon_on_cancel=True)
        for part in data.splitlines(keepends=True) or [b"\n"]:  # the end of input ends a line
            line += part
            if len(line) > MOST_BYTES:
                too_long = True
                del line[_ID_SEARCH_BYTES:-_ID_SEARCH_BYTES]
            if not part.endswith(b"\n"):
                continue
            if too_long:
                message = f"a message of more than {MOST_BYTES:,} bytes is not read"
                yield [refuse_unparsed(line, mcp_types.INVALID_REQUEST, message)]
            elif text := line.removeprefix(_BYTE_ORDER_MARK).strip():
                yield parse_message(bytes(text))
            line.clear()
            too_long = False
        if not data:
            return


def parse_message(data: bytes) -> mcp_types.JSONRPCMessage | list[mcp_types.JSONRPCError]:
    """Parses a message, or returns the errors that answer it: one for each request of a batch, none for an invalid
    notification, which as in JSON-RPC gets no answer."""
    try:
        parsed = pydantic_core.from_json(data)
    except ValueError as error:
        return [refuse_unparsed(data, mcp_types.PARSE_ERROR, f"the message cannot be read as JSON: {error}")]
    if isinstance(parsed, list):
        message = "batches are not supported: send each request separately"
        asking: list[Any] = [item for item in parsed if isinstance(item, dict) and "method" in item and "id" in item]
        return [_refuse(request, mcp_types.INVALID_REQUEST, message) for request in asking or [None]]
    with suppress(ValidationError):
        valid = mcp_types.jsonrpc_message_adapter.validate_python(parsed, by_name=False)
        if not (isinstance(valid, mcp_types.JSONRPCNotification) and "id" in parsed):
            return valid
    if isinstance(parsed, dict) and "id" not in parsed and isinstance(parsed.get("method"), str):
        return []
    message = 'not a request: jsonrpc is "2.0", method a string, id a string or a whole number, params an object'
    return [_refuse(parsed, mcp_types.INVALID_REQUEST, message)]


def refuse_unparsed(data: bytes | bytearray, code: int, message: str) -> mcp_types.JSONRPCError:
    """Returns the error for a message that is not valid JSON or too long, with the id if it can be found."""
    start, end = (part.decode("utf-8", "replace") for part in (data[:_ID_SEARCH_BYTES], data[-_ID_SEARCH_BYTES:]))
    found = _FIRST_ID.match(start) or _LAST_ID.search(end)
    asks = found is not None and '"method"' in start + end  # an answer's id is a number of ours
    return _refuse({"id": json.loads(found[1])} if found and asks else None, code, message)


def _refuse(request: Any, code: int, message: str) -> mcp_types.JSONRPCError:
    """Returns an error with the id of its request; without one if it has none that JSON-RPC allows, or is an answer."""
    known = request.get("id") if isinstance(request, dict) and not request.keys() & {"result", "error"} else None
    is_id = isinstance(known, str | int) and not isinstance(known, bool)
    return mcp_types.JSONRPCError(
        jsonrpc="2.0", id=known if is_id else None, error=mcp_types.ErrorData(code=code, message=message)
    )
