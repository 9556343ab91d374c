"""Scores the best candidates with a better embedding model than the index's own.

A model that takes milliseconds per fragment cannot embed a repository while somebody waits. So a query embeds a fixed
number of candidates, the best by all other evidence, and caches their vectors by content: the answer does not depend on
the cache. Vectors of two models never mix: a fragment that this model did not embed has no semantic part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b

import numpy as np
from msgspec import Struct

from secateur.index.facts.embedding import Embedder, SemanticSpace, document_text
from secateur.index.facts.extract import text_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store, UnwritableIndex
from secateur.model import FloatArray

KEPT_VECTORS = 20_000
"""Most vectors that are kept, of all models together: the latest ones, about 10 MB."""

_KIND = "vectors"


class Reranker(Struct, frozen=True):
    """Holds an embedder, and the store that keeps its vectors."""

    embedder: Embedder
    store: Store

    def similarity(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Computes the cosine of the query with each text, centred on these texts, in [0, 1]. Raises EmbeddingError:
        the model or its server failed; the cache holds no part of its answer."""
        digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]
        names = [f"{self.embedder.id}:{digest}" for digest in digests]
        known = {
            name: vector for name in dict.fromkeys(names) if (vector := self.store.get_blob(_KIND, name)) is not None
        }
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if missing:
            fresh = self.embedder.embed(list(missing.values()), "document")
            added = {name: vector.tobytes() for name, vector in zip(missing, fresh, strict=True)}
            with suppress(UnwritableIndex), self.store.writing():  # without the cache, the next run asks again
                self.store.put_blobs(_KIND, added, most=KEPT_VECTORS)
            known |= added
        matrix = (
            np.stack([np.frombuffer(known[name], dtype=np.int8) for name in names])
            if names
            else np.zeros((0, self.embedder.dimension), dtype=np.int8)
        )
        return SemanticSpace(matrix).similarity(self.embedder.embed([query], "query")[0])


def document_of(snapshot: Snapshot, lines: Callable[[str], list[str]], row: int) -> str:
    """Builds the text that a model embeds for a row. `lines` reads the lines of a file by its path."""
    own = lines(snapshot.paths[int(snapshot.file[row])])
    text = text_of(own, int(snapshot.line_start[row]), int(snapshot.line_end[row]))
    return document_text(snapshot.symbol_id(row), text)
