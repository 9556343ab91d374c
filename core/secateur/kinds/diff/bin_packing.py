"""Packs sizes into bins by first-fit decreasing, and bounds the number of bins from below. Pure functions of sizes and
capacity (specs README, point 15).

first_fit_decreasing([20_000, 18_000, 14_000, 12_000], 32_000)   # [[0, 3], [1, 2]]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from secateur.errors import UsageError

EVEN_STEPS = 8
"""Capacities tried for even bins: to within half a percent."""


def first_fit_decreasing(sizes: Sequence[int], capacity: int, names: Sequence[str] | None = None) -> list[list[int]]:
    """Puts each size, from the largest to the smallest, into the first bin with room, and returns their positions by
    bin. Ties are broken by name, then by position.

    A tree over the room in the bins finds the first bin with room, so that n sizes take n log n steps.

    Raises:
        UsageError: a size above the capacity or below 0.
    """
    wrong = next((size for size in sizes if not 0 <= size <= capacity), None)
    if wrong is not None:
        raise UsageError(
            f"a size of {wrong:,} does not go into bins of {capacity:,}", hint="split what is larger than a bin first"
        )
    order = sorted(
        range(len(sizes)), key=lambda position: (-sizes[position], names[position] if names else "", position)
    )
    leaves = 1
    while leaves < len(sizes):
        leaves *= 2
    room = [capacity] * (
        2 * leaves
    )  # room[leaves + b] is the room in bin b; a node above holds the maximum of its two children
    bins: list[list[int]] = []
    for position in order:
        node = 1
        while node < leaves:
            node *= 2
            node += room[node] < sizes[position]
        index = node - leaves
        if index == len(bins):
            bins.append([])
        bins[index].append(position)
        room[node] -= sizes[position]
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return bins


def fewest_bins(sizes: Sequence[int], capacity: int) -> int:
    """A lower bound for the number of bins of any packing.

    For every k: a size above capacity - k has a bin for itself, a size above half of the capacity needs its own bin,
    and the other sizes from k on need room beside those or more bins (Martello and Toth's second bound).
    """
    ordered = sorted(size for size in sizes if size > 0)
    if not ordered:
        return 1 if sizes else 0
    sums = [0, *accumulate(ordered)]
    half = capacity // 2
    large = bisect_right(ordered, half)  # from here on no two sizes share a bin
    best = len(ordered) - large
    for k in sorted({0, *(size for size in ordered if size <= half)}):
        alone = bisect_right(ordered, capacity - k)
        alone = max(alone, large)
        small = sums[large] - sums[bisect_left(ordered, k)]
        free = (alone - large) * capacity - (sums[alone] - sums[large])
        best = max(best, len(ordered) - large + max(0, -((free - small) // capacity)))
    return best


def capacity_for_even(sizes: Sequence[int], capacity: int) -> int:
    """The smallest capacity found for which first-fit decreasing needs no more bins: free room spreads over all bins
    instead of the last."""
    fewest = len(first_fit_decreasing(sizes, capacity))
    low, high = max([*sizes, -(-sum(sizes) // fewest)] if fewest else [capacity]), capacity
    for _ in range(EVEN_STEPS):
        middle = (low + high) // 2
        if len(first_fit_decreasing(sizes, middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
        if low >= high:
            break
    return high
