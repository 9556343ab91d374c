"""`--only` and `--everywhere`: the part of a repository that is asked about, and what is remembered of it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from secateur import directories
from secateur.cli.common import CommandCall
from secateur.errors import UsageError
from secateur.recognised import without_recognised
from secateur.remembered.store import RememberedError, RememberedFile
from secateur.sources.globs import RepositoryPart

FILE_NAME = "only.json"
KEY = "graph_rag.only"


def _globs_in(file: RememberedFile) -> tuple[str, ...]:
    patterns = file.read().get("only", [])
    return tuple(pattern for pattern in patterns if isinstance(pattern, str)) if isinstance(patterns, list) else ()


def with_part(
    options: CommandCall,
    root: Path | None,
    flags: Mapping[str, Any],
    *,
    everywhere: bool,
) -> dict[str, Any]:
    """The flags of a call with the part that counts: the one it names, which is remembered, else the remembered one.

    Args:
        everywhere: what is remembered is forgotten.

    Raises:
        UsageError: a glob is not valid, or both --only and --everywhere are given.
    """
    if everywhere and KEY in flags:
        raise UsageError("--only and --everywhere contradict each other", hint="leave one of them out")
    if root is None:
        return dict(flags)
    file = RememberedFile(directories.config_dir(os.environ), root, FILE_NAME)
    try:
        globs = tuple(flags.get(KEY, ()))
        if any(without_recognised(glob) != glob for glob in globs):
            options.say("warning: --only holds a credential; it counts for this call and is not remembered")
        elif everywhere or KEY in flags:
            RepositoryPart(globs)
            try:
                known = _globs_in(file)
            except RememberedError:  # it is set aside
                known = None
            if known != globs:  # an unchanged file is left as it is
                file.update(lambda _: {"only": list(globs)})
        known = _globs_in(file)
        return {KEY: known} | dict(flags) if known or everywhere else dict(flags)
    except RememberedError as error:
        options.say(f"warning: {error.message}; {error.hint}")
        return dict(flags)


def remembered_part(root: Path) -> tuple[str, ...]:
    """The globs that are remembered for a repository; none where they cannot be read."""
    try:
        return _globs_in(RememberedFile(directories.config_dir(os.environ), root, FILE_NAME))
    except RememberedError:
        return ()
