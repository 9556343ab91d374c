"""What of a source cannot be read is told by search and status."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.cli import secateur
from support.repos import committed, git, write
from support.systems import IS_ROOT


def test_a_file_that_cannot_be_read_is_named_by_search_and_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "shop", {"a.py": "def settle(): ...\n", "b.py": "def settle_all(): ...\n"})
    if IS_ROOT:  # nothing can be forbidden us; a file that the system fails to open is one all the same
        opened = os.open

        def refuse(path: object, *more: object, **named: object) -> int:
            if os.fspath(path) in ("b.py", b"b.py"):  # type: ignore[call-overload]
                raise PermissionError(13, "Permission denied")
            return opened(path, *more, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refuse)
    else:
        (root / "b.py").chmod(0)
    for _ in range(2):
        ran = secateur("search", "settle", root, "--format", "json").json
        assert [one["message"] for one in ran["warnings"] if one["code"] == "unread_files"] == [
            "1 file cannot be read: b.py."
        ]
    status = secateur("status", root, "--format", "json").json
    assert ["b.py", "unreadable"] in status["skipped_paths"]


def test_files_that_a_sparse_checkout_leaves_out_are_told(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", {"a/a.py": "def settle(): ...\n", "b/b.py": "def settle_all(): ...\n"})
    git(root, "sparse-checkout", "set", "a")
    warnings = secateur("search", "settle", root, "--format", "json").json["warnings"]
    assert ["without b/b.py" in one["message"] for one in warnings if one["code"] == "sparse_checkout"] == [True]
    assert ["b/b.py", "not_checked_out"] in secateur("status", root, "--format", "json").json["skipped_paths"]
    git(root, "sparse-checkout", "disable")
    (root / "b/b.py").unlink()  # deleted, and nobody asked for less
    assert secateur("status", root, "--format", "json").json["skipped_paths"] == []


def test_a_commit_of_a_partial_clone_is_read_without_what_is_missing(tmp_path: Path) -> None:
    up = committed(tmp_path / "up", {"a.py": "def settle(): ...\n", "b.py": "def settle_all(): ...\n"})
    write(up, {"b.py": "def settle_none(): ...\n"})
    git(up, "commit", "-q", "-a", "-m", "Other")
    git(up, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{up.as_posix()}", "part")
    ran = secateur("search", "settle", tmp_path / "part", "--rev", "HEAD~1", "--format", "json").json
    assert {row["file_path"] for row in ran["candidates"]} == {"a.py"}
    (message,) = [one["message"] for one in ran["warnings"] if one["code"] == "unread_files"]
    assert message.startswith("1 file cannot be read: b.py. This is a partial clone")
    assert "`git fetch --refetch --no-filter`" in message
