"""Finds the commit of HEAD from a repository's files, without git: every search needs it, for each repository of a
workspace.

Cases that only git can resolve (another format of references, a HEAD without a commit) are left to git.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from secateur.sources.provenance import small_file

HEAD = "HEAD"

_COMMIT = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SYMBOLIC = re.compile(rb"ref:[ \t]*(refs/[^\x00-\x20\x7f:?*\[\\^~]+)\n?")
_MOST_LINKS = 5
"""Most symbolic references in a row, as in git."""

_PACKED_BYTES = 16 << 20  # two hundred thousand references


def common_folder(git_dir: Path) -> Path:
    """Returns the folder that all work trees of a repository share."""
    common = small_file(git_dir / "commondir").strip()
    return git_dir / os.fsdecode(common) if common else git_dir


def head_commit(git_dir: Path) -> str | None:
    """Returns the commit id that HEAD leads to; None if the files do not say it plainly."""
    content, common = small_file(git_dir / HEAD), common_folder(git_dir)
    for _ in range(_MOST_LINKS):
        if _COMMIT.fullmatch(content):
            return content.strip().decode("ascii")
        reference = _SYMBOLIC.fullmatch(content)
        if reference is None or b".." in reference[1] or not (common / "refs").is_dir():
            return None
        loose_file = common / os.fsdecode(reference[1])
        content = small_file(loose_file) if os.path.lexists(loose_file) else _read_packed_ref(common, reference[1])
    return None


def _read_packed_ref(common: Path, name: bytes) -> bytes:
    """Returns the id of a reference from the file of packed references; b"" if it is not there."""
    content = small_file(common / "packed-refs", _PACKED_BYTES)
    end = content.find(b" " + name + b"\n")
    return content[content.rfind(b"\n", 0, end) + 1 : end] if end >= 0 else b""
