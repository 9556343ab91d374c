"""Tells from a repository's files which commit its HEAD names, without git: asked at every search, and of every
repository of a workspace.

What git alone can make out (another kind of store of references, a HEAD that names no commit) is left to git.
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
"""Names that lead to a name, as many as git follows."""

_PACKED_BYTES = 16 << 20  # two hundred thousand references


def common_folder(git_dir: Path) -> Path:
    """The folder of what all work trees of a repository share."""
    common = small_file(git_dir / "commondir").strip()
    return git_dir / os.fsdecode(common) if common else git_dir


def head_commit(git_dir: Path) -> str | None:
    """The id that HEAD leads to; None where the files do not say it plainly."""
    content, common = small_file(git_dir / HEAD), common_folder(git_dir)
    for _ in range(_MOST_LINKS):
        if _COMMIT.fullmatch(content):
            return content.strip().decode("ascii")
        named = _SYMBOLIC.fullmatch(content)
        if named is None or b".." in named[1] or not (common / "refs").is_dir():
            return None
        single = common / os.fsdecode(named[1])
        content = small_file(single) if os.path.lexists(single) else _packed(common, named[1])
    return None


def _packed(common: Path, name: bytes) -> bytes:
    """The id of a reference among those that are kept in one file; b"" for none."""
    content = small_file(common / "packed-refs", _PACKED_BYTES)
    end = content.find(b" " + name + b"\n")
    return content[content.rfind(b"\n", 0, end) + 1 : end] if end >= 0 else b""
