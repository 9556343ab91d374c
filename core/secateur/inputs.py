"""Files as every front end reads them: bounded in size wherever they come from, errors that name them."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from secateur.errors import SecateurError, UsageError
from secateur.terminal import clip, visible

LARGEST = 256 << 20
"""Bytes above which an input is refused: a hundred times the largest window there is."""

PATH_CELLS = 100
"""Cells of a path that an error repeats."""


def read_input(
    name: str,
    what: str,
    *,
    hint: str = "check the path",
    flag: str = "",
    stdin: Callable[[int], bytes] | None = None,
    instead: str = "name a file instead of -",
    regular: bool = False,
) -> bytes:
    """The bytes of a file, a pipe, or with `-` of standard input.

    Args:
        what: what is read, for errors: "transcript".
        flag: the flag that named it, which errors begin with where a command reads several.
        stdin: reads at most so many bytes of standard input; None: there is none.
        instead: what to do where there is no standard input.
        regular: refuse devices and pipes, which may never end.

    Raises:
        UsageError: there is no standard input.
        SecateurError: `NO_SUCH_FILE`, `NO_FILE`, `UNREADABLE`, `TOO_LARGE`.
    """
    head = f"{flag}: " if flag else ""
    if name == "-" and not regular:
        if stdin is None:
            raise UsageError(f"{head}there is no standard input to read the {what} from", hint=instead)
        data = stdin(LARGEST + 1)
    else:
        try:
            found = Path(name).stat()
            if regular and not stat.S_ISREG(found.st_mode):
                kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no file"
                raise SecateurError(f"{head}{shown(name)} is {kind}", hint="name a file", code="NO_FILE")
            with Path(name).open("rb") as file:
                data = file.read(LARGEST + 1)
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            code = "NO_SUCH_FILE" if isinstance(error, FileNotFoundError) else "UNREADABLE"
            raise SecateurError(f"{head}cannot read {shown(name)}: {said}", hint=hint, code=code) from error
    if len(data) > LARGEST:
        where = "standard input" if name == "-" else shown(name)
        raise SecateurError(
            f"{head}{where} is larger than {LARGEST:,} bytes: no {what} is", hint=hint, code="TOO_LARGE"
        )
    return data


def shown(name: str) -> str:
    """A path as an error repeats it."""
    return clip(visible(name), PATH_CELLS)
