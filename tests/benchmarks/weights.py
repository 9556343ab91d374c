"""How the weights of the profile `recommended` are chosen: a fit on labelled cases, judged on other repositories.

    python tests/benchmarks/weights.py collect --cases FILE --mirror DIR --out DIR [--cache DIR]
    python tests/benchmarks/weights.py fit --data DIR [--data DIR ...] [--begin PROFILE]

A case is a row of JSON lines as in the yardstick (id, repo, base_commit, query, gold_functions: file, line_start,
line_end); `mine.py` makes more of them from the history of any repositories. `collect` writes for every case the
evidence of its best fragments, what each costs in a pack, and which of them hold gold. `fit` prints the recall of both
splits and, last, the table for `settings.py`.

The protocol, fixed before the first fit and not changed after it:

- Repositories are split once, by `split_of`: the sha256 of `owner/name` in lower case, modulo 10. 0 to 3 are `fit`,
  4 to 6 `choose`, 7 to 9 `report`. This holds for the 109 issues, the 233 further issues and mined pairs alike.
- Weights and penalties are fitted on `fit`. A kind of evidence is kept only if leaving it out loses function recall on
  `choose`, with an interval over repositories, or if a kind of query that people ask needs it. Everything else is
  chosen on `fit` and `choose` too; figures of these are in-sample.
- `report` is measured with real packs (`retrieval.py --split report`), at most three times; docs/lab/measured.md lists
  each time. `collect` leaves its repositories out.
- No repository of `excluded.txt` is fitted, chosen or asked on, except those of the two files of issues.
- One table holds for all repositories and languages.

A fit is a gradient descent on the number of tokens that stand before each gold fragment (its logarithm, so that the
first few thousand count most); each case counts the same. It begins with the profile in force; `--begin spec` begins
with the published formula, which has seen no case. The recall that is printed is a simulation of the packing without
declarations; `retrieval.py` measures the real thing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from retrieval import BUDGETS, repository, split_of
from secateur.engine import Engine
from secateur.index.facts.embedding import vectors_of
from secateur.index.facts.snapshot import Snapshot
from secateur.retrieval.evidence.collect import collect_evidence, embed_query, statistics
from secateur.retrieval.query import parse_with_kind
from secateur.retrieval.relevance import ALWAYS_ASKED, penalties
from secateur.selection import select_greedy
from secateur.settings import Penalty, Settings, load
from support.weights import PARTS

ROWS = 1000
"""Fragments of a case that are kept, the best by the weights in force, and the gold ones among the rest."""

COVERED = 0.8
"""Share of a function's lines that must be in the pack."""

WRAPPER = 18
"""Tokens a row costs beside its text, on average."""

NEAR = 2500.0
"""Tokens before a gold fragment below which further ones matter little."""

SOFTNESS = 0.12
STEPS = 90
RATE = 0.08
PULL = 0.003
"""How strongly a weight (its logarithm) is held to where it began."""

KINDS = Penalty.__struct_fields__
NAMES = PARTS


