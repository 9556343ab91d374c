"""The server of `secateur with`: what is not pruned passes byte for byte, as it comes, to the provider and back."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from secateur_agents.proxy import server as server_module
from secateur_agents.proxy.server import TOKEN_HEADER, Edit, ProxyServer
from support.scripted_provider import answer, begin_stream, provider, unused_port

SECONDS = 60


def untouched(*_: object) -> None:
    return None


@contextmanager
def proxied(url: str, edit: Edit = untouched) -> Iterator[tuple[ProxyServer, http.client.HTTPConnection, str]]:
    """The server, a connection to it, and the path of its base URL."""
    with ProxyServer({"model": url}, edit) as server:
        parts = urlsplit(server.address("model"))
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=SECONDS)
        try:
            yield server, connection, parts.path
        finally:
            connection.close()


def test_a_request_and_its_answer_pass_as_they_came() -> None:
    packed = gzip.compress(b'{"answer": 1}')
    script = answer(packed, 529, ("Content-Encoding", "gzip"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    with provider(script) as model, proxied(f"{model.url}/base") as (server, client, path):
        client.putrequest("POST", f"{path}/v1/x%2Fy?q=%20a&q=b", skip_accept_encoding=True)
        sent = [("X-Api-Key", "k"), ("Anthropic-Beta", "one"), ("Anthropic-Beta", "two"), ("Content-Length", "4")]
        for name, value in sent:
            client.putheader(name, value)
        client.endheaders(b"\x00\xffab")
        reply = client.getresponse()
        assert (reply.status, reply.read()) == (529, packed)
        got = [(name.lower(), value) for name, value in reply.getheaders()]
        length = ("content-length", str(len(packed)))
        assert got == [("content-encoding", "gzip"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), length]
        assert model.paths == ["/base/v1/x%2Fy?q=%20a&q=b"] and model.bodies == [b"\x00\xffab"]
        came = [(name.lower(), value) for name, value in model.headers[0]]
        assert sorted(came) == sorted([*((name.lower(), value) for name, value in sent), ("host", model.url[7:])])
        for method in ("GET", "HEAD"):  # on the same connection
            client.request(method, f"{path}/v1/models")
            assert client.getresponse().read() == (packed if method == "GET" else b"")
        assert model.paths[1:] == ["/base/v1/models"] * 2 and server.passed == 3


def test_an_answer_is_streamed_as_it_comes() -> None:
    seen = threading.Event()

    def script(handler: BaseHTTPRequestHandler) -> None:
        send = begin_stream(handler)
        send(b"data: 1\n\n")
        assert seen.wait(SECONDS), "the first part has to arrive before the second is sent"
        send(b"data: 2\n\n")
        send(b"")

    with provider(script) as model, proxied(model.url) as (_, client, path):
        client.request("POST", f"{path}/v1/messages", b"{}")
        reply = client.getresponse()
        assert reply.read1() == b"data: 1\n\n"
        seen.set()
        assert reply.read() == b"data: 2\n\n"


def test_what_is_edited_is_sent_without_its_compression() -> None:
    given: list[tuple[str, str, bytes]] = []

    def edit(path: str, encoding: str, body: bytes) -> bytes:
        given.append((path, encoding, gzip.decompress(body)))
        return b"short"

    with provider() as model, proxied(f"{model.url}/base", edit) as (_, client, path):
        headers = {"Content-Encoding": "gzip", "X-Api-Key": "k"}
        client.request("POST", f"{path}/v1/messages?beta=true", gzip.compress(b"long"), headers)
        client.getresponse().read()
        assert given == [("/base/v1/messages", "gzip", b"long")] and model.bodies == [b"short"]
        came = {name.lower(): value for name, value in model.headers[0]}
        assert "content-encoding" not in came and (came["content-length"], came["x-api-key"]) == ("5", "k")


def test_large_requests_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    body = bytes(range(256)) * (30 << 12)  # 30 MB
    with provider() as model, proxied(model.url, lambda *_: None) as (_, client, path):
        client.request("POST", f"{path}/v1/messages", body)
        assert client.getresponse().status == 200
        monkeypatch.setattr(server_module, "MOST_BYTES", 1 << 20)
        with proxied(model.url, lambda *_: b"edited") as (_, other, more):
            other.request("POST", f"{more}/v1/messages", body)  # is too long to be held
            assert other.getresponse().status == 200
        digests = [hashlib.sha256(came).digest() for came in model.bodies]
        assert digests == [hashlib.sha256(body).digest()] * 2


def test_only_the_process_that_knows_the_token_is_served() -> None:
    with provider() as model, proxied(model.url) as (server, client, path):
        wrong = [path.replace(server.token, "x" * len(server.token)), "/model", f"/{server.token}/other", "/", "//"]
        for beginning in wrong:
            client.request("POST", f"{beginning}/v1/messages", b"{}")
            reply = client.getresponse()
            assert (reply.status, json.loads(reply.read())["error"]["type"]) == (404, "not_found")
        assert model.paths == []
        client.request("POST", "/model/v1/messages", b"{}", {TOKEN_HEADER: server.token})
        assert client.getresponse().read() == b"{}"
        assert server.address("model", with_token=False).endswith("/model")
        assert [server.token in str(part) for part in (model.paths, model.headers)] == [False, False]


def test_redirects_and_netrc_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("default login me password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with provider() as other, provider(answer(b"", 307, ("Location", other.url))) as model, proxied(model.url) as made:
        _, client, path = made
        client.request("POST", f"{path}/v1/messages", b"{}")
        reply = client.getresponse()
        assert (reply.status, reply.headers["location"]) == (307, other.url)
        assert other.paths == [] and "authorization" not in {name.lower() for name, _ in model.headers[0]}


def test_proxies_of_the_environment_hold_but_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with provider() as between, provider() as model:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, between.url)
        for url, asked in ((model.url, model), ("http://provider.invalid", between)):
            with proxied(url) as (_, client, path):
                client.request("POST", f"{path}/v1/messages", b"{}")
                assert client.getresponse().status == 200
                assert len(asked.paths) == 1
        assert between.paths == ["http://provider.invalid/v1/messages"]


def self_signed(folder: Path) -> Path:
    """A certificate of 127.0.0.1, with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    day = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day.replace(year=2126))
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = builder.add_extension(address, critical=True).sign(key, hashes.SHA256())
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path = folder / "certificate.pem"
    path.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, form, serialization.NoEncryption()))
    return path


