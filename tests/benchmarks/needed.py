"""How likely a candidate is needed, by its place, its share of the best score and its size: the four numbers of
`secateur.model.chance`, fitted again.

    python tests/benchmarks/needed.py --cases FILE --mirror DIR [--cache DIR]

FILE is what `mine.py` made; needed is what the fix edited: candidates that hold at least HELD of the lines of one of
its functions. Scores and places are those of `recommended`. The fit is a logistic regression on the logarithms of all
three, over the PLACES first of each case; a repository weighs as the root of its cases. Printed are the numbers with
90 % over repositories, and beside them what was counted, place by place, with the range over repositories.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from retrieval import repository
from secateur.engine import Engine
from secateur.model import Pool, falling
from secateur.model.chance import LARGEST, SIZE, SMALLEST
from secateur.settings import load

PLACES = 80
STEPS = 50
DRAWS = 100
PULL = 0.1
"""How strongly a power is held to 0, on inputs of variance 1: a few dozen cases need it."""

SMALLEST_SHARE = 0.01
"""A share below it counts as this one: its logarithm says nothing."""

HELD = 0.3

EDGES = (1, 2, 3, 4, 6, 9, 13, 20, 30, 45, PLACES + 1)
ENOUGH = 20
"""Fragments of a repository in a row of the table that make a share."""


def main() -> int:
    """Collect, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True, help="written by mine.py")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--cache", type=Path, help="cache folder (default: the user's)")
    options = parser.parse_args()
    with options.cases.open(encoding="utf-8") as lines:
        cases = sorted(map(json.loads, lines), key=lambda case: (case["repo"], case["base_commit"]))
    found = list(collected(cases, options.mirror, options.cache))
    repos = [repo for repo, _ in found]
    numbers = fitted(found)
    random, names = np.random.default_rng(1), sorted(set(repos))
    drawn = []
    for _ in range(DRAWS):
        some = random.choice(names, len(names))
        drawn.append(fitted([one for name in some for one in found if one[0] == name]))
    low, high = np.percentile(drawn, (5, 95), axis=0)
    print(f"{len(found)} cases of {len(names)} repositories")
    for place, name in enumerate(("ODDS", "SHARE_POWER", "SIZE_POWER", "PLACE_POWER")):
        print(f"{name} = {numbers[place]:.2f} ({low[place]:.2f} to {high[place]:.2f})")
    print("| place | fragments | needed | by repository, 10th to 90th percentile |\n|---|---|---|---|")
    rows = np.concatenate([part for _, part in found])
    repo = np.repeat(repos, [len(part) for _, part in found])
    for first, end in pairwise(EDGES):
        here = (rows[:, 0] >= first) & (rows[:, 0] < end)
        each = [rows[here & (repo == name), 3] for name in names]
        some = [shares.mean() for shares in each if len(shares) >= ENOUGH]
        spread = "{:.4f} to {:.4f}".format(*np.percentile(some, [10, 90])) if some else ""
        print(f"| {first}-{end - 1} | {here.sum()} | {rows[here, 3].mean():.4f} | {spread} |")
    return 0


def collected(cases: Sequence[dict[str, Any]], mirror: Path, cache: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    """Yields per case its repository and a row a candidate: place, share, tokens, needed."""
    settings = load(None, profile="recommended").settings
    for (repo, base), some in groupby(cases, key=lambda case: (case["repo"], case["base_commit"])):
        with Engine.open(repository(mirror, repo), rev=base, cache_dir=cache) as engine:
            for case in some:
                pool = engine.retrieve(case["query"], settings, use_cache=False)
                score = engine.select(pool, settings).score
                best = falling(score)[:PLACES]
                if len(best):
                    place = np.arange(1, len(best) + 1)
                    share = score[best] / max(float(score[best[0]]), 1e-9)
                    needed = np.isin(best, _needed(pool, case["gold_functions"]))
                    yield repo, np.stack([place, share, pool.tokens[best], needed], axis=1)
                print(case["id"], file=sys.stderr)


def _needed(pool: Pool, functions: Sequence[dict[str, Any]]) -> list[int]:
    rows: list[int] = []
    for function in functions:
        first, last = function["line_start"], function["line_end"]
        lap = np.minimum(pool.line_end, last) - np.maximum(pool.line_start, first) + 1
        enough = np.flatnonzero(lap >= HELD * (last - first + 1)).tolist()
        rows += [row for row in enough if pool.path[row] == function["file"]]
    return rows


def fitted(found: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
    """The odds at place 1 of the best, of a hundred tokens, and the powers of share, size and place, by Newton's
    method."""
    cases = Counter(repo for repo, _ in found)
    weight = np.repeat([cases[repo] ** -0.5 for repo, _ in found], [len(part) for _, part in found])
    rows = np.concatenate([part for _, part in found])
    share, size = np.maximum(rows[:, 1], SMALLEST_SHARE), np.clip(rows[:, 2], SMALLEST, LARGEST) / SIZE
    inputs = np.log(np.stack([share, size, rows[:, 0]], axis=1))
    middle, scale = inputs.mean(axis=0), inputs.std(axis=0)
    inputs = np.column_stack([np.ones(len(rows)), (inputs - middle) / scale])
    pull = np.diag([0, PULL, PULL, PULL])
    point = np.zeros(4)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ point, -30, 30)))
        bend = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + pull
        point += np.linalg.solve(bend, inputs.T @ (weight * (rows[:, 3] - chance)) - pull @ point)
    powers = point[1:] / scale
    return np.array([np.exp(point[0] - powers @ middle), powers[0], powers[1], -powers[2]])


if __name__ == "__main__":
    raise SystemExit(main())
