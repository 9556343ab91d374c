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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp.server.lowlevel import Server
from secateur_agents.mcp.http_server import application, serve_http
from secateur_agents.mcp.stdio import MOST_BYTES, read_messages
from support.agent_servers import facts, process, server, text
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
from secateur_agents.mcp.server import CallQueue
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


async def no_wait() -> None:
    """There is always room for another answer."""


async def test_what_follows_the_last_line_break_is_a_message_too() -> None:
    reading, writing = os.pipe()
    os.write(writing, message(1, "ping") + b"\n  \n" + message(2, "ping").strip())
    os.close(writing)
    assert [one.id async for one in read_messages(reading, no_wait)] == [1, 2]  # type: ignore[union-attr]
    os.close(reading)


async def test_a_message_that_is_too_long_becomes_an_error_of_its_id() -> None:
    long = b'{"method": "x", "params": {"id": 3, "text": "' + b"x" * (MOST_BYTES + 5) + b'"}, "id": "a-1"}\n'
    first = b'{"id": 7, "method": "x", "params": "' + b"x" * (MOST_BYTES + 5) + b'"}\n'
    answer = b'{"id": 8, "result": "' + b"x" * (MOST_BYTES + 5) + b'"}\n'
    none = b"y" * (MOST_BYTES + 5) + b"\n"
    unended = b'{"id": 9, "method": "' + b"x" * (MOST_BYTES + 5)
    reading, writing = os.pipe()
    found: list[Any] = []

    async def read() -> None:
        found.extend([one async for one in read_messages(reading, no_wait)])

    def send() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(long + first + answer + none + message(5, "ping") + unended)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.to_thread.run_sync(send)
    os.close(reading)
    assert found.pop(4).id == 5
    assert [[error.id for error in errors] for errors in found] == [["a-1"], [7], [None], [None], [9]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_whose_client_does_not_read(shop: Path, number: int) -> None:
    with started(shop) as running:
        assert running.stdin and running.stdout and running.stderr
        running.stdin.write(HELLO)
        running.stdin.flush()
        running.stdout.readline()
        os.set_blocking(running.stdin.fileno(), False)
        flood, sent = message(2, "tools/list") * 200, 0
        while select.select([], [running.stdin], [], 1)[1]:  # its answers are not read, so neither are its calls
            sent += os.write(running.stdin.fileno(), flood)
            assert sent < 1 << 20
        running.send_signal(number)
        assert running.wait(SECONDS) in (130, -number, 128 + number)
        assert b"Traceback" not in running.stderr.read()


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


async def test_over_http_a_body_that_is_no_message_is_refused_and_the_server_goes_on(shop: Path) -> None:
    import httpx2

    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with listening(shop) as (address, _):
        async with httpx2.AsyncClient() as raw:
            hello = await raw.post(address, content=HELLO.split(b"\n")[0], headers=accepted)
            session = {"mcp-session-id": hello.headers["mcp-session-id"]}
            for era in ({}, session, {"mcp-protocol-version": "2026-07-28"}):
                for line, _ in ANSWERED:
                    if b"LONG" not in line:
                        refused = await raw.post(address, content=written_out(line), headers=accepted | era)
                        assert (refused.status_code, refused.json()["error"]["code"] < 0) == (400, True)
            answer = await raw.post(address, content=message(2, "ping"), headers=accepted | session)
            assert (answer.status_code, '"result":{}' in answer.text) == (200, True)


async def test_an_address_is_told_when_a_client_can_come() -> None:
    class ToldError(Exception):
        pass

    def connect(address: str) -> None:
        host, port = address.removeprefix("http://").partition("/")[0].split(":")
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
        raise ToldError

    with pytest.raises(ToldError):
        await serve_http(Server("empty"), 0, connect)


async def test_over_http_more_sessions_than_the_most_are_refused_and_the_others_go_on(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    monkeypatch.setattr("secateur_agents.mcp.http_server.MOST_SESSIONS", 3)
    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    served = application(server(shop), 1)
    hello, ping = HELLO.split(b"\n")[0], message(2, "ping")
    async with (
        served.router.lifespan_context(served),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(served), base_url="http://127.0.0.1:1") as raw,
    ):
        opened = [await raw.post("/mcp", content=hello, headers=accepted) for _ in range(4)]
        assert [one.status_code for one in opened] == [200, 200, 200, 503]
        first = accepted | {"mcp-session-id": opened[0].headers["mcp-session-id"]}
        assert (await raw.post("/mcp", content=ping, headers=first)).status_code == 200
        assert (await raw.delete("/mcp", headers=first)).status_code == 200
        assert (await raw.post("/mcp", content=hello, headers=accepted)).status_code == 200


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
    assert "secateur mcp needs the extra mcp" in ran.err
    assert "uv tool install '.[mcp]'" in ran.err
    assert secateur("mcp", "--help").code == 0
