"""An index that is killed again and again, and one that follows a long history: what survives, and how large it
becomes.

    PYTHONPATH=tests python tests/benchmarks/durability.py --repo PATH [--kills 30] [--commits 200] [--step 1] [--seed
    1]

PATH is a clone with a history. Kills: processes that index commits far apart are killed with SIGKILL after a seeded
number of progress lines, all on one index; after each the answer must be that of an index nobody killed. Churn: one
index follows the last commits, or every STEP-th, oldest first; its size is printed beside that of an index that never
forgets. Exit code 4 if an answer differs.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from unittest.mock import patch

from secateur import Engine, Settings
from secateur.index.store import folder as folders
from secateur.index.store import records as store
from support.processes import answer_of, environment
from support.repos import git

QUERY = "how is a request handled when an error is raised"

_INDEX = """
import sys
from pathlib import Path
from secateur import Engine
with Engine.open(sys.argv[1], rev=sys.argv[2], cache_dir=Path(sys.argv[3])) as engine:
    engine.refresh(lambda *step: print(*step, flush=True))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    commits = git(options.repo, "rev-list", "--first-parent", "HEAD").split()
    with tempfile.TemporaryDirectory() as folder:
        wrong = kills(options.repo, commits, options.kills, Random(options.seed), Path(folder)) if options.kills else 0
        if options.commits:
            churn(options.repo, commits[:: options.step][: options.commits][::-1], Path(folder))
    return 4 if wrong else 0


def kills(repo: Path, commits: list[str], count: int, random: Random, base: Path) -> int:
    """Number of wrong answers after `count` kills, printed with where they came."""
    cache, wrong = base / "killed", 0
    stride = max(1, len(commits) // count)
    for number in range(count):
        commit = commits[(number * stride) % len(commits)]
        fresh = answer_of(repo, base / "alone", commit, QUERY, settings=Settings())
        lines, told = random.choice((1, 2, 3, 10, 50, 99, 100, 101, 150, 199, 200, 10_000)), []
        words = [sys.executable, "-c", _INDEX, str(repo), commit, str(cache)]
        process = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            told.append(line.strip())
            if len(told) == lines or line.startswith(random.choice(("linking", "saving"))):
                break
        process.kill()
        process.communicate()
        with Engine.open(repo, rev=commit, cache_dir=cache) as engine:
            status = engine.refresh()
        same = answer_of(repo, cache, commit, QUERY, settings=Settings()) == fresh
        wrong += not same
        verdict = "same" if same else "DIFFERENT"
        again = f"{status.read:4} of {status.read + status.reused:4}"
        print(
            f"kill {number + 1:3}  {commit[:9]}  after {told[-1] if told else '-':<18} exit {process.returncode:3} "
            f" read again {again}  {verdict}",
            flush=True,
        )
    (folder,) = (cache / "index").iterdir()
    with sqlite3.connect(folder / folders.FILE_NAME) as database:
        sound = database.execute("PRAGMA integrity_check").fetchone()[0]
    database.close()
    left = sorted(path.name for path in folder.iterdir() if path.suffix in (".part", ".broken"))
    print(f"{count} kills: {wrong} wrong answers; database {sound}; left over: {left or 'nothing'}")
    return wrong


def churn(repo: Path, commits: list[str], base: Path) -> None:
    """Sizes of an index that follows the commits, forgetting and not."""
    for name, kept in (("forgets", store.KEPT_RUNS), ("never forgets", 1 << 40)):
        sizes = {}
        with patch.object(store, "KEPT_RUNS", kept), tempfile.TemporaryDirectory(dir=base) as cache:
            for number, commit in enumerate(commits, 1):
                with Engine.open(repo, rev=commit, cache_dir=Path(cache)) as engine:
                    engine.refresh()
                    folder = engine._index.store.folder
                if number % 20 == 0 or number == len(commits):
                    assert folder is not None
                    with sqlite3.connect(folder / folders.FILE_NAME) as database:
                        records, seen = (
                            database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
                            for table in ("record", "seen")
                        )
                    database.close()
                    sizes[number] = (folders.size_of(folder), records, seen)
        for number, (size, records, seen) in sizes.items():
            print(
                json.dumps(
                    {"index": name, "commits": number, "MB": round(size / 1e6, 1), "records": records, "seen": seen}
                )
            )


if __name__ == "__main__":
    sys.exit(main())
