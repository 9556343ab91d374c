"""Serves the inspector to a browser on this machine: `secateur inspect --serve`.

Each page that is opened runs an inspector of its own. The server listens on the loopback alone, below a random path
that other users and other pages in the browser do not know, and a page may load nothing from anywhere else.
"""

from __future__ import annotations

import secrets
import shlex
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from secateur.errors import SecateurError
from secateur.system.processes import isolated_python

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"

_HEADERS = {
    # xterm.js writes styles of its own; the fonts that textual-serve's page names elsewhere are not loaded
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve_pages(words: Sequence[str]) -> int:
    """Serves the command `secateur WORDS` until Ctrl-C. Raises SecateurError if the extra is not installed."""
    try:
        from aiohttp import web
        from textual_serve.server import Server
    except ImportError as error:
        raise SecateurError.missing_extra("--serve", "serve") from error

    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    token = secrets.token_urlsafe(24)

    class LocalServer(Server):  # type: ignore[misc]
        """Textual's server, all of whose addresses begin with a secret."""

        async def _make_app(self) -> web.Application:
            inner: Any = await super()._make_app()
            outer = web.Application(middlewares=[web.middleware(guard)])
            outer.add_subapp(f"/{token}", inner)
            return outer

        async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002
            address = f"http://{HOST}:{port}/{token}/"
            self.console.print(f"the inspector is at {address} (Ctrl-C ends it)", markup=False, soft_wrap=True)

        def initialize_logging(self) -> None:
            """Logs nothing: a request's line would hold the secret."""

    async def guard(request: web.Request, handler: Any) -> web.StreamResponse:
        """Answers only this machine's name and our own pages, and lets a page load nothing from elsewhere."""
        origin = request.headers.get("Origin")  # browsers send it with every websocket
        if request.host != f"{HOST}:{port}" or origin not in (None, f"http://{HOST}:{port}"):
            raise web.HTTPForbidden(text="this address is served to this machine alone")
        response: web.StreamResponse = await handler(request)
        if not response.prepared:
            response.headers.update({name: value.format(host=request.host) for name, value in _HEADERS.items()})
        return response

    command = shlex.join(isolated_python("from secateur.__main__ import run; sys.exit(run())", *words))
    LocalServer(command, HOST, port, title="secateur").serve()
    return 0
