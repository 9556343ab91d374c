"""Is a relevance of 0.4 the same on any query and repository, and does a query about nothing here score low?

    python tests/benchmarks/calibration.py --bench DIR --mirror DIR [--cache DIR] [--profile NAME] [--only REPO]

First table: fragments by relevance, and the share of them that a real fix edited; for each repository how far its own
shares lie from those of all, weighted by fragments (its calibration error). Second: the best relevance of queries in
their own repository and in another one, and what `relevance.low_threshold` would say of both. DIR of --bench holds
`cases.jsonl`, --mirror bare repositories `owner+name/`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from retrieval import repository
from secateur.engine import Engine
from secateur.model import Pool
from secateur.settings import Settings, load

EDGES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 1.01)
ENOUGH = 20
"""Fragments of a repository in a bin from which its own share says something."""

COVERED = 0.5
"""Share of a gold function's lines from which a fragment counts as edited."""


def main() -> int:
    """Run all cases of the yardstick, each also with the query of another repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, needed in (("--bench", True), ("--mirror", True), ("--cache", False)):
        parser.add_argument(name, type=Path, required=needed)
    parser.add_argument("--profile", default="recommended")
    parser.add_argument("--only")
    options = parser.parse_args()
    settings = load(None, profile=options.profile).settings
    settings = replace(settings, relevance=replace(settings.relevance, pool="all"))
    with (options.bench / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = sorted((json.loads(line) for line in lines), key=lambda case: (case["repo"], case["base_commit"]))
    own, other, columns = [], [], []
    for number, case in enumerate(cases):
        if options.only and options.only not in case["repo"]:
            continue
        stranger = cases[(number + len(cases) // 2) % len(cases)]
        with Engine.open(
            repository(options.mirror, case["repo"]), rev=case["base_commit"], cache_dir=options.cache
        ) as engine:
            pool = engine.retrieve(case["query"], settings, use_cache=False)
            columns.append((case["repo"], pool.relevance, edited(pool, case)))
            own.append(best(pool))
            if stranger["repo"] != case["repo"]:
                other.append(best(engine.retrieve(stranger["query"], settings, use_cache=False)))
        print(f"{number + 1}/{len(cases)} {case['id']}", file=sys.stderr)
    reliability(columns)
    threshold(np.array(own), np.array(other), settings)
    return 0


def best(pool: Pool) -> float:
    """Relevance of the best candidate."""
    return float(pool.relevance.max(initial=0.0))


def edited(pool: Pool, case: dict[str, Any]) -> np.ndarray:
    """Per candidate whether it holds most of a gold function."""
    mask = np.zeros(len(pool), dtype=bool)
    path = np.array(pool.path)
    for function in case["gold_functions"]:
        first, last = function["line_start"], function["line_end"]
        lap = np.minimum(pool.line_end, last) - np.maximum(pool.line_start, first) + 1
        mask |= (path == function["file"]) & (lap >= COVERED * (last - first + 1))
    return mask


def reliability(columns: list[tuple[str, np.ndarray, np.ndarray]]) -> None:
    """The first table."""
    relevance, gold = (np.concatenate([column[part] for column in columns]) for part in (1, 2))
    repos = np.repeat([repo for repo, *_ in columns], [len(column) for _, column, _ in columns])
    bins = np.digitize(relevance, EDGES) - 1
    print("| relevance | fragments | edited | by repository, lowest to highest |\n|---|---|---|---|")
    rate = np.zeros(len(EDGES) - 1)
    for place in range(len(EDGES) - 1):
        inside = bins == place
        if not inside.any():
            continue
        rate[place] = gold[inside].mean()
        each = [
            gold[inside & (repos == repo)].mean()
            for repo in np.unique(repos)
            if (inside & (repos == repo)).sum() >= ENOUGH
        ]
        spread = f"{min(each):.4f} to {max(each):.4f} ({len(each)})" if each else "-"
        print(
            f"| {EDGES[place]:.2f}-{min(EDGES[place + 1], 1):.2f} | {int(inside.sum())} | {rate[place]:.4f} |"
            f" {spread} |"
        )
    print("\n| repository | calibration error | share of all fragments edited |\n|---|---|---|")
    for repo in np.unique(repos):
        here = repos == repo
        counts = np.bincount(bins[here], minlength=len(rate))
        hits = np.bincount(bins[here], weights=gold[here], minlength=len(rate))
        error = np.abs(hits - rate * counts).sum() / counts.sum()
        print(f"| {repo} | {error:.4f} | {gold[here].mean():.4f} |")


def threshold(own: np.ndarray, other: np.ndarray, settings: Settings) -> None:
    """The second table."""
    print(
        "\n| best relevance | 5 % | 10 % | 25 % | 50 % | 75 % | 90 % | called low |\n|---|---|---|---|---|---|---|---|"
    )
    for name, values in (("in its own repository", own), ("in another", other)):
        cells = " | ".join(f"{value:.2f}" for value in np.quantile(values, (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)))
        print(f"| {name} ({len(values)}) | {cells} | {(values < settings.relevance.low_threshold).mean():.2f} |")
    choices = [(float((own < cut).mean()), float((other < cut).mean()), cut) for cut in np.arange(0.1, 0.7, 0.05)]
    print("\n| low | own called low | others called low |\n|---|---|---|")
    for mine, theirs, cut in choices:
        print(f"| {cut:.2f} | {mine:.2f} | {theirs:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
