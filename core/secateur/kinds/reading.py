"""Reads input files for every front end, with a limit on their size and errors that name them."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from secateur.errors import no_standard_input, too_large, unreadable

LARGEST = 256 << 20
"""Most bytes of an input: a hundred times the largest window of any model."""


def read_input(
    name: str,
    what: str,
    *,
    hint: str = "",
    flag: str = "",
    stdin: Callable[[int], bytes] | None = None,
    instead: str = "name a file instead of -",
    regular: bool = False,
    folder: Path | None = None,
) -> bytes:
    """Returns the bytes of a file, a pipe, or with `-` of standard input.

    Args:
        what: the kind of input for errors, such as "transcript".
        flag: the flag that named it, for errors of commands that read several.
        stdin: reads at most so many bytes of standard input; None: the command reads none.
        instead: what to do if there is no standard input.
        regular: refuse devices and pipes, which may never end.
        folder: relative names start from it; None: from the working folder.

    Raises:
        UsageError: there is no standard input.
        SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`.
    """
    if name == "-" and not regular:
        if stdin is None:
            raise no_standard_input(what, instead, flag=flag)
        data = stdin(LARGEST + 1)
    else:
        path = folder / name if folder is not None else Path(name)
        try:
            mode = path.stat().st_mode
            if regular and not stat.S_ISREG(mode):
                raise unreadable(name, "it is a folder" if stat.S_ISDIR(mode) else "it is not a file", flag=flag)
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
        except (OSError, ValueError) as error:
            raise unreadable(name, error, hint=hint, flag=flag) from error
    if len(data) > LARGEST:
        raise too_large("standard input" if name == "-" else name, LARGEST, what, flag=flag)
    return data


def read_file(path: Path, largest: int, what: str) -> bytes:
    """Returns the bytes of a regular file written by secateur. `what`: its kind for errors, such as "scenario". Raises
    SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`: it has more than `largest` bytes."""
    try:
        if not path.is_file():
            missing = FileNotFoundError("there is no such file")
            raise unreadable(path, "it is not a regular file" if path.exists() else missing)
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if len(data) > largest:
        raise too_large(path, largest, what)
    return data
