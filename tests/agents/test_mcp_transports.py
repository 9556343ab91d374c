"""The server as a process: over standard input and output, and over HTTP, with clients that behave and that do not."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp.server.lowlevel import Server
from secateur_agents.mcp.http_server import MOST_SESSIONS, serve_http
from secateur_agents.mcp.messages import MOST_BYTES
from secateur_agents.mcp.stdio import MOST_UNREAD, _Lines, _UnreadAnswers
from support.agent_servers import facts, process, text
from support.cli import secateur
from support.repos import QUERY, SHOP, committed

SECONDS = 120

pytestmark = pytest.mark.usefixtures("default_signals")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return committed(tmp_path_factory.mktemp("mcp") / "shop", SHOP)


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[bytes]]:
    """`secateur mcp WORDS...` with pipes."""
    made = process(*words)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen([made.command, *made.args], env=made.env, **pipes)  # type: ignore[call-overload]
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


async def test_a_client_over_stdio_lists_and_calls(shop: Path) -> None:
    async with mcp.Client(process(shop)) as client:
        assert (await client.list_tools()).tools[0].name == "search"
        answer = await client.call_tool("search", {"query": QUERY, "budget": 100})
        assert facts(answer)["items"][0]["id"] == "shop/refund.py::refund_total"
        wrong = await client.call_tool("search", {"qery": QUERY})
        assert wrong.is_error
        assert "did you mean query?" in text(wrong)


def message(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HELLO = (
    message(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
    + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def asked(running: subprocess.Popen[bytes], messages: bytes, ids: set[int]) -> dict[int, Any]:
    """Sends messages and reads until these are answered: the answers by their ids. Each line has to be one."""
    assert running.stdin and running.stdout
    running.stdin.write(messages)
    running.stdin.flush()
    found: dict[int, Any] = {}
    while not ids <= found.keys():
        answer = json.loads(running.stdout.readline())
        found[answer.get("id")] = answer
    return found


HOSTILE = [
    b"no json\n",
    b"\xff\xfe\x00\n",
    b"\n\n",
    b"[]\n",
    b"null\n",
    b'{"jsonrpc":"2.0"}\n',
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":2,"method":"no/such"}\n',
    b"[" * 100_000 + b"\n",
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
    message(3, "tools/call", name="search", arguments={"query": "x", "path": "\u0000"}),
    message(4, "tools/call", name="nothing", arguments={}),
    message(5, "tools/call", name="search", arguments={"query": ["x"] * 100}),
    message(6, "tools/call", name="search", arguments={"query": "x" * 200_000}),
    message(7, "tools/call", name="search", arguments={"query": "x", "budget": 10**30}),
    message(8, "tools/call", name="prune", arguments={"text": "x" * (MOST_BYTES + 10)}),
    message(
        9,
        "tools/call",
        name="prune",
        arguments={"messages": [{"role": "user", "content": json.loads("[" * 90 + "]" * 90)}]},
    ),
    message(10, "tools/call", name="expand", arguments={"symbol": "\\" * 4000}),
    b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}\n',
    message(12, "tools/call", name="prune", arguments={"text": "\x1b[2J\u202e" * 1000, "budget": 50}),
    message(13, "tools/call", name="search", arguments={"query": "x" * 100_000}),
]


def test_bad_messages_cost_themselves_and_standard_output_is_the_protocol_alone(shop: Path) -> None:
    with started(shop) as running:
        answers = asked(running, HELLO + b"".join(HOSTILE), {*range(1, 14)})
        # so many at once that some may be refused: this one comes after them
        answers |= asked(running, message(99, "tools/call", name="search", arguments={"query": QUERY}), {99})
        out, err = running.communicate(timeout=SECONDS)
        assert running.returncode == 0, err
        assert out == b""
    assert not answers[99]["result"]["isError"]
    assert all(one["jsonrpc"] == "2.0" for one in answers.values())
    assert b"Traceback" not in err
    assert answers[2]["error"]["code"] == -32601
    assert answers[11]["error"]["code"] == -32700  # half a surrogate pair
    for number in (3, 5, 6, 7, 10):
        assert answers[number]["result"]["isError"], number
        assert "hint: " in answers[number]["result"]["content"][0]["text"]
    assert "unknown tool" in answers[4]["error"]["message"]
    assert f"more than {MOST_BYTES:,} bytes" in answers[8]["error"]["message"]
    assert {9, 12} <= answers.keys()
    assert not answers[13]["result"]["isError"]


MARK = b"\xef\xbb\xbf"
ANSWERED = [
    (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"\\udc00"}}', {2: -32700}),
    (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":DIGITS}}', {2: -32700}),
    (b'{"jsonrpc":"2.0","method":"ping","params":{"x":DEEP},"id":2}', {2: -32700}),
    (b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"LONG"}}', {2: -32600}),
    (MARK + b'{"jsonrpc":"2.0","id":2,"method":"ping"}', {2: None}),
    (b'[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":"3","method":"x"}]', {2: -32600, "3": -32600}),
    (b"[]", {None: -32600}),
    (b'"text"', {None: -32600}),
    (b"\x00", {None: -32700}),
    (b'{"jsonrpc":"2.0","id":2,"method":"\xff"}', {2: -32700}),
]
"""Lines, and the codes of the errors that answer them by their ids; None: no error."""


def written_out(line: bytes) -> bytes:
    """The line with what is too large to be held by every test."""
    deep = b"[" * 100_000 + b"]" * 100_000
    return line.replace(b"DIGITS", b"9" * 100_000).replace(b"DEEP", deep).replace(b"LONG", b"x" * (100 << 20))


def test_every_line_is_answered_and_the_server_goes_on(shop: Path) -> None:
    with started(shop) as running:
        for line, codes in ANSWERED:
            answers = asked(running, written_out(line) + b"\n" + message(99, "ping"), {*codes, 99})
            assert {known: answers[known].get("error", {}).get("code") for known in codes} == codes, line
            assert answers.keys() == {*codes, 99}
            assert answers[99]["result"] == {}
        assert asked(running, HELLO + message(100, "tools/list"), {1, 100})[100]["result"]["tools"]
        out, err = running.communicate(timeout=SECONDS)
    assert (out, err, running.returncode) == (b"", b"", 0)


def test_the_end_of_input_ends_the_process(shop: Path) -> None:
    with started(shop) as running:
        assert 1 in asked(running, HELLO, {1})
        out, _ = running.communicate(message(2, "ping").rstrip(b"\n"), SECONDS)
        assert running.returncode == 0
    assert json.loads(out) == {"jsonrpc": "2.0", "id": 2, "result": {}}


STUCK = """
import threading, anyio, sys
from mcp.server.lowlevel import Server
from secateur.cli.main import leave
from secateur_agents.mcp.calls import CallQueue
from secateur_agents.mcp.stdio import serve

