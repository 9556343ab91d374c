"""A history that is extended is the one that would be read; one that was cut off is not kept as if it were whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from secateur import Engine
from secateur.index.facts.history import CommitHistory
from secateur.sources.git import HistoryCommit
from support.engine_answers import answer_text
from support.processes import SETTINGS
from support.repos import committed, git, write

COMMITS = [
    HistoryCommit(
        f"{n:040x}", 1_750_000_000 - n // 2, (), f"Save order {n}", (f"f{n % 3}.py", "all.py", f"f{n % 3}.py")
    )
    for n in range(9)
]


def assert_same(one: CommitHistory, other: CommitHistory) -> None:
    assert [one.paths[n] for n in one.changed] == [other.paths[n] for n in other.changed]
    for name in ("ids", "times", "start"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("start", "hashes", "counts"):
        assert np.array_equal(getattr(one.subjects, name), getattr(other.subjects, name)), name


@pytest.mark.parametrize("limit", [3, 6, 9, 20])
@pytest.mark.parametrize("newer", [0, 1, 3])
def test_news_before_a_history_are_the_history(newer: int, limit: int) -> None:
    extended = CommitHistory.of(COMMITS[newer:][:limit]).after(CommitHistory.of(COMMITS[:newer]), limit)
    assert_same(extended, CommitHistory.of(COMMITS[:limit]))
    assert_same(CommitHistory.decode(extended.encode()), extended)


def test_commits_that_touched_files_of_today_are_told_newest_first() -> None:
    history = CommitHistory.of(COMMITS)
    told, first, file = history.select_touching(history.files(["all.py", "f1.py"]), most=1)
    assert sorted(told.tolist()) == [n for n in range(9) if n % 3 != 1]
    assert np.array_equal(first, np.arange(7))
    assert set(file.tolist()) == {0}
    assert history.times[told].tolist() == sorted(history.times[told].tolist(), reverse=True)


def test_a_shallow_clone_that_becomes_whole_is_read_anew(tmp_path: Path) -> None:
    origin = committed(tmp_path / "origin", {"a.py": "def run():\n    return 1\n"})
    for number in range(2, 5):
        write(origin, {"a.py": f"def run():\n    return {number}\n"})
        git(origin, "commit", "-qam", f"Run {number}", time=1_750_000_000 + number)
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{origin}", str(tmp_path / "clone")], check=True)
    with Engine.open(tmp_path / "clone", SETTINGS, cache_dir=tmp_path / "cache") as engine:
        short = answer_text(engine, "run")
        subprocess.run(["git", "fetch", "-q", "--unshallow"], cwd=tmp_path / "clone", check=True)
        with Engine.open(tmp_path / "clone", SETTINGS, cache_dir=tmp_path / "fresh") as fresh:
            whole = answer_text(fresh, "run")
        assert answer_text(engine, "run") == whole
        assert engine._index.snapshot is not None
        assert engine._index.snapshot.hotspots.revisions.tolist() == [4]
    assert short


def test_joined_histories_keep_paths_commits_and_order_of_each_repository() -> None:
    one = CommitHistory.of(
        [HistoryCommit("0a", 5, (), "newest", ("a.py", "b.py")), HistoryCommit("0b", 3, (), "old", ())]
    )
    two = CommitHistory.of([HistoryCommit("0c", 9, (), "later", ("a.py",))])
    joined = CommitHistory.join({"one": one, "two": two})
    assert joined.paths == ("one/a.py", "one/b.py", "two/a.py")
    assert joined.files(["one/b.py", "two/a.py"]).tolist() == [-1, 0, 1]
    assert joined.times[joined.order].tolist() == [5, 3, 9]
    assert joined.start.tolist() == [0, 2, 2, 3]
    assert len(joined.subjects) == 3
    assert len(CommitHistory.join({"empty": CommitHistory.of([])})) == 0
