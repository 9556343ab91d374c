"""What is read of diffs as git and `diff` write them: every kind of change, every way of naming a file, and the text
byte for byte."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from secateur.kinds.diff.changes import Diff, Treatment
from secateur.kinds.diff.diff_parser import parse_diff
from support.diffs import PLAIN
from support.repos import git, write

ODD_NAMES = [
    b"a b.txt",
    b"line\nbreak.txt",
    b'quo"te.txt',
    b"caf\xe9.txt",
    "订单.txt".encode(),
    b"tab\t.txt",
    b"-dash.txt",
    b"back\\slash.txt",
    b"b/x.txt",
    b" ",
]


def diff_of(root: Path, *flags: str) -> bytes:
    """What git prints for the commit at the top of a repository."""
    return subprocess.run(
        ["git", "-c", "core.quotePath=false", "diff", *flags, "HEAD~1", "HEAD"],
        cwd=root,
        env=PLAIN,
        check=True,
        capture_output=True,
    ).stdout


def text_of(diff: Diff) -> bytes:
    return "".join(change.text for change in diff.changes).encode("utf-8", "surrogateescape")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One commit with a change of every kind."""
    root = tmp_path_factory.mktemp("kinds")
    lines = "".join(f"line {number}\n" for number in range(30))
    write(
        root,
        {
            "old.txt": lines,
            "gone.txt": "bye\n",
            "mode.sh": "#!/bin/sh\n",
            "bin.dat": bytes(range(256)),
            "crlf.txt": "one\r\ntwo\r\n",
            "turns.txt": "x\n",
        },
    )
    write(
        root,
        {
            "latin.txt": b"caf\xe9\n",
            "last.txt": "no newline",
            "plain.py": lines,
            "deep/er/a.py": "a\n",
            "feed.c": "a\n\x0c\nb\x0b\n",
        },
    )
    write(root, {f"odd/{os.fsdecode(name)}": "one\n" for name in ODD_NAMES})
    git(root, "init", "-q", "-b", "main", "--template=")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    git(root, "mv", "old.txt", "new.txt")
    (root / "new.txt").write_text(lines.replace("line 7\n", "line seven\n"))
    git(root, "rm", "-q", "gone.txt")
    (root / "mode.sh").chmod(0o755)
    (root / "bin.dat").write_bytes(bytes(range(255, -1, -1)))
    (root / "crlf.txt").write_bytes(b"one\r\nTWO\r\n")
    (root / "turns.txt").unlink()
    (root / "turns.txt").symlink_to("plain.py")
    (root / "latin.txt").write_bytes(b"caf\xe9s\n")
    (root / "last.txt").write_text("still none")
    (root / "plain.py").write_text(lines.replace("line 3\n", "line three\n").replace("line 25\n", ""))
    (root / "empty.txt").write_text("")
    (root / "feed.c").write_bytes(b"a\n\x0c\nc\x0b\x85\n")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    write(root, {f"odd/{os.fsdecode(name)}": "two\n" for name in ODD_NAMES})
    git(root, "add", "-A", "--", ":!sub")
    git(root, "commit", "-q", "-m", "Change")
    return root


