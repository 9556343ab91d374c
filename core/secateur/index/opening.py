"""Opens the index of a folder, a commit, a workspace, or a workspace that workers read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from secateur.errors import UsageError
from secateur.executors.executor import Executor
from secateur.index.elsewhere.places import ElsewhereOpener
from secateur.index.open_index import OpenIndex
from secateur.index.open_workspace import OpenWorkspace, WorkspaceOpener
from secateur.index.opened_index import OpenedIndex
from secateur.settings import Index, Settings
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.sources.workspace_file import is_workspace

AnyOpener = Callable[[], Source] | WorkspaceOpener | ElsewhereOpener


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


def on_workers(
    opener: Callable[[], Source] | WorkspaceOpener, settings: Settings, executor: Executor, store: str
) -> ElsewhereOpener:
    """Makes the opener of a workspace that workers read; `store`: see `SnapshotStore`. Raises UsageError: the opener is
    not that of a workspace."""
    if isinstance(opener, WorkspaceOpener):
        return ElsewhereOpener(opener, settings, executor, store)
    raise UsageError("--on needs a workspace here", hint="name its file with --workspace; docs/workspaces.md")


def open_index(opener: AnyOpener, cache_dir: Path) -> OpenedIndex:
    """Opens an index. Raises the errors of the opener."""
    if isinstance(opener, ElsewhereOpener):
        from secateur.index.elsewhere.workspace import WorkspaceElsewhere  # imported here: most calls have no workers

        return WorkspaceElsewhere(opener, cache_dir)
    return OpenWorkspace(opener, cache_dir) if isinstance(opener, WorkspaceOpener) else OpenIndex(opener, cache_dir)
