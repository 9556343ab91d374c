"""Opens the source of vectors that `[embedding] model` names: one protocol, four sources.

embedder = open_embedder(settings.embedding, os.environ)      # None: `model = "none"`
matrix = embedder.embed([document_text(symbol_id, text), ...], "document")
SemanticSpace(matrix).similarity(embedder.embed([query], "query")[0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from secateur.index.facts.embedding.vectors import Embedder, Vectors, document_text
from secateur.index.facts.lexical import RunCounts
from secateur.settings import Embedding, Settings


def open_embedder(settings: Embedding, environ: Mapping[str, str]) -> Embedder | None:
    """Loads and returns the configured embedder; None for the model `none`. Raises EmbeddingError if its data, package,
    server or key is missing."""
    if settings.model == "none":
        return None
    if settings.model == "static":
        from secateur.index.facts.embedding.static import StaticEmbedder

        return StaticEmbedder()
    if settings.model == "bge":
        from secateur.index.facts.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder()
    from secateur.errors import EmbeddingError
    from secateur.http import key_from
    from secateur.index.facts.embedding.server import ServerEmbedder

    key = key_from(environ, settings.api_key_env, "embedding", EmbeddingError)
    return ServerEmbedder(settings.model, settings.base_url, settings.server_model, key=key)


def documents(
    embedder: Embedder, symbol_ids: Sequence[str], texts: Sequence[str], runs: RunCounts, sizes: Sequence[int]
) -> tuple[Vectors, list[int]]:
    """Embeds fragments by symbol id and text. Returns the vectors, and the files of which words were left out.

    Args:
        runs: the counted runs of the texts, so that the static embedder need not count them again.
        sizes: the number of fragments of each file. The static embedder bounds what a file costs; a model embeds each
            file alone, because the last bit of its vectors may depend on the texts beside them.

    Raises EmbeddingError.
    """
    from secateur.index.facts.embedding.static import StaticEmbedder

    if isinstance(embedder, StaticEmbedder):
        return embedder.embed_counted(symbol_ids, runs, sizes)
    named = [document_text(name, text) for name, text in zip(symbol_ids, texts, strict=True)]
    files = [named[first:end] for first, end in pairwise(accumulate(sizes, initial=0)) if first < end]
    return np.concatenate([embedder.embed(file, "document") for file in files]), []


class Models:
    """See the module docstring. `environ` holds the keys of servers."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._embedders: dict[Embedding, Embedder | None] = {}

    def embedder(self, embedding: Embedding) -> Embedder | None:
        """Returns the model that the settings describe; None for the model `none`. Raises EmbeddingError."""
        if embedding not in self._embedders:
            self._embedders[embedding] = open_embedder(embedding, self._environ)
        return self._embedders[embedding]


def vectors_of(models: Models, settings: Settings) -> Embedder | None:
    """Returns the embedder whose vectors the index holds; None if vectors are switched off."""
    return None if settings.embedding.model == "none" else models.embedder(Embedding())
