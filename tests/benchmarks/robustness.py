"""Indexes every file of many public repositories, and tells what could not be read as what it is.

    python tests/benchmarks/robustness.py FOLDER [--rows FILE] [--only NAME ...] [--minutes N]

FOLDER holds bare git repositories, or folders with one inside; of each the newest commit is indexed into an empty
cache, large files included, by one process. `--rows` keeps a row per repository as a line of JSON: what is in it
already is not done again, so that a long run can be continued. Prints a table in Markdown, then every file that was
degraded, with its reason. Exit code 1 if an index ended with an error. The parsers' own test corpora are the most
telling input: they hold the strangest syntax of each language.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import table
from secateur.engine import Engine
from secateur.settings import Settings, with_values

SETTINGS: dict[str, object] = {
    "index.workers": 1,
    "index.max_file_kb": 8192,
    "tokens.counter": "chars4",
    "embedding.model": "none",
}
"""Everything is read that can be, in this process where it can be; counts and vectors are not what is tried."""

EXPECTED = frozenset({"syntax_errors", "invalid_utf8", "minified"})
"""Problems that say something of the file, and nothing of the reader."""

NAMED = 50
"""Degraded files that a row names."""


def repositories(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, git directory) of all repositories, those with the fewest bytes first."""
    found = []
    for entry in folder.iterdir():
        for place in (entry, entry / "repo", entry / ".git", entry / "repo" / ".git"):
            if (place / "HEAD").is_file() and (place / "objects").is_dir():
                size = sum(pack.stat().st_size for pack in (place / "objects").rglob("*.pack"))
                found.append((size, entry.name.replace("+", "/"), place))
                break
    for _, name, place in sorted(found):
        yield name, place


def processor_seconds() -> float:
    """Of this process and of those it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def indexed(name: str, place: Path) -> dict[str, Any]:
    """The row of one repository."""
    row: dict[str, Any] = {"repository": name}
    began = processor_seconds()
    try:
        with (
            tempfile.TemporaryDirectory() as cache,
            Engine.open(place, with_values(Settings(), SETTINGS), rev="HEAD", cache_dir=Path(cache)) as engine,
        ):
            status = engine.refresh()
            snapshot, _ = engine.code()
            degraded = [
                (path, found)
                for path, found in zip(snapshot.paths, snapshot.problems, strict=True)
                if set(found.split()) - EXPECTED
            ]
            row |= {
                "commit": status.commit,
                "languages": status.languages,
                "files": status.files,
                "lines": status.lines,
                "fragments": status.fragments,
                "edges": status.edges,
                "skipped": status.skipped,
                "problems": status.problems,
                "degraded": degraded[:NAMED],
                "notices": list(status.notices),
            }
    except Exception as error:
        row |= {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    return row | {"seconds": round(processor_seconds() - began, 1)}


def report(rows: list[dict[str, Any]]) -> str:
    """All rows as Markdown."""
    lines = []
    for row in rows:
        if "failed" in row:
            lines.append([row["repository"], "", "", "", "", f"**{row['failed']}**", f"{row['seconds']:,.1f}"])
            continue
        problems = ", ".join(f"{problem} {count:,}" for problem, count in row["problems"].items()) or "none"
        most = ", ".join(list(row["languages"])[:2])
        lines.append(
            [
                row["repository"],
                most,
                *(f"{row[name]:,}" for name in ("files", "lines", "fragments")),
                problems,
                f"{row['seconds']:,.1f}",
            ]
        )
    done = [row for row in rows if "failed" not in row]
    sums = [f"{sum(row[name] for row in done):,}" for name in ("files", "lines", "fragments")]
    lines.append(
        [
            f"{len(rows):,} repositories",
            "",
            *sums,
            f"{len(rows) - len(done):,} failed",
            f"{sum(row['seconds'] for row in rows):,.1f}",
        ]
    )
    text = table(["repository", "languages", "files", "lines", "fragments", "problems", "processor s"], lines)
    return text + "".join(f"\n- {row['repository']}: {path} ({why})" for row in done for path, why in row["degraded"])


def main() -> int:
    """Index what is not in the rows yet; print all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=Path, help="file of rows to continue")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="repositories whose name holds one of these")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="start no further repository after this time"
    )
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.rows and options.rows.exists():
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    known = {row["repository"] for row in rows}
    end = time.monotonic() + options.minutes * 60
    for name, place in repositories(options.folder):
        if name in known or time.monotonic() > end or (options.only and not any(part in name for part in options.only)):
            continue
        rows.append(indexed(name, place))
        print(name, rows[-1]["seconds"], rows[-1].get("failed", ""), file=sys.stderr, flush=True)
        if options.rows:
            with options.rows.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(report(rows))
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
