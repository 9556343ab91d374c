"""What git tells of ordinary and odd repositories."""

from __future__ import annotations

import os
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.sources.git import GITLINK, SYMBOLIC_LINK, UNTRACKED, Git
from secateur.sources.process import Patience
from secateur.sources.provenance import NoGit, locate

ODD_NAMES = [
    b"a b.txt",
    b"line\nbreak.txt",
    b'quo"te.txt',
    b"caf\xe9.txt",
    "订单.txt".encode(),
    b"tab\t.txt",
    b"-dash.txt",
    b":(glob)x.txt",
    b"\x1b[31m.txt",
]


def run(root: Path, *arguments: str, time: int = 1_700_000_000) -> str:
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "Ada Łódź"), ("EMAIL", "ada@example.com"))
    }
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{time} +0200")
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"} | who | dates
    return subprocess.run(
        ["git", *arguments], cwd=root, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


def opened(folder: Path) -> Git:
    git = Git.discover(folder)
    assert isinstance(git, Git)
    return git


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository").resolve()
    run(root, "init", "-q", "-b", "main", "--template=")
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "one.py").write_bytes(b"one\r\n")
    (root / "src" / "deep" / "two.py").write_text("two\n")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "First")
    (root / "top.py").write_text("top\n")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "Second\n\nwith a body", time=1_700_000_100)
    (root / "src" / "one.py").write_bytes(b"one\r\nmore\r\n")
    run(root, "rm", "-q", "src/deep/two.py")
    run(root, "commit", "-q", "-a", "-m", "Third: /not a path\x01", time=1_700_000_200)
    run(root, "commit", "-q", "--allow-empty", "-m", "Empty", time=1_700_000_300)
    run(root, "checkout", "-q", "-b", "side", "HEAD~2")
    (root / "side.py").write_text("side\n")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "Side", time=1_700_000_250)
    run(root, "checkout", "-q", "main")
    run(root, "merge", "-q", "--no-ff", "-m", "Merge", "side", time=1_700_000_400)
    return root


def test_history_comes_newest_first_with_paths_and_without_merges(repository: Path) -> None:
    git = opened(repository)
    head = git.head()
    assert head is not None and git.commit_time(head) == 1_700_000_400
    commits = list(git.history(head))
    assert [(commit.subject, commit.time, commit.paths) for commit in commits] == [
        ("Empty", 1_700_000_300, ()),
        ("Side", 1_700_000_250, ("side.py",)),
        ("Third: /not a path\x01", 1_700_000_200, ("src/deep/two.py", "src/one.py")),
        ("Second", 1_700_000_100, ("top.py",)),
        ("First", 1_700_000_000, ("src/deep/two.py", "src/one.py")),
    ]
    assert commits[0].id == run(repository, "rev-parse", "HEAD~1")
    assert [commit.subject for commit in git.history(head, limit=2)] == ["Empty", "Side"]


def test_changes_of_a_file_are_those_of_the_history_that_name_it(repository: Path) -> None:
    git = Git.discover(repository)
    assert git is not None
    commit = git.head()
    history = list(git.history(commit))
    for path in dict.fromkeys(path for one in history for path in one.paths):
        expected = [one.id for one in history if path in one.paths]
        assert [one.id for one in git.history(commit, path=path, limit=100)] == expected
        assert [one.id for one in git.history(commit, path=path, limit=1)] == expected[:1]
    assert list(git.history(commit, path="no/such*file", limit=9)) == []


def test_history_is_streamed_and_may_be_left_early(repository: Path) -> None:
    git = opened(repository)
    stream = git.history(git.resolve("main"))
    assert next(stream).subject == "Empty"
    stream.close()


def test_a_folder_of_a_repository_has_paths_of_its_own(repository: Path) -> None:
    git = opened(repository / "src")
    assert git.prefix == "src/"
    assert [entry.path for entry in git.ls_files()] == ["one.py"]
    assert [entry.path for entry in git.ls_tree(git.resolve("main~3"))] == ["deep/two.py", "one.py"]
    assert [(commit.subject, commit.paths) for commit in git.history(git.resolve("main"))] == [
        ("Third: /not a path\x01", ("deep/two.py", "one.py")),
        ("First", ("deep/two.py", "one.py")),
    ]


def test_a_folder_the_commit_does_not_have(repository: Path) -> None:
    (repository / "new").mkdir(exist_ok=True)
    git = opened(repository / "new")
    assert git.ls_files() == list(git.history(git.resolve("main"))) == []
    with pytest.raises(RepositoryError, match="no folder 'new/'"):
        git.ls_tree(git.resolve("main"))


def test_a_diff_of_two_commits(repository: Path) -> None:
    git = opened(repository)
    side, main = git.resolve("side"), git.resolve("main")
    assert git.merge_base(side, git.resolve("main~1")) == git.resolve("main~3")
    whole = git.diff(git.resolve("main~3"), main)
    assert [line for line in whole.split(b"\n") if line.startswith(b"diff ")] == [
        b"diff --git a/side.py b/side.py",
        b"diff --git a/src/deep/two.py b/src/deep/two.py",
        b"diff --git a/src/one.py b/src/one.py",
    ]
    assert b"+more\r\n" in whole
    below = opened(repository / "src").diff(git.resolve("main~3"), main)
    assert b"a/one.py b/one.py" in below and b"side.py" not in below
    assert git.diff(main, main) == b""