def test_every_kind_of_change(repository: Path) -> None:
    diff = parse_diff(diff_of(repository))
    found = {change.path: change for change in diff.changes if not change.path.startswith("odd/")}
    assert {path: change.treatment for path, change in found.items()} == {
        "new.txt": Treatment.RENAMED,
        "gone.txt": Treatment.DELETED,
        "mode.sh": Treatment.MODE,
        "bin.dat": Treatment.MODIFIED,
        "crlf.txt": Treatment.MODIFIED,
        "turns.txt": Treatment.TYPE,
        "latin.txt": Treatment.MODIFIED,
        "last.txt": Treatment.MODIFIED,
        "plain.py": Treatment.MODIFIED,
        "empty.txt": Treatment.ADDED,
        "feed.c": Treatment.MODIFIED,
        "sub": Treatment.ADDED,
    }
    assert found["new.txt"].old_path == "old.txt"
    assert [path for path, change in found.items() if change.binary] == ["bin.dat"]
    assert (found["plain.py"].added, found["plain.py"].removed, len(found["plain.py"].patches[0].hunks)) == (1, 2, 2)
    assert len(found["turns.txt"].patches) == 2
    assert "160000" in found["sub"].patches[0].modes
    assert diff.outside == ()


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--no-renames"],
        ["--no-prefix"],
        ["--src-prefix=i/", "--dst-prefix=w/"],
        ["-R"],
        ["--full-index", "--binary"],
        ["-U0"],
        ["-U99"],
        ["--submodule=log"],
        ["--find-copies-harder"],
    ],
)
def test_names_and_bytes_are_those_of_git(repository: Path, flags: list[str]) -> None:
    raw = diff_of(repository, *flags)
    diff = parse_diff(raw)
    assert text_of(diff) == raw
    listed = diff_of(
        repository, "--name-only", "-z", *[flag for flag in flags if "renames" in flag or "copies" in flag]
    ).split(b"\0")[:-1]
    expected = {path.decode("utf-8", "surrogateescape") for path in listed}
    if "-R" in flags:
        expected = expected - {"new.txt"} | {"old.txt"}
    assert {change.path for change in diff.changes} == expected
    assert len(diff) == len(expected)


def test_counts_are_those_of_git(repository: Path) -> None:
    fields = diff_of(repository, "--numstat", "-z", "--no-renames").split(b"\0")[:-1]
    said = {}
    for field in fields:
        added, removed, path = field.split(b"\t", 2)
        said[path.decode("utf-8", "surrogateescape")] = (int(added), int(removed)) if added != b"-" else (0, 0)
    diff = parse_diff(diff_of(repository, "--no-renames"))
    assert {change.path: (change.added, change.removed) for change in diff.changes} == said


def test_the_sides_are_the_lines_of_the_files(repository: Path) -> None:
    diff = parse_diff(diff_of(repository, "-U99", "--text"))
    for change in diff.changes:
        if change.treatment is Treatment.MODIFIED and not change.path.startswith("odd/"):
            content = (repository / change.path).read_bytes().decode("utf-8", "surrogateescape")
            numbers, lines = zip(*change.side(new=True), strict=True)
            assert list(lines) == content.removesuffix("\n").split("\n")
            assert list(numbers) == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(("kind", "treatment"), [("rename", Treatment.RENAMED), ("copy", Treatment.COPIED)])
def test_names_with_blanks_are_those_of_the_lines_that_say_them(kind: str, treatment: Treatment) -> None:
    """The first line can be parted in several places."""
    diff = f"diff --git a/x b/x b/y b/x b/z\nsimilarity index 100%\n{kind} from x b/x\n{kind} to y b/x b/z\n"
    (change,) = parse_diff(diff).changes
    (patch,) = change.patches
    assert (patch.old_path, patch.path, patch.treatment) == ("x b/x", "y b/x b/z", treatment)


def test_a_merge_is_read_with_all_its_parents() -> None:
    diff = parse_diff(
        "commit 0123\nMerge: 1 2\n\n    A message\n\ndiff --cc a b.py\nindex 1,2..3\n--- a/a b.py\n+++ b/a b.py\n"
        "@@@ -1,4 -1,3 +1,4 @@@ def f():\n  one\n- two\n -zwei\n++deux\n +trois\n  four\n"
    )
    (change,) = diff.changes
    assert (change.path, change.added, change.removed) == ("a b.py", 2, 2)
    rows = change.patches[0].hunks[0].rows()
    assert [row.old for row in rows] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
        (True, False),
        (True, True),
    ]
    assert [row.new for row in rows] == [True, False, False, True, True, True]
    assert diff.outside == ((1, 5),)


