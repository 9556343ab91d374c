"""Stored vectors: exact sums, centring, similarity in [0, 1]."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from secateur.index.facts.embedding.vectors import SemanticSpace, document_text, quantise

ROWS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.floats(-1e6, 1e6))


def random_space(rows: int, dimension: int, seed: int = 7) -> np.ndarray:
    return quantise(np.random.default_rng(seed).normal(size=(rows, dimension)))


@pytest.mark.parametrize("dimension", [8, 256, 1024, 3072])
def test_float32_sums_are_exact_in_any_order(dimension: int) -> None:
    matrix = random_space(50, dimension)
    query = matrix[0]
    exact = matrix.astype(np.int64) @ query.astype(np.int64)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(dimension)
        total = np.zeros(len(matrix), dtype=np.float32)
        for column in order:  # one addition after the other: the worst order there is
            total += matrix[:, column].astype(np.float32) * np.float32(query[column])
        assert np.array_equal(total.astype(np.int64), exact)
    assert np.array_equal((matrix.astype(np.float32) @ query.astype(np.float32)).astype(np.int64), exact)
    assert int(np.abs(exact).max()) < 2**24


def test_similarity_does_not_depend_on_the_order_of_dimensions_or_on_the_block() -> None:
    matrix = random_space(20_000, 32)
    order = np.random.default_rng(1).permutation(32)
    whole = SemanticSpace(matrix).similarity(matrix[5])
    assert np.array_equal(whole, SemanticSpace(matrix[:, order].copy()).similarity(matrix[5][order]))
    assert whole[5] == 1.0
    assert whole.argmax() == 5


@given(ROWS)
def test_similarity_is_bounded_quantised_and_highest_for_the_text_itself(vectors: np.ndarray) -> None:
    matrix = quantise(vectors)
    space = SemanticSpace(matrix)
    for row in matrix:
        found = space.similarity(row)
        assert ((found >= 0) & (found <= 1)).all()
        assert np.array_equal(found, np.round(found, 6))


def test_what_all_texts_share_is_subtracted() -> None:
    shared = np.full((6, 8), 10.0)
    own = np.vstack([np.eye(8)[:5] * 3, np.zeros(8)])
    space = SemanticSpace(quantise(shared + own))
    found = space.similarity(space.matrix[2])
    assert found[2] == 1.0
    assert (found[[0, 1, 3, 4]] < 0.1).all()  # uncentred cosines are all above 0.98


def test_texts_without_evidence_match_nothing_and_do_not_move_the_mean() -> None:
    matrix = random_space(4, 16)
    padded = np.vstack([matrix, np.zeros((3, 16), dtype=np.int8)])
    assert np.array_equal(SemanticSpace(padded).mean, SemanticSpace(matrix).mean)
    assert SemanticSpace(padded).similarity(matrix[0])[4:].tolist() == [0, 0, 0]
    assert SemanticSpace(padded).similarity(np.zeros(16, dtype=np.int8)).tolist() == [0.0] * 7
    assert SemanticSpace(np.zeros((0, 16), dtype=np.int8)).similarity(matrix[0]).tolist() == []


def test_rows_that_are_not_finite_become_zeros() -> None:
    assert quantise(np.array([[np.nan, 1.0], [np.inf, 1.0], [3.0, 4.0]])).tolist() == [[0, 0], [0, 0], [76, 102]]


def test_vectors_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match="dimension"):
        SemanticSpace(random_space(3, 8)).similarity(np.ones(9, dtype=np.int8))


def test_a_document_begins_with_its_symbol_id() -> None:
    assert document_text("a/b.py::Cart.total", "def total(): ...") == "a/b.py::Cart.total\ndef total(): ..."
