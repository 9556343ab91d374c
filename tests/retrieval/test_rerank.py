"""A better model on the best candidates: its vectors are kept by content, a failure is said and never half-kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace
from secateur import Engine, Settings
from secateur.errors import EmbeddingError
from secateur.index.store.records import Store
from secateur.retrieval.query import parse_with_kind
from secateur.retrieval.results import Preferences
from secateur.retrieval.retrieve import Reranker, Retrieval, retrieve
from secateur.settings import with_values
from secateur.tokens import get_counter
from support.engine_answers import answered
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP


@dataclass
class Letters:
    """An embedder that sees how often each letter occurs; it can be told to fail."""

    id: str = "letters/1"
    dimension: int = 26
    asked: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    fails: bool = False

    def embed(self, texts: Sequence[str], kind: str) -> npt.NDArray[np.int8]:
        if self.fails:
            raise EmbeddingError("the model is out of reach")
        if kind == "document":
            self.asked += texts
        else:
            self.queries += texts
        counts = np.array(
            [[text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts], dtype=float
        ).reshape(len(texts), 26)
        norms = np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return np.rint(127 * counts / norms).astype(np.int8)


TEXTS = ["a.py::zzz\nzzz zzz", "b.py::abc\nabc abc", "c.py::abc\nabc abd", "d.py::qqq\nqqq"]


@pytest.fixture
def store() -> Store:
    return Store.open(None)


def similarity(
    model: Letters, store: Store, query: str = "abc", rows: Sequence[int] = (0, 1, 2, 3)
) -> npt.NDArray[np.float64]:
    return Reranker(model, store).similarity(query, [TEXTS[row] for row in rows])


def test_similarity_is_in_range_and_knows_what_is_alike(store: Store) -> None:
    found = similarity(Letters(), store)
    assert ((found >= 0) & (found <= 1)).all()
    assert set(np.argsort(-found)[:2]) == {1, 2}


def test_a_text_is_embedded_once_and_the_answer_is_the_same(store: Store) -> None:
    model = Letters()
    first = similarity(model, store)
    asked = len(model.asked)
    assert asked == len(TEXTS)
    assert similarity(model, store).tolist() == first.tolist()
    assert len(model.asked) == asked
    assert similarity(model, Store.open(None)).tolist() == first.tolist()


def test_vectors_of_two_models_do_not_mix(store: Store) -> None:
    one, two = Letters(), Letters(id="letters/2")
    similarity(one, store)
    similarity(two, store)
    assert len(two.asked) == len(TEXTS)


@pytest.mark.parametrize(
    ("text", "read"),
    [("怎样暂停队列", "怎样暂停队列\npause queue"), ("how is a queue paused", "how is a queue paused")],
)
def test_the_model_reads_a_chinese_query_in_english_too(store: Store, text: str, read: str) -> None:
    model = Letters()
    with Engine.of(MemorySource({"q.py": "def pause(queue):\n    return queue\n"})) as engine:
        snapshot, lines = engine.code()
    query, _ = parse_with_kind(text, snapshot.body.frequency, "auto")
    state = Retrieval(snapshot, lines, None, get_counter(), "", "markdown", Preferences())
    retrieve(query, replace(state, reranker=Reranker(model, store)), Settings())
    assert model.queries == [read]


def test_no_rows_no_answer(store: Store) -> None:
    assert len(similarity(Letters(), store, rows=())) == 0


def test_a_failure_keeps_nothing(store: Store) -> None:
    with pytest.raises(EmbeddingError):
        similarity(Letters(fails=True), store)
    model = Letters()
    similarity(model, store)
    assert len(model.asked) == len(TEXTS)


def test_a_server_that_is_not_there_falls_back_says_so_and_is_not_cached(tmp_path: Path) -> None:
    changes = {"embedding.model": "openai", "embedding.base_url": "http://127.0.0.1:9", "embedding.server_model": "x"}
    with Engine.of(MemorySource(SHOP), with_values(Settings(), changes), cache_dir=tmp_path) as engine:
        selection = engine.search(QUERY)
        said = {warning.code: warning.message for warning in selection.warnings}
        assert said["embedding_failed"].endswith(". The static vectors are used instead.")
        assert not answered(engine, QUERY).cached
        assert not answered(engine, QUERY).cached
    with Engine.of(MemorySource(SHOP), cache_dir=tmp_path) as engine:
        plain = engine.search(QUERY)
    assert [plain.pool.symbol_id[row] for row in plain.kept_rows] == [
        selection.pool.symbol_id[row] for row in selection.kept_rows
    ]
