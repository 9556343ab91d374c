"""Embedding servers: any OpenAI-compatible `/v1/embeddings` and Ollama's `/api/embed`, spoken with the standard
library.

The address and the name of the key's environment variable come from the user's own configuration, never from a
repository. The key is sent to that address alone: redirects are not followed, and neither key nor texts appear in any
message.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import IO, Any
from urllib.parse import urlsplit

import numpy as np

from secateur.errors import EmbeddingError
from secateur.index.embedding.vectors import TextKind, Vectors, quantise

TIMEOUT = 30.0
"""Seconds without an answer before a server counts as failed."""

BATCH = 64
MAX_TOKENS = 512
"""What servers' usual models read; longer texts are cut before they are sent."""

CHARACTERS = MAX_TOKENS * 3
"""The cut in characters: code has three to four to a token, and a server that is not to truncate refuses what is too
long."""

MAX_REPLY = 64 * 1024 * 1024
_HINT = 'Check embedding.base_url and embedding.server_model, or set embedding.model = "static".'


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: Any,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        return None


class ServerEmbedder:
    """One of the two protocols. The dimension is asked of the server at the start. Raises EmbeddingError."""

    def __init__(self, protocol: str, base_url: str, model: str, *, key: str = "", timeout: float = TIMEOUT) -> None:
        try:
            parts = urlsplit(base_url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        if parts.scheme not in ("http", "https") or not host:
            raise EmbeddingError(
                "embedding.base_url is not an http or https address.", hint="For example http://localhost:11434"
            )
        if not model:
            raise EmbeddingError("embedding.server_model is empty.", hint="Name the model the server is to use.")
        base = base_url.rstrip("/")
        self._ollama = protocol == "ollama"
        self._url = (
            f"{base}/api/embed"
            if self._ollama
            else f"{base}/embeddings"
            if base.endswith("/v1")
            else f"{base}/v1/embeddings"
        )
        self._place = f"{parts.scheme}://{host}{f':{port}' if port else ''}"
        self._model, self._key, self._timeout = model, key, timeout
        # a proxy of the environment has no business between two programs of one machine
        direct = [urllib.request.ProxyHandler({})] if host in ("localhost", "127.0.0.1", "::1") else []
        self._opener = urllib.request.build_opener(_NoRedirect, *direct)
        self.dimension = len(self._ask(["dimension"])[0])
        self.id = f"{protocol}:{self._place}/{model}/{self.dimension}"

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:  # noqa: ARG002 - these protocols do not tell queries apart
        """See `Embedder`."""
        out = np.zeros((len(texts), self.dimension), dtype=np.int8)
        # an empty text is an error for some servers and no evidence for all
        filled = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), BATCH):
            rows = filled[start : start + BATCH]
            vectors = self._ask([texts[row][:CHARACTERS] for row in rows])
            if any(len(vector) != self.dimension for vector in vectors):
                raise EmbeddingError(
                    f"The embedding server {self._place} changed its dimension from {self.dimension}.", hint=_HINT
                )
            out[rows] = quantise(np.array(vectors, dtype=np.float64))
        return out

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts}
        if self._ollama:
            body["truncate"] = False  # a silently shortened text would get a vector of something else
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                raw = reply.read(MAX_REPLY + 1)
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
            raise EmbeddingError(
                f"The embedding server {self._place} answered with status {status}.", hint=_HINT
            ) from None
        except (OSError, ValueError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else type(error).__name__
            raise EmbeddingError(
                f"The embedding server {self._place} cannot be reached: {reason}", hint=_HINT
            ) from None
        if len(raw) > MAX_REPLY:
            raise EmbeddingError(
                f"The embedding server {self._place} answered with more than {MAX_REPLY} bytes.", hint=_HINT
            )
        try:
            return _vectors(json.loads(raw), len(texts), self._ollama)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise EmbeddingError(
                f"The embedding server {self._place} answered with something that is not its protocol.", hint=_HINT
            ) from None


def _vectors(reply: Any, expected: int, ollama: bool) -> list[list[float]]:
    """The vectors of a reply in the order of the request. Raises ValueError, KeyError or TypeError on any other
    shape."""
    rows = (
        reply["embeddings"]
        if ollama
        else [entry["embedding"] for entry in sorted(reply["data"], key=lambda entry: int(entry["index"]))]
    )
    vectors = [[float(value) for value in row] for row in rows]
    if len(vectors) != expected or not vectors[0] or any(len(vector) != len(vectors[0]) for vector in vectors):
        raise ValueError("wrong number of vectors or dimensions")
    return vectors


def key_from(environ: Mapping[str, str], variable: str) -> str:
    """The key in the named environment variable; "" when none is named. Raises EmbeddingError if it is named and not
    set."""
    if not variable:
        return ""
    if not environ.get(variable):
        raise EmbeddingError(
            f"The environment variable {variable} (embedding.api_key_env) is not set.",
            hint="Set it to the server's key.",
        )
    return environ[variable]
