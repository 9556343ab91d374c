"""What a run of the retrieval yardstick says: recall and precision with intervals, and where the lost functions stood.

Intervals are a bootstrap over repositories: cases of one repository are alike, and the next user has another one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from secateur.model import Selection, State, falling

BUDGETS = (4000, 8000, 16000)
METRICS = {
    "func_recall": "functions",
    "file_recall": "files",
    "edit_recall": "edited lines",
    "line_coverage": "lines of the functions",
    "efficiency": "precision: tokens",
    "line_precision": "lines",
    "file_precision": "files",
    "tokens": "tokens sent",
}
"""Heading by metric: four of recall, then three of precision, which is the share of what was sent that is of the fix.
Tokens and lines count where they are inside a function that it edited, files where it edited them."""

COVERED = 0.8
"""Share of a function's lines that must go out."""

DRAWS = 4000

Scores = dict[tuple[str, int], dict[str, float]]
"""What the yardstick's script says of a run, by case and budget."""


def gold_places(selection: Selection, functions: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields per function of the fix what became of it; the rank is that of its best fragment among all candidates."""
    pool, order = selection.pool, falling(selection.score)
    rank = np.empty(len(pool), dtype=np.int64)
    rank[order] = np.arange(len(pool))
    before = np.empty(len(pool), dtype=np.int64)
    before[order] = np.cumsum(pool.cost[order]) - pool.cost[order]
    kept = {row for row in selection.kept_rows if selection.state[row] == State.KEPT}
    files = {pool.path[row] for row in selection.kept_rows}
    classes = {(pool.path[row], pool.qualname[row].rpartition(".")[0]) for row in kept} - {(p, "") for p in files}
    for function in functions:
        first, last = function["line_start"], function["line_end"]
        lap = np.minimum(pool.line_end, last) - np.maximum(pool.line_start, first) + 1
        rows = [int(row) for row in np.flatnonzero(lap > 0) if pool.path[int(row)] == function["file"]]
        covered = sum(int(lap[row]) for row in rows if row in kept) / (last - first + 1)
        best = min(rows, key=lambda row: int(rank[row]), default=-1)
        owners = {(pool.path[row], pool.qualname[row].rpartition(".")[0]) for row in rows}
        yield {
            "held": covered >= COVERED,
            "rank": int(rank[best]) + 1 if rows else 0,
            "before": int(before[best]) if rows else 0,
            "cost": int(pool.cost[best]) if rows else 0,
            "file_held": function["file"] in files,
            "class_held": bool(owners & classes),
            "declared": any(selection.state[row] == State.SHORTENED for row in rows),
        }


def interval(values: Sequence[float], repositories: Sequence[str]) -> tuple[float, float]:
    """95 % of the mean, by drawing repositories with all their cases."""
    groups: dict[str, list[float]] = defaultdict(list)
    for value, repository in zip(values, repositories, strict=True):
        groups[repository].append(value)
    sums, sizes = (np.array([of(group) for group in groups.values()], dtype=np.float64) for of in (sum, len))
    drawn = np.random.default_rng(7).integers(0, len(sums), (DRAWS, len(sums)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (2.5, 97.5))
    return float(low), float(high)


def with_coverage(scores: Scores, run: Path, cases: Sequence[dict[str, Any]]) -> Scores:
    """The scores with what the yardstick's script does not tell, from the lines that a run sent: coverage and precision
    in lines, precision in files. All are 0 where that script counts a case as over budget or missing."""
    case_of = {case["id"]: case for case in cases}
    told = {key: row | dict.fromkeys(METRICS.keys() - row.keys(), 0.0) for key, row in scores.items()}
    for line in run.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["id"], row["budget"]
        if key in told and not told[key]["over"] and row["id"] in case_of:
            told[key] |= coverage(row["selections"], case_of[row["id"]])
    return told


def coverage(selections: Sequence[dict[str, Any]], case: dict[str, Any]) -> dict[str, float]:
    """Line coverage, line precision and file precision of the lines that one pack sent. A line counts once.

    >>> case = {"gold_files": ["a"], "gold_functions": [{"file": "a", "line_start": 1, "line_end": 4}]}
    >>> coverage([{"file": "a", "line_start": 3, "line_end": 10}], case)
    {'line_coverage': 0.5, 'line_precision': 0.25, 'file_precision': 1.0}
    """
    sent, gold = _lines_of(selections), _lines_of(case["gold_functions"])
    inside, files = len(sent & gold), {file for file, _ in sent}
    return {
        "line_coverage": inside / len(gold) if gold else 0.0,
        "line_precision": inside / len(sent) if sent else 0.0,
        "file_precision": len(files & set(case["gold_files"])) / len(files) if files else 0.0,
    }


def _lines_of(ranges: Sequence[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(one["file"], line) for one in ranges for line in range(one["line_start"], one["line_end"] + 1)}


def recall_table(runs: dict[str, Scores], cases: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields the lines of a Markdown table: means at the three budgets, their intervals below them."""
    yield "| run | " + " | ".join(METRICS.values()) + " | over |"
    yield "|---|" + "---|" * (len(METRICS) + 1)
    for name, scores in runs.items():
        means = [" / ".join(_shown(m, float(np.mean(_column(scores, cases, b, m)))) for b in BUDGETS) for m in METRICS]
        over = sum(int(scores[case["id"], budget]["over"]) for case in cases for budget in BUDGETS)
        yield f"| {name} | " + " | ".join(means) + f" | {over} |"
        cells = []
        for metric in METRICS:
            spans = [_interval(_column(scores, cases, budget, metric), cases) for budget in BUDGETS]
            cells.append(" / ".join(f"{_shown(metric, low, 2)}–{_shown(metric, high, 2)}" for low, high in spans))
        yield "| *95 %* | " + " | ".join(cells) + " | |"


def difference_table(runs: dict[str, Scores], other: Scores, cases: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields the lines of a table of paired differences from another run, with intervals."""
    yield "| run minus the other | budget | " + " | ".join(METRICS.values()) + " |"
    yield "|---|---|" + "---|" * len(METRICS)
    for name, scores in runs.items():
        for budget in BUDGETS:
            cells = []
            for metric in METRICS:
                pairs = _column(scores, cases, budget, metric), _column(other, cases, budget, metric)
                values = [one - two for one, two in zip(*pairs, strict=True)]
                low, high = _interval(values, cases)
                if metric == "tokens":
                    cells.append(f"{np.mean(values):+,.0f} ({low:+,.0f} to {high:+,.0f})")
                else:
                    cells.append(f"{np.mean(values):+.3f} ({low:+.2f} to {high:+.2f})")
            yield f"| {name} | {budget:,} | " + " | ".join(cells) + " |"


def misses_table(run: Path, ids: set[str]) -> Iterator[str]:
    """Yields the lines of a table of the functions that a run lost, a row a budget. Medians and shares are over lost
    functions; a case with many counts as many times."""
    places: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in run.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["id"] in ids and "gold" in row:
            places[row["budget"]] += row["gold"]
    if not places:
        return
    yield "| budget | lost | no candidate | rank | tokens before | file held | class in part | declared | own size |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for budget, functions in sorted(places.items()):
        lost = [function for function in functions if not function["held"]]
        found = [function for function in lost if function["rank"]]
        if not lost:
            yield f"| {budget:,} | 0 of {len(functions)} |" + " |" * 7
            continue
        middle = [f"{median([function[key] for function in found] or [0]):,.0f}" for key in ("rank", "before", "cost")]
        shares = [
            f"{np.mean([function[key] for function in lost]):.2f}" for key in ("file_held", "class_held", "declared")
        ]
        cells = [
            f"{len(lost)} of {len(functions)}",
            str(len(lost) - len(found)),
            *middle[:2],
            *shares,
            middle[2],
        ]
        yield f"| {budget:,} | " + " | ".join(cells) + " |"


def report(runs: dict[str, tuple[Path, Scores]], cases: Sequence[dict[str, Any]], other: Scores | None) -> str:
    """All tables of some runs as Markdown: recall, the same where the issue helps least, differences, misses."""
    scores = {name: found for name, (_, found) in runs.items()}
    nameless = [case for case in cases if not case.get("mention_file") and not case.get("mention_func")]
    repositories = len({case["repo"] for case in cases})
    out = [f"{len(cases)} cases of {repositories} repositories, at {' / '.join(f'{b:,}' for b in BUDGETS)} tokens", ""]
    out += recall_table(scores, cases)
    if nameless and len(nameless) < len(cases):
        out += ["", f"The {len(nameless)} whose text names neither a file nor a function of the fix:", ""]
        out += recall_table(scores, nameless)
    if other is not None:
        out += ["", "Paired, 95 % over repositories:", "", *difference_table(scores, other, cases)]
        if nameless and len(nameless) < len(cases):
            out += ["", "Of those that name neither:", "", *difference_table(scores, other, nameless)]
    for name, (path, _) in runs.items():
        lines = list(misses_table(path, {case["id"] for case in cases}))
        out += ["", f"Lost by {name}:", "", *lines] if lines else []
    return "\n".join(out)


def _shown(metric: str, value: float, digits: int = 3) -> str:
    return f"{value:,.0f}" if metric == "tokens" else f"{value:.{digits}f}"


def _column(scores: Scores, cases: Sequence[dict[str, Any]], budget: int, metric: str) -> list[float]:
    return [scores[case["id"], budget][metric] for case in cases]


def _interval(values: Sequence[float], cases: Sequence[dict[str, Any]]) -> tuple[float, float]:
    return interval(values, [case["repo"] for case in cases])
