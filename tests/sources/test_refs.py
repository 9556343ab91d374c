"""The commit of HEAD, as files tell it and as git does."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.sources.git import Git
from secateur.sources.provenance import head_commit
from support.repos import git as run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    run(tmp_path, "init", "-q", "-b", "main", "--template=")
    for number in (1, 2):
        (tmp_path / "one.py").write_text(f"x = {number}\n")
        run(tmp_path, "add", ".")
        run(tmp_path, "commit", "-q", "-m", f"{number}")
    return tmp_path


@pytest.mark.parametrize(
    "commands",
    [
        [],
        [["pack-refs", "--all"]],
        [["pack-refs", "--all"], ["update-ref", "refs/heads/main", "HEAD~1"]],
        [["branch", "topic/on-it", "HEAD~1"], ["symbolic-ref", "HEAD", "refs/heads/topic/on-it"]],
        [["symbolic-ref", "refs/heads/alias", "refs/heads/main"], ["symbolic-ref", "HEAD", "refs/heads/alias"]],
        [["checkout", "-q", "--detach", "HEAD~1"]],
    ],
)
def test_head_leads_where_git_says(repository: Path, commands: list[list[str]]) -> None:
    for command in commands:
        run(repository, *command)
    assert head_commit(repository / ".git") == run(repository, "rev-parse", "HEAD")


def test_a_further_work_tree_has_its_own_head(repository: Path) -> None:
    further = repository / "further"
    run(repository, "worktree", "add", "-q", str(further), "HEAD~1")
    git = Git.discover(further)
    assert isinstance(git, Git)
    assert head_commit(git.git_dir) == run(further, "rev-parse", "HEAD") != run(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    "head",
    [
        "",
        "ref: refs/heads/none\n",
        "ref: refs/../../elsewhere\n",
        "ref: /etc/passwd\n",
        "ref: HEAD\n",
        "ref: refs/heads/loop\n",
        "ref: refs/heads/empty\n",
        "123\n",
    ],
)
def test_what_files_do_not_say_plainly_is_left_to_git(repository: Path, head: str) -> None:
    folder = repository / ".git"
    (folder.parent.parent / "elsewhere").write_text("0" * 40)
    (folder / "refs/heads/loop").write_text("ref: refs/heads/loop\n")
    (folder / "refs/heads/empty").write_text("")
    (folder / "HEAD").write_text(head)
    assert head_commit(folder) is None


def test_it_is_seen_that_a_branch_moved(repository: Path) -> None:
    git = Git.discover(repository)
    assert isinstance(git, Git)
    commit = git.resolve("HEAD")
    assert git.names_still("HEAD", commit)
    assert git.names_still("main", commit)
    run(repository, "reset", "-q", "--hard", "HEAD~1")
    assert not git.names_still("HEAD", commit)
    assert not git.names_still("main", commit)
