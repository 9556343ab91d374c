"""The array types of pools and selections, the order that rows are sorted in, and set operations on arrays."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)

QUANTUM = 1e-6
"""Scores are rounded to multiples of this before they are compared."""


def union(first: IntArray, second: IntArray) -> IntArray:
    """Returns the numbers of both arrays, each once, ascending. `np.union1d` does the same, but imports masked arrays,
    which takes 30 ms."""
    every = np.sort(np.concatenate([first, second]))
    numbers: IntArray = every[np.append(True, every[1:] != every[:-1])[: len(every)]]
    return numbers


def add_columns(columns: Sequence[FloatArray]) -> FloatArray:
    """Adds columns from the first to the last. `np.sum` would add columns of one row in another order."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total


def distinct(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], IntArray, IntArray]:
    """Returns the distinct values, ascending; the first position of each; and for each of `values` its position among
    the distinct ones. `np.unique` does the same, but imports masked arrays."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    position = np.empty(len(values), dtype=np.int64)
    position[order] = np.cumsum(is_new) - 1
    return ordered[is_new], order[is_new], position


def falling(score: FloatArray) -> IntArray:
    """Returns the positions by descending score, equal scores in their order. Scores that differ by less than QUANTUM
    may count as equal."""
    steps = np.rint(score / QUANTUM)
    steps = steps.max(initial=-np.inf) - steps
    if steps.max(initial=0) >= 1 << 32:
        return np.argsort(steps, kind="stable")
    # Sort twice by 16 bits, the low ones first: numpy's stable sort of 16-bit integers is linear, so this is four times
    # as fast as one sort of 64-bit integers.
    low, high = steps.astype(np.uint32).view(np.uint16).reshape(-1, 2).T[:: 1 if sys.byteorder == "little" else -1]
    by_low = np.argsort(low, kind="stable")
    return by_low[np.argsort(high[by_low], kind="stable")]
