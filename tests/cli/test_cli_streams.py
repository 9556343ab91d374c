"""Every command where its streams or its working folder are gone: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import secateur
from support.processes import environment
from support.repos import QUERY, SHOP, committed, git

RELATIVE = [
    *(
        ["search", "total"],
        ["search", "total", "--rev", "HEAD"],
        ["files", "a.py", "--query", "total"],
        ["files", ".", "--strategy", "delete"],
    ),
    *(
        ["conversation", "session.jsonl"],
        ["envelope", "e.json", "--model", "gpt-4o"],
        ["chunk"],
        ["chunk", "--worktree"],
        ["chunk", "--diff", "d"],
    ),
    *(
        ["index"],
        ["index", "--clear"],
        ["status"],
        ["status", "--check"],
        ["inspect"],
        ["inspect", "--bench", "files", "--query", "total"],
        ["inspect", "a.py"],
    ),
    ["inspect", "--bench", "conversation"],
]


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("words", RELATIVE, ids=" ".join)
def test_in_a_folder_that_was_removed_a_relative_path_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], format: str
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    ran = secateur(*words, "--format", format)
    assert ran.code == 1
    assert ran.err.count("error: ") == 1
    assert "unexpected" not in ran.err
    assert "git was not found" not in ran.err


def test_in_a_folder_that_was_removed_other_folders_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = committed(tmp_path / "shop", SHOP)
    git(root, "commit", "-q", "--allow-empty", "-m", "Nothing")
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for words in (
        ["search", QUERY, root],
        ["chunk", root, "--base", "HEAD~1"],
        ["status", root],
        ["index", root],
        ["config", root],
        ["inspect", root],
    ):
        ran = secateur(*words)
        assert ran.code == 0, ran.err


TO_NOBODY = "import sys; from secateur.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize("way", ["closed", "full"])
@pytest.mark.parametrize("format", ["text", "json"])
def test_output_that_cannot_be_written_is_an_error_in_words(tmp_path: Path, way: str, format: str) -> None:
    root = committed(tmp_path / "shop", SHOP)
    words = [
        sys.executable,
        "-c",
        TO_NOBODY,
        "search",
        QUERY,
        str(root),
        "--counter",
        "chars4",
        "--set",
        "embedding.model=none",
        "--format",
        format,
    ]
    shell = ["sh", "-c", '"$@" >&-' if way == "closed" else '"$@" >/dev/full', "sh", *words]
    done = subprocess.run(shell, env=environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write the output")
    assert "Traceback" not in done.stderr


def test_without_any_stream_a_command_still_ends_as_it_should(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    words = [
        sys.executable,
        "-c",
        TO_NOBODY,
        "status",
        str(root),
        "--counter",
        "chars4",
        "--set",
        "embedding.model=none",
    ]
    assert (
        subprocess.run(
            ["sh", "-c", '"$@" 2>&-', "sh", *words],
            env=environment(),
            stdout=subprocess.DEVNULL,
            check=False,
            timeout=120,
        ).returncode
        == 0
    )


def test_an_error_of_chunk_names_the_repository(tmp_path: Path) -> None:
    """Where the diff is made is a temporary folder of ours, gone when the error is read."""
    root = committed(tmp_path / "shop", SHOP)
    (root / "shop" / "money.py").write_text("x\n")
    git(root, "commit", "-qam", "Change")
    tree = git(root, "rev-parse", "HEAD:shop")
    missing = git(root, "rev-parse", "HEAD:shop/money.py")
    for oid in (tree, missing):
        (root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    ran = secateur("chunk", root, "--base", "HEAD~1")
    assert ran.code == 1
    assert str(root) in ran.err
    assert "secateur-" not in ran.err
