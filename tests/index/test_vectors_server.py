"""Embedding servers spoken to over the loopback interface: both protocols, and every way a server can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest
from secateur.errors import EmbeddingError
from secateur.http import ServerKey
from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.embedding.server import BATCH, CHARACTERS, ServerEmbedder
from secateur.settings import Embedding

Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Server:
    """Speaks both protocols; `answer` replaces the reply."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.answer: Answer | None = None
        self.headers: dict[str, str] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, body, self.headers.get("Authorization")))
                status, raw = outer.answer(body) if outer.answer else outer.reply(self.path, body)
                self.send_response(status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    @staticmethod
    def reply(path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        vectors = [[float(len(text)), 1.0, 0.0] for text in body["input"]]
        if path.endswith("/api/embed"):
            return 200, json.dumps({"embeddings": vectors}).encode()
        rows = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        return 200, json.dumps({"data": rows[::-1]}).encode()  # the order of the list is not the order of the texts


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.http.shutdown()
    thread.join()
    running.http.server_close()


@pytest.mark.parametrize(
    ("protocol", "suffix", "path"),
    [("openai", "", "/v1/embeddings"), ("openai", "/v1/", "/v1/embeddings"), ("ollama", "/", "/api/embed")],
)
def test_both_protocols_give_quantised_rows_in_order(server: Server, protocol: str, suffix: str, path: str) -> None:
    settings = Embedding(model=protocol, base_url=server.url + suffix, server_model="m", api_key_env="KEY")
    embedder = open_embedder(settings, {"KEY": "s3cret"})
    assert embedder is not None
    assert embedder.dimension == 3
    assert embedder.id.endswith("/m/3")
    found = embedder.embed(["a", "", "aaaaaaaaa"], "document")
    assert found.tolist() == [[90, 90, 0], [0, 0, 0], [126, 14, 0]]
    assert {request[0] for request in server.requests} == {path}
    assert {request[2] for request in server.requests} == {"Bearer s3cret"}
    assert all(
        request[1].get("truncate", "absent") == (False if protocol == "ollama" else "absent")
        for request in server.requests
    )


def test_texts_go_in_batches_and_long_ones_are_cut_before_they_are_sent(server: Server) -> None:
    embedder = ServerEmbedder("openai", server.url, "m")
    assert embedder.embed(["x" * 100_000] * (BATCH + 1), "document").shape == (BATCH + 1, 3)
    sizes = [len(body["input"]) for _, body, _ in server.requests]
    assert sizes == [1, BATCH, 1]
    assert {len(text) for _, body, _ in server.requests[1:] for text in body["input"]} == {CHARACTERS}
    assert server.requests[0][2] is None


@pytest.mark.parametrize(
    ("status", "raw"),
    [
        (500, b"boom s3cret"),
        (401, b"{}"),
        (200, b""),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"data": []}'),
        (200, b'{"data": [{"index": 0}]}'),
        (200, b'{"data": [{"index": 0, "embedding": ["x"]}]}'),
        (200, b'{"data": [{"index": 0, "embedding": []}]}'),
        (200, b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}"),
        (200, b"[" * 100_000),
        (200, b"\xff\xfe\xff"),
    ],
)
def test_an_answer_that_is_none_is_an_error_that_names_the_server_and_no_secret(
    server: Server, status: int, raw: bytes
) -> None:
    server.answer = lambda _: (status, raw)
    with pytest.raises(EmbeddingError) as caught:
        ServerEmbedder("openai", server.url, "m", key=ServerKey("s3cret"))
    assert server.url in caught.value.message
    assert "s3cret" not in caught.value.message + caught.value.hint
    assert caught.value.hint


def test_redirects_are_not_followed_so_the_key_stays(server: Server) -> None:
    server.headers = {"Location": f"{server.url}/elsewhere"}
    server.answer = lambda _: (307, b"")
    with pytest.raises(EmbeddingError, match="307"):
        ServerEmbedder("openai", server.url, "m", key=ServerKey("s3cret"))
    assert len(server.requests) == 1


def test_a_server_that_changes_its_dimension_is_stopped(server: Server) -> None:
    embedder = ServerEmbedder("ollama", server.url, "m")
    server.answer = lambda body: (200, json.dumps({"embeddings": [[1.0, 2.0]] * len(body["input"])}).encode())
    with pytest.raises(EmbeddingError, match="dimension"):
        embedder.embed(["a"], "query")


def test_numbers_that_are_none_are_no_evidence(server: Server) -> None:
    embedder = ServerEmbedder("ollama", server.url, "m")
    server.answer = lambda _: (200, b'{"embeddings": [[NaN, 1, 2]]}')
    assert not np.any(embedder.embed(["a"], "query"))


def test_nobody_listening_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        ServerEmbedder("openai", "http://127.0.0.1:9", "m", timeout=2)


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "file:///etc/passwd", "ftp://x/", "http://", "http://[", "http://x:99999999/"]
)
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(EmbeddingError, match="base_url"):
        ServerEmbedder("openai", url, "m")


def test_a_named_key_that_is_not_set_and_a_missing_model_are_errors() -> None:
    with pytest.raises(EmbeddingError, match="MY_KEY"):
        open_embedder(
            Embedding(model="openai", base_url="http://127.0.0.1:9", server_model="m", api_key_env="MY_KEY"), {}
        )
    with pytest.raises(EmbeddingError, match="server_model"):
        open_embedder(Embedding(model="ollama", base_url="http://127.0.0.1:9"), {})


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel€"])
def test_a_key_no_header_can_carry_is_an_error_that_does_not_show_it(server: Server, key: str) -> None:
    settings = Embedding(model="openai", base_url=server.url, server_model="m", api_key_env="KEY")
    with pytest.raises(EmbeddingError) as caught:
        open_embedder(settings, {"KEY": key})
    assert key not in caught.value.message
    assert server.requests == []
