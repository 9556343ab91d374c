"""The server over streamable HTTP, on the loopback interface only."""

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from secateur import SecateurError
from starlette.applications import Starlette

HOST = "127.0.0.1"
PATH = "/mcp"

MOST_CONNECTIONS = 64  # most connections at once; more are refused

# Most known clients of the protocol of 2025, each 33 KB; one more is refused until one has been idle for half an hour.
MOST_SESSIONS = 1_000


def application(server: Server[Any], port: int) -> Starlette:
    """Returns the server as an application. A request with another Host or Origin is refused: a web page could
    send it."""
    names = [f"{host}:{port}" for host in (HOST, "localhost")]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    return server.streamable_http_app(
        streamable_http_path=PATH, max_sessions=MOST_SESSIONS, transport_security=security, host=HOST
    )


async def serve_http(server: Server[Any], port: int, report_address: Callable[[str], None]) -> None:
    """Serves until the process is told to end.

    Args:
        port: 0: any free port.
        report_address: receives the address.

    Raises:
        SecateurError: the port is taken, or may not be used.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # a client may come as soon as it is told the address
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
            timeout_graceful_shutdown=1,  # seconds
            ws="none",
        )
        report_address(f"http://{HOST}:{own}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])