def test_blobs_and_sizes_answer_in_order(repository: Path) -> None:
    git = opened(repository)
    oids = {entry.path: entry.oid for entry in git.ls_tree(git.resolve("main"))}
    asked = [oids["top.py"], "0" * 40, oids["src/one.py"], git.tree(git.resolve("main")), oids["top.py"]]
    assert list(git.blobs(asked, max_bytes=100)) == [b"top\n", None, b"one\r\nmore\r\n", None, b"top\n"]
    assert list(git.blobs(asked[:3], max_bytes=5)) == [b"top\n", None, None]
    assert list(git.sizes(asked[:3])) == [4, None, 11]
    assert list(git.blobs([], max_bytes=5)) == list(git.sizes([])) == []
    assert next(git.blobs(asked * 1000, max_bytes=100)) == b"top\n"


def test_listing_tells_kinds_apart(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q", "--template=")
    (tmp_path / "tool.sh").write_text("#!/bin/sh\n")
    (tmp_path / "tool.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("tool.sh")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "kept.log").write_text("tracked although ignored\n")
    run(tmp_path, "add", "-f", ".")
    run(tmp_path, "commit", "-q", "-m", "x")
    (tmp_path / "new.py").write_text("x\n")
    (tmp_path / "new.log").write_text("x\n")
    (tmp_path / "inner").mkdir()
    run(tmp_path / "inner", "init", "-q", "--template=")
    (tmp_path / "inner" / "x").write_text("x\n")
    listed = {entry.path: entry.mode for entry in opened(tmp_path).ls_files()}
    assert listed == {
        ".gitignore": 0o100644,
        "inner": GITLINK,
        "kept.log": 0o100644,
        "link": SYMBOLIC_LINK,
        "new.py": UNTRACKED,
        "tool.sh": 0o100755,
    }
    assert "new.py" not in [entry.path for entry in opened(tmp_path).ls_tree("HEAD")]


def test_names_may_hold_any_bytes(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q", "-b", "main", "--template=")
    for name in ODD_NAMES:
        (Path(os.fsdecode(os.fsencode(tmp_path))) / os.fsdecode(name)).write_text("x\n")
    before = [entry.path for entry in opened(tmp_path).ls_files()]
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "-q", "-m", "odd")
    git = opened(tmp_path)
    names = [name.decode("utf-8", "surrogateescape") for name in sorted(ODD_NAMES)]
    assert before == names
    assert [entry.path for entry in git.ls_files()] == names
    assert [entry.path for entry in git.ls_tree("HEAD")] == names
    assert sorted(next(git.history("HEAD")).paths) == sorted(names)


def test_a_repository_before_its_first_commit(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q", "--template=")
    (tmp_path / "a").write_text("x\n")
    git = opened(tmp_path)
    assert git.head() is None
    assert [entry.path for entry in git.ls_files()] == ["a"]
    with pytest.raises(RepositoryError, match="no commit 'HEAD'"):
        git.resolve("HEAD")


def test_worktrees_and_submodules_are_followed_to_their_repository(repository: Path, tmp_path: Path) -> None:
    run(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "main~1")
    git = opened(tmp_path / "tree" / "src")
    assert git.head() == run(repository, "rev-parse", "main~1")
    assert [entry.path for entry in git.ls_files()] == ["one.py"]
    assert len(list(islice(git.history("HEAD"), 9))) == 2
    run(repository, "worktree", "remove", str(tmp_path / "tree"))


def test_where_there_is_no_repository(tmp_path: Path) -> None:
    assert Git.discover(tmp_path) is NoGit.NO_REPOSITORY
    (tmp_path / ".git").mkdir()
    assert (locate(tmp_path), Git.discover(tmp_path)) == (None, NoGit.NO_REPOSITORY)
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: /nonexistent\n")
    assert (locate(tmp_path), Git.discover(tmp_path)) == (None, NoGit.BROKEN_REPOSITORY)


def test_without_a_git_program(repository: Path) -> None:
    assert Git.discover(repository, environ={"PATH": ""}) is NoGit.NO_BINARY
    assert Git.discover(repository, environ={}) is NoGit.NO_BINARY


def test_a_bare_repository_is_recognised_and_its_commits_can_be_read(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    git = opened(tmp_path / "bare.git")
    assert git.is_bare
    assert [entry.path for entry in git.ls_tree(git.resolve("main"))] == ["side.py", "src/one.py", "top.py"]


def test_a_repository_somebody_else_left_in_a_parent_folder_is_not_used(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make a folder of another user")
    (tmp_path / "shared" / "mine").mkdir(parents=True)
    run(tmp_path / "shared", "init", "-q", "--template=")
    assert locate(tmp_path / "shared" / "mine") is not None
    os.chown(tmp_path / "shared" / ".git", 12345, 12345)
    assert locate(tmp_path / "shared" / "mine") is None
    assert locate(tmp_path / "shared") is not None


def test_damage_is_an_error_with_a_place(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", "--no-hardlinks", str(repository), "copy")
    (tmp_path / "copy" / ".git" / "index").write_bytes(b"DIRC broken")
    (tmp_path / "copy" / ".git" / "config").write_text("[core\n")
    git = opened(tmp_path / "copy")
    for broken in (git.ls_files, git.head, lambda: list(git.history("main")), lambda: list(git.sizes(["0" * 40]))):
        with pytest.raises(RepositoryError, match="copy") as error:
            broken()
        assert error.value.hint


def test_patience_ends(repository: Path, tmp_path: Path) -> None:
    nobody_writes = tmp_path / "fifo"
    os.mkfifo(nobody_writes)
    stuck = tmp_path / "bin" / "git"
    stuck.parent.mkdir()
    stuck.write_text(f"#!/bin/sh\nexec cat '{nobody_writes}'\n")
    stuck.chmod(0o755)
    git = Git.discover(
        repository, environ={"PATH": f"{stuck.parent}:{os.environ['PATH']}"}, patience=Patience(idle=0.05)
    )
    assert isinstance(git, Git)
    with pytest.raises(RepositoryError, match="did nothing"):
        list(git.history("main"))
