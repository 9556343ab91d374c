"""Tells without git whether a repository has changed since its newest commit was read: compares the files that name
the commit, limit its history, and hold the rules for reading it.

A repository's own settings as a commit has them, if files on disk are missing or must not count.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from secateur.errors import RepositoryError
from secateur.settings import FILE_NAME, MAX_FILE_BYTES, PROJECT_NAME, Committed, Index
from secateur.sources.git import SHALLOW_BYTES, Git, TreeEntry
from secateur.sources.provenance import HEAD, RECORD, clone_at, head_commit, small_file

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


_DIGEST_BYTES = 16


class CommitLook(Struct, frozen=True):
    """The state of a repository in its own files; equal looks mean equal contents."""

    root: Path  # links resolved
    commit: str
    digest: str  # of everything that matters


def read_commit_look(folder: Path, rev: str | None, rules: Index) -> CommitLook | None:
    """Returns the look of a folder at a revision; None if only git or a listing can tell.

    Only HEAD is supported: of a bare repository, of a clone in the cache, or of a folder with its own `.git` folder.
    `rules`: the user's; rules from the repository's own files are compared as file contents.
    """
    root = os.path.realpath(folder)
    clone_record = small_file(Path(root, RECORD))
    if rev != HEAD and (rev is not None or not clone_record):
        return None
    inner = os.path.join(root, ".git")  # noqa: PTH118 - asked of every repository at every search
    if os.path.islink(inner) or os.path.isfile(inner):  # noqa: PTH113, PTH114
        return None
    git_dir = Path(inner if os.path.isdir(inner) else root)  # noqa: PTH112
    commit = None if os.path.lexists(git_dir / "commondir") else head_commit(git_dir)
    if commit is None:
        return None
    shallow = small_file(git_dir / "shallow", SHALLOW_BYTES)
    evidence: list[object] = [root, str(git_dir), rev, repr(rules), commit, clone_record, shallow]
    for name in (FILE_NAME, PROJECT_NAME) if not clone_record else ():  # a clone takes its settings from its commit
        path = os.path.join(root, name)  # noqa: PTH118
        content = os.path.islink(path), small_file(Path(path), MAX_FILE_BYTES + 1)  # noqa: PTH114
        evidence.append(content if os.path.lexists(path) else None)
    return CommitLook(Path(root), commit, blake2b(repr(evidence).encode(), digest_size=_DIGEST_BYTES).hexdigest())
