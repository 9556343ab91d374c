"""Three ways to read the same tree; odd trees; what `open_source` refuses."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.errors import RepositoryError
from secateur.sources.commit import CommitSource
from secateur.sources.git import Git
from secateur.sources.open import WorktreeSource, open_source
from secateur.sources.provenance import NoGit
from secateur.sources.source import Source
from support.memory_source import MemorySource

WHO = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "core.autocrlf=false"]
DATES = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "1700000000 +0200")


def git(root: Path, *arguments: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"} | DATES
    subprocess.run(["git", *WHO, *arguments], cwd=root, env=env, check=True, capture_output=True)


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def committed(root: Path, files: Mapping[str, bytes]) -> Path:
    root.mkdir(exist_ok=True)
    git(root, "init", "-q", "-b", "main", "--template=")
    write(root, files)
    git(root, "add", "-f", ".")
    git(root, "commit", "-q", "-m", "all")
    return root


def contents(source: Source) -> list[tuple[str, int, bytes | None]]:
    entries = source.entries()
    return [
        (entry.path, entry.size, content)
        for entry, (_, content) in zip(entries, source.read([e.path for e in entries]), strict=True)
    ]


def reasons(source: Source) -> list[tuple[str, str]]:
    return [(skip.path, str(skip.reason)) for skip in source.skips()]


_NAMES = st.sampled_from(["a", "b.py", "ab", "é", "A", "z-1", "\udcff", "a b", "订"])
_FILES = st.dictionaries(
    st.lists(_NAMES, min_size=1, max_size=3).map("/".join), st.binary(max_size=30), min_size=1, max_size=8
)


@given(
    _FILES.filter(lambda files: not any(other.startswith(path + "/") for path in files for other in files)),
    st.lists(st.sampled_from(["a/", "*.py", "!b.py", "/ab"])),
)
@settings(max_examples=6, deadline=None)
def test_the_same_tree_reads_the_same_three_ways(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], ignore: list[str]
) -> None:
    root = committed(tmp_path_factory.mktemp("same"), files)
    worktree = open_source(root, ignore=ignore, max_file_bytes=20)
    commit = open_source(root, "main", ignore=ignore, max_file_bytes=20)
    memory = MemorySource(files, ignore=ignore, max_file_bytes=20)
    without_git = WorktreeSource(root, NoGit.NO_BINARY, ignore=ignore, max_file_bytes=20)
    assert contents(worktree) == contents(commit) == contents(memory) == contents(without_git)
    assert reasons(commit) == reasons(memory)
    paths = [entry.path.encode("utf-8", "surrogateescape") for entry in worktree.entries()]
    assert paths == sorted(paths)


def test_what_a_source_says_of_itself(tmp_path: Path) -> None:
    root = committed(tmp_path / "orders", {"a.py": b"x\r\n"})
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()
    for source in (open_source(root), open_source(root, "HEAD")):
        assert (source.describe(), source.commit, source.time, source.root) == (
            f"orders @ {head[:7]}",
            head,
            1_700_000_000,
            root,
        )
        assert [commit.paths for commit in source.history()] == [("a.py",)]
        assert contents(source) == [("a.py", 3, b"x\r\n")]
        assert source.notices() == []
    memory = MemorySource({"a.py": "é"}, time=5)
    assert (memory.describe(), memory.commit, memory.time, memory.root) == ("memory", "", 5, None)
    assert list(memory.history()) == memory.notices() == memory.skips() == []
    assert contents(memory) == [("a.py", 2, "é".encode())]


def test_a_folder_without_git_takes_its_date_from_its_newest_file(tmp_path: Path) -> None:
    write(tmp_path, {"old.py": b"x", "new.py": b"x", "node_modules/dep/index.js": b"x", "__pycache__/a.pyc": b"x"})
    os.utime(tmp_path / "old.py", (1000, 1000))
    os.utime(tmp_path / "new.py", (2000, 2000))
    source = open_source(tmp_path)
    assert [entry.path for entry in source.entries()] == ["new.py", "old.py"]
    assert (source.commit, source.time, source.describe()) == ("", 2000, tmp_path.name)
    assert list(source.history()) == []


def test_a_token_changes_with_the_content_and_only_then(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a": b"one", "b": b"two"})
    sources = [
        lambda: open_source(root),
        lambda: open_source(root, "HEAD"),
        lambda: MemorySource({"a": (root / "a").read_bytes(), "b": b"two"}),
    ]
    before = [{entry.path: entry.token for entry in source().entries()} for source in sources]
    again = [{entry.path: entry.token for entry in source().entries()} for source in sources]
    assert before == again
    (root / "a").write_bytes(b"ONE")
    git(root, "commit", "-q", "-am", "edit")
    for source, tokens in zip(sources, before, strict=True):
        after = {entry.path: entry.token for entry in source().entries()}
        assert after["a"] != tokens["a"]
        assert after["b"] == tokens["b"]


@pytest.mark.parametrize("with_git", [True, False])
def test_what_is_not_read_has_a_reason(tmp_path: Path, with_git: bool) -> None:
    root = tmp_path / "root"
    write(
        root,
        {
            "a.py": b"x",
            "big.py": b"x" * 101,
            "src/b.py": b"x",
            "gen/c.py": b"x",
            "d.tmp": b"x",
            ".gitignore": b"ignored.py\n",
            "ignored.py": b"x",
        },
    )
    if with_git:
        git(root, "init", "-q", "--template=")
    (root / "link.py").symlink_to("a.py")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "pipe")
    committed(root / "inner", {"x.py": b"x"})
    source = open_source(root, ignore=["gen/", "*.tmp"], max_file_bytes=100)
    assert [entry.path for entry in source.entries()] == [".gitignore", "a.py", "src/b.py"]
    expected = [
        ("big.py", "too_large"),
        ("d.tmp", "ignored_by_setting"),
        ("gen/c.py" if with_git else "gen/", "ignored_by_setting"),
        ("inner/", "nested_repository"),
        ("link.py", "symbolic_link"),
        ("loop", "symbolic_link"),
    ]
    if not with_git:  # git does not list what it cannot track
        expected.append(("pipe", "special_file"))
    assert reasons(source) == expected


def test_a_commit_keeps_links_and_submodules_out(tmp_path: Path) -> None:
    root = committed(tmp_path / "root", {"a.py": b"x", "big.py": b"x" * 101, "b.tmp": b"x"})
    (root / "link").symlink_to("a.py")
    git(root, "add", "link")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(root, "commit", "-q", "-m", "odd")
    source = open_source(root, "HEAD", ignore=["*.tmp"], max_file_bytes=100)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert reasons(source) == [
        ("b.tmp", "ignored_by_setting"),
        ("big.py", "too_large"),
        ("link", "symbolic_link"),
        ("module/", "nested_repository"),
    ]
    assert list(source.read(["big.py", "a.py", "missing", "link"])) == [
        ("big.py", None),
        ("a.py", b"x"),
        ("missing", None),
        ("link", None),
    ]


def test_the_work_tree_is_read_as_it_is_now(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": b"old", "gone.py": b"x", "dir/f.py": b"x", "was.py": b"x"})
    (root / "a.py").write_bytes(b"new")
    (root / "gone.py").unlink()
    (root / "was.py").unlink()
    (root / "was.py").mkdir()
    (root / "was.py" / "now.py").write_bytes(b"x")
    source = open_source(root)
    assert [entry.path for entry in source.entries()] == ["a.py", "dir/f.py", "was.py/now.py"]
    (root / "dir" / "f.py").unlink()
    (root / "dir").rmdir()
    assert list(source.read(["a.py", "dir/f.py"])) == [("a.py", b"new"), ("dir/f.py", None)]


def test_a_tracked_folder_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, {"deep/secret.py": b"secret"})
    root = committed(tmp_path / "root", {"dir/deep/secret.py": b"mine", "a.py": b"x"})
    source = open_source(root)
    assert [entry.path for entry in source.entries()] == ["a.py", "dir/deep/secret.py"]
    subprocess.run(["rm", "-r", str(root / "dir")], check=True)
    (root / "dir").symlink_to(outside)
    assert list(source.read(["dir/deep/secret.py"])) == [("dir/deep/secret.py", None)]
    again = open_source(root)
    assert [entry.path for entry in again.entries()] == ["a.py"]
    assert reasons(again) == [("dir", "symbolic_link")]


def test_folders_nobody_may_enter_are_recorded(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": b"x"})
    deep = os.fsencode(tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):  # deeper than a path can name
        os.mkdir(b"d" * 200, dir_fd=descriptor)
        inner = os.open(b"d" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
        deep += b"/" + b"d" * 200
    os.close(descriptor)
    source = open_source(tmp_path)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert [reason for _, reason in reasons(source)] == ["unreadable"]


def test_a_tracked_path_longer_than_the_system_allows_is_recorded(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": b"x"})
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:a.py"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()
    deep = "d/" * 3000 + "f.py"
    subprocess.run(
        ["git", "update-index", "--index-info"], cwd=root, check=True, input=f"100644 {blob}\t{deep}\n", text=True
    )
    source = open_source(root)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert reasons(source) == [(deep, "too_deep")]
    assert list(source.read([deep])) == [(deep, None)]


def test_a_path_below_too_many_folders_is_left_out_by_each_way_and_said(tmp_path: Path) -> None:
    fine, deep = "d/" * 100 + "fine.py", "d/" * 101 + "deep.py"
    files = {"a.py": b"x", fine: b"y", deep: b"z"}
    root = committed(tmp_path / "shop", files)
    ways: list[Source] = [open_source(root), open_source(root, rev="HEAD"), MemorySource(files)]
    for source in ways:
        assert [entry.path for entry in source.entries()] == ["a.py", fine]
        assert reasons(source) == [(deep, "too_deep")]
    folder = WorktreeSource(root, NoGit.NO_REPOSITORY)
    assert [entry.path for entry in folder.entries()] == ["a.py", fine]
    assert reasons(folder) == [("d/" * 101, "too_deep")]
    for told in (*ways[:2], folder):
        assert [(notice.code, notice.message.partition(" (the")[0]) for notice in told.notices()] == [
            ("paths_too_deep", "Files below more than 100 folders are not read: 1")
        ]
    for quiet in (
        open_source(root, ignore=["d"]),
        open_source(root, rev="HEAD", ignore=["d/d/d/"]),
        MemorySource(files, ignore=["d"]),
    ):
        assert [entry.path for entry in quiet.entries()] == ["a.py"]
        assert {reason for _, reason in reasons(quiet)} == {"ignored_by_setting"}
        assert quiet.notices() == []


def test_a_commit_with_a_tree_of_3000_folders_is_read_without_it(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": b"x"})
    path = "d/" * 3000 + "m.py"
    text = "commit refs/heads/deep\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\nfrom main\n"
    text += f"M 100644 inline {path}\ndata 1\ny\n"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, check=True, input=text, text=True)
    source = open_source(root, rev="deep")
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert reasons(source) == [(path, "too_deep")]


def test_a_folder_its_repository_ignores_is_a_folder_without_git(tmp_path: Path) -> None:
    root = committed(tmp_path, {".gitignore": b".venv/\n", "a.py": b"x"})
    write(root, {".venv/lib/pkg/mod.py": b"x", "plain/b.py": b"x"})
    inside = open_source(root / ".venv" / "lib" / "pkg")
    assert [entry.path for entry in inside.entries()] == ["mod.py"]
    assert (inside.commit, inside.describe()) == ("", "pkg")
    assert open_source(root / "plain").commit != ""


def test_without_git_the_repositorys_rules_hold_and_the_source_says_so(tmp_path: Path) -> None:
    root = committed(tmp_path, {".gitignore": b"*.log\n", "src/a.py": b"x"})
    write(root, {"src/b.log": b"x"})
    source = WorktreeSource(root / "src", NoGit.NO_BINARY)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert [notice.code for notice in source.notices()] == ["git_missing"]


def test_a_damaged_repository_is_read_as_a_folder_and_says_so(tmp_path: Path) -> None:
    root = committed(tmp_path, {".gitignore": b"*.log\n", "a.py": b"x"})
    write(root, {"b.log": b"x"})
    (root / ".git" / "config").write_text("[core\n")
    source = open_source(root)
    assert [entry.path for entry in source.entries()] == [".gitignore", "a.py"]
    assert (source.commit, list(source.history())) == ("", [])
    assert [notice.code for notice in source.notices()] == ["git_failed"]


def test_a_history_that_breaks_off_is_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": b"1"})
    first = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()
    write(root, {"a.py": b"2"})
    git(root, "commit", "-q", "-am", "second")
    (root / ".git" / "objects" / first[:2] / first[2:]).unlink()
    source = open_source(root)
    assert list(source.history()) == []
    assert [notice.code for notice in source.notices()] == ["history_incomplete"]


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "ring").symlink_to("ring")
    root = committed(tmp_path / "root", {"a.py": b"x"})
    git(tmp_path, "clone", "-q", "--bare", "root", "bare.git")
    cases: list[tuple[Path, str | None, str]] = [
        (tmp_path / "missing", None, "NO_SUCH_FOLDER"),
        (tmp_path / "file", None, "NOT_A_DIRECTORY"),
        (tmp_path / "ring", None, "UNREADABLE_FOLDER"),
        (Path("a\0b"), None, "UNREADABLE_FOLDER"),
        (tmp_path, "HEAD", "NO_REPOSITORY"),
        (root, "nonsense", "UNKNOWN_REVISION"),
        (root / ".git" / "objects", "HEAD", "UNKNOWN_REVISION"),
        (tmp_path / "bare.git", None, "BARE_REPOSITORY"),
    ]
    for path, rev, code in cases:
        with pytest.raises(RepositoryError) as error:
            open_source(path, rev)
        assert (error.value.code, bool(error.value.hint)) == (code, True)
    assert [entry.path for entry in open_source(tmp_path / "bare.git", "main").entries()] == ["a.py"]


def test_a_folder_removed_after_it_was_opened(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    source = open_source(tmp_path / "root")
    (tmp_path / "root").rmdir()
    assert list(source.read(["a"])) == [("a", None)]
    with pytest.raises(RepositoryError, match=r"cannot read .*root: No such file"):
        source.entries()


def test_a_commit_source_takes_any_git(tmp_path: Path) -> None:
    root = committed(tmp_path, {"src/a.py": b"x"})
    found = Git.discover(root / "src")
    assert isinstance(found, Git)
    assert contents(CommitSource(found, "HEAD")) == [("a.py", 1, b"x")]


def test_git_waits_for_nobody_who_works_on_what_it_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{number}.py": b"x" * number for number in range(1, 9)}
    source = open_source(committed(tmp_path, files), rev="HEAD")
    monkeypatch.setattr("secateur.sources.commit.READ_AHEAD_BYTES", 7)
    read = {}
    for path, content in source.read(["none.py", *files, "none.py"]):
        read[path] = content
        deadlines = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
        assert all(deadline.finished.is_set() for deadline in deadlines)
    assert read == files | {"none.py": None}


def test_an_object_that_cannot_be_read_costs_what_comes_after_it_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{number}.py": b"x" * number for number in range(1, 5)}
    root = committed(tmp_path, files)
    source = open_source(root, rev="HEAD")
    oid = {entry.path: entry.token for entry in source.entries()}["3.py"]
    damaged = root / ".git" / "objects" / oid[:2] / oid[2:]
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-4])
    monkeypatch.setattr("secateur.sources.commit.READ_AHEAD_BYTES", 1)
    assert list(source.read(list(files))) == [("1.py", b"x"), ("2.py", b"xx"), ("3.py", None), ("4.py", None)]
    assert [notice.code for notice in source.notices()] == ["git_failed", "unread_files"]