@dataclass(frozen=True)
class Case:
    """Rows of one case. `parts`: (gold function, row, share of the function's lines in that row); row -1: not among the
    rows."""

    repo: str
    columns: np.ndarray  # [rows, len(NAMES)]
    kinds: np.ndarray  # [rows, len(KINDS)], 0 or 1
    cost: np.ndarray
    parts: np.ndarray  # [n, 3]
    gold: int  # functions

    def score(self, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Relevance before its curve, which orders nothing."""
        return np.exp(self.kinds @ np.log1p(-shares)) * (self.columns @ weights)

    def positives(self) -> np.ndarray:
        """Rows that hold gold."""
        return np.unique(self.parts[(self.parts[:, 1] >= 0) & (self.parts[:, 2] >= 0.3), 1].astype(int))

    def recall(self, score: np.ndarray, budget: int) -> float:
        """Share of the gold functions a pack of this size covers."""
        order = np.argsort(-score, kind="stable")
        kept = np.zeros(len(score), dtype=bool)
        kept[order[select_greedy(self.cost[order], budget)]] = True
        covered = np.zeros(self.gold)
        inside = self.parts[:, 1] >= 0
        inside[inside] = kept[self.parts[inside, 1].astype(int)]
        np.add.at(covered, self.parts[inside, 0].astype(int), self.parts[inside, 2])
        return float((covered >= COVERED).mean())


def collect(cases: Path, mirror: Path, out: Path, cache: Path | None) -> None:
    """Write one file a case; those that are there already are kept."""
    settings = load(None, profile="recommended").settings
    out.mkdir(parents=True, exist_ok=True)
    with cases.open(encoding="utf-8") as lines:
        asked = [case for case in map(json.loads, lines) if split_of(case["repo"]) != "report"]
    todo = sorted(asked, key=lambda case: (case["repo"], case["base_commit"]))
    for (repo, base), some in groupby(todo, key=lambda case: (case["repo"], case["base_commit"])):
        paths = {out / f"{case['id'].replace('/', '_')}.npz": case for case in some if case["gold_functions"]}
        missing = {path: case for path, case in paths.items() if not path.exists()}
        if not missing:
            continue
        with Engine.open(repository(mirror, repo), rev=base, cache_dir=cache) as engine:
            engine.refresh()
            for path, case in missing.items():
                np.savez(path, **_collected(case, engine, settings))
                print(case["id"], file=sys.stderr)


def _collected(case: dict[str, Any], engine: Engine, settings: Settings) -> dict[str, np.ndarray]:
    (snapshot, lines), embedder = engine.code(), vectors_of(engine._models, settings)
    query, _ = parse_with_kind(case["query"], snapshot.body.frequency, settings.relevance.query_kind)
    known, vectors = statistics(query, snapshot), embed_query(query, embedder)
    columns = collect_evidence(query, snapshot, vectors, settings.relevance, known, lines, whole=True)
    matrix = np.stack([columns[name] for name in NAMES], axis=1)
    kinds = np.stack([penalties(query, snapshot, Penalty(**{kind: 0.5})) * 2 for kind in KINDS], axis=1)
    weights = np.array([getattr(settings.relevance, name) for name in NAMES])
    score = (1 - penalties(query, snapshot, settings.relevance.penalty)) * (matrix @ weights)
    parts = list(_parts(case["gold_functions"], snapshot))
    rows = np.unique(
        np.concatenate([np.argsort(-score, kind="stable")[:ROWS], [row for _, row, _ in parts if row >= 0]]).astype(int)
    )
    place = {int(row): number for number, row in enumerate(rows)}
    return {
        "repo": np.array(case["repo"]),
        "names": np.array(NAMES),
        "columns": matrix[rows].astype(np.float32),
        "kinds": kinds[rows].astype(np.float32),
        "cost": snapshot.column("tokens")[rows].astype(np.int64) + WRAPPER,
        "parts": np.array([(number, place.get(row, -1), share) for number, row, share in parts]).reshape(-1, 3),
        "gold": np.array(len(case["gold_functions"])),
        "most": np.array(_most(columns, settings)),
    }


def _most(columns: dict[str, np.ndarray], settings: Settings) -> float:
    """The divisor of relevance: the weights of what this query can have."""
    asked = [name for name, column in columns.items() if name in ALWAYS_ASKED or column.any()]
    return float(sum(getattr(settings.relevance, name) for name in asked)) or 1.0


def _parts(functions: Sequence[dict[str, Any]], snapshot: Snapshot) -> Iterable[tuple[int, int, float]]:
    number_of = {path: number for number, path in enumerate(snapshot.paths)}
    for number, function in enumerate(functions):
        first, last = function["line_start"], function["line_end"]
        rows = np.flatnonzero(snapshot.file == number_of.get(function["file"], -1))
        lap = np.minimum(snapshot.line_end[rows], last) - np.maximum(snapshot.line_start[rows], first) + 1
        for row, lines in zip(rows[lap > 0], lap[lap > 0], strict=True):
            yield number, int(row), float(lines / (last - first + 1))


def fit(cases: Sequence[Case], settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """(weights, penalties), by Adam on their logarithms, from the profile in force."""
    start = np.log([max(getattr(settings.relevance, name), 0.02) for name in NAMES])
    shares = np.clip([getattr(settings.relevance.penalty, kind) for kind in KINDS], 0.02, 0.97)
    held = np.log(-np.log1p(-shares))
    begin = np.concatenate([start, held])
    point, mean, square = begin.copy(), np.zeros_like(begin), np.zeros_like(begin)
    data = [(case, rows) for case in cases if len(rows := case.positives())]
    if not data:
        raise SystemExit("nothing to fit: every split needs cases of repositories that the other half does not have")
    for step in range(1, STEPS + 1):
        slope = _slope(data, np.exp(point[: len(NAMES)]), -np.exp(point[len(NAMES) :])) + PULL * (point - begin)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        point -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return np.exp(point[: len(NAMES)]), -np.expm1(-np.exp(point[len(NAMES) :]))


def _slope(data: Sequence[tuple[Case, np.ndarray]], weights: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Of the mean over cases and gold rows of ln(1 + tokens before the row / NEAR), by the logarithms of the weights
    and of -ln(1 - share)."""
    total = np.zeros(len(NAMES) + len(KINDS))
    for case, gold in data:
        factor = np.exp(case.kinds @ kept)
        score = factor * (case.columns @ weights)
        before = 1 / (1 + np.exp(-np.clip((score - score[gold][:, None]) / SOFTNESS, -30, 30)))
        push = case.cost * before * (1 - before) / SOFTNESS / (NEAR + before @ case.cost)[:, None] / len(gold)
        by_score = push.sum(axis=0)
        np.add.at(by_score, gold, -push.sum(axis=1))
        total[: len(NAMES)] += (by_score * factor) @ case.columns * weights
        total[len(NAMES) :] += (by_score * score) @ case.kinds * kept
    return total / len(data)


def recalls(case: Case, weights: np.ndarray, shares: np.ndarray) -> list[float]:
    """At each budget."""
    score = case.score(weights, shares)
    return [case.recall(score, budget) for budget in BUDGETS]


def main() -> int:
    """Collect, or fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect")
    for name, needed in (("--cases", True), ("--mirror", True), ("--out", True), ("--cache", False)):
        collecting.add_argument(name, type=Path, required=needed)
    fitting = commands.add_parser("fit")
    fitting.add_argument(
        "--data",
        type=Path,
        action="append",
        required=True,
        help="a folder that `collect` wrote; repeatable, each is reported apart",
    )
    fitting.add_argument("--begin", default="recommended", help="profile (default recommended)")
    options = parser.parse_args()
    if options.command == "collect":
        collect(options.cases, options.mirror, options.out, options.cache)
        return 0
    settings = load(None, profile="recommended").settings
    sets = {folder: [_loaded(path) for path in sorted(folder.glob("*.npz"))] for folder in options.data}
    first = load(None, profile=options.begin).settings
    begin = (
        np.array([getattr(settings.relevance, name) for name in NAMES]),
        np.array([getattr(settings.relevance.penalty, kind) for kind in KINDS]),
    )
    fitted = weights, shares = fit(
        [case for cases in sets.values() for case in cases if split_of(case.repo) == "fit"], first
    )
    for folder, cases in sets.items():
        for split in ("fit", "choose"):
            some = [case for case in cases if split_of(case.repo) == split]
            now, then = ([recalls(case, *table) for case in some] for table in (begin, fitted))
            print(f"{folder.name}, {split}: {len(some)} cases; in force {_shown(now)}; fitted {_shown(then)}")
    scale = settings.relevance.lexical / weights[NAMES.index("lexical")]
    print(json.dumps({name: round(float(weight * scale), 2) for name, weight in zip(NAMES, weights, strict=True)}))
    print(json.dumps({kind: round(float(share), 2) for kind, share in zip(KINDS, shares, strict=True)}))
    return 0


def _loaded(path: Path) -> Case:
    """Columns that were not there yet when it was written are 0."""
    with np.load(path) as stored:
        written = stored["columns"].astype(np.float64)
        columns = np.zeros((len(written), len(NAMES)))
        for number, name in enumerate(stored.get("names", NAMES)):
            if name in NAMES:
                columns[:, NAMES.index(str(name))] = written[:, number]
        kinds = stored["kinds"].astype(np.float64)
        return Case(str(stored["repo"]), columns, kinds, stored["cost"], stored["parts"], int(stored["gold"]))


def _shown(recall: Sequence[Sequence[float]]) -> str:
    return " / ".join(f"{value:.3f}" for value in np.mean(recall, axis=0))


if __name__ == "__main__":
    sys.exit(main())
