"""The token counters and embedding models of an engine. Each is opened once, at its first use."""

from __future__ import annotations

from collections.abc import Mapping

from secateur.index.facts.embedding import Embedder, open_embedder
from secateur.settings import Embedding, Settings
from secateur.tokens import Counter, get_counter


class Models:
    """See the module docstring. `environ` holds the keys of servers."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._counters: dict[str, Counter] = {}
        self._embedders: dict[Embedding, Embedder | None] = {}

    def counter(self, name: str) -> Counter:
        """Returns the token counter of this name."""
        if name not in self._counters:
            self._counters[name] = get_counter(name)
        return self._counters[name]

    def embedder(self, embedding: Embedding) -> Embedder | None:
        """Returns the model that the settings describe; None for the model `none`. Raises EmbeddingError."""
        if embedding not in self._embedders:
            self._embedders[embedding] = open_embedder(embedding, self._environ)
        return self._embedders[embedding]


def vectors_of(models: Models, settings: Settings) -> Embedder | None:
    """Returns the embedder whose vectors the index holds; None if vectors are switched off."""
    return None if settings.embedding.model == "none" else models.embedder(Embedding())
