"""Writes the files that a user names: complete or not at all, and never through a link that somebody else may have
made.

    write_output(Path("report.html"), text)
    write_folder(Path("chunks"), texts)
    refuse_links(path)                       # before work that takes long

A pull request can put a symbolic link where a command is going to write. So the last part of a path may not be a link,
and neither may a folder on the way that lies in a repository or below the current folder. Links above these, such as
/tmp on macOS or a home folder on another disk, are the user's own and are followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from secateur.errors import SecateurError, shown, unwritable
from secateur.recognised import without_recognised
from secateur.redaction import outgoing
from secateur.system.files import OpenedFolder
from secateur.terminal import visible


def write_output(path: Path, text: str, *, make_folder: int = 0) -> None:
    """Writes the whole file or nothing: into a temporary file that is renamed. An existing file keeps its permissions.
    A pipe or a terminal is written to directly. Lone surrogates that stand for bytes are written as those bytes.
    `make_folder`: how many folders at the end of the path are made if they are missing.
    Raises SecateurError: `OUTPUT`, or `LINK`: see the module docstring."""
    with _translate_errors(path):
        data = outgoing(text).encode("utf-8", "surrogateescape")
        target = _resolve_own_links(path)
        if _is_stream(path):
            path.write_bytes(data)
            return
        with _open_folder(target.parent, make=make_folder) as folder:
            if (old := folder.status(target.name)) is not None and stat.S_ISLNK(old.st_mode):
                raise _link_error(path, path)
            beside = _write_beside(folder, data, stat.S_IMODE(old.st_mode) if old is not None else None)
            try:
                folder.replace(beside, target.name)
            except BaseException:
                folder.remove(beside)
                raise


def write_folder(path: Path, files: Mapping[str, str], outdated: Callable[[Path], bool] = lambda _: False) -> None:
    """Writes all files of a folder, making it if needed; `outdated` tells which others there are of an earlier run, and
    are removed.

    All files are written as temporary files, then renamed: no file is ever partial, and an error leaves the folder as
    it was. Raises SecateurError: `OUTPUT`: the folder cannot be written; `LINK`: it or a file in it is a link.
    """
    beside = dict[str, str]()
    with _translate_errors(path), _open_folder(_resolve_own_links(path), make=len(path.parts)) as opened:
        for name in files:
            if (old := opened.status(name)) is not None and stat.S_ISLNK(old.st_mode):
                raise _link_error(path, path / name)
            if old is not None and stat.S_ISDIR(old.st_mode):
                raise IsADirectoryError(errno.EISDIR, f"{visible(name)} is a folder")
        try:
            for name, text in files.items():
                beside[name] = _write_beside(opened, outgoing(text).encode("utf-8", "replace"))
            for name, written in beside.items():
                opened.replace(written, name)
        finally:
            for written in beside.values():
                with suppress(OSError):
                    opened.remove(written)
        for old_file in sorted(path.iterdir()):
            regular = old_file.is_file() and not old_file.is_symlink()
            if old_file.name not in files and regular and outdated(old_file):
                opened.remove(old_file.name)


class OutputLines:
    """A new file that is written line by line: each is on disk before the next one.

    Raises:
        FileExistsError: the name is taken.
        SecateurError: see `write_output`; of every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _translate_errors(path, but=FileExistsError):
            target = _resolve_own_links(path)
            with _open_folder(target.parent) as folder:
                self._file = os.fdopen(folder.new_file(target.name), "w", encoding="utf-8", newline="\n")

    def add(self, line: str) -> None:
        """Writes a line, without the credentials that were recognised."""
        with _translate_errors(self.path):
            self._file.write(without_recognised(line) + "\n")
            self._file.flush()

    def close(self, *, remove: bool = False) -> None:
        """Closes the file. `remove`: removes it too, unless another file has its name now."""
        own = os.fstat(self._file.fileno())
        self._file.close()
        if remove:
            with suppress(OSError):
                if os.path.samestat(own, self.path.lstat()):
                    self.path.unlink()


def refuse_links(path: Path) -> None:
    """Raises the error that writing to a file, or into a folder, would cause: SecateurError `LINK` or `OUTPUT`."""
    with _translate_errors(path):
        _resolve_own_links(path)


def refuse_missing_folder(path: Path) -> None:
    """Raises the error that writing a file would cause because of the folder that it lies in: SecateurError `LINK` or
    `OUTPUT`."""
    with _translate_errors(path):
        if not _is_stream(path):
            with _open_folder(_resolve_own_links(path).parent):
                pass


@contextmanager
def _translate_errors(path: Path, but: tuple[type[Exception], ...] | type[Exception] = ()) -> Iterator[None]:
    try:
        yield
    except but:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise unwritable(path, error) from error


def _link_error(path: Path, link: Path) -> SecateurError:
    what = "it" if link == path else shown(link)
    return SecateurError(
        f"cannot write {shown(path)}: {what} is a symbolic link, which could lead anywhere",
        hint="remove the link, or name another path",
        code="LINK",
    )


def _resolve_own_links(path: Path) -> Path:
    """Returns the path with the user's own links resolved, so that it contains no link. Raises SecateurError if it
    contains another link."""
    resolved, names = (Path(path.anchor), path.parts[1:]) if path.is_absolute() else (Path.cwd().resolve(), path.parts)
    for index, name in enumerate(names, 1):
        if name == "..":
            resolved = resolved.parent
        elif not (resolved / name).is_symlink():
            resolved /= name
        elif index == len(names) and (resolved == Path("/dev") or resolved.match("/proc/*/fd")):
            # a link of the system that users type, such as /dev/stdout
            resolved /= name
            return resolved.resolve() if resolved.is_file() else resolved
        elif index == len(names) or _first_shared(resolved) is not None:
            raise _link_error(path, Path(path.anchor, *names[:index]))
        else:
            resolved = (resolved / name).resolve(strict=True)
    return resolved


def _is_stream(path: Path) -> bool:
    """Tells whether a path leads to a device or a pipe, which must not be replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _first_shared(folder: Path) -> Path | None:
    return next((above for above in (*reversed(folder.parents), folder) if _is_shared(above)), None)


def _is_shared(folder: Path) -> bool:
    """Tells whether a folder is a repository or the current folder, unless it is `/`, where services run."""
    if os.path.lexists(folder / ".git"):
        return True
    with suppress(OSError):
        return folder != folder.parent and folder.samefile(os.curdir)
    return False


@contextmanager
def _open_folder(folder: Path, *, make: int = 0) -> Iterator[OpenedFolder]:
    """Opens a folder that has no links on the way, so that a link put there meanwhile is not followed. `make`: how many
    folders are made if they are missing: the folder itself, then those above it."""
    top = _first_shared(folder) or next(above for above in (folder, *folder.parents) if above.exists())
    opened = OpenedFolder.open(top)
    try:
        names = folder.relative_to(top).parts
        for depth, name in enumerate(names, 1):
            if depth > len(names) - make and opened.status(name) is None:
                opened.make_folder(name)
            outer, opened = opened, opened.folder(os.fsencode(name))
            outer.close()
        yield opened
    finally:
        opened.close()


def _write_beside(folder: OpenedFolder, data: bytes, mode: int | None = None) -> str:
    """Writes a temporary file that is to be renamed, and returns its name; removes it after an error. `mode`: its
    permissions; None: those of new files."""
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
