"""Windows and ranges of lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.files.line_ranges import intersect, merge, number_lines, windows

RANGES = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=12)


@given(lines=st.integers(0, 300), size=st.integers(1, 60), overlap=st.integers(0, 59))
def test_windows_hold_every_line_start_a_step_apart_and_none_lies_in_another(
    lines: int, size: int, overlap: int
) -> None:
    overlap %= size
    found = windows(lines, size, overlap)
    assert sorted({line for start, end in found for line in range(start, end + 1)}) == list(range(1, lines + 1))
    assert [start for start, _ in found] == [1 + number * (size - overlap) for number in range(len(found))]
    assert all(before[1] < after[1] for before, after in pairwise(found))
    assert all(end - start + 1 == size for start, end in found[:-1])


@given(ranges=RANGES, lines=st.integers(0, 30))
def test_merged_ranges_hold_the_same_lines_and_stand_apart(ranges: list[tuple[int, int]], lines: int) -> None:
    merged = merge(ranges, lines)
    held = {line for start, end in ranges for line in range(start, end + 1) if 1 <= line <= lines}
    assert {line for start, end in merged for line in range(start, end + 1)} == held
    assert all(before[1] + 1 < after[0] for before, after in pairwise(merged))
    assert merge(merged, lines) == merged
    assert merge(reversed(ranges), lines) == merged


def test_what_of_a_range_lies_in_others() -> None:
    assert intersect((5, 9), [(1, 4), (3, 6), (8, 8), (10, 12)]) == [(5, 6), (8, 8)]


def test_lines_stand_behind_their_numbers_and_long_ones_are_cut() -> None:
    assert number_lines(["a", "", "x" * 30, "d"], (2, 3), 10) == ["2 ", "3 xxxxxxxxxx [20 more characters]"]
