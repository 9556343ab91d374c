"""Opens the index of a folder, a commit or a workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from secateur.errors import UsageError
from secateur.index.open_index import OpenIndex
from secateur.index.open_workspace import OpenWorkspace, WorkspaceOpener
from secateur.index.opened_index import OpenedIndex
from secateur.settings import Index
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.sources.workspace_file import is_workspace

AnyOpener = Callable[[], Source] | WorkspaceOpener


def opener_of(
    path: Path,
    rev: str | None,
    rules: Index,
    fetching: FetchOptions | None = None,
    within: Sequence[Path] | None = None,
    *,
    partial: bool = False,
) -> SourceOpener | WorkspaceOpener:
    """Makes the opener of a folder, of a commit of its repository, or of the workspace that a .toml file describes.

    Args:
        within: the folders that the repositories of a workspace must lie in; see `read_workspace`.
        partial: leaves out the repositories of a workspace that cannot be read.

    Raises:
        UsageError: a revision is given for a workspace.
    """
    if not is_workspace(path):
        return SourceOpener(path, rev, rules)
    if rev is not None:
        raise UsageError(f"{path}: a workspace has no one revision", hint='write {path = "…", rev = "…"} in it')
    return WorkspaceOpener(path, rules, fetching, within, partial)


def open_index(opener: AnyOpener, cache_dir: Path) -> OpenedIndex:
    """Opens an index. Raises the errors of the opener."""
    return OpenWorkspace(opener, cache_dir) if isinstance(opener, WorkspaceOpener) else OpenIndex(opener, cache_dir)
