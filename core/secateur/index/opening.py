"""Opens the index of whatever is named: a folder, a commit, a workspace, a workspace that workers read."""

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
    """The opener of a folder, of a commit of its repository, or of the workspace that a file ending in .toml names.
    `within`: the folders that repositories of a workspace must lie in, as `read_workspace`; `partial`: those of them
    that cannot be read are left out.

    Raises:
        UsageError: a revision of a workspace.
    """
    if not is_workspace(path):
        return SourceOpener(path, rev, rules)
    if rev is not None:
        raise UsageError(f"{path}: a workspace has no one revision", hint='write {path = "…", rev = "…"} in it')
    return WorkspaceOpener(path, rules, fetching, within, partial)


def on_workers(
    opener: Callable[[], Source] | WorkspaceOpener, settings: Settings, executor: Executor, store: str
) -> ElsewhereOpener:
    """The opener of a workspace that workers read; `store` as of `SnapshotStore`.

    Raises:
        UsageError: it is no workspace.
    """
    if isinstance(opener, WorkspaceOpener):
        return ElsewhereOpener(opener, settings, executor, store)
    raise UsageError("--on needs a workspace here", hint="name its file with --workspace; docs/workspaces.md")


def opened(reopen: AnyOpener, cache_dir: Path) -> OpenedIndex:
    """The index of what is opened so. Raises as these do."""
    if isinstance(reopen, ElsewhereOpener):
        from secateur.index.elsewhere.workspace import WorkspaceElsewhere  # most calls have no workers

        return WorkspaceElsewhere(reopen, cache_dir)
    return OpenWorkspace(reopen, cache_dir) if isinstance(reopen, WorkspaceOpener) else OpenIndex(reopen, cache_dir)
