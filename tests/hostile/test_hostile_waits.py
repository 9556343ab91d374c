"""A repository that keeps git waiting, or computing, costs one short wait in a run; what is left out is said, the files
are read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.kinds.diff.comparison import ComparedStates, Comparison
from secateur.redaction import Redactor
from secateur.settings import Chunking
from secateur.sources import git as git_module
from secateur.sources.git import Git
from secateur.sources.globs import MOST_STATES, Glob, Globs
from secateur.sources.ignore import IgnoreFilter, Rules
from secateur.sources.open import CommitSource, WorktreeSource
from secateur.sources.process import PATIENCE, TIMEOUT, Patience
from secateur.sources.walk import walk
from support.repos import SHOP, committed, git

SHORT = Patience(idle=0.05, query=10.0, untracked=10.0, listing=10.0)
"""Only idleness ends a wait: the others would depend on how busy the machine is."""

EXPONENTIAL = "*a" * 18 + "b\n"
NAME = "a" * 200


class Asking:
    """A repository, and a git that writes down how often it is started."""

    def __init__(self, folder: Path) -> None:
        self.root = committed(folder / "shop", SHOP)
        (self.root / "shop" / "new.py").write_text("x = 1\n")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "More")
        self._log = folder / "log"
        script = folder / "bin" / "git"
        script.parent.mkdir()
        script.write_text(f"#!/bin/sh\necho >> '{self._log}'\nexec '{shutil.which('git')}' \"$@\"\n")
        script.chmod(0o755)
        self._environ = {"PATH": f"{script.parent}:{os.environ['PATH']}"}

    def git(self, patience: Patience = SHORT) -> Git:
        found = Git.discover(self.root, environ=self._environ, patience=patience)
        assert isinstance(found, Git)
        return found

    def started(self) -> int:
        return len(self._log.read_text()) if self._log.exists() else 0

    def pipe(self, name: str) -> None:
        place = self.root / ".git" / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        os.mkfifo(place)


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


PIPES = ["included", "refs/heads/main", "shallow", "objects/info/alternates", "info/grafts"]


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_that_git_reads_is_waited_for_once(asking: Asking, name: str) -> None:
    asking.pipe(name)
    if name == "included":
        with (asking.root / ".git" / "config").open("a") as config:
            config.write("[include]\n\tpath = included\n")
    for _ in range(3):  # as often as the inspector looks
        source = WorktreeSource(asking.root, asking.git())
        assert {entry.path for entry in source.entries()} == {*SHOP, "shop/new.py"}
        assert list(source.history()) == []
        assert source.time > 0
        assert [notice.code for notice in source.notices()] == ["git_failed"]
        assert "did nothing for" in source.notices()[0].message
    assert asking.started() == 1
    with pytest.raises(RepositoryError, match="did nothing") as error:
        CommitSource(asking.git(), "HEAD")
    assert (error.value.code, asking.started()) == (TIMEOUT, 1)


def test_an_object_that_is_a_pipe_ends_the_history_there(asking: Asking) -> None:
    first = git(asking.root, "rev-parse", "HEAD~1")
    asking.pipe(f"objects/{first[:2]}/{first[2:]}")
    source = WorktreeSource(asking.root, asking.git())
    assert [entry.path for entry in source.entries()] == sorted([*SHOP, "shop/new.py"])
    assert len(list(source.history())) <= 1
    assert {notice.code for notice in source.notices()} & {"history_incomplete", "git_failed"}


def test_ignore_rules_that_take_git_years_are_read_by_us(asking: Asking) -> None:
    (asking.root / ".gitignore").write_text(EXPONENTIAL * 50 + "*.log\n")
    for number in range(10):
        (asking.root / f"{NAME}{number}").write_text("x")
    (asking.root / "x.log").write_text("x")
    patience = Patience(idle=10.0, query=10.0, untracked=0.2, listing=10.0)
    for _ in range(2):
        source = WorktreeSource(asking.root, asking.git(patience))
        paths = {entry.path for entry in source.entries()}
        assert f"{NAME}0" in paths
        assert "x.log" not in paths
        assert len(list(source.history())) == 2  # what needs no ignore rules is asked for all the same
        assert [notice.code for notice in source.notices()] == ["git_failed"]
        assert "not finished after" in source.notices()[0].message


def test_what_is_reviewed_does_not_need_the_ignore_rules(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    (asking.root / "shop" / "new.py").write_text("x = 2\n")
    monkeypatch.setitem(git_module._GIVEN_UP, (asking.root / ".git", True), "git was not done")
    found = Comparison(asking.root, ComparedStates(worktree=True)).read(Chunking(), Redactor())
    assert [change.path for change in found.diff.changes] == ["shop/new.py"]
    assert [notice.code for notice in found.notices] == ["untracked_unknown"]
    with pytest.raises(RepositoryError, match="not asked again"):
        Comparison(asking.root, ComparedStates(untracked=True)).read(Chunking(), Redactor())


def test_all_waits_of_a_run_together_are_less_than_five_seconds() -> None:
    assert PATIENCE.idle + max(PATIENCE.query, PATIENCE.untracked) < 5


# --- our own matcher --------------------------------------------------------------------------------------------------


class Counted(bytes):
    """A text that counts how many of its bytes are looked at."""

    looked = 0

    def __getitem__(self, key: object) -> Counted:  # type: ignore[override]
        return Counted(super().__getitem__(key))  # type: ignore[index]

    def __iter__(self):  # type: ignore[no-untyped-def]
        for byte in super().__iter__():
            Counted.looked += 1
            yield byte


@pytest.mark.parametrize(
    "pattern", ["*a" * 60 + "b", "**/a*b/" * 30 + "z", "a*" * 100 + "[!a]", "**/*a/" * 40 + "b", "?*" * 80 + "/"]
)
def test_a_glob_looks_at_every_byte_at_most_once(pattern: str) -> None:
    glob = Glob.parse(pattern.encode(), is_path=True)
    assert glob
    Counted.looked = 0
    text = Counted(b"a/ab" * 60)
    assert Globs([(7, glob)] * 50).last_match(text) == -1
    assert 0 < Counted.looked <= len(text)


def test_rules_beyond_what_anybody_writes_are_passed_over_and_said_so(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n" + "a*b*c\n" * (MOST_STATES // 12))
    (tmp_path / "deep" / ".gitignore").write_text("d*e*f\n" * (MOST_STATES // 6))
    for name in ("x.log", "deep/x.log", "deep/def"):
        (tmp_path / name).write_text("x")
    listing = walk(tmp_path, IgnoreFilter(()), 1 << 20)
    assert [found.path for found in listing.files] == [".gitignore", "deep/.gitignore", "deep/def"]
    assert [(skip.path, skip.reason) for skip in listing.skipped] == [("deep/.gitignore", "rules_too_large")]


def test_the_first_patterns_hold_where_there_are_too_many() -> None:
    rules = Rules.of(["a*z", *[f"{number}b*c" for number in range(MOST_STATES)]])
    assert rules.decide(b"a-z", is_folder=False) is True
    assert rules.decide(b"1b-c", is_folder=False) is True
    assert rules.decide(f"{MOST_STATES - 1}b-c".encode(), is_folder=False) is None
