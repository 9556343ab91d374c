"""The server on standard input and output, a JSON message a line, for the one client that started it.

Standard output carries the protocol alone: what anything prints meanwhile goes to standard error. A client that sends
too much, or reads nothing, is waited for and does not make the process grow.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from secateur.system.console import AWAITED

MOST_BYTES = 4 << 20
"""Bytes of a message. A longer one is answered with an error and not parsed."""

MOST_UNREAD = 64
"""Answers that wait for a client to read them; until it does, no further message is read."""

_CHUNK = 1 << 16
_ENDS = 512
"""Bytes at both ends of a message that is too long, in which its id is looked for."""

_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,100}")')
_PIPE_BYTES = 1 << 16


async def serve(server: Server[Any]) -> int:
    """Serves until the client closes its end; the number of the signal that ended it before, 0 for none."""
    got = 0

    async def wait_for_signals() -> None:
        nonlocal got
        with anyio.open_signal_receiver(*AWAITED) as signals:
            async for number in signals:
                got = int(number)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        if AWAITED:
            group.start_soon(wait_for_signals)
        await _serve(server)
        group.cancel_scope.cancel()
    return got


async def _serve(server: Server[Any]) -> None:
    unread = _UnreadAnswers()
    requests, replies = _diverted(0, os.O_RDONLY), _diverted(1, os.O_WRONLY)
    try:
        lines: Any = _Lines(requests, unread)
        output: Any = _Output(replies)
        async with stdio_server(lines, output) as (received, sent):
            counted: Any = _Counted(sent, unread)
            await server.run(received, counted, server.create_initialization_options())
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
        pass  # the client is gone, or we are to end while it sends
    finally:
        for own, number in ((requests, 0), (replies, 1)):
            os.dup2(own, number)
            os.close(own)


def _diverted(number: int, mode: int) -> int:
    """Another number of a standard stream, whose own then leads to nothing, or to standard error."""
    own = os.dup(number)
    with suppress(OSError):
        if mode == os.O_WRONLY:
            sys.stdout.flush()
            os.dup2(2, number)
        else:
            nothing = os.open(os.devnull, mode)
            os.dup2(nothing, number)
            os.close(nothing)
    return own


class _UnreadAnswers:
    """The number of answers that wait to be read."""

    def __init__(self) -> None:
        self.number = 0
        self._fewer = anyio.Event()

    def more(self) -> None:
        self.number += 1

    def less(self) -> None:
        self.number -= 1
        self._fewer.set()

    async def room(self) -> None:
        """Returns once there are few enough."""
        while self.number >= MOST_UNREAD:
            self._fewer = anyio.Event()
            await self._fewer.wait()


class _Counted:
    """The stream of answers, with those that wait counted."""

    def __init__(self, stream: Any, unread: _UnreadAnswers) -> None:
        self._stream, self._unread = stream, unread

    async def send(self, item: Any) -> None:
        self._unread.more()
        try:
            await self._stream.send(item)
        finally:
            self._unread.less()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Counted:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Lines:
    """The messages that come in, as text."""

    def __init__(self, number: int, unread: _UnreadAnswers) -> None:
        self._number, self._unread = number, unread

    async def __aiter__(self) -> AsyncIterator[str]:
        line = bytearray()
        dropped = 0  # bytes of a line that is too long
        while True:
            await self._unread.room()
            data = await run_sync(os.read, self._number, _CHUNK, abandon_on_cancel=True)
            *ends, rest = data.split(b"\n")
            for end in ends:
                if dropped or len(line) + len(end) > MOST_BYTES:
                    yield _refused(bytes(line[:_ENDS]) + b" " + bytes(line[-_ENDS:]) + end[-_ENDS:])
                elif line or end.strip():
                    yield (line + end).decode("utf-8", "replace")
                line.clear()
                dropped = 0
            line += rest
            if len(line) > MOST_BYTES or dropped:
                dropped += len(line)
                line = line[:_ENDS] + line[-_ENDS:]
            if not data:
                if line and not dropped:
                    yield line.decode("utf-8", "replace")
                return


def _refused(ends: bytes) -> str:
    """A call in place of one that is too long, with its id: it is answered, and says why."""
    found = _ID.search(ends)
    if found is None:
        return "a message that is too long"
    params = {"name": f"(a message of more than {MOST_BYTES:,} bytes)"}
    return json.dumps({"jsonrpc": "2.0", "id": json.loads(found[1]), "method": "tools/call", "params": params})


class _Output:
    """Writes what goes out; a client that does not read keeps nothing from ending."""

    def __init__(self, number: int) -> None:
        self._number = number

    async def write(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            written = await run_sync(os.write, self._number, data[:_PIPE_BYTES], abandon_on_cancel=True)
            data = data[written:]

    async def flush(self) -> None:
        pass
