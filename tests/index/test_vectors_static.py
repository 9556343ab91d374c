"""The static embedder: meaning across words, identifiers split, nothing made up from bytes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from secateur.errors import EmbeddingError
from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.embedding import static as static_vectors
from secateur.index.facts.embedding.static import CACHED_WORDS, LONGEST_WORD, StaticEmbedder
from secateur.index.facts.embedding.vectors import SemanticSpace, document_text
from secateur.index.facts.lexical import RunCounts
from secateur.settings import Embedding

NOTHING: Mapping[str, str] = {}

DOCUMENTS = [
    document_text("shop/cart.py::Cart.total", "def total(self):\n    return sum(line.price for line in self.lines)"),
    document_text(
        "shop/mail.py::send_receipt", "def send_receipt(address, order):\n    smtp.deliver(address, render(order))"
    ),
    document_text(
        "shop/auth.py::check_password", "def check_password(user, secret):\n    return verify(user.digest, secret)"
    ),
    document_text("graph/paths.py::shortestPath", "def shortestPath(g, a, b):\n    queue = [a]"),
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("sum of the prices in the basket", 0),
        ("email the customer a confirmation", 1),
        ("log in with credentials", 2),
        ("nearest route between two nodes", 3),
    ],
)
def test_a_query_finds_what_means_the_same_in_other_words(embedder: StaticEmbedder, query: str, row: int) -> None:
    space = SemanticSpace(embedder.embed(DOCUMENTS, "document"))
    assert space.similarity(embedder.embed([query], "query")[0]).argmax() == row


def test_a_vector_depends_on_its_text_alone(embedder: StaticEmbedder) -> None:
    together = embedder.embed(DOCUMENTS, "document")
    alone = np.vstack([StaticEmbedder().embed([text], "document") for text in reversed(DOCUMENTS)])[::-1]
    assert np.array_equal(together, alone)
    assert together.dtype == np.int8
    assert together.shape == (4, embedder.dimension)


def test_identifiers_are_words_whatever_their_case(embedder: StaticEmbedder) -> None:
    spellings = embedder.embed(
        ["shortestPath", "shortest_path", "SHORTEST_PATH", "ShortestPath", "shortest path"], "query"
    )
    assert (spellings == spellings[0]).all()


def test_the_name_counts_more_than_the_body_but_only_in_documents(embedder: StaticEmbedder) -> None:
    text = document_text("x.py::compress", "password " * 4)
    asked = embedder.embed(["compress"], "query")[0].astype(int)
    document, query = (embedder.embed([text], kind)[0].astype(int) for kind in ("document", "query"))
    assert document @ asked > query @ asked


@pytest.mark.parametrize("text", ["", " \n\t", "1234 + 5678 ;;", "x", "订", "\udc80\x00\x1b[31m"])
def test_texts_without_known_words_have_no_vector(embedder: StaticEmbedder, text: str) -> None:
    assert not embedder.embed([text], "query").any()


def test_chinese_characters_of_the_vocabulary_count_and_unknown_ones_do_not_disturb(embedder: StaticEmbedder) -> None:
    asked = embedder.embed(["连接数据库", "连接数据库订"], "query")
    assert asked.any()
    assert np.array_equal(asked[0], asked[1])
    found = embedder.embed(["# 数据库的连接", "def parse_colour(text): ..."], "document").astype(int) @ asked[0].astype(
        int
    )
    assert found[0] > 3 * found[1]


def test_more_words_than_the_cache_holds_change_nothing(
    embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = embedder.embed(DOCUMENTS, "document")
    monkeypatch.setattr("secateur.index.facts.embedding.static.CACHED_WORDS", 20)
    assert CACHED_WORDS > 20
    small = StaticEmbedder()
    for row, document in enumerate(DOCUMENTS * 2):
        assert np.array_equal(small.embed([document], "document")[0], whole[row % len(DOCUMENTS)])
        assert len(small._number_of) <= 20 + 20


def test_of_a_file_with_far_more_words_than_prose_the_short_ones_count(embedder: StaticEmbedder) -> None:
    drawn = random.Random(4)
    data = ["".join(drawn.choices("abcdefghijklmnop", k=LONGEST_WORD)) for _ in range(2_500)]
    short, half, whole = "the order", " ".join(["the order", *data[:500]]), " ".join(["the order", *data])
    asked = embedder.embed([short, half, whole], "query")
    assert np.array_equal(asked[0], asked[2])
    assert not np.array_equal(asked[0], asked[1])
    assert np.array_equal(asked[1:2], StaticEmbedder().embed([half], "query"))
    texts, ids = [short, half, whole], ["a.md::", "b.md::", "b.md::"]
    assert embedder.embed_counted(ids, RunCounts.of(texts), [1, 0, 2])[1] == [2]  # the bound is that of a file
    assert embedder.embed_counted(ids[:2], RunCounts.of(texts[:2]), [1, 1])[1] == []


def test_the_factory_knows_the_models_and_missing_data_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert open_embedder(Embedding(model="none"), NOTHING) is None
    static = open_embedder(Embedding(), NOTHING)
    assert static is not None
    assert str(static.dimension) in static.id
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(static_vectors, "data_dir", lambda _: Path("nowhere"))
    for model, remedy in (("static", "pip install -e ."), ("bge", "docs/use/install.md")):
        with pytest.raises(EmbeddingError) as caught:
            open_embedder(Embedding(model=model), NOTHING)
        assert remedy in caught.value.hint


def test_importing_embeddings_loads_no_library_and_using_them_no_code_of_wordllama() -> None:
    program = (
        "import sys, secateur.index.facts.embedding as e, secateur.index.graph.code_graph\n"
        "import secateur.retrieval.query\n"
        "assert not {'tokenizers', 'safetensors', 'networkx', 'onnxruntime'} & set(sys.modules)\n"
        "from secateur.settings import Embedding\n"
        "e.open_embedder(Embedding(), {}).embed(['order'], 'query')\n"
        "assert 'wordllama' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
