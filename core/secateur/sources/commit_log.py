"""The history of a source whose files are in a git repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from secateur.errors import RepositoryError
from secateur.sources.git import Git, HistoryCommit
from secateur.sources.source import HISTORY_INCOMPLETE, TOKEN_BYTES

_SHORT_ID = 7  # of a commit id, on the screen


def title(root: Path, commit: str) -> str:
    name = root.name or str(root)
    return f"{name} @ {commit[:_SHORT_ID]}" if commit else name


def history(git: Git | None, commit: str, limit: int, note: Callable[[str, str], None]) -> Iterator[HistoryCommit]:
    """History as far as it can be read; what stopped it becomes a notice."""
    if git is None or not commit:
        return
    try:
        yield from git.history(commit, limit=limit)
    except RepositoryError as error:
        note(HISTORY_INCOMPLETE, f"hotspots know only a part of the history: {error.message}")


def history_id(git: Git | None, commit: str) -> str:
    if git is None or not commit:
        return ""
    shallow = git.shallow()
    return f"{commit}:{blake2b(shallow, digest_size=TOKEN_BYTES).hexdigest()}" if shallow else commit


def news(git: Git | None, base: str, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
    """The commits between two; None where one did not lead to the other, there are too many, or git does not say."""
    if git is None or not commit:
        return None
    with suppress(RepositoryError):  # the base may be gone: everything is read anew
        if git.merge_base(base, commit) == base:
            commits = list(git.history(commit, limit=limit + 1, since=base))
            linear = git.is_linear(base, commit)
            if len(commits) <= limit and (
                linear or not git.prefix
            ):  # of merges below a folder git leaves out whole branches
                return commits, linear
    return None
