"""The retrieval yardstick: does the selected text hold what a real fix edited?

    python tests/benchmarks/retrieval.py --bench DIR --mirror DIR --out run.jsonl [--profile NAME] [--set KEY=VALUE] [--only REPO]

DIR of --bench holds `cases.jsonl` (id, repo, base_commit, query, ...); --mirror holds bare repositories `owner+name/`. One row per case
and budget is written: {"id", "budget", "selections": [{"file", "line_start", "line_end"}]}. Scoring is the yardstick's own.
Nothing of the yardstick is read by the product, and nothing is fitted per repository or case.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from secateur.config import load
from secateur.engine import Engine
from secateur.model import Selection, State

BUDGETS = (4000, 8000, 16000)


def main() -> int:
    """Run all cases, grouped by repository so that commits share the index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the yardstick")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="cache folder (default: the user's)")
    parser.add_argument("--profile", default="recommended")
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--only", help="only repositories whose name holds this")
    options = parser.parse_args()
    settings = load(None, profile=options.profile, sets=options.sets).settings
    with (options.bench / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = [case for case in map(json.loads, lines) if not options.only or options.only in case["repo"]]
    cases.sort(key=lambda case: (case["repo"], case["base_commit"]))
    with options.out.open("w", encoding="utf-8") as out:
        for number, case in enumerate(cases, 1):
            start = time.perf_counter()
            with Engine.open(repository(options.mirror, case["repo"]), settings, rev=case["base_commit"], cache_dir=options.cache) as engine:
                pool = engine.retrieve(case["query"])
                for budget in BUDGETS:
                    selection = engine.select(pool, replace(settings, budget=budget))
                    out.write(json.dumps({"id": case["id"], "budget": budget, "selections": list(selections(selection))}) + "\n")
            print(f"{number}/{len(cases)} {case['id']} {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return 0


def repository(mirror: Path, name: str) -> Path:
    """The bare repository of `owner/name`."""
    folder = mirror / name.replace("/", "+")
    return folder / "repo" if (folder / "repo").is_dir() else folder


def selections(selection: Selection) -> Iterator[dict[str, Any]]:
    """Lines that go out."""
    pool = selection.pool
    for row in selection.kept_rows:
        whole = selection.state[row] == State.KEPT
        first, last = (pool.line_start[row], pool.line_end[row]) if whole else (pool.sig_start[row], pool.sig_end[row])
        yield {"file": pool.path[row], "line_start": int(first), "line_end": int(last)}


if __name__ == "__main__":
    sys.exit(main())
