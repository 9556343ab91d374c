"""Files as commands take them: bounded in size wherever they come from, and written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

from secateur.cli.common import PATH_CELLS
from secateur.errors import SecateurError, UsageError
from secateur.terminal import clip, visible

LARGEST = 256 << 20
"""Bytes above which an input is refused: a hundred times the largest window there is."""


def read_input(
    name: str, what: str, hint: str = "check the path", instead: str = "name a file instead of -", flag: str = ""
) -> bytes:
    """The bytes of a file, a pipe, or with `-` of standard input.

    Args:
        what: what is read, for errors: "transcript".
        instead: what to do where there is no standard input.
        flag: the flag that named it, which errors begin with where a command reads several.

    Raises:
        UsageError: there is no standard input.
        SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`.
    """
    head = f"{flag}: " if flag else ""
    if name == "-":
        if sys.stdin is None:
            raise UsageError(f"{head}there is no standard input to read the {what} from", hint=instead)
        data = sys.stdin.buffer.read(LARGEST + 1)
    else:
        try:
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


def write_output(path: Path, text: str) -> None:
    """The whole file or none of it: written beside, then renamed. A file that was there keeps its permissions, a link
    leads where it led; what is no regular file, a pipe or a terminal, is written to. Lone surrogates that stand for
    bytes are written as these.

    Raises:
        SecateurError: `OUTPUT`.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
        target = path.resolve() if path.is_symlink() else path
        old = target.stat().st_mode if target.exists() else None
        if old is not None and not stat.S_ISREG(old):
            target.write_bytes(data)
            return
        with tempfile.NamedTemporaryFile(
            "wb", dir=target.parent, prefix=f".{target.name[:100]}.", delete=False
        ) as file:
            try:
                file.write(data)
                file.flush()
                Path(file.name).chmod(stat.S_IMODE(old) if old is not None else 0o666 & ~_umask())
                Path(file.name).replace(target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except (OSError, ValueError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SecateurError(f"cannot write {shown(str(path))}: {said}", hint="check --out", code="OUTPUT") from error


def shown(name: str) -> str:
    """A path as an error repeats it."""
    return clip(visible(name), PATH_CELLS)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
