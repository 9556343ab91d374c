"""A repository's own settings as a commit has them: where no files are on disk, or those there must not count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from secateur.errors import RepositoryError
from secateur.settings import FILE_NAME, MAX_FILE_BYTES, PROJECT_NAME, Committed
from secateur.sources.clone_record import clone_at
from secateur.sources.git import Git, TreeEntry

SETTINGS_FILES = (FILE_NAME, PROJECT_NAME)

_PLAIN_MODES = (0o100644, 0o100755)
_SHORT = 10


def committed_settings(folder: Path) -> Committed | None:
    """The settings of a clone of ours, as its HEAD has them; None for any other folder: its files are on disk."""
    if clone_at(folder) is None:
        return None
    git = Git.discover(folder)
    if not isinstance(git, Git):
        return None
    try:
        head = git.head()
        return settings_at(git, head, git.ls_tree(head)) if head else None
    except RepositoryError:  # who reads the files says so
        return None


def settings_at(git: Git, commit: str | None, entries: Sequence[TreeEntry]) -> Committed:
    """The configuration files among the entries of a commit; none where there is no commit."""
    wanted = [entry for entry in entries if entry.path in SETTINGS_FILES and entry.mode in _PLAIN_MODES]
    contents = git.blobs([entry.oid for entry in wanted], max_bytes=MAX_FILE_BYTES) if wanted else iter(())
    files = {entry.path: content for entry, content in zip(wanted, contents, strict=True) if content is not None}
    return Committed(files, f"at {commit[:_SHORT]}" if commit else "before the first commit")
