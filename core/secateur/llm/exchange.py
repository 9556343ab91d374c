"""One request and what became of it. Bounded in time and size; redirects are not followed; of what a server says in an
error only known words are read.

Everything that can go wrong between two programs ends in a `Trouble`; nothing is raised for it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from secateur.llm.opening import Server

MOST_BYTES = 16 * 1024 * 1024
"""A reply above this size is none."""

MOST_REFUSAL = 64 * 1024
"""Bytes of an error that are looked through for the names of parameters."""

CONNECTING = 10.0
"""Seconds after which a server counts as not listening."""

KEPT_OPEN = 2.0
"""Seconds a connection is kept for the next question: less than servers keep theirs, so that none is used that the
other side has closed."""

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Status codes after which another attempt makes sense."""

_MEANINGS = {
    401: "the key is not accepted",
    402: "there is nothing left to pay with",
    403: "the key does not allow it",
    404: "there is no such address or model",
    408: "it took the server too long",
    413: "the question is too long",
    429: "too many questions, or the quota is used up",
}
_KNOWN_CODES = {
    "model_not_found": "there is no such model",
    "context_length_exceeded": "the question is longer than the model's window; lower llm.text_tokens",
    "exceed_context_size_error": "the question is longer than the model's window; lower llm.text_tokens",
    "insufficient_quota": "the quota is used up",
    "invalid_api_key": "the key is not accepted",
}
"""Words in errors of servers that are told, in our words: the rest of an error may hold anything, the key included."""

_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a request brought nothing."""

    problem: str  # for people
    status: int = 0  # 0: there was no whole reply
    spent: bool = False  # the server may have worked on it: it is not sent again
    again: bool = False  # another attempt makes sense
    final: bool = False  # the next question would fare no better
    wait: float | None = None  # seconds the server asks to wait
    refusal: str = ""  # what may name a parameter the server does not take; never shown


def client_for(server: Server, timeout: float, connections: int) -> httpx2.AsyncClient:
    """A client for the requests of one round."""
    return httpx2.AsyncClient(
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "secateur",
        },
        timeout=httpx2.Timeout(
            None, connect=min(CONNECTING, timeout)
        ),  # the whole is timed in `post`: a server that drips bytes is never silent
        limits=httpx2.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=KEPT_OPEN
        ),
        follow_redirects=False,
        trust_env=not server.loopback,
    )


async def post(client: httpx2.AsyncClient, server: Server, body: Mapping[str, Any], timeout: float) -> bytes | Trouble:
    """The bytes of a good reply, or the trouble."""
    try:
        async with (
            asyncio.timeout(timeout),
            client.stream("POST", server.url, content=json.dumps(body).encode(), headers=server.key.headers()) as reply,
        ):
            if reply.status_code != 200:
                return _refused(reply.status_code, reply.headers, await _read(reply, MOST_REFUSAL))
            if reply.headers.get("content-encoding", "identity") != "identity":
                return Trouble("it answered in a compression it was not asked for", spent=True)
            raw = await _read(reply, MOST_BYTES + 1)
            return (
                raw
                if len(raw) <= MOST_BYTES
                else Trouble(f"it answered with more than {MOST_BYTES:,} bytes", spent=True)
            )
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
        return Trouble(f"{server.place} cannot be reached", again=True, final=True)
    except TimeoutError:
        return Trouble(f"there was no whole answer within {timeout:g} s", spent=True)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError):
        return Trouble("the connection broke before the answer was whole", spent=True)


async def _read(reply: httpx2.Response, most: int) -> bytes:
    """The body, its first `most` bytes where it has more."""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in reply.aiter_raw():
            chunks.append(chunk)
            size += len(chunk)
            if size >= most:
                break
    except httpx2.HTTPError:
        if reply.status_code == 200:  # of an error the status says enough
            raise
    return b"".join(chunks)[:most]


def _refused(status: int, headers: httpx2.Headers, raw: bytes) -> Trouble:
    said = raw.decode("utf-8", "replace")
    if 300 <= status < 400:
        return Trouble(
            f"it sends on to another address (status {status}), where neither key nor text is sent; set llm.base_url to"
            " that address",
            status,
            final=True,
        )
    code = next((code for code in _KNOWN_CODES if re.search(rf"\b{code}\b", said)), "")
    meaning = _KNOWN_CODES.get(code) or _MEANINGS.get(
        status, "the server failed" if status >= 500 else "the request was refused"
    )
    wait = _wait(headers)
    return Trouble(
        f"{meaning} (status {status}{f', to be asked again in {wait:,.0f} s' if wait else ''})",
        status,
        again=status in BUSY and code != "insufficient_quota",
        final=status in (401, 402, 403, 404, 405) or code in ("insufficient_quota", "model_not_found"),
        wait=wait,
        refusal="" if code in _TOO_LONG else said,
    )


def _wait(headers: httpx2.Headers) -> float | None:
    """Seconds the server asks to wait: a number, or a date, which is read against the server's own clock."""
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", asked):
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