def work(progress):
    print("begun", file=sys.stderr, flush=True)
    threading.Event().wait()

async def call(context, params):
    return await CallQueue().run(work, "a")

anyio.run(serve, Server("stuck", on_call_tool=call))
leave(0)
"""


def test_a_server_ends_with_its_client_though_a_call_does_not() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen([sys.executable, "-c", STUCK], **pipes)  # type: ignore[call-overload]
    try:
        running.stdin.write(HELLO + message(2, "tools/call", name="x", arguments={}))
        running.stdin.flush()
        assert running.stderr.readline() == b"begun\n"
        running.communicate(timeout=SECONDS)
        assert running.returncode == 0
    finally:
        running.kill()


async def test_what_follows_the_last_line_break_is_a_message_too() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\n" + b"x" * 10 + b"\n\n  \nlast")
    os.close(writing)
    assert [line async for line in _Lines(reading, _UnreadAnswers())] == [b"one", b"x" * 10, b"last"]
    os.close(reading)


async def test_a_message_that_is_too_long_becomes_an_error_of_its_id() -> None:
    long = b'{"method": "x", "params": {"id": 3, "text": "' + b"x" * (MOST_BYTES + 5) + b'"}, "id": "a-1"}\n'
    first = b'{"id": 7, "params": "' + b"x" * (MOST_BYTES + 5) + b'"}\n'
    answer = b'{"id": 8, "result": "' + b"x" * (MOST_BYTES + 5) + b'"}\n'
    none = b"y" * (MOST_BYTES + 5) + b"\n"
    unended = b'{"id": 9, "method": "' + b"x" * (MOST_BYTES + 5)
    reading, writing = os.pipe()
    found: list[Any] = []

    async def read() -> None:
        found.extend([line async for line in _Lines(reading, _UnreadAnswers())])

    def send() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(long + first + answer + none + b"short\n" + unended)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.to_thread.run_sync(send)
    os.close(reading)
    assert found.pop(4) == b"short"
    assert [[error["id"] for error in errors] for errors in found] == [["a-1"], [7], [None], [None], [9]]


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_whose_client_does_not_read(shop: Path, number: int) -> None:
    with started(shop) as running:
        assert running.stdin and running.stdout and running.stderr
        running.stdin.write(HELLO)
        running.stdin.flush()
        running.stdout.readline()
        os.set_blocking(running.stdin.fileno(), False)
        flood = message(2, "tools/list") * 200
        while select.select([], [running.stdin], [], 1)[1]:  # its answers are not read, so neither are its calls
            os.write(running.stdin.fileno(), flood)
        running.send_signal(number)
        assert running.wait(SECONDS) in (130, -number, 128 + number)
        assert b"Traceback" not in running.stderr.read()


async def test_nothing_more_is_read_while_too_many_answers_wait() -> None:
    unread, (reading, writing) = _UnreadAnswers(), os.pipe()
    try:
        for _ in range(MOST_UNREAD):
            unread.more()
        lines = aiter(_Lines(reading, unread))
        os.write(writing, b"one\ntwo\nrest")
        with anyio.move_on_after(0):
            raise AssertionError(await anext(lines))
        lines = aiter(_Lines(reading, unread))
        unread.less()
        with anyio.fail_after(SECONDS):
            assert [await anext(lines), await anext(lines)] == [b"one", b"two"]
            os.write(writing, b" of it\n")
            assert await anext(lines) == b"rest of it"
    finally:
        os.close(writing)
        os.close(reading)


@contextmanager
def listening(shop: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server over HTTP, and its address."""
    with started(shop, "--http", "0") as running:
        assert running.stderr
        address = running.stderr.readline().decode().removeprefix("listening on ").strip()
        yield address, running


