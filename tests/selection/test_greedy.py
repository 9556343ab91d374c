import numpy as np
import pytest
from secateur.errors import UsageError
from secateur.selection import select_greedy
from secateur.selection.greedy import GreedyPacking


@pytest.mark.parametrize(
    ("sizes", "budget", "kept"),
    [
        ([], 10, []),
        ([5], 0, []),
        ([0, 5, 0], 0, [0, 2]),
        ([5, 5], 5, [0]),
        ([6, 5], 5, [1]),
        ([3, 9, 3, 9, 3], 8, [0, 2]),
        ([10, 9, 8, 1], 9, [1]),
    ],
)
def test_what_does_not_fit_is_skipped_and_the_next_is_tried(sizes, budget, kept):
    assert select_greedy(sizes, budget) == kept


def test_numpy_integers_and_budgets_beyond_64_bits_are_numbers_like_others():
    assert select_greedy(np.array([1, 2, 3]), 10**30) == [0, 1, 2]


@pytest.mark.parametrize(
    ("sizes", "budget", "message"),
    [
        ([1, -1], 5, "candidate 1"),
        ([1], -1, "budget is -1"),
        ([1.5], 5, "integers"),
        ([1], 2.5, "integers"),
        (["1"], 5, "integers"),
        ([2**62, 2**62], 5, "64 bits"),
    ],
)
def test_what_is_no_count_of_tokens_is_an_error(sizes, budget, message):
    with pytest.raises(UsageError, match=message):
        select_greedy(sizes, budget)


def taken(score: np.ndarray, costs: np.ndarray, eligible: np.ndarray, budget: int) -> list[int]:
    packing = GreedyPacking(np.arange(len(score)), np.zeros(len(score), dtype=np.int64), np.array([budget]))
    return [row for part in packing.take(score, eligible, costs) for row in part.rows.tolist()]


@pytest.mark.parametrize("levels", [3, 1_000_000])
@pytest.mark.parametrize("budget", [0, 900, 50_000, 10**9])
def test_slices_of_a_large_pool_give_what_the_full_sort_gives(levels, budget):
    """More rows than a slice holds; few levels of score make slices of ties, many make them of their planned size."""
    random = np.random.default_rng(7)
    n = 30_000
    score = np.round(random.integers(0, levels, n) / levels, 6)
    costs = random.integers(1, 900, n)
    eligible = random.random(n) < 0.8
    order = np.argsort(-score, kind="stable")
    order = order[eligible[order]]
    assert taken(score, costs, eligible, budget) == order[select_greedy(costs[order], budget)].tolist()


def test_a_small_row_at_the_very_end_of_a_large_pool_is_found():
    n = 30_000
    score = np.linspace(1, 0, n)
    costs = np.full(n, 100)
    costs[-1] = 7
    assert taken(score, costs, np.ones(n, dtype=np.bool_), 207) == [0, 1, n - 1]
