"""The inputs of a search: reads its query and opens its engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from secateur.errors import UsageError
from secateur.kinds.base import Input
from secateur.kinds.environment import Environment, Inputs
from secateur.redaction import not_scanned, redact_typed
from secateur.render.search_json import DROPPED_LISTED
from secateur.render.text import DROPPED_SHOWN
from secateur.settings import Settings
from secateur.sources.listed import ListedOpener, parse_file_list
from secateur.sources.named import FORMS, folder_of
from secateur.sources.open import SourceOpener
from secateur.sources.workspace_file import is_workspace, read_workspace

if TYPE_CHECKING:
    from secateur.engine import Engine

INPUTS: Sequence[Input] = (
    Input(
        "query",
        "what to look for, in words, names, or a whole issue text; - reads stdin",
        metavar="QUERY",
        positional=True,
        required=True,
        title="Query",
        placeholder="ask in the words of the task, or name what you mean",
        lines=True,
    ),
    Input(
        "path", f"{FORMS} (default: here)", metavar="PATH", positional=True, default=".", folders=True, workspaces=True
    ),
    Input("rev", "read this commit instead of the working tree", metavar="COMMIT", title="Commit", optional=True),
    Input(
        "partial",
        "where the repository is not indexed yet, answer in seconds from the files that promise most, and say so;"
        " what they are read for is kept, and without this flag the next search goes on from there; of a workspace,"
        " leave out the repositories that cannot be read, and name them",
        switch=True,
        holds="output",
    ),
    Input(
        "files_from", "read just the files of PATH that this file lists, by lines or NUL; - reads stdin", default=None
    ),
    Input("everywhere", "forget what --only has remembered, and answer from all of it", switch=True, holds="output"),
    Input("no_cache", "do not read or write the result cache", switch=True, holds="output"),
    Input(
        "explain",
        "id of every candidate, every part of every score, the path of calls, the reason of each drop; who calls"
        " whom among what goes out, what hangs together, what one more step of calls brings; and, proven, what"
        " keeps each listed candidate, the cheapest first, such as --pin or a budget, and what"
        " goes out against the budget",
        switch=True,
        holds="output",
    ),
    Input(
        "dropped",
        f"list at most N dropped candidates (default {DROPPED_LISTED}; {DROPPED_SHOWN} as text without --explain)",
        metavar="N|all",
        default=None,
        least=0,
        words=("all",),
        holds="output",
    ),
    Input(
        "fail_on_low", "exit 4 where nothing, or hardly anything, here answers the query", switch=True, holds="output"
    ),
)


ENGINE = "engine"  # in `Environment.found`: an open engine that `Kind.read` uses; its maker closes it
QUERY = "query"  # in `Environment.found`: what standard input said


def query_of(inputs: Inputs, environment: Environment, settings: Settings) -> str:
    """Returns the text of the query without credentials. `-` reads it from standard input."""
    query: str = inputs["query"]
    if query != "-":
        return redact_typed(query, settings.redaction)
    if QUERY not in environment.found:
        data = environment.bytes_of(query, "query", instead="write the query instead of -")
        environment.found[QUERY] = data.decode("utf-8", "replace")
    return str(environment.found[QUERY])


def file_of(path: str, file: str, environment: Environment) -> tuple[Path | None, str]:
    """Returns the folder that holds a file of PATH, and the file's path in it. In a workspace it is the repository's
    folder.

    Raises SecateurError: PATH is no longer readable.
    """
    folder = environment.folder_of(path)
    if not is_workspace(folder):
        return folder, file
    name, _, path_in_member = file.partition("/")
    locations = (member.location for member in read_workspace(folder, environment.within) if member.name == name)
    location = next(locations, None)
    return folder_of(location, environment.cache) if location is not None else None, path_in_member


def open_engine(inputs: Inputs, settings: Settings, environment: Environment) -> Engine:
    """An engine on what the inputs name."""
    # Imported here, so that the help and other kinds do not wait for the index.
    from secateur.engine import Engine
    from secateur.index.workspace_index import WorkspaceOpener, opener_of

    notices = (*environment.notices, *(() if environment.shared is not None else not_scanned(settings)))
    path, rev = environment.folder_of(inputs["path"]), inputs["rev"] or None
    opener: SourceOpener | ListedOpener | WorkspaceOpener
    opener = opener_of(
        path, rev, settings.index, environment.fetch_options, environment.within, partial=inputs["partial"]
    )
    if inputs["files_from"]:
        if isinstance(opener, WorkspaceOpener):
            raise UsageError("--files-from does not go with a workspace", hint="name one of its repositories")
        name: str = inputs["files_from"]
        if name == "-" and inputs["query"] == "-":
            raise UsageError(
                "the query and --files-from cannot both be read from standard input", hint="write one of them to a file"
            )
        listed = environment.bytes_of(name, "list of files", flag="--files-from", instead="name a file")
        opener = ListedOpener(opener, parse_file_list(listed))
    engine = Engine(opener, settings, cache_dir=None, config_dir=None, environ=environment.environ, notices=notices)
    engine.warns_of_index = environment.shared is None  # a shared index is the same on every machine
    return engine
