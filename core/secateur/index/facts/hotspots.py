"""Hotspots: code that is both complicated and often changed, from the history of its file and its own complexity.

A file's churn is Σ over its commits of 2^(−age / 180 days) · min(1, 30 / files of the commit): recent changes count
more, mass commits (formatters, licence headers) count less. A fragment's score is the geometric mean of two ranks,

    score = √(churn rank of its file · complexity rank of the fragment)

printed as "churn rank 0.81 × complexity rank 0.64 → 0.72". Ages are measured from a time the caller passes (the source
commit's), never from the clock, and weights are summed as integers: the same history gives the same scores on every
machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.model import FloatArray

HALF_LIFE_DAYS = 180  # a change this old counts half
MASS_COMMIT_FILES = 30  # a commit of more files than this counts only MASS_COMMIT_FILES / files

DAY = 86_400
UNITS = 10**9  # weights are integers in these units: sums are exact, in whatever order commits come


@dataclass(frozen=True, eq=False)
class FileChanges:
    """The changes of each file in the history, in the order of `paths`."""

    revisions: npt.NDArray[np.int64]  # commits that changed it
    units: npt.NDArray[np.int64]  # churn in units of 1e-9, at least 1 where there was a change
    latest: npt.NDArray[np.int64]  # decay of its last change in the same units, 0 without history


@dataclass(frozen=True, eq=False)
class HotspotTable(FileChanges):
    """Adds the ranks and the score of each fragment, as multiples of 1e-6 in [0, 1]."""

    churn_rank: FloatArray  # the rank of its file's churn
    complexity_rank: FloatArray
    score: FloatArray  # √(churn_rank · complexity_rank)


def average_rank(values: npt.NDArray[np.int64]) -> FloatArray:
    """Ranks values, scaled to (0, 1]; a value that is not positive has rank 0.

    Equal values share the mean of their ranks. The largest of n distinct values has rank 1, the smallest 1/n; if all
    are equal each has (n + 1) / 2n, about one half: no evidence that any stands out.
    """
    ranks = np.zeros(len(values), dtype=np.float64)
    positive = np.flatnonzero(values > 0)
    if len(positive):
        _, position, counts = np.unique(values[positive], return_inverse=True, return_counts=True)
        last = np.cumsum(counts)  # the rank of the last of equal values; the first has last - counts + 1
        ranks[positive] = ((2 * last - counts + 1) / (2 * last[-1]))[position]
    return np.round(ranks, 6)


def file_changes(
    times: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    file: npt.NDArray[np.int32],
    now: int | npt.NDArray[np.int64],
    files: int,
) -> FileChanges:
    """Sums the churn and finds the recency of `files` files. Commit i, made at `times[i]`, changed the files
    `file[start[i]:start[i+1]]`; -1 is a file that does not exist any more. `now`: the time that ages are measured
    from, of all commits or of each."""
    size = np.diff(start)
    ages = np.maximum(now - times, 0).tolist()  # a commit from the future has the age 0
    decay = np.array([round(UNITS * math.exp2(-age / (HALF_LIFE_DAYS * DAY))) for age in ages], dtype=np.int64)
    weight = np.where(size > MASS_COMMIT_FILES, decay * MASS_COMMIT_FILES // np.maximum(size, 1), decay)
    known = file >= 0
    into = file[known]
    revisions = np.bincount(into, minlength=files).astype(np.int64)
    units, latest = np.zeros(files, dtype=np.int64), np.zeros(files, dtype=np.int64)
    np.add.at(units, into, np.repeat(weight, size)[known])
    np.maximum.at(latest, into, np.repeat(decay, size)[known])
    # a change so old that its weight rounds to 0 is still a change, so a changed file has at least one unit
    return FileChanges(revisions, np.where(revisions > 0, np.maximum(units, 1), 0), latest)


def rank_hotspots(
    changes: FileChanges, complexity: npt.NDArray[np.integer], file_of_fragment: npt.NDArray[np.integer]
) -> HotspotTable:
    """Makes the hotspot table. `complexity` and `file_of_fragment` have one entry per fragment.

    A fragment with complexity ≤ 0 is not code and has rank and score 0, like the fragments of a file that no commit
    changed.
    """
    files, own = np.asarray(file_of_fragment, dtype=np.int64), np.asarray(complexity, dtype=np.int64)
    churn_rank = average_rank(changes.units)[files] if len(files) else np.zeros(0)
    complexity_rank = average_rank(own)
    score = np.asarray(np.round(np.sqrt(churn_rank * complexity_rank), 6), dtype=np.float64)
    return HotspotTable(changes.revisions, changes.units, changes.latest, churn_rank, complexity_rank, score)
