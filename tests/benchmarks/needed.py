"""How likely a fragment is needed, by its place and by its share of the best relevance: the three numbers of
`secateur.model.chance`, fitted again.

    python tests/benchmarks/needed.py --data DIR [--data DIR ...]

DIR is what `weights.py collect` wrote, of pairs that `mine.py` made: needed is what the fix edited. Relevance is that
of the weights in force, and a place is one in the order of relevance, from 1. The fit is a logistic regression on the
logarithms of both, over the PLACES first of each case; a repository weighs as the root of its cases. Printed are the
numbers, and beside them what was counted, place by place, with the range over repositories.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from secateur.selection.priority import HALF
from secateur.settings import load
from weights import KINDS, NAMES, _loaded

PLACES = 600
STEPS = 50
SMALLEST = 0.01
"""A share below it counts as this one: its logarithm says nothing."""

EDGES = (1, 2, 3, 4, 6, 9, 13, 20, 30, 45, 70, 100, 150, 250, 400, PLACES + 1)
ENOUGH = 20
"""Fragments of a repository in a row of the table that make a share."""


def main() -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True, help="written by weights.py collect")
    options = parser.parse_args()
    relevance = load(None, profile="recommended").settings.relevance
    weights = np.array([getattr(relevance, name) for name in NAMES])
    shares = np.array([getattr(relevance.penalty, kind) for kind in KINDS])
    parts, repos = [], []
    for path in sorted(path for folder in options.data for path in folder.glob("*.npz")):
        case = _loaded(path)
        with np.load(path) as stored:
            told = case.score(weights, shares) / float(stored["most"])
        score = told * (1 + HALF) / (told + HALF)
        best = np.argsort(-score, kind="stable")[:PLACES]
        share = score[best] / max(float(score[best[0]]), 1e-9)
        parts.append(np.stack([np.arange(1, len(best) + 1), share, np.isin(best, case.positives())], axis=1))
        repos.append(case.repo)
    cases = Counter(repos)
    rows = np.concatenate(parts)
    repo = np.repeat(repos, [len(part) for part in parts])
    weight = np.repeat([cases[name] ** -0.5 for name in repos], [len(part) for part in parts])
    base, by_share, by_place = _fitted(rows, weight)
    print(f"{len(parts)} cases of {len(cases)} repositories")
    print(f"ODDS = {np.exp(base):.2f}, SHARE_POWER = {by_share:.2f}, PLACE_POWER = {-by_place:.2f}")
    print("| place | fragments | needed | by repository, 10th to 90th percentile |\n|---|---|---|---|")
    for first, end in pairwise(EDGES):
        here = (rows[:, 0] >= first) & (rows[:, 0] < end)
        each = [rows[here & (repo == name), 2] for name in cases]
        low, high = np.percentile([some.mean() for some in each if len(some) >= ENOUGH] or [np.nan], [10, 90])
        print(f"| {first}-{end - 1} | {here.sum()} | {rows[here, 2].mean():.4f} | {low:.4f} to {high:.4f} |")
    return 0


def _fitted(rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Coefficients of 1, ln share and ln place, by Newton's method."""
    inputs = np.stack([np.ones(len(rows)), np.log(np.maximum(rows[:, 1], SMALLEST)), np.log(rows[:, 0])], axis=1)
    point = np.zeros(3)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ point, -30, 30)))
        bend = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs
        point += np.linalg.solve(bend, inputs.T @ (weight * (rows[:, 2] - chance)))
    return point


if __name__ == "__main__":
    raise SystemExit(main())
