"""The log of a repository with whole messages, and diffs of named files."""

from __future__ import annotations

from pathlib import Path

from secateur.sources.git import Git
from support.repos import committed, git, write

ODD = "/looks like\n\na commit\n/0000 of the log"


def opened(root: Path) -> Git:
    found = Git.discover(root)
    assert isinstance(found, Git)
    return found


def history(tmp_path: Path) -> Path:
    root = committed(tmp_path / "repo", {"a.py": "a\n", "sub/b.py": "b\n"})
    git(root, "checkout", "-q", "-b", "side")
    write(root, {"sub/b.py": "b2\n", "sub/odd *\tname.py": "c\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", ODD, time=1_750_000_100)
    git(root, "checkout", "-q", "-")
    write(root, {"a.py": "a2\n"})
    git(root, "commit", "-qam", "Other", time=1_750_000_200)
    git(root, "merge", "-q", "--no-ff", "-m", "Join", "side", time=1_750_000_300)
    return root


def test_messages_parents_and_paths_whatever_they_hold(tmp_path: Path) -> None:
    root = history(tmp_path)
    join, other, odd, first = opened(root).log("HEAD")
    assert [one.message.strip() for one in (join, other, odd)] == ["Join", "Other", ODD]
    assert (join.parents, join.paths) == ((other.id, odd.id), ())
    assert (odd.parents, odd.time) == ((first.id,), 1_750_000_100)
    assert odd.paths == ("sub/b.py", "sub/odd *\tname.py")
    assert first.parents == ()
    assert [one.id for one in opened(root).log("HEAD", limit=2)] == [join.id, other.id]


def test_a_folder_has_the_log_of_what_is_below_it(tmp_path: Path) -> None:
    root = history(tmp_path)
    assert [(one.message.partition("\n")[0], one.paths) for one in opened(root / "sub").log("HEAD") if one.paths] == [
        ("/looks like", ("b.py", "odd *\tname.py")),
        (git(root, "log", "--format=%s", "--max-parents=0"), ("b.py",)),
    ]


def test_the_diff_of_named_files_takes_names_as_they_are(tmp_path: Path) -> None:
    root = history(tmp_path)
    found = opened(root).diff("HEAD~1^", "side", context=0, paths=["sub/odd *\tname.py"]).decode()
    assert found.count("diff --git") == 1
    assert "+c\n" in found
    assert opened(root).diff("HEAD~1^", "side", paths=["sub/*.py"]) == b""
    assert b"b2" in opened(root / "sub").diff("HEAD~1^", "side", paths=["b.py"])
