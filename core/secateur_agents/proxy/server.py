"""Passes the requests of one process on to its model provider: with `secateur.http` the only module that opens a
connection.

    with ProxyServer({"anthropic": "https://api.anthropic.com"}, edit) as server:
        server.address("anthropic")      # http://127.0.0.1:43121/TOKEN/anthropic, a base URL for that process

Requests go to the configured hosts and nowhere else. Answers pass as they come, redirects too. Nothing is logged and
nothing is stored. The environment's proxies count; `.netrc` does not. The token is the secret of the run: it is in the
path, or in the header `TOKEN_HEADER` of an agent that takes its address on the command line.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import uvicorn
from anyio.to_thread import run_sync
from secateur import SecateurError

HOST = "127.0.0.1"
TOKEN_HEADER = "x-secateur-token"

MOST_BYTES = 64 << 20  # Most bytes of a request that is held and may be pruned. A longer one passes as it comes.
CONNECTING = 30.0  # seconds after which a provider counts as not listening; an answer may take any time
_KEPT_SECONDS = 3_600  # A connection that idles so long is closed: sooner, an agent might write to it meanwhile.

# Headers that are about one connection, or that are made anew for the next one. All others pass, in their order.
_OF_CONNECTION = frozenset(
    b"connection content-length expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te"
    b" trailer transfer-encoding upgrade".split()
)
_LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")  # are reached without the environment's proxies

Edit = Callable[[str, str, bytes], bytes | None]
Headers = list[tuple[bytes, bytes]]


def make_client() -> httpx2.AsyncClient:
    """Returns the client that asks providers. Raises SecateurError: the environment's proxies or certificates cannot be
    used."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    try:
        return httpx2.AsyncClient(mounts=dict.fromkeys(_LOOPBACK), limits=limits, follow_redirects=False)
    except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
        raise SecateurError(
            "a proxy or the certificates that the environment names cannot be used",
            hint="see HTTP_PROXY, HTTPS_PROXY, ALL_PROXY (no SOCKS), NO_PROXY and SSL_CERT_FILE",
            code="PROXY",
        ) from error


class ProxyServer:
    """See the module docstring. Attributes: `passed`: requests that were answered by a provider."""

    def __init__(self, upstreams: Mapping[str, str], edit: Edit) -> None:
        """`upstreams`: base URLs by name. `edit`: gets the path, the content encoding and the body of a POST, and
        returns the body, not encoded, that is sent in its place; None: it is sent as it came."""
        self.passed, self.token = 0, secrets.token_urlsafe(32)
        self._upstreams, self._edit = {name: urlsplit(url) for name, url in upstreams.items()}, edit
        self._socket, self._client = socket.socket(socket.AF_INET, socket.SOCK_STREAM), make_client()
        config = uvicorn.Config(
            self._application,
            interface="asgi3",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            access_log=False,
            log_config=None,
            log_level=100,  # nothing
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEPT_SECONDS,
            timeout_graceful_shutdown=1,  # seconds
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: anyio.run(self._serve), name="secateur-with", daemon=True)

    def __enter__(self) -> ProxyServer:
        try:
            self._socket.bind((HOST, 0))
            self._socket.listen()  # the agent may connect before the thread runs
        except OSError as error:
            raise SecateurError(f"cannot listen on {HOST}: {error.strerror or error}", code="PORT") from error
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def address(self, name: str, *, with_token: bool = True) -> str:
        """Returns the base URL that leads to an upstream. Without the token, requests need it in `TOKEN_HEADER`."""
        token = f"/{self.token}" if with_token else ""
        return f"http://{HOST}:{self._socket.getsockname()[1]}{token}/{name}{self._upstreams[name].path.rstrip('/')}"

    async def _serve(self) -> None:
        async with self._client:
            await self._server.serve([self._socket])

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        headers: Headers = scope["headers"]
        if (found := self._find_upstream(scope["raw_path"], headers)) is None:
            await _refuse(send, 404, "not_found", "there is nothing at this address")
            return
        if any(name == b"upgrade" for name, _ in headers):
            await _refuse(send, 426, "upgrade_refused", "secateur with passes no WebSockets")
            return
        origin, path = found
        body, more, gone = bytearray(), True, False
        while more and not gone and len(body) <= MOST_BYTES:
            event = await receive()
            body += event.get("body", b"")
            more, gone = event.get("more_body", False), event["type"] == "http.disconnect"
        if gone:  # half a request is none
            return

        async def whole() -> AsyncIterator[bytes]:
            yield bytes(body)
            going = True
            while going:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise ConnectionError("the agent closed the connection")
                going = event.get("more_body", False)
                yield event.get("body", b"")

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()  # the provider works no longer for an agent that has gone

        async with anyio.create_task_group() as group:
            if not more:
                group.start_soon(watch)
            edited = None
            if scope["method"] == "POST" and not more:
                encoding = b",".join(value for name, value in headers if name == b"content-encoding").decode("latin-1")
                edited = await run_sync(self._edit, path.decode("latin-1"), encoding, bytes(body))
            dropped = _OF_CONNECTION | {TOKEN_HEADER.encode()}
            if edited is not None:
                dropped |= {b"content-encoding"}
            if more:
                dropped -= {b"content-length"}
            sent = [(name, value) for name, value in headers if name not in dropped]
            target = path + (b"?" + scope["query_string"] if scope["query_string"] else b"")
            request = httpx2.Request(
                scope["method"],
                origin,
                headers=sent,
                content=whole() if more else (bytes(body) if edited is None else edited) or None,
                extensions={"target": target, "timeout": httpx2.Timeout(None, connect=CONNECTING).as_dict()},
            )
            await self._pass_on(request, send)
            group.cancel_scope.cancel()

    async def _pass_on(self, request: httpx2.Request, send: Any) -> None:
        try:
            answer = await self._client.send(request, stream=True, auth=None)
        except httpx2.HTTPError as error:
            problem = f"secateur with: {request.url.host} cannot be reached ({type(error).__name__})"
            await _refuse(send, 502, "api_error", problem)
            return
        self.passed += 1
        try:
            headers = [(name.lower(), value) for name, value in answer.headers.raw]
            kept = [(name, value) for name, value in headers if name not in _OF_CONNECTION - {b"content-length"}]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": kept})
            async for chunk in answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body"})
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()

    def _find_upstream(self, raw_path: bytes, headers: Headers) -> tuple[str, bytes] | None:
        """Returns the origin of a request and its path there; None: the token is missing or wrong."""
        given = next((value for name, value in headers if name == TOKEN_HEADER.encode()), None)
        if given is None:
            given, _, raw_path = raw_path.removeprefix(b"/").partition(b"/")
            raw_path = b"/" + raw_path
        name, _, path = raw_path.removeprefix(b"/").partition(b"/")
        upstream = self._upstreams.get(name.decode("latin-1"))
        if upstream is None or not secrets.compare_digest(given, self.token.encode()):
            return None
        return f"{upstream.scheme}://{upstream.netloc}", b"/" + path


async def _refuse(send: Any, status: int, kind: str, message: str) -> None:
    """Answers with an error in the shape that the clients of all providers read."""
    body = b'{"type":"error","error":{"type":"%s","message":"%s"}}' % (kind.encode(), message.encode())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