def test_the_certificate_of_a_provider_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = self_signed(tmp_path)
    with provider(certificate=certificate) as model:
        for known, status in ((False, 502), (True, 200)):
            if known:
                monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            else:
                monkeypatch.delenv("SSL_CERT_FILE", raising=False)
            with proxied(model.url) as (_, client, path):
                client.request("POST", f"{path}/v1/messages", b"{}")
                assert client.getresponse().status == status
        assert len(model.paths) == 1


def test_a_provider_that_is_not_there_is_an_error_that_agents_try_again() -> None:
    with proxied(f"http://127.0.0.1:{unused_port()}") as (server, client, path):
        client.request("POST", f"{path}/v1/messages", b"{}", {"X-Api-Key": "sk-secret"})
        reply = client.getresponse()
        said = json.loads(reply.read())["error"]["message"]
        assert reply.status == 502 and said == "secateur with: 127.0.0.1 cannot be reached (ConnectError)"
        assert server.passed == 0


def test_an_answer_that_breaks_off_breaks_off() -> None:
    def script(handler: BaseHTTPRequestHandler) -> None:
        begin_stream(handler)(b"data: 1\n\n")
        handler.close_connection = True
        handler.connection.shutdown(2)

    with provider(script) as model, proxied(model.url) as (_, client, path):
        client.request("POST", f"{path}/v1/messages", b"{}")
        reply = client.getresponse()
        with pytest.raises(http.client.IncompleteRead):
            reply.read()


def test_a_provider_that_answers_nonsense_is_an_error() -> None:
    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"this is not HTTP\r\n\r\n")
        handler.close_connection = True

    with provider(script) as model, proxied(model.url) as (_, client, path):
        client.request("POST", f"{path}/v1/messages", b"{}")
        assert client.getresponse().status == 502


def test_half_a_request_is_not_sent() -> None:
    with provider() as model, proxied(model.url) as (_, client, path):
        client.putrequest("POST", f"{path}/v1/messages")
        client.putheader("Content-Length", "100")
        client.endheaders(b'{"half": ')
        client.close()
        other = http.client.HTTPConnection(client.host, client.port, timeout=SECONDS)
        other.request("GET", f"{path}/v1/models")
        assert other.getresponse().status == 200 and model.paths == ["/v1/models"]
        other.close()


@pytest.mark.parametrize("begun", [False, True])
def test_the_provider_stops_for_an_agent_that_has_gone(begun: bool) -> None:
    asked, gone = threading.Event(), threading.Event()

    def script(handler: BaseHTTPRequestHandler) -> None:
        if begun:
            begin_stream(handler)(b"data: 1\n\n")
        asked.set()
        if handler.connection.recv(1) == b"":
            gone.set()

    with provider(script) as model, proxied(model.url) as (_, client, path):
        client.request("POST", f"{path}/v1/messages", b"{}")
        assert asked.wait(SECONDS)
        client.close()
        assert gone.wait(SECONDS)


def test_web_sockets_are_refused() -> None:
    with provider() as model, proxied(model.url) as (_, client, path):
        client.request("GET", f"{path}/v1/responses", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
        reply = client.getresponse()
        assert reply.status == 426 and b"no WebSockets" in reply.read() and model.paths == []


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    def edit(*_: object) -> bytes:
        raise RuntimeError("of the test")

    with provider() as model, proxied(model.url, edit) as (_, client, path):
        for method, status in (("PUT", 200), ("POST", 500)):
            client.request(method, f"{path}/v1/messages", b"{}", {"X-Api-Key": "sk-secret"})
            reply = client.getresponse()
            assert (reply.status, b"test" in reply.read()) == (status, False)
    assert caplog.text == "" and capfd.readouterr() == ("", "")
