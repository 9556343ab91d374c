"""The server over streamable HTTP, on the loopback interface only."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from secateur import SecateurError
from starlette.types import ASGIApp

from secateur_agents.mcp.http_clients import SessionLimit, add_request_ids
from secateur_agents.mcp.messages import MOST_BYTES

HOST = "127.0.0.1"
PATH = "/mcp"

MOST_CONNECTIONS = 64
"""Most connections at once; more are refused."""

MOST_SESSIONS = 32
"""Most known clients. One more ends the session that has been idle longest."""

IDLE_SECONDS = 30 * 60.0
"""A session that is idle for so long ends."""

_ENDING_SECONDS = 1


def application(server: Server[Any], port: int) -> ASGIApp:
    """Returns the server as an ASGI application. A request with another Host or Origin is refused: a web page could
    send it."""
    names = [f"{host}:{port}" for host in (HOST, "localhost")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    protocol = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MOST_BYTES,
        max_sessions=MOST_SESSIONS + MOST_CONNECTIONS,  # while all are asking, and more come
        session_idle_timeout=IDLE_SECONDS,
        transport_security=security,
        host=HOST,
    )
    return SessionLimit(add_request_ids(protocol), MOST_SESSIONS)


async def serve_http(server: Server[Any], port: int, report_address: Callable[[str], None]) -> None:
    """Serves until the process is told to end.

    Args:
        port: 0: any free port. told: receives the address.

    Raises:
        SecateurError: the port is taken, or may not be used.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise SecateurError(
                f"cannot listen on {HOST}:{port}: {error.strerror or error}",
                hint="choose another --http PORT; 0 takes any free one",
                code="PORT",
            ) from error
        own: int = listening.getsockname()[1]
        config = uvicorn.Config(
            application(server, own),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=_ENDING_SECONDS,
            ws="none",
        )
        report_address(f"http://{HOST}:{own}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])
    finally:
        listening.close()
