"""`secateur index [PATH]` builds the index, brings it up to date, or removes it."""

import json
import os
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from secateur import directories
from secateur.cli.command_parser import ON, CommandParser
from secateur.cli.common import CommandCall, open_executor
from secateur.cli.output import emit
from secateur.cli.parsing import integer
from secateur.cli.status import render, size_text
from secateur.errors import UsageError, unwritable
from secateur.shape import Count, Shape
from secateur.sources.named import FORMS, find_cache_folder, remove_cached
from secateur.terminal import visible


class ClearOutput(Shape, frozen=True):
    """The output of `secateur index --clear --format json`."""

    removed_bytes: Count
    index: str


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help=f"{FORMS} (default: here)")
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree")
    parser.add_argument("--workers", type=integer, metavar="N", help="parser processes; 0 = one per core")
    parser.add_argument(
        "--clear",
        action="store_true",
        help="remove the index of PATH, its cached answers and its clone; the next call makes them again",
    )
    parser.workspace_argument()
    parser.add_argument("--on", metavar="ADDRESS", help=f"with --workspace: {ON}")
    parser.source_arguments()
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Runs the command. Files that were skipped are counted, and the exit code is 0."""
    from secateur.engine import Engine
    from secateur.index.workspace_index import WorkspaceOpener, opener_of
    from secateur.redaction import not_scanned

    options.path = options.workspace_or_path()
    if options.clear and options.workspace is not None:
        raise UsageError("--clear does not go with --workspace", hint="clear each of its repositories by its path")
    held = find_cache_folder(options.path, directories.cache_dir(os.environ)) if options.clear else None
    path = held or options.named_folder(options.path)
    loaded = options.repository_settings(path, {} if options.workers is None else {"index.workers": options.workers})
    if options.clear:
        return _clear(options.path, path, loaded.settings.graph_rag.cache_dir, options.format)
    progress = options.progress_bar()
    opener = opener_of(path, options.rev, loaded.settings.index, options.fetch_options())
    try:
        if options.on is not None:
            if not isinstance(opener, WorkspaceOpener):
                raise UsageError("--on needs a workspace here", hint="name its file with --workspace")
            from secateur.index.member_workers import index_members

            with closing(open_executor(options.on)) as executor:
                index_members(opener, loaded.settings, executor, progress)
        with Engine(opener, loaded.settings, cache_dir=None, config_dir=None) as engine:
            status = engine.refresh(progress)
    finally:
        progress.close()
    status = replace(status, notices=(*status.notices, *(notice.message for notice in not_scanned(loaded.settings))))
    emit(render(status, options.format, [], options.verbose, engine.index_bytes))
    return 0


def _clear(named: str, path: Path, answers: str, format: str) -> int:
    """Removes the index and the answers, also of a folder that is no longer there, and what was fetched for its name.
    What another process reads or writes meanwhile stays whole."""
    from secateur.index.store.folder import folder_of, remove
    from secateur.retrieval import cache

    root, kept = path.resolve(), directories.cache_dir(os.environ)
    folder = folder_of(kept, root)
    removed = remove(folder) + cache.remove(root, answers, kept)
    try:
        removed += remove_cached(named, kept)
    except OSError as error:
        raise unwritable(path, error) from error
    if format == "json":
        emit(json.dumps(ClearOutput(removed, str(folder)).to_dict()) + "\n")
    else:
        emit(
            f"{f'removed {size_text(removed)}' if removed else 'there was nothing to remove'}: {visible(str(folder))}\n"
        )
    return 0
