"""`--only` and `--everywhere`: the part of a repository that is asked about, and what is remembered of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur import directories
from secateur.cli.common import CommandCall
from secateur.errors import UsageError
from secateur.recognised import without_recognised
from secateur.remembered.store import RememberedError, RememberedFile
from secateur.sources.globs import RepositoryPart

FILE_NAME = "only.json"


class RememberedPart:
    """The globs of a user for a repository.

    part = RememberedPart(config_dir, root)
    part.globs()                    # () where nothing was remembered
    part.remember(["services/**"])  # () forgets
    """

    def __init__(self, user_dir: Path, root: Path) -> None:
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self.path = self._file.path

    def globs(self) -> tuple[str, ...]:
        """The globs. Raises RememberedError: the file cannot be read."""
        patterns = self._file.read().get("only", [])
        return tuple(pattern for pattern in patterns if isinstance(pattern, str)) if isinstance(patterns, list) else ()

    def remember(self, globs: Sequence[str]) -> None:
        """Keeps globs in place of others; an unchanged file is left as it is.

        Raises:
            UsageError: one is no glob.
            RememberedError: the file cannot be written.
        """
        RepositoryPart(globs)
        try:
            known = self.globs()
        except RememberedError:  # it is set aside
            known = None
        if known != tuple(globs):
            self._file.update(lambda _: {"only": list(globs)})


KEY = "graph_rag.only"


def with_part(
    options: CommandCall,
    root: Path | None,
    flags: Mapping[str, Any],
    *,
    everywhere: bool,
    reads: Callable[[list[Path]], None] | None = None,
) -> dict[str, Any]:
    """The flags of a call with the part that counts: the one it names, which is remembered, else the remembered one.

    Args:
        everywhere: what is remembered is forgotten.
        reads: is told of the file that it is remembered in.

    Raises:
        UsageError: a glob is not valid, or both --only and --everywhere are given.
    """
    if everywhere and KEY in flags:
        raise UsageError("--only and --everywhere contradict each other", hint="leave one of them out")
    if root is None:
        return dict(flags)
    part = RememberedPart(directories.config_dir(os.environ), root)
    if reads is not None:
        reads([part.path])
    try:
        globs = flags.get(KEY, ())
        if any(without_recognised(glob) != glob for glob in globs):
            options.say("warning: --only holds a credential; it counts for this call and is not remembered")
        elif everywhere or KEY in flags:
            part.remember(globs)
        known = part.globs()
        return {KEY: known} | dict(flags) if known or everywhere else dict(flags)
    except RememberedError as error:
        options.say(f"warning: {error.message}; {error.hint}")
        return dict(flags)


def remembered_part(root: Path) -> tuple[str, ...]:
    """The globs that are remembered for a repository; none where they cannot be read."""
    try:
        return RememberedPart(directories.config_dir(os.environ), root).globs()
    except RememberedError:
        return ()
