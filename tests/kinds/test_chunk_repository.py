"""`chunk_repository`: the chunks of what changed in a repository, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur import RepositoryError, chunk_repository
from support.cli import secateur
from support.repos import committed, git, write


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = committed(tmp_path / "shop", {"a.py": "a = 1\n", "b.py": "b = 1\n", "AGENTS.md": "Test first.\n"})
    write(root, {"a.py": "a = 2\n", "b.py": "b = 2\n"})
    git(root, "commit", "-q", "-a", "-m", "Two")
    return root


def test_it_gives_the_chunks_of_the_command(shop: Path) -> None:
    chunks = chunk_repository(shop, "HEAD~1", "HEAD", skill="Review it.\n", ignore=["b.py"])
    assert [(entry.path, entry.state) for entry in chunks.coverage] == [("a.py", "whole"), ("b.py", "left_out")]
    assert "## Project Rules\nTest first.\n\n## Instructions\nReview it.\n" in chunks[0].text
    (shop / "own.md").write_text("Review it.\n")
    words = ("--base", "HEAD~1", "--head", "HEAD", "--skill", shop / "own.md", "--ignore", "b.py")
    assert secateur("chunk", shop, *words, "--format", "markdown").out == "".join(chunk.text for chunk in chunks)


def test_rules_are_those_of_the_call_where_it_gives_some(shop: Path) -> None:
    assert "Rules" not in chunk_repository(shop, "HEAD~1", rules="")[0].text
    assert "## Project Rules\nNo tabs.\n" in chunk_repository(shop, "HEAD~1", rules="No tabs.\n")[0].text


def test_what_cannot_be_compared_is_an_error(shop: Path) -> None:
    with pytest.raises(RepositoryError, match="nowhere"):
        chunk_repository(shop, "nowhere")
