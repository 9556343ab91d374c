"""Files of arrays that never change, under names that stand for what they hold: in a folder that all who read them
share, or wherever `fsspec` leads (extra `[cluster]`).

    store = SnapshotStore("s3://bucket/snapshots", cache_dir)
    store.put("9f31.arrays", snapshot.arrays)     # nothing to do where it is there
    store.arrays("9f31.arrays")                   # mapped; of a place elsewhere, a copy in the cache

Whoever writes a name writes the same bytes, so that nobody waits for anybody, and a writer that dies leaves nothing
that is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from secateur.errors import SecateurError, UsageError, reason_of, shown, without_password
from secateur.index.store import arrayfile
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.atomic_files import remove_leftovers, replacing
from secateur.system.files import mode_of_new_files

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

FOLDER = "snapshots"
"""Of the cache: the store of whoever names none, and copies of what lies elsewhere."""

MISSING = "SNAPSHOT_MISSING"
"""Code of the error of a file that is not there."""

_NAME = "stored.name"
"""Array of the name under which a file was put: a file that has the name of another is found out."""

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://[^\s]+")


class SnapshotStore:
    """See the module docstring.

    Attributes:
        place: as it was given; "" for the folder in the cache.
    """

    def __init__(self, place: str, cache_dir: Path) -> None:
        """
        Args:
            place: a folder, a URL that fsspec knows, or "".

        Raises:
            UsageError: a URL that is not used.
            SecateurError: fsspec, or what it needs for that URL, is not installed.
        """
        self.place = place
        self._elsewhere: _Elsewhere | None = None
        if "::" in place or ("://" in place and not _URL.fullmatch(place)):
            said = f"{shown(without_password(place))} is no place for snapshots"
            raise UsageError(said, hint="name a folder, or one URL without ::")
        if "://" in place:
            self._elsewhere = _Elsewhere(place)
            self.folder = cache_dir / FOLDER / blake2b(place.encode(), digest_size=8).hexdigest()
        else:
            self.folder = Path(place) if place else cache_dir / FOLDER

    def holds(self, name: str) -> bool:
        """Tells whether a file of that name is there. Raises SecateurError: the place cannot be reached."""
        return self._elsewhere.holds(name) if self._elsewhere is not None else (self.folder / name).is_file()

    def put(self, name: str, arrays: Mapping[str, npt.NDArray[Any]], at: Path | None = None) -> None:
        """Keep arrays under a name, whatever is there under it already.

        Args:
            at: a file on this machine that holds just these, if there is one.

        Raises:
            SecateurError: they cannot be written.
        """
        with self._named(f"cannot keep {name}"):
            self._make_folder()
            remove_leftovers(self.folder, f"{name}.")
            if self.place or at is None or not _linked(at, self.folder / name):
                arrayfile.save(self.folder / name, {**arrays, _NAME: bytes_array(name.encode())})
                if self.place and self._elsewhere is None:  # others may read it whom the folder lets in
                    (self.folder / name).chmod(mode_of_new_files())
            if self._elsewhere is not None:
                self._elsewhere.send(self.folder / name, name)

    def arrays(self, name: str, named: Callable[[Arrays], str] | None = None) -> Arrays | None:
        """The arrays of a name; None where it is not there, damaged, or has the name of another: then it is removed, to
        be made anew.

        Args:
            named: tells the name of arrays, for files that were linked and hold none.

        Raises:
            SecateurError: the place cannot be reached.
        """
        found = self._mapped(name, named)
        if found is not None or self._elsewhere is None or not self._elsewhere.holds(name):
            return found
        with self._named(f"cannot copy {name}"):
            self._make_folder()
            self._elsewhere.fetch(name, self.folder / name)
            found = self._mapped(name, named)
            if found is None:
                self._elsewhere.remove(name)
        return found

    def remove(self, name: str) -> None:
        """Have a file made anew by the next call. Raises SecateurError: the place cannot be reached."""
        with self._named(f"cannot remove {name}"):
            (self.folder / name).unlink(missing_ok=True)
            if self._elsewhere is not None and self._elsewhere.holds(name):
                self._elsewhere.remove(name)

    def needed(self, name: str, named: Callable[[Arrays], str] | None = None) -> Arrays:
        """The arrays of a name that was put, as `arrays`. Raises SecateurError: it is gone, damaged or cannot be
        reached."""
        found = self.arrays(name, named)
        if found is None:
            raise SecateurError(
                f"{self.shown}: {name} is not there, or is damaged",
                hint="run again: it is made anew. Workers on other machines need a place that all of them share:"
                " --store",
                code=MISSING,
            )
        return found

    @property
    def shown(self) -> str:
        """The place, for messages: a URL without what may be a password in it."""
        return shown(without_password(self.place)) if self._elsewhere is not None else shown(self.folder)

    def _make_folder(self) -> None:
        own = not self.place or self._elsewhere is not None  # in the user's cache
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700 if own else 0o777)

    def _mapped(self, name: str, named: Callable[[Arrays], str] | None) -> Arrays | None:
        path = self.folder / name
        found = arrayfile.load(path)
        if found is not None:
            told = found.pop(_NAME, None)
            own = told.tobytes().decode("utf-8", "replace") if told is not None else named(found) if named else name
            if own == name:
                return found
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None

    @contextmanager
    def _named(self, what: str) -> Iterator[None]:
        try:
            yield
        except SecateurError:
            raise
        except Exception as error:  # of whatever library reads that place
            raise SecateurError(
                f"{self.shown}: {what}: {without_password(reason_of(error))}",
                hint="check the place and its permissions",
                code="STORE",
            ) from error


class _Elsewhere:
    """Files at a URL."""

    def __init__(self, place: str) -> None:
        self._system, self._path = _opened(place)
        self._shown = shown(without_password(place))

    def holds(self, name: str) -> bool:
        try:
            return bool(self._system.exists(f"{self._path}/{name}"))
        except Exception as error:
            said = f"{self._shown} cannot be reached: {without_password(reason_of(error))}"
            raise SecateurError(said, hint="check the place and its permissions", code="STORE") from error

    def send(self, file: Path, name: str) -> None:
        self._system.makedirs(self._path, exist_ok=True)
        begun = f"{self._path}/{name}.{os.urandom(6).hex()}.part"
        try:
            self._system.put_file(str(file), begun)
            self._system.mv(begun, f"{self._path}/{name}")
        except BaseException:
            with suppress(Exception):
                self._system.rm(begun)
            raise

    def remove(self, name: str) -> None:
        self._system.rm(f"{self._path}/{name}")

    def fetch(self, name: str, file: Path) -> None:
        with self._system.open(f"{self._path}/{name}", "rb") as source, replacing(file, durable=False) as sink:
            while piece := source.read(1 << 22):
                sink.write(piece)


def _opened(place: str) -> tuple[AbstractFileSystem, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        said = "a URL for snapshots needs the extra cluster, which is not installed"
        raise SecateurError(said, hint="pip install 'secateur[cluster]'", code="EXTRA_MISSING") from error
    try:
        system, path = url_to_fs(place, use_listings_cache=False)
    except Exception as error:  # of whatever library reads that place
        said = f"{shown(without_password(place))} is no place for snapshots: {without_password(reason_of(error))}"
        raise UsageError(said, hint="name a folder, or a URL that can be reached") from error
    return system, str(path).rstrip("/")


def _linked(at: Path, to: Path) -> bool:
    """Gives a file a second name, which costs no room; False where the system cannot."""
    with suppress(OSError):
        if to.exists() and at.samefile(to):
            return True
        begun = to.with_name(f"{to.name}.{os.urandom(6).hex()}.part")
        os.link(at, begun)
        begun.replace(to)
        return True
    return False


def named_by(*parts: str) -> str:
    """A name that stands for texts."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def bytes_array(data: bytes) -> npt.NDArray[np.uint8]:
    """Bytes as an array, to be kept among others."""
    return np.frombuffer(data, dtype=np.uint8)
