"""Writes the files that a user names: whole or not at all, and through no link that somebody else may have put there.

    write_output(Path("report.html"), text)
    write_folder(OutputFolder(Path("chunks"), texts, outdated))
    refuse_links(path)                       # before work that takes long

Whoever opens a pull request can put a symbolic link where a command is going to write. So the last name of a path may
not be a link, nor may a folder on the way be one that lies in a repository or below the current folder. Links above
these, such as /tmp on macOS or a home folder on another disk, are the user's own and are followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from secateur.errors import SecateurError, shown, unwritable
from secateur.kinds.base import OutputFolder
from secateur.redaction import outgoing
from secateur.system.files import OpenedFolder, is_link
from secateur.terminal import visible


def write_output(path: Path, text: str) -> None:
    """The whole file or none of it: written beside, then renamed. A file that was there keeps its permissions; what is
    no regular file, a pipe or a terminal, is written to. Lone surrogates that stand for bytes are written as these.

    Raises:
        SecateurError: `OUTPUT`, or `LINK`: see the module docstring.
    """
    with _errors_of(path):
        data = outgoing(text).encode("utf-8", "surrogateescape")
        target = _without_links(path)
        if _is_stream(path):
            path.write_bytes(data)
            return
        with _opened(target.parent) as folder:
            old = folder.status(target.name)
            if old is not None and is_link(old):
                raise _link(path, path)
            mode = stat.S_IMODE(old.st_mode) if old is not None else None
            beside = _write_beside(folder, data, mode)
            try:
                folder.replace(beside, target.name)
            except BaseException:
                folder.remove(beside)
                raise


def write_folder(folder: OutputFolder) -> None:
    """All files of a folder, which is made where it is not there; files of an earlier run go.

    All is written beside, then renamed: never half a file, and what cannot be written leaves the folder as it was.

    Raises:
        SecateurError: `OUTPUT`: the folder cannot be written; `LINK`: it or a file in it is a link.
    """
    path, beside = folder.path, dict[str, str]()
    with _errors_of(path), _opened(_without_links(path), make=True) as opened:
        for name in folder.files:
            old = opened.status(name)
            if old is not None and is_link(old):
                raise _link(path, path / name)
            if old is not None and stat.S_ISDIR(old.st_mode):
                raise IsADirectoryError(errno.EISDIR, f"{visible(name)} is a folder")
        try:
            for name, text in folder.files.items():
                beside[name] = _write_beside(opened, outgoing(text).encode("utf-8", "replace"))
            for name, written in beside.items():
                opened.replace(written, name)
        finally:
            for written in beside.values():
                with suppress(OSError):
                    opened.remove(written)
        for old_file in sorted(path.iterdir()):
            regular = old_file.is_file() and not old_file.is_symlink()
            if old_file.name not in folder.files and regular and folder.outdated(old_file):
                opened.remove(old_file.name)


def new_output(path: Path) -> TextIO:
    """Makes a file and opens it, to write.

    Raises:
        FileExistsError: something has that name.
        SecateurError: as `write_output`.
    """
    with _errors_of(path, but=FileExistsError):
        target = _without_links(path)
        with _opened(target.parent) as folder:
            return os.fdopen(folder.new_file(target.name), "w", encoding="utf-8", newline="\n")


def make_folder(path: Path) -> None:
    """Makes a folder where it is not there. Raises SecateurError, as `write_output`."""
    with _errors_of(path):
        target = _without_links(path)
        with _opened(target.parent) as folder:
            if folder.status(target.name) is None:
                folder.make_folder(target.name)


def refuse_links(path: Path) -> None:
    """Raises the error of writing a file, or into a folder, through a link: SecateurError `LINK`, or `OUTPUT`."""
    with _errors_of(path):
        _without_links(path)


@contextmanager
def _errors_of(path: Path, but: tuple[type[Exception], ...] | type[Exception] = ()) -> Iterator[None]:
    try:
        yield
    except but:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise unwritable(path, error) from error


def _link(path: Path, link: Path) -> SecateurError:
    what = "it" if link == path else shown(link)
    return SecateurError(
        f"cannot write {shown(path)}: {what} is a symbolic link, which could lead anywhere",
        hint="remove the link, or name another place",
        code="LINK",
    )


def _without_links(path: Path) -> Path:
    """The place that a path names, with links that are the user's own followed, so that none is left in it. Raises
    SecateurError: another link is in it."""
    place, names = (Path(path.anchor), path.parts[1:]) if path.is_absolute() else (Path.cwd().resolve(), path.parts)
    for number, name in enumerate(names, 1):
        if name == "..":
            place = place.parent
        elif not _is_link(place / name):
            place /= name
        elif number == len(names) and _is_of_the_system(place):
            place /= name
            return place.resolve() if place.is_file() else place
        elif number == len(names) or _first_shared(place) is not None:
            raise _link(path, Path(path.anchor, *names[:number]))
        else:
            place = (place / name).resolve(strict=True)
    return place


def _is_link(path: Path) -> bool:
    try:
        return is_link(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_of_the_system(folder: Path) -> bool:
    """Tells whether the system makes the links in a folder, of which a user types some, such as /dev/stdout."""
    return folder == Path("/dev") or folder.match("/proc/*/fd")


def _is_stream(path: Path) -> bool:
    """Tells whether a path leads to a device or a pipe, which is not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _first_shared(folder: Path) -> Path | None:
    """The highest of a folder and those above it whose content others may have written; None if none is such."""
    return next((above for above in (*reversed(folder.parents), folder) if _is_shared(above)), None)


def _is_shared(folder: Path) -> bool:
    """Tells whether a folder is a repository or the current folder; `/` is that of services, which work elsewhere."""
    if os.path.lexists(folder / ".git"):
        return True
    with suppress(OSError):
        return folder != folder.parent and folder.samefile(os.curdir)
    return False


@contextmanager
def _opened(folder: Path, *, make: bool = False) -> Iterator[OpenedFolder]:
    """A folder without links on the way, opened so that one put there meanwhile is not followed. `make`: makes it, and
    those above it, where they are not there."""
    top = _first_shared(folder) or next(above for above in (folder, *folder.parents) if above.exists())
    opened = OpenedFolder.open(top)
    try:
        for name in folder.relative_to(top).parts:
            if make and opened.status(name) is None:
                opened.make_folder(name)
            outer, opened = opened, opened.folder(os.fsencode(name))
            outer.close()
        yield opened
    finally:
        opened.close()


def _write_beside(folder: OpenedFolder, data: bytes, mode: int | None = None) -> str:
    """Writes a file that is to be renamed, and returns its name; none is left after an error. `mode`: its permissions;
    None: those of new files."""
    name = f".secateur-{os.urandom(8).hex()}"
    handle = folder.new_file(name) if mode is None else folder.new_file(name, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None and os.chmod in os.supports_fd:
                os.chmod(handle, mode)  # noqa: PTH101
            file.write(data)
    except BaseException:
        folder.remove(name)
        raise
    return name