def test_a_plain_diff_needs_no_git() -> None:
    raw = (
        "diff -ruN old/a b.c new/a b.c\n--- old/a b.c\t2024-01-01 10:00:00.0 +0100\n+++ new/a b.c\t2024-01-02"
        " 10:00:00.0 +0100\n@@ -1 +1,2 @@\n-x\n+y\n+z\nOnly in new: more.c\nIndex:"
        " trunk/b.c\n===================================================================\n--- trunk/b.c\t(revision"
        " 1)\n+++ trunk/b.c\t(working copy)\n@@ -3,0 +4 @@\n+new\nBinary files old/p.png and new/p.png differ\n---"
        " /dev/null\t1970-01-01\n+++ c.c\t2024\n@@ -0,0 +1 @@\n+c\n"
    )
    diff = parse_diff(raw)
    assert [(change.path, change.treatment, change.added, change.binary) for change in diff.changes] == [
        ("new/a b.c", Treatment.MODIFIED, 2, False),
        ("trunk/b.c", Treatment.MODIFIED, 1, False),
        ("new/p.png", Treatment.MODIFIED, 0, True),
        ("c.c", Treatment.ADDED, 1, False),
    ]
    assert diff.outside == ((8, 1),)


def test_patches_by_mail_that_touch_a_file_twice_are_one_change() -> None:
    mail = (
        "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH 1/2] One\n\n--- looks like a name\n---\n"
        " a.py | 2 +-\n\ndiff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1"
        " @@\n-{0}\n+{1}\n-- \n2.39.5\n\n"
    )
    diff = parse_diff(mail.format("x", "y") + mail.format("y", "z"))
    (change,) = diff.changes
    assert (len(change.patches), change.added, change.removed) == (2, 2, 2)
    assert sum(lines for _, lines in diff.outside) == 22


def test_the_log_of_a_submodule_is_one_change() -> None:
    raw = (
        "Submodule libs/a b 0123456..789abcd:\n  > One\n  < Two\nSubmodule c 0123456...789abcd (commits not present)\n"
    )
    diff = parse_diff(raw)
    assert [(change.path, change.patches[0].line) for change in diff.changes] == [("libs/a b", 1), ("c", 4)]
    assert text_of(diff).decode() == raw


def test_text_in_the_hunks_is_not_taken_for_structure() -> None:
    body = "-- a/x\n+++ b/x\n+diff --git a/q b/q\n @@ -1 +1 @@\n-Binary files a and b differ\n+\n"
    raw = f"diff --git a/doc.md b/doc.md\n--- a/doc.md\n+++ b/doc.md\n@@ -1,3 +1,4 @@\n-{body}"
    (change,) = parse_diff(raw).changes
    assert (change.path, change.added, change.removed) == ("doc.md", 3, 2)


def test_line_ends_and_marks_of_order_are_no_obstacle() -> None:
    raw = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n\n-two\n+2\n"
    for data in (
        raw.encode(),
        raw.encode("utf-8-sig"),
        raw.encode("utf-16"),
        raw.replace("\n", "\r\n").encode(),
        raw.rstrip("\n").encode(),
    ):
        (change,) = parse_diff(data).changes
        assert (change.path, change.added, change.removed) == ("a.txt", 1, 1)


def test_nothing_is_a_diff_of_nothing() -> None:
    for text in ("", "\n", "  \n\n"):
        assert len(parse_diff(text)) == 0


def test_names_in_other_scripts_go_out_as_letters() -> None:
    quoted = '"{}/\\351\\200\\200\\346\\254\\276.py"'
    head = f"diff --git {quoted.format('a')} {quoted.format('b')}\n--- {quoted.format('a')}\n+++ {quoted.format('b')}\n"
    change = parse_diff(f'{head}@@ -1 +1 @@\n---- "\\351"\n+x\n').changes[0]
    assert change.path == "退款.py"
    assert change.text.startswith("diff --git a/退款.py b/退款.py\n--- a/退款.py\n+++ b/退款.py\n")
    assert '"\\351"' in change.text
    tab = parse_diff('diff --git "a/x\\ty" "b/x\\ty"\n--- "a/x\\ty"\n+++ "b/x\\ty"\n@@ -1 +1 @@\n-a\n+b\n').changes[0]
    assert tab.path == "x\ty"
    assert '+++ "b/x\\ty"' in tab.text
