"""Asks embedding servers: any OpenAI-compatible `/v1/embeddings`, and Ollama's `/api/embed`. `secateur.http` sends."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from secateur.errors import EmbeddingError
from secateur.http import Client, RequestFailure, ServerKey, server_at
from secateur.index.facts.embedding.vectors import TextKind, Vectors, quantise

TIMEOUT = 30.0  # seconds in which a server must answer

# Texts in one request. A model without a GPU takes up to half a second for a text, and one request must end within
# TIMEOUT.
BATCH = 16

MAX_TOKENS = 512  # the most tokens that the usual models read; longer texts are cut before they are sent

# The same in characters: code has three to four characters per token. A server that may not truncate refuses longer
# texts.
CHARACTERS = MAX_TOKENS * 3

MAX_REPLY = 64 * 1024 * 1024
_HINT = 'Check embedding.base_url and embedding.server_model, or set embedding.model = "static".'


class ServerEmbedder:
    """Speaks one of the two protocols. Asks the server for the dimension at the start. Raises EmbeddingError."""

    def __init__(
        self, protocol: str, base_url: str, model: str, *, key: ServerKey | None = None, timeout: float = TIMEOUT
    ) -> None:
        server = server_at(base_url, key or ServerKey(""), "embedding", EmbeddingError)
        if not model:
            raise EmbeddingError("embedding.server_model is empty.", hint="Name the model the server is to use.")
        self._ollama = protocol == "ollama"
        standard = "/embeddings" if server.path.endswith("/v1") else "/v1/embeddings"
        path = server.path + ("/api/embed" if self._ollama else standard)
        self._client = Client(server, path, timeout=timeout, most_bytes=MAX_REPLY)
        self._origin, self._model = server.origin, model
        self.dimension = len(self._ask(["dimension"])[0])
        self.id = f"{protocol}:{self._origin}/{model}/{self.dimension}"

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:  # noqa: ARG002
        """See `Embedder`. These protocols do not distinguish queries from documents."""
        out = np.zeros((len(texts), self.dimension), dtype=np.int8)
        # some servers refuse an empty text, and its vector would say nothing
        filled = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), BATCH):
            rows = filled[start : start + BATCH]
            vectors = self._ask([texts[row][:CHARACTERS] for row in rows])
            if any(len(vector) != self.dimension for vector in vectors):
                raise EmbeddingError(
                    f"The embedding server {self._origin} changed its dimension from {self.dimension}.", hint=_HINT
                )
            out[rows] = quantise(np.array(vectors, dtype=np.float64))
        return out

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts}
        if self._ollama:
            body["truncate"] = False  # the vector of a silently shortened text would be that of another text
        raw = self._client.post(body)
        if isinstance(raw, RequestFailure):
            problem = raw.problem.removeprefix(f"{self._origin} ")
            raise EmbeddingError(f"The embedding server {self._origin}: {problem}.", hint=_HINT)
        try:
            return _vectors(json.loads(raw), len(texts), self._ollama)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise EmbeddingError(
                f"The embedding server {self._origin} answered with something that is not its protocol.", hint=_HINT
            ) from None


def _vectors(reply: Any, expected: int, ollama: bool) -> list[list[float]]:
    """Returns the vectors of a reply in the order of the request. Raises ValueError, KeyError or TypeError on any other
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
