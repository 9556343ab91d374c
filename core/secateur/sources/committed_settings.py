"""A repository's own settings as a commit has them, if files on disk are missing or must not count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from secateur.errors import RepositoryError
from secateur.settings import FILE_NAME, MAX_FILE_BYTES, PROJECT_NAME, Committed
from secateur.sources.git import Git, TreeEntry
from secateur.sources.provenance import clone_at

SETTINGS_FILES = (FILE_NAME, PROJECT_NAME)

_PLAIN_MODES = (0o100644, 0o100755)
_SHORT = 10


def read_committed_settings(folder: Path) -> Committed | None:
    """Returns the settings in the HEAD of a clone; None for any other folder, whose settings are on disk."""
    if clone_at(folder) is None:
        return None
    git = Git.discover(folder)
    if not isinstance(git, Git):
        return None
    try:
        head = git.head()
        return read_settings_at(git, head, git.ls_tree(head)) if head else None
    except RepositoryError:  # reading the files reports it
        return None


def read_settings_at(git: Git, commit: str | None, entries: Sequence[TreeEntry]) -> Committed:
    """Returns the configuration files among the entries of a commit; empty without a commit."""
    wanted = [entry for entry in entries if entry.path in SETTINGS_FILES and entry.mode in _PLAIN_MODES]
    contents = git.blobs([entry.oid for entry in wanted], max_bytes=MAX_FILE_BYTES) if wanted else iter(())
    files = {entry.path: content for entry, content in zip(wanted, contents, strict=True) if content is not None}
    return Committed(files, f"at {commit[:_SHORT]}" if commit else "before the first commit")
