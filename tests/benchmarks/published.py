"""Figures that others publish for issues: recall and F1 of files by tokens, and of edited lines in five regions.

    python tests/benchmarks/published.py --bench DIR --mirror DIR [--cases NAME ...] [--split NAME] [--only REPO ...]

The cases and options are those of `retrieval.py`. A file counts when any line of it goes out. The five regions are the
first five candidates by rank, cut where they pass 500 lines together; a line counts when the fix edited it. Intervals
are a bootstrap over repositories.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from retrieval import has_commit, repository, split_of
from secateur.engine import Engine
from secateur.model import Pool
from secateur.settings import load

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
REGIONS, LINES = 5, 500
DRAWS = 4_000


def main() -> int:
    """Measure each case, then print one row a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--cases", action="append")
    parser.add_argument("--split", choices=("fit", "choose", "report"))
    parser.add_argument("--only", action="append", help="owner/name; repeatable")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--profile", default="recommended")
    options = parser.parse_args()
    rows = [
        json.loads(line)
        for name in options.cases or ["cases.jsonl"]
        for line in (options.bench / name).read_text(encoding="utf-8").splitlines()
    ]
    rows = [case for case in rows if options.split in (None, split_of(case["repo"]))]
    rows = [case for case in rows if not options.only or case["repo"] in options.only]
    rows = [case for case in rows if has_commit(repository(options.mirror, case["repo"]), case["base_commit"])]
    settings = load(None, profile=options.profile).settings
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, case in enumerate(sorted(rows, key=lambda case: (case["repo"], case["base_commit"])), 1):
        place = repository(options.mirror, case["repo"])
        with Engine.open(place, rev=case["base_commit"], cache_dir=options.cache) as engine:
            pool = engine.retrieve(case["query"], settings, use_cache=False)
            gold = set(case["gold_files"])
            for budget in BUDGETS:
                selection = engine.select(pool, replace(settings, budget=budget))
                files = {pool.path[row] for row in selection.kept_rows}
                hits = len(files & gold)
                figures[f"file recall, {budget:,} tokens"][case["repo"]].append(hits / len(gold))
                figures[f"file F1, {budget:,} tokens"][case["repo"]].append(2 * hits / max(1, len(files) + len(gold)))
            figures["line recall, 5 regions"][case["repo"]].append(recall_lines(pool, case))
        print(f"{number}/{len(rows)} {case['id']}", file=sys.stderr)
    random = np.random.default_rng(0)
    for name, by_repository in figures.items():
        print(f"{name:28} {describe(list(by_repository.values()), random)}")
    return 0


def recall_lines(pool: Pool, case: dict[str, Any]) -> float:
    """Returns the share of the edited lines that the first regions hold."""
    edited = {(path, line) for path, start, count in case["edit_lines"] for line in range(start, start + max(1, count))}
    shown: set[tuple[str, int]] = set()
    left = LINES
    for row in range(min(REGIONS, len(pool.path))):
        first = int(pool.line_start[row])
        last = min(int(pool.line_end[row]), first + left - 1)
        shown |= {(pool.path[row], line) for line in range(first, last + 1)}
        left -= max(0, last - first + 1)
    return len(edited & shown) / len(edited) if edited else 1.0


def describe(groups: list[list[float]], random: np.random.Generator) -> str:
    """Returns the mean over cases with its interval over repositories."""
    drawn = random.integers(0, len(groups), (DRAWS, len(groups)))
    means = [np.mean([value for index in draw for value in groups[index]]) for draw in drawn]
    low, high = np.percentile(means, (2.5, 97.5))
    return f"{np.mean([value for group in groups for value in group]):.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    sys.exit(main())
