"""Delta debugging: what is found has the effect, and without any one of its elements it has not."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st
from secateur_lab.scenarios.bisection import minimise

CHANGES = st.integers(1, 24)


@given(CHANGES, st.data())
def test_the_changes_that_are_needed_are_found_in_their_order(count: int, data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    assert minimise(range(count), lambda some: needed <= set(some)) == tuple(sorted(needed))


@given(st.integers(1, 9), st.randoms(use_true_random=False))
def test_whatever_the_effect_depends_on_no_single_change_can_be_left_out(count: int, random: object) -> None:
    truth: dict[frozenset[int], bool] = {frozenset(range(count)): True, frozenset(): False}

    def has_effect(some: Collection[int]) -> bool:
        return truth.setdefault(frozenset(some), random.random() < 0.3)  # type: ignore[attr-defined]

    found = minimise(range(count), has_effect)
    assert has_effect(found)
    assert len(found) == 1 or not any(has_effect([one for one in found if one != other]) for other in found)