async def test_clients_over_http_in_both_eras_and_none_from_elsewhere(shop: Path) -> None:
    import httpx2

    with listening(shop) as (address, running):
        assert address.startswith("http://127.0.0.1:")
        for era in ("auto", "legacy"):
            async with mcp.Client(address, mode=era) as client:
                seen: list[float] = []

                async def progress(value: float, _total: float | None, _message: str | None) -> None:
                    seen.append(value)  # noqa: B023

                answer = await client.call_tool("search", {"query": QUERY, "budget": 100}, progress_callback=progress)
                assert facts(answer)["items"][0]["id"] == "shop/refund.py::refund_total"
                outside = await client.call_tool("search", {"query": QUERY, "path": "/etc"})
                assert outside.is_error
        port = int(address.rpartition(":")[2].partition("/")[0])
        accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient() as raw:

            async def status(body: bytes = HELLO.split(b"\n")[0], **headers: str) -> int:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return (await raw.post(address, content=body, headers=accepted | named)).status_code

            assert await status() == 200
            assert await status(origin=f"http://127.0.0.1:{port}") == 200
            assert await status(host="evil.example") == 421
            assert await status(host=f"evil.example:{port}") == 421
            assert await status(host=f"127.0.0.1:{port}.evil.example") == 421
            assert await status(origin="http://evil.example") == 403
            assert await status(origin="null") == 403
            assert await status(origin=f"http://localhost:{port}.evil.example") == 403
            assert await status(b"{" * 10_000) == 400
            assert await status(b"x" * (MOST_BYTES + 1)) == 413
            assert await status(content_type="text/plain") == 400
            modern = {"mcp_protocol_version": "2026-07-28"}
            assert await status(host="evil.example", **modern) == 421
            assert await status(origin="http://evil.example", **modern) == 403
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
        assert b"Traceback" not in running.stderr.read()  # type: ignore[union-attr]


