"""The search of a fit: finds hills and distant values, and leaves no start for nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from secateur_lab.evaluation.tuned_profile import Point, best_point


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=6))
def test_the_top_of_a_hill_is_found_from_anywhere(dimensions: list[tuple[int, int, int]]) -> None:
    sizes = [size for size, _, _ in dimensions]
    top = tuple(at % size for size, at, _ in dimensions)
    start = tuple(at % size for size, _, at in dimensions)

    def height(point: Point) -> float:
        return -float(sum((here - there) ** 2 for here, there in zip(point, top, strict=True)))

    assert best_point(sizes, start, height) == top


def test_where_nothing_is_better_the_start_stays() -> None:
    assert best_point([5, 5], (2, 3), lambda _: 1.0) == (2, 3)
    assert best_point([], (), lambda _: 1.0) == ()


def test_every_value_is_tried() -> None:
    values = [-1.0, -1.0, 0.0, -1.0, -1.0, 9.0]
    assert best_point([6], (2,), lambda point: values[point[0]]) == (5,)
