"""The cost of a workspace: indexing it, opening it, and questions to all of its repositories.

    python tests/benchmarks/workspaces.py --mirror DIR [--most 150] [--cache DIR] [--questions 40]

DIR holds bare repositories, `owner+name/` or `owner+name/repo/`; the `--most` smallest by the bytes of their newest
commit are taken. Prints Markdown: repositories, lines, fragments; seconds of processor time and of the clock; memory of
the process at its largest, without those that index. Queries are those of `data/word_queries.jsonl`, each asked once.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from secateur.engine import Engine
from secateur.settings import Settings, with_profile

QUERIES = Path(__file__).parent / "data" / "word_queries.jsonl"


def main() -> int:
    """Make the workspace, open it, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--cache", type=Path, help="cache folder (default: an empty one)")
    parser.add_argument("--questions", type=int, default=40)
    options = parser.parse_args()
    found = [(folder.name, inside(folder)) for folder in sorted(options.mirror.iterdir()) if "+" in folder.name]
    by_size = sorted((size_of(path), name, path) for name, path in found)[: options.most]
    asked = [json.loads(line)["query"] for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    queries = asked[:: max(1, len(asked) // options.questions)][: options.questions]
    kept = nullcontext(options.cache) if options.cache else tempfile.TemporaryDirectory()
    with tempfile.TemporaryDirectory() as folder, kept as cache:
        file = Path(folder) / "workspace.toml"
        entries = [f'{{path = "{path}", rev = "HEAD", name = "{name}"}},\n' for _, name, path in by_size]
        file.write_text(f"repositories = [\n{''.join(entries)}]\n", encoding="utf-8")
        for profile in ("spec", "recommended"):
            measure(file, with_profile(Settings(), profile), queries, Path(cache))
    return 0


def measure(file: Path, settings: Settings, queries: list[str], cache: Path) -> None:
    """Print the figures of one profile. The first builds the index, where it is not in the cache."""
    with Engine.open(file, settings, cache_dir=cache) as engine:
        built = timed(engine.refresh)
        status = engine.status()
    engines: list[Engine] = []

    def opening() -> None:
        engines.append(Engine.open(file, settings, cache_dir=cache))
        engines[0].refresh()

    opened = timed(opening)
    with engines[0] as engine:
        asked = sorted(timed(lambda query=query: engine.select(engine.retrieve(query)))[0] for query in queries)
    print(f"\n{settings.profile}: {status.files:,} files, {status.lines:,} lines, {status.fragments:,} fragments")
    print(f"  brought up to date in {built[0]:.1f} s of the processor, {built[1]:.1f} s; opened in {opened[0]:.2f} s")
    p50, p95 = asked[len(asked) // 2], asked[int(0.95 * (len(asked) - 1))]
    print(f"  {len(asked)} queries: p50 {p50:.2f} s, p95 {p95:.2f} s, most {asked[-1]:.2f} s of the processor")
    print(f"  memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000:,} MB", flush=True)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of this process and of those that it ended, and of the clock."""
    own, clock = processor(), time.perf_counter()
    work()
    return processor() - own, time.perf_counter() - clock


def processor() -> float:
    """Seconds of processor time so far."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def inside(folder: Path) -> Path:
    """The git directory of a mirrored repository."""
    return folder / "repo" if (folder / "repo").is_dir() else folder


def size_of(path: Path) -> int:
    """Bytes of the files of the newest commit."""
    command = ["git", "-C", path, "ls-tree", "-r", "-l", "HEAD"]  # fails behind the first file that a mirror lacks
    listed = subprocess.run(command, capture_output=True, check=False).stdout
    return sum(int(size) for line in listed.splitlines() if (size := line.split(None, 4)[3]).isdigit())


if __name__ == "__main__":
    raise SystemExit(main())
