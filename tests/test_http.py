"""Addresses, keys, and requests that end where they should: what model servers and embedding servers share."""

from __future__ import annotations

import socket
import threading

import pytest
from secateur.errors import ConfigError
from secateur.http import Client, RequestFailure, ServerKey, server_at
from support.chat_server import Back, ChatServer, chat_server


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        ("127.0.0.1.example.com", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert server_at(f"http://{host}:80/v1", ServerKey(""), "llm", ConfigError).loopback is loopback


def test_what_is_printed_of_a_key_is_not_the_key() -> None:
    server = server_at("http://localhost", ServerKey("sk-5ecret"), "llm", ConfigError)
    assert "5ecret" not in f"{server} {server!r} {server.key} {server.key!r}"


def client_of(server: ChatServer | str, path: str = "/", timeout: float = 20.0, most_bytes: int = 1000) -> Client:
    url = server if isinstance(server, str) else server.url
    return Client(
        server_at(url, ServerKey("sk-5ecret"), "llm", ConfigError), path, timeout=timeout, most_bytes=most_bytes
    )


def test_a_reply_is_its_bytes_also_when_there_are_none() -> None:
    with chat_server(lambda _: Back(body=b"")) as server:
        assert client_of(server, "/there").post({"a": 1}) == b""
    assert (server.paths, server.bodies) == (["/there"], [{"a": 1}])
    assert server.headers[0]["Authorization"] == "Bearer sk-5ecret"
    assert server.headers[0]["User-Agent"] == "secateur"


@pytest.mark.parametrize(("size", "whole"), [(999, True), (1000, True), (1001, False)])
def test_a_reply_is_bounded_in_size(size: int, whole: bool) -> None:
    with chat_server(lambda _: Back(body=b"x" * size)) as server:
        reply = client_of(server).post({})
    assert (reply == b"x" * size) is whole
    assert whole or reply == RequestFailure("it answered with more than 1,000 bytes", spent=True)


def test_closing_the_client_ends_what_is_under_way_and_answers_nothing_more() -> None:
    arrived, release = threading.Event(), threading.Event()

    def silent(_: object) -> Back:
        arrived.set()
        release.wait(20)
        return Back()

    with chat_server(silent) as server:
        client, replies = client_of(server), list[bytes | RequestFailure]()
        asking = threading.Thread(target=lambda: replies.append(client.post({})))
        asking.start()
        arrived.wait(20)
        client.close()
        asking.join(20)
        assert not asking.is_alive()
        release.set()
        after = client.post({})
    assert [isinstance(reply, RequestFailure) and reply.spent for reply in replies] == [True]
    assert isinstance(after, RequestFailure) and after.final and not after.spent
    assert len(server.bodies) == 1
    client.wait(1000)  # a closed client waits for nothing


@pytest.mark.parametrize("sent", [b"", b"SSH-2.0-OpenSSH\r\n"])
def test_what_is_no_http_is_a_connection_that_broke(sent: bytes) -> None:
    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(sent)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        reply = client_of(f"http://127.0.0.1:{listening.getsockname()[1]}").post({})
        thread.join()
    assert reply == RequestFailure("the connection broke before the answer was complete", spent=True)


def test_a_handshake_that_never_comes_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:  # takes connections, and is ignored by kind TLS
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        assert client_of(url, timeout=0.2).post({}) == RequestFailure(
            f"{url} cannot be reached", again=True, final=True
        )


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_the_proxies_of_the_environment_are_used_for_other_machines(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("http_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with chat_server(lambda _: Back(body=b"from the proxy")) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert client_of("http://models.example:81/v1", "/v1/x").post({}) == b"from the proxy"
        monkeypatch.setenv("no_proxy", "models.example")
        assert isinstance(client_of("http://models.example:81/v1", timeout=2).post({}), RequestFailure)
    assert proxy.paths == ["http://models.example:81/v1/x"]
