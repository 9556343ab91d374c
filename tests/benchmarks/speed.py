"""The target table of speed and size, as figures, with where the time goes.

    PYTHONPATH=tests python tests/benchmarks/speed.py --repo PATH [PATH ...] [--runs 3] [--edits 30] [--installed]

Each repository is cloned; nothing is written into it. Prints Markdown. Times are those of the processor, user + system
of all processes, unless the clock is named. Figures of children are medians over --runs; edits and queries are single
events.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from typing import Any

from inside import settings_of
from measuring import (
    SECATEUR,
    Cost,
    Spent,
    copy_of,
    empty_cache,
    folder_bytes,
    megabytes,
    middle,
    quantiles,
    run,
    table,
    tracked,
)
from selection import measure, synthetic

INSIDE = Path(__file__).with_name("inside.py")
ROOT = Path(__file__).resolve().parents[2]
HELP_RUNS = 15
KNOB_ROWS = 100_000
WARM_SEARCHES = 3
TOP_MODULES = 12


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one repository."""

    name: str
    files: int
    lines: int
    fragments: int
    source: int  # bytes
    cold: Cost
    phases: dict[str, list[float]]
    disk: int
    warm: dict[str, Any]
    fixed: int  # bytes a process holds that has an index of one line open
    search: Cost
    cached: Cost
    body_edits: list[Spent]
    new_functions: list[Spent]
    after_edit: Cost
    samples: dict[str, int]


def main() -> int:
    """Measure all, print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, nargs="+", required=True, help="git repositories")
    parser.add_argument("--runs", type=int, default=3, help="of every child process (default 3)")
    parser.add_argument(
        "--edits", type=int, default=30, help="edited bodies; a third as many new functions (default 30)"
    )
    parser.add_argument("--installed", action="store_true", help="also install into a new environment, and weigh it")
    options = parser.parse_args()
    fixed = one_line()
    found = [figures(path.resolve(), options.runs, options.edits, fixed) for path in options.repo]
    print(report(found))
    processor, clock = help_above_python()
    print(
        f"\n`secateur --help` above bare Python: {processor * 1e3:.0f} ms ({clock * 1e3:.0f} by the clock; target 200)"
    )
    settings = settings_of()
    decide, look = measure(synthetic(KNOB_ROWS), settings)
    print(
        f"Knob step on {KNOB_ROWS:,} made-up candidates, `recommended`, processor time: {decide} (target p95 4 ms);"
        f" what a screen asks besides: {look}\n"
    )
    print(phases(found))
    print()
    print(modules(found))
    if options.installed:
        print(f"\n{installed()}")
    return 0


def one_line() -> int:
    """What a process holds that has the smallest index open: libraries, token ranks, word vectors."""
    with tempfile.TemporaryDirectory() as folder, empty_cache() as cache:
        (Path(folder) / "one.py").write_text("def answer():\n    return 42\n")
        inside("cold", Path(folder), cache)
        return int(told(inside("warm", Path(folder), cache))["resident"])


def installed() -> str:
    """What `pip install` of this checkout puts into a new environment, in megabytes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        note("installing")
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT])
        (site,) = Path(folder).glob("lib/*/site-packages")
        sizes = {}
        for each in distributions(path=[str(site)]):
            files = {Path(file.locate()).resolve() for file in each.files or ()}
            sizes[each.metadata["Name"]] = sum(file.stat().st_blocks * 512 for file in files if file.is_file())
    own = sum(sizes.pop(name, 0) for name in ("pip", "setuptools"))
    most = sorted(sizes, key=lambda name: -sizes[name])[:TOP_MODULES]
    return table(
        ["installed", "all but pip and setuptools", "these two", *most],
        [["", *(f"{size / 2**20:.0f} MB" for size in (sum(sizes.values()), own, *(sizes[name] for name in most)))]],
    )


def inside(job: str, path: Path, cache: Path, *words: object) -> Cost:
    """One job of `inside.py` in a process of its own; numpy's threads as the command line sets them."""
    environment = {"SECATEUR_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1"}
    return run([sys.executable, INSIDE, job, path, *map(str, words)], environment=environment)


def told(cost: Cost) -> dict[str, Any]:
    """The figures it printed."""
    found: dict[str, Any] = json.loads(cost.output.splitlines()[-1])
    return found


