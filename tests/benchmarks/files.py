"""File pruning on real issues: how much of what a fix edited leaves under each strategy, and what it costs.

    python tests/benchmarks/files.py --bench DIR --mirror DIR [--only REPO ...] [--budget N ...]

DIR of --bench holds `cases.jsonl` (repo, base_commit, query, gold_files, gold_functions); --mirror holds bare
repositories `owner+name/`. All files that the index would read are given, the issue is the query. A function counts
when nine tenths of its lines leave. Nothing here is read by the product.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from secateur.kinds.files.measurements import measure_files
from secateur.kinds.files.sourcecode import PrunedFiles, SourceCode
from secateur.kinds.files.strategies import prune
from secateur.languages.syntax.file_flags import UNINDEXED, classify
from secateur.languages.syntax.fragments import decode
from secateur.settings import Settings, with_profile, with_values
from secateur.sources.open import open_source

VARIANTS: dict[str, dict[str, Any]] = {
    "score": {"strategy": "score"},
    "extract, whole files up to 0.8": {"strategy": "extract", "full_file_share": 0.8},
    "extract, whole files up to 0.4": {"strategy": "extract", "full_file_share": 0.4},
    "extract, snippets alone": {"strategy": "extract", "full_file_share": 0.0},
}
COVERED = 0.9
"""Share of a function's lines that must leave for it to count."""

HEAD_BYTES = 65536


def main() -> int:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the yardstick")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument(
        "--only", action="append", default=[], help="only repositories whose name holds this; repeatable"
    )
    parser.add_argument("--budget", type=int, action="append", default=[], help="repeatable (default 4000 and 8000)")
    options = parser.parse_args()
    budgets = options.budget or [4000, 8000]
    with (options.bench / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = [
            case
            for case in map(json.loads, lines)
            if not options.only or any(name in case["repo"] for name in options.only)
        ]
    found: dict[tuple[str, str, int], list[tuple[float | None, float]]] = {}
    for number, case in enumerate(cases, 1):
        files = list(read(options.mirror, case))
        for profile in ("spec", "recommended"):
            settings, start = with_profile(Settings(), profile), time.perf_counter()
            measured = measure_files(files, settings, case["query"])
            seconds = time.perf_counter() - start
            for name, values in VARIANTS.items():
                for budget in budgets:
                    rules = {f"context_prune.{key}": value for key, value in {**values, "max_tokens": budget}.items()}
                    found.setdefault((profile, name, budget), []).append(
                        recall(prune(measured, with_values(settings, rules)), case)
                    )
        print(
            f"{number}/{len(cases)} {case['id']}: {len(files):,} files, {measured.total:,} tokens, measured in"
            f" {seconds:.1f} s",
            file=sys.stderr,
        )
    print(f"| profile | variant | functions at {budgets} | files |\n|---|---|---|---|")
    for profile in ("spec", "recommended"):
        for name in VARIANTS:
            rows = [found[profile, name, budget] for budget in budgets]
            functions = " / ".join(f"{mean([one for one, _ in row if one is not None]):.3f}" for row in rows)
            print(
                f"| {profile} | {name} | {functions} |"
                f" {' / '.join(f'{mean([one for _, one in row]):.3f}' for row in rows)} |"
            )
    return 0


def read(mirror: Path, case: dict[str, Any]) -> Iterator[SourceCode]:
    """The files of a case as the index would read them."""
    folder = mirror / case["repo"].replace("/", "+")
    source = open_source(folder / "repo" if (folder / "repo").is_dir() else folder, case["base_commit"])
    for path, data in source.read([entry.path for entry in source.entries()]):
        if data is not None and not classify(path, data[:HEAD_BYTES]) & UNINDEXED:
            yield SourceCode(path, decode(data)[0])


def recall(pruned: PrunedFiles, case: dict[str, Any]) -> tuple[float | None, float]:
    """(share of the edited functions that leave, None where none was edited; share of the edited files of which
    something leaves)."""
    kept = {
        entry.module_name: entry.ranges or ((1, sys.maxsize),) for entry in pruned.decisions if entry.text is not None
    }
    hits = []
    for gold in case["gold_functions"]:
        first, last = gold["line_start"], gold["line_end"]
        lines = sum(max(0, min(end, last) - max(start, first) + 1) for start, end in kept.get(gold["file"], ()))
        hits.append(lines >= COVERED * (last - first + 1))
    return (mean(hits) if hits else None), mean([path in kept for path in case["gold_files"]])


def mean(values: list[Any]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
