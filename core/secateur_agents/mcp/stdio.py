"""The server on standard input and output, one JSON message per line, for the client that started it.

Standard output carries only the protocol: other output goes to standard error. A client that sends too much, or reads
nothing, does not make the process grow.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST
from secateur import AWAITED

from secateur_agents.mcp.messages import BYTE_ORDER_MARK, ID_SEARCH_BYTES, MOST_BYTES, errors_for_unparsed, read_message

MOST_UNREAD = 64
"""Most answers that wait for the client to read them; until then, no further message is read."""

_CHUNK = 1 << 16
_TOO_LONG = f"a message of more than {MOST_BYTES:,} bytes is not read"
_PIPE_BYTES = 1 << 16


async def serve(server: Server[Any]) -> int:
    """Serves until the client closes its end. Returns the number of the signal that ended it earlier, or 0."""
    got = 0
    awaited = [sig for sig in AWAITED if signal.getsignal(sig) is not signal.SIG_IGN]  # `nohup`

    async def wait_for_signals() -> None:
        nonlocal got
        with anyio.open_signal_receiver(*awaited) as signals:
            async for sig in signals:
                got = int(sig)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        if awaited:
            group.start_soon(wait_for_signals)
        await _serve(server)
        group.cancel_scope.cancel()
    return got


async def _serve(server: Server[Any]) -> None:
    unread = _UnreadAnswers()
    requests, replies = _divert_stream(0, os.O_RDONLY), _divert_stream(1, os.O_WRONLY)
    try:
        coming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, going = anyio.create_memory_object_stream[SessionMessage | str](0)
        answers: Any = _Counting(sent, unread)
        async with anyio.create_task_group() as group:
            group.start_soon(_read, _Lines(requests, unread), coming, _Counting(sent.clone(), unread))
            group.start_soon(_write, going, _Output(replies))
            await server.run(received, answers, server.create_initialization_options())
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
        pass  # the client has closed, or we end while it sends
    finally:
        for own, stream in ((requests, 0), (replies, 1)):
            os.dup2(own, stream)
            os.close(own)


async def _read(lines: _Lines, coming: MemoryObjectSendStream[SessionMessage | Exception], answers: _Counting) -> None:
    """Passes messages on, and answers lines that are not messages."""
    async with coming, answers:
        async for line in lines:
            read = read_message(line) if isinstance(line, bytes) else line
            if isinstance(read, Iterator):
                for error in read:
                    await answers.send(json.dumps(error))
            else:
                await coming.send(SessionMessage(read))
        await anyio.wait_all_tasks_blocked()  # the last request must have started, or the end would leave it unanswered


async def _write(going: MemoryObjectReceiveStream[SessionMessage | str], output: _Output) -> None:
    async with going:
        async for item in going:
            text = item if isinstance(item, str) else item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await output.write(text + "\n")


def _divert_stream(stream: int, mode: int) -> int:
    """Duplicates a standard stream to another number, and redirects the original to nothing or to standard error."""
    own = os.dup(stream)
    with suppress(OSError):
        if mode == os.O_WRONLY:
            sys.stdout.flush()
            os.dup2(2, stream)
        else:
            nothing = os.open(os.devnull, mode)
            os.dup2(nothing, stream)
            os.close(nothing)
    return own


class _UnreadAnswers:
    """Counts the answers that wait to be read."""

    def __init__(self) -> None:
        self.number = 0
        self._fewer = anyio.Event()

    def more(self) -> None:
        self.number += 1

    def less(self) -> None:
        self.number -= 1
        self._fewer.set()

    async def room(self) -> None:
        """Waits until there are few enough."""
        while self.number >= MOST_UNREAD:
            self._fewer = anyio.Event()
            await self._fewer.wait()


class _Counting:
    """Wraps the stream of answers, and counts those that wait."""

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

    async def __aenter__(self) -> _Counting:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Lines:
    """Yields the lines of the input; for a line that is too long, the errors that answer it."""

    def __init__(self, number: int, unread: _UnreadAnswers) -> None:
        self._number, self._unread = number, unread

    async def __aiter__(self) -> AsyncIterator[bytes | Iterator[dict[str, Any]]]:
        line = bytearray()
        too_long = False
        while True:
            await self._unread.room()
            data = await run_sync(os.read, self._number, _CHUNK, abandon_on_cancel=True)
            for part in data.splitlines(keepends=True) or [b"\n"]:  # the end of input ends a line
                line += part
                if len(line) > MOST_BYTES:
                    too_long = True
                    del line[ID_SEARCH_BYTES:-ID_SEARCH_BYTES]
                if not part.endswith(b"\n"):
                    continue
                if too_long:
                    start, end = line[:ID_SEARCH_BYTES], line[ID_SEARCH_BYTES:][-ID_SEARCH_BYTES:]
                    yield errors_for_unparsed(bytes(start), bytes(end), INVALID_REQUEST, _TOO_LONG)
                elif text := line.removeprefix(BYTE_ORDER_MARK).strip():
                    yield bytes(text)
                line.clear()
                too_long = False
            if not data:
                return


class _Output:
    """Writes the output. A client that does not read does not keep the process from ending."""

    def __init__(self, number: int) -> None:
        self._number = number

    async def write(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            written = await run_sync(os.write, self._number, data[:_PIPE_BYTES], abandon_on_cancel=True)
            data = data[written:]
