"""The inputs of a search: arguments and flags of its command, fields of its bench."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.base import Input
from secateur.render.search_json import DROPPED_LISTED
from secateur.render.text import DROPPED_SHOWN
from secateur.sources.named import FORMS

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
        "path",
        f"{FORMS} (default: here)",
        metavar="PATH",
        positional=True,
        default=".",
        folders=True,
        workspaces=True,
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
        "files_from",
        "read just the files of PATH that this file lists, by lines or NUL; - reads stdin",
        default=None,
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
        least=0,
        words=("all",),
        holds="output",
    ),
    Input(
        "fail_on_low",
        "exit 4 where nothing, or hardly anything, here answers the query",
        switch=True,
        holds="output",
    ),
)