def figures(repository: Path, runs: int, edits: int, fixed: int) -> Figures:
    """Everything of one repository, on a clone."""
    with copy_of(repository) as place, empty_cache() as cache:
        note(f"{repository.name}: cold")
        colds = []
        for number in range(runs):
            with empty_cache() as fresh:
                colds.append(inside("cold", place, fresh if number else cache))
        size = folder_bytes(cache)
        note(f"{repository.name}: warm")
        warms = sorted(
            (told(inside("warm", place, cache)) for _ in range(runs)), key=lambda warm: float(warm["open"][0])
        )
        words = [*SECATEUR, "search", "where are errors handled and reported?", place, "--profile", "recommended"]
        environment = {"SECATEUR_CACHE_DIR": str(cache)}
        run(words, environment=environment)
        cached = middle([run(words, environment=environment) for _ in range(WARM_SEARCHES)])
        search = middle([run([*words, "--no-cache"], environment=environment) for _ in range(WARM_SEARCHES)])
        note(f"{repository.name}: edits")
        edited = told(inside("edits", place, cache, edits))
        afterwards = []
        for number in range(WARM_SEARCHES):
            (place / "after_edit.py").write_text(f"def after_edit():\n    return {number}\n")
            afterwards.append(run(words, environment=environment))
        note(f"{repository.name}: samples")
        with empty_cache() as fresh:
            samples = told(inside("samples", place, fresh))
        first = told(colds[0])
        return Figures(
            name=repository.name,
            files=first["files"],
            lines=first["lines"],
            fragments=first["fragments"],
            source=sum(path.stat().st_size for path in tracked(place)),
            cold=middle(colds),
            phases={
                phase: [median(told(cold)["phases"][phase][at] for cold in colds) for at in range(2)]
                for phase in first["phases"]
            },
            disk=size,
            warm=warms[len(warms) // 2],
            fixed=fixed,
            search=search,
            cached=cached,
            body_edits=edited["body"],
            new_functions=edited["new"],
            after_edit=middle(afterwards),
            samples=samples,
        )


def help_above_python() -> Spent:
    """Medians of runs that take turns."""
    bare, helped = [], []
    for _ in range(HELP_RUNS):
        bare.append(run([sys.executable, "-c", "pass"]))
        helped.append(run([*SECATEUR, "--help"]))
    return middle(helped).cpu - middle(bare).cpu, middle(helped).wall - middle(bare).wall


def report(found: Sequence[Figures]) -> str:
    """The table, a column a repository."""
    rows = [list(cells) for cells in zip(*(_cells(figures) for figures in found), strict=True)]
    return table(
        ["", "target", *(figures.name for figures in found)],
        [[name, target, *row] for (name, target), row in zip(ROWS, rows, strict=True)],
    )


ROWS = (
    ("files / lines / fragments", ""),
    ("source", ""),
    ("cold index, processor", "see the peers"),
    ("cold index, source per processor second", ""),
    ("cold index, clock", ""),
    ("memory while indexing, all processes", ""),
    ("on disk", ""),
    ("warm start: the index opened in a new process", "500 ms at 100,000 fragments"),
    ("`secateur search`, whole process", "0.45 s"),
    ("the same again, answered from the result cache", "0.15 s"),
    ("edited body → queryable, p50 / p95", "p50 50 ms"),
    ("new function → queryable, p50 / p95", "p50 50 ms"),
    ("`secateur search` after an edit, whole process", ""),
    ("query of some words, p50 / p95", "p50 50 ms at 100,000"),
    ("query of 150 words of code, p50 / p95", ""),
    ("looking for changed files, p50 / p95", ""),
    ("knob step, p50 / p95 (candidates)", "p95 4 ms at 100,000"),
    ("memory of a process after these queries", ""),
    ("of it per 100,000 fragments", "250 MB"),
)


def _cells(of: Figures) -> Iterator[str]:
    yield f"{of.files:,} / {of.lines:,} / {of.fragments:,}"
    yield megabytes(of.source)
    yield f"{of.cold.cpu:.1f} s"
    yield f"{of.source / 1e6 / of.cold.cpu:.2f} MB"
    yield f"{of.cold.wall:.1f} s"
    yield megabytes(of.cold.peak)
    yield f"{megabytes(of.disk)}, {of.disk / of.source:.1f} × source"
    yield f"{of.warm['open'][0] * 1e3:,.0f} ms ({of.warm['open'][1] * 1e3:,.0f} by the clock)"
    yield f"{of.search.cpu:.2f} s ({of.search.wall:.2f} by the clock)"
    yield f"{of.cached.cpu:.2f} s ({of.cached.wall:.2f} by the clock)"
    yield quantiles(of.body_edits)
    yield quantiles(of.new_functions)
    yield f"{of.after_edit.cpu:.2f} s ({of.after_edit.wall:.2f} by the clock)"
    yield quantiles(of.warm["short"])
    yield quantiles(of.warm["long"])
    yield quantiles(of.warm["look"])
    yield f"{quantiles(of.warm['knob'])} ({of.warm['pool']:,})"
    yield megabytes(of.warm["resident"])
    yield megabytes((of.warm["resident"] - of.fixed) / of.fragments * 1e5)


def phases(found: Sequence[Figures]) -> str:
    """Processor seconds of the cold index by phase."""
    names = list(dict.fromkeys(phase for figures in found for phase in figures.phases))
    return table(
        ["cold index, processor", *names],
        [[of.name, *(f"{of.phases.get(name, [0.0])[0]:.2f} s" for name in names)] for of in found],
    )


def modules(found: Sequence[Figures]) -> str:
    """Shares of the cold index by module, of the repository whose index costs most."""
    largest = max(found, key=lambda figures: figures.cold.cpu)
    counts: Counter[str] = Counter()
    for place, count in largest.samples.items():
        counts[place.partition(" ")[0]] += count
    total = sum(counts.values())
    rows = [[f"`{name}`", f"{count / total:.0%}"] for name, count in counts.most_common(TOP_MODULES)]
    return table([f"{largest.name}, cold index in one process: module", "processor"], rows)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