async def test_over_http_a_body_that_is_no_message_is_an_error_of_its_request(shop: Path) -> None:
    import httpx2

    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with listening(shop) as (address, _):
        async with httpx2.AsyncClient() as raw:
            for era in ({}, {"mcp-protocol-version": "2026-07-28"}):
                for line, codes in ANSWERED:
                    if b"LONG" not in line and not line.startswith(MARK):
                        refused = await raw.post(address, content=written_out(line), headers=accepted | era)
                        assert refused.status_code == 400
                        errors = refused.json() if isinstance(refused.json(), list) else [refused.json()]
                        assert {one["id"]: one["error"]["code"] for one in errors} == codes
            hello = await raw.post(address, content=MARK + HELLO.split(b"\n")[0], headers=accepted)
            assert hello.status_code == 200
            session = {"mcp-session-id": hello.headers["mcp-session-id"]}
            half = b'{"jsonrpc":"2.0","id":2.5,"method":"ping"}'
            refused = await raw.post(address, content=half, headers=accepted | session)
            assert (refused.status_code, refused.json()["id"]) == (400, 2.5)
            silent = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
            assert (await raw.post(address, content=silent, headers=accepted | session)).status_code == 202
            assert (await raw.post(address, content=message(2, "ping"), headers=accepted | session)).status_code == 200


@contextmanager
def unfinished_request(address: str, headers: dict[str, str]) -> Iterator[None]:
    """A request whose body the server has begun to wait for, and whose answer it gives at the end of the block."""
    place, _, path = address.removeprefix("http://").partition("/")
    host, _, port = place.partition(":")
    lines = [f"POST /{path} HTTP/1.1", f"Host: {place}", "Expect: 100-continue", "Connection: close"]
    body = message(2, "ping")
    lines += [f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    with (
        socket.create_connection((host, int(port)), timeout=SECONDS) as connection,
        connection.makefile("rb") as answer,
    ):
        connection.sendall("\r\n".join(lines).encode())
        assert b"100 Continue" in answer.readline()
        yield
        connection.sendall(body)
        assert b'"result":{}' in answer.read()


async def test_an_address_is_told_when_a_client_can_come() -> None:
    class ToldError(Exception):
        pass

    def connect(address: str) -> None:
        host, port = address.removeprefix("http://").partition("/")[0].split(":")
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
        raise ToldError

    with pytest.raises(ToldError):
        await serve_http(Server("empty"), 0, connect)


async def test_over_http_the_session_that_was_idle_longest_gives_way_to_a_newcomer(shop: Path) -> None:
    """The first one asks something long, the second listens, the third has asked last."""
    import httpx2

    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with listening(shop) as (address, _):
        async with httpx2.AsyncClient(timeout=SECONDS) as raw, AsyncExitStack() as streams:

            async def open_session() -> dict[str, str]:
                opened = await raw.post(address, content=HELLO.split(b"\n")[0], headers=accepted)
                assert opened.status_code == 200
                return accepted | {"mcp-session-id": opened.headers["mcp-session-id"]}

            async def is_known(session: dict[str, str]) -> bool:
                answer = await raw.post(address, content=message(2, "ping"), headers=session)
                assert answer.status_code in (200, 404)
                return answer.status_code == 200

            sessions = [await open_session() for _ in range(MOST_SESSIONS)]
            assert (await raw.post(address, content=b"{}", headers=accepted)).status_code == 400  # opens nothing
            asking, listening_session, asked_last, idle, *_ = sessions
            assert await is_known(asked_last)
            with unfinished_request(address, asking):
                await streams.enter_async_context(raw.stream("GET", address, headers=listening_session))
                newcomers = [await open_session() for _ in range(MOST_SESSIONS - 2)]
            assert [await is_known(one) for one in (asking, asked_last, newcomers[0])] == [True, True, True]
            assert [await is_known(one) for one in (listening_session, idle)] == [False, False]


def test_what_cannot_be_served_is_said_at_once(shop: Path, tmp_path: Path) -> None:
    gone = secateur("mcp", tmp_path / "gone")
    assert gone.code == 1
    assert "no such folder" in gone.err
    assert secateur("mcp", shop, "--http", "70000").code == 2
    assert secateur("mcp", shop, "--set", "budgt=3").code == 2
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = secateur("mcp", shop, "--http", taken.getsockname()[1])
    assert busy.code == 1
    assert "choose another --http PORT" in busy.err


def test_without_the_extra_it_says_what_to_install(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = secateur("mcp", shop)
    assert ran.code == 1
    assert "pip install 'secateur[mcp]'" in ran.err
    assert secateur("mcp", "--help").code == 0
