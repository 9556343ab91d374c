"""The histories of the sample repositories, commit by commit: nothing lost, nothing repeated, and what leaves makes the
next commit again."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from secateur.kinds.diff.chunks import chunk_diff
from secateur.sources.samples import materialise
from secateur.tokens import count_tokens
from support.diffs import PLAIN, git_apply

BLOCK = re.compile(r"^(`{3,})diff\n(.*?)^\1\n", re.MULTILINE | re.DOTALL)


def told(root: Path, *words: str) -> str:
    """What git says, to the byte."""
    return subprocess.run(["git", *words], cwd=root, env=PLAIN, check=True, capture_output=True).stdout.decode(
        "utf-8", "surrogateescape"
    )


@pytest.mark.parametrize("name", ["orders", "boards", "courier"])
def test_a_history_is_made_again_from_its_chunks(name: str, own_directories: Path, tmp_path: Path) -> None:
    root = materialise(name, own_directories / "cache")
    left: set[str] = set()
    for commit in told(root, "rev-list", "--reverse", "--first-parent", "HEAD").split():
        changed = ("diff-tree", "--root", "-m", "--first-parent", "-r", "-M", "--no-commit-id")
        diff = told(root, *changed, "-p", "--full-index", commit)
        chunks = chunk_diff(diff)
        assert sorted(entry.path for entry in chunks.coverage) == sorted(
            filter(None, told(root, *changed, "--name-only", "-z", commit).split("\0"))
        )
        assert all(chunk.tokens == count_tokens(chunk.text) <= 32_000 for chunk in chunks)
        assert {entry.state for entry in chunks.coverage} <= {"whole", "left_out"}
        left |= {entry.path for entry in chunks.coverage if entry.state == "left_out"}
        patches = [patch for chunk in chunks for _, patch in BLOCK.findall(chunk.text)]
        assert len(patches) == sum(entry.state == "whole" for entry in chunks.coverage) and all(
            patch in diff for patch in patches
        )
        if patches:
            git_apply(tmp_path, "".join(patches), "--whitespace=nowarn")
        if chunks:
            small = [chunk_diff(diff, 300) for _ in range(2)]
            assert small[0].output() == small[1].output()
            assert all(chunk.tokens == count_tokens(chunk.text) <= 300 for chunk in small[0])
    tracked = set(filter(None, told(root, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0"))) - left
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert there == tracked
    assert all(
        (tmp_path / path).read_bytes() == told(root, "show", f"HEAD:{path}").encode("utf-8", "surrogateescape")
        for path in tracked
    )
