import math

import numpy as np
import pytest
from secateur.errors import UsageError
from secateur.selection import priority
from secateur.selection.priority import quantised, terms_of
from secateur.settings import Settings, with_values
from support.pools import Row, pool_of


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((1.7, 0.0, 1), 0.7),  # relevance clamped to 1
        ((-3.0, 0.0, 1), 0.3),  # and to 0
        ((0.0, 2.0, 1), 0.6),
        ((0.0, -2.0, 1), 0.3),
        ((0.5, 0.5, -4), 0.65),  # a distance below 1 is 1
        ((0.5, 0.5, 0.25), 0.65),
        ((None, None, None), 0.3),  # what is missing counts as 0, a distance as 1
        ((math.inf, 0.0, math.inf), 0.4),
    ],
)
def test_inputs_are_clamped_and_missing_ones_have_a_default(inputs, expected):
    assert round(priority(*inputs), 6) == expected


@pytest.mark.parametrize("inputs", [(math.nan,), (0.5, math.nan), (0.5, 0.5, math.nan)])
def test_not_a_number_is_an_error_that_names_the_input(inputs):
    name = ("relevance", "hotspot", "distance")[len(inputs) - 1]
    with pytest.raises(UsageError, match=name):
        priority(*inputs)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_weights_must_be_finite(weight):
    with pytest.raises(UsageError, match="weights"):
        priority(0.5, 0.5, 1, (0.4, weight, 0.3))


def test_the_terms_of_a_pool_are_the_formula():
    pool = pool_of([Row("A", relevance=0.9, hotspot=0.8, distance=1), Row("B", relevance=0.7, hotspot=0.5, distance=2)])
    terms = terms_of(pool, Settings())
    assert {name: [round(float(value), 6) for value in column] for name, column in terms.items()} == {
        "relevance": [0.36, 0.28],
        "hotspot": [0.24, 0.15],
        "distance": [0.3, 0.15],
    }


def test_a_candidate_no_path_reaches_has_no_distance_term_and_never_beats_a_callee_by_lacking_a_path():
    pool = pool_of([Row("Callee", distance=2), Row("Stranger", distance=0, relevance=0.49)])
    distance = terms_of(pool, Settings())["distance"]
    assert [round(float(value), 6) for value in distance] == [0.15, 0.0]


def test_beyond_the_depth_limit_a_distance_counts_as_unreached():
    pool = pool_of(
        [
            Row("A", relevance=0.9, distance=3),
            Row("B", relevance=0.8, distance=4),
            Row("C", relevance=0.7, distance=900),
        ]
    )
    shallow = terms_of(pool, Settings())["distance"]
    deep = terms_of(pool, with_values(Settings(), {"graph_rag.max_depth": 3}))["distance"]
    assert [round(float(value), 6) for value in shallow] == [0.1, 0.0, 0.0]
    assert [round(float(value), 6) for value in deep] == [0.1, 0.075, 0.0]


def test_preference_is_a_term_of_its_own_only_when_enabled():
    pool = pool_of([Row("A", preference=0.5)])
    assert "preference" not in terms_of(pool, Settings())
    terms = terms_of(pool, with_values(Settings(), {"preference.enabled": True}))
    assert round(float(terms["preference"][0]), 6) == 0.1


@pytest.mark.parametrize(("factor", "expected"), [(0.0, -0.5), (0.5, -0.25), (1.0, 0.0), (3.0, 1.0)])
def test_a_boost_is_the_term_that_turns_the_priority_into_its_multiple(factor, expected):
    pool = pool_of([Row("A", relevance=0.5, distance=1), Row("B")])
    terms = terms_of(pool, with_values(Settings(), {"boosts": {"a.py::A": factor, "unknown": 9.0}}))
    row = pool.row_of["a.py::A"]
    assert round(float(terms["boost"][row]), 6) == expected
    assert terms["boost"][pool.row_of["b.py::B"]] == 0.0


def test_quantised_rounds_to_millionths_and_leaves_its_input_alone():
    column = np.array([0.12345649, 0.1234565, 1.0, 0.0])
    before = column.copy()
    assert [f"{value:.9f}" for value in quantised(column)] == [
        "0.123456000",
        "0.123456000",
        "1.000000000",
        "0.000000000",
    ]
    assert np.array_equal(column, before)
