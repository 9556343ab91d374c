"""Writes the files of commands, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from secateur.errors import unwritable
from secateur.kinds.base import OutputFolder
from secateur.redaction import outgoing
from secateur.system.files import mode_of_new_files, new_file, replace
from secateur.terminal import visible


def write_output(path: Path, text: str) -> None:
    """The whole file or none of it: written beside, then renamed. A file that was there keeps its permissions, a link
    leads where it led; what is no regular file, a pipe or a terminal, is written to. Lone surrogates that stand for
    bytes are written as these.

    Raises:
        SecateurError: `OUTPUT`.
    """
    try:
        data = outgoing(text).encode("utf-8", "surrogateescape")
        target = path.resolve() if path.is_symlink() else path
        old = target.stat().st_mode if target.exists() else None
        if old is not None and not stat.S_ISREG(old):
            target.write_bytes(data)
            return
        handle, beside = new_file(target.parent, f".{target.name[:100]}.", "")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            beside.chmod(stat.S_IMODE(old) if old is not None else mode_of_new_files())
            replace(beside, target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except (OSError, ValueError, RuntimeError) as error:
        raise unwritable(path, error) from error


def write_folder(folder: OutputFolder) -> None:
    """All files of a folder, which is made where it is not there; files of an earlier run go.

    All is written beside, then renamed: never half a file, never through a link, and what cannot be written leaves the
    folder as it was.

    Raises:
        SecateurError: `OUTPUT`: the folder cannot be written.
    """
    path, texts = folder.path, folder.files
    beside = {name: path / f".{name}.new" for name in texts}
    try:
        path.mkdir(parents=True, exist_ok=True)
        in_the_way = next((path / name for name in texts if (path / name).is_dir()), None)
        if in_the_way is not None:
            raise IsADirectoryError(errno.EISDIR, f"{visible(in_the_way.name)} is a folder")
        try:
            for name, text in texts.items():
                beside[name].unlink(missing_ok=True)
                with beside[name].open("xb") as file:
                    file.write(outgoing(text).encode("utf-8", "replace"))
            for name, place in beside.items():
                replace(place, path / name)
        finally:
            for place in beside.values():
                with suppress(OSError):
                    place.unlink()
        for old in sorted(path.iterdir()):
            if old.name not in texts and old.is_file() and not old.is_symlink() and folder.outdated(old):
                old.unlink()
    except OSError as error:
        raise unwritable(path, error) from error
