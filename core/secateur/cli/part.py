"""`--only` and `--everywhere`: the part of a repository that is asked about, and what is remembered of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from secateur import directories
from secateur.cli.common import say
from secateur.errors import UsageError
from secateur.recognised import without_recognised
from secateur.remembered.part import RememberedPart
from secateur.remembered.store import RememberedError

KEY = "graph_rag.only"


def with_part(
    options: argparse.Namespace,
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
        UsageError: a glob is none; both are given.
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
            say(options, "warning: --only holds a credential; it counts for this call and is not remembered")
        elif everywhere or KEY in flags:
            part.remember(globs)
        known = part.globs()
        return {KEY: known} | dict(flags) if known or everywhere else dict(flags)
    except RememberedError as error:
        say(options, f"warning: {error.message}; {error.hint}")
        return dict(flags)


def remembered_part(root: Path) -> tuple[str, ...]:
    """The globs that are remembered for a repository; none where they cannot be read."""
    try:
        return RememberedPart(directories.config_dir(os.environ), root).globs()
    except RememberedError:
        return ()
