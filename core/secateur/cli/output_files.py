"""Writes the files of commands, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from secateur.errors import unwritable


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
        raise unwritable(path, error) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
