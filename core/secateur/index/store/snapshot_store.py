"""A store of array files that never change. The name of a file stands for its content. The store is a folder that all
readers share, or a URL that `fsspec` knows (extra `[cluster]`).

    store = SnapshotStore("s3://bucket/snapshots", cache_dir)
    store.put("9f31.arrays", snapshot.arrays)
    store.arrays("9f31.arrays")                   # mapped; files of a URL are copied into the cache

All writers of a name write the same bytes, so no writer waits for another, and readers never see an unfinished file.
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
"""A folder of the cache: the default store, and the copies of files from URLs."""

MISSING = "SNAPSHOT_MISSING"
"""The code of the error for a missing file."""

_NAME = "stored.name"
"""The array that holds the name of a file, so that a file under a wrong name is detected."""

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://[^\s]+")


class SnapshotStore:
    """See the module docstring.

    Attributes:
        place: the folder or URL as it was given; "" for the folder in the cache.
    """

    def __init__(self, location: str, cache_dir: Path) -> None:
        """
        Args:
            location: a folder, a URL that fsspec knows, or "".

        Raises:
            UsageError: the URL is not supported.
            SecateurError: fsspec, or the package it needs for that URL, is not installed.
        """
        self.place = location
        self._elsewhere: _Elsewhere | None = None
        if "::" in location or ("://" in location and not _URL.fullmatch(location)):
            problem = f"{shown(without_password(location))} is no place for snapshots"
            raise UsageError(problem, hint="name a folder, or one URL without ::")
        if "://" in location:
            self._elsewhere = _Elsewhere(location)
            self.folder = cache_dir / FOLDER / blake2b(location.encode(), digest_size=8).hexdigest()
        else:
            self.folder = Path(location) if location else cache_dir / FOLDER

    def holds(self, name: str) -> bool:
        """Tells whether a file of that name is there. Raises SecateurError: the place cannot be reached."""
        return self._elsewhere.holds(name) if self._elsewhere is not None else (self.folder / name).is_file()

    def put(self, name: str, arrays: Mapping[str, npt.NDArray[Any]], at: Path | None = None) -> None:
        """Stores arrays under a name, and replaces a file of that name.

        Args:
            at: a file on this machine that holds exactly these arrays, if there is one. It is linked instead of
                written.

        Raises:
            SecateurError: they cannot be written.
        """
        with self._naming(f"cannot keep {name}"):
            self._make_folder()
            remove_leftovers(self.folder, f"{name}.")
            if self.place or at is None or not _link_file(at, self.folder / name):
                arrayfile.save(self.folder / name, {**arrays, _NAME: bytes_array(name.encode())})
                if self.place and self._elsewhere is None:  # readable for all users who may read the folder
                    (self.folder / name).chmod(mode_of_new_files())
            if self._elsewhere is not None:
                self._elsewhere.send(self.folder / name, name)

    def arrays(self, name: str, name_of: Callable[[Arrays], str] | None = None) -> Arrays | None:
        """Returns the arrays of a name; None if the file is missing, damaged, or under a wrong name. Then it is
        removed, so that it is made again.

        Args:
            name_of: works out the name from the arrays of a linked file, which does not hold its name.

        Raises:
            SecateurError: the place cannot be reached.
        """
        arrays = self._map(name, name_of)
        if arrays is not None or self._elsewhere is None or not self._elsewhere.holds(name):
            return arrays
        with self._naming(f"cannot copy {name}"):
            self._make_folder()
            self._elsewhere.fetch(name, self.folder / name)
            arrays = self._map(name, name_of)
            if arrays is None:
                self._elsewhere.remove(name)
        return arrays

    def remove(self, name: str) -> None:
        """Removes a file, so that it is made again. Raises SecateurError: the place cannot be reached."""
        with self._naming(f"cannot remove {name}"):
            (self.folder / name).unlink(missing_ok=True)
            if self._elsewhere is not None and self._elsewhere.holds(name):
                self._elsewhere.remove(name)

    def require(self, name: str, name_of: Callable[[Arrays], str] | None = None) -> Arrays:
        """Returns the arrays of a name that was stored. Raises SecateurError: the file is gone, damaged or cannot be
        reached."""
        arrays = self.arrays(name, name_of)
        if arrays is None:
            raise SecateurError(
                f"{self.shown}: {name} is not there, or is damaged",
                hint="run again: it is made anew. Workers on other machines need a place that all of them share:"
                " --store",
                code=MISSING,
            )
        return arrays

    @property
    def shown(self) -> str:
        """The place for messages, without a password in its URL."""
        return shown(without_password(self.place)) if self._elsewhere is not None else shown(self.folder)

    def _make_folder(self) -> None:
        own = not self.place or self._elsewhere is not None  # in the user's cache
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700 if own else 0o777)

    def _map(self, name: str, name_of: Callable[[Arrays], str] | None) -> Arrays | None:
        path = self.folder / name
        arrays = arrayfile.load(path)
        if arrays is not None:
            stored_name = arrays.pop(_NAME, None)
            if stored_name is not None:
                own_name = stored_name.tobytes().decode("utf-8", "replace")
            else:
                own_name = name_of(arrays) if name_of else name
            if own_name == name:
                return arrays
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None

    @contextmanager
    def _naming(self, failure: str) -> Iterator[None]:
        """Adds the place and what failed to an error inside."""
        try:
            yield
        except SecateurError:
            raise
        except Exception as error:  # each file system of fsspec raises errors of its own
            raise SecateurError(
                f"{self.shown}: {failure}: {without_password(reason_of(error))}",
                hint="check the place and its permissions",
                code="STORE",
            ) from error


class _Elsewhere:
    """Files at a URL."""

    def __init__(self, location: str) -> None:
        self._system, self._path = _open_filesystem(location)
        self._shown = shown(without_password(location))

    def holds(self, name: str) -> bool:
        try:
            return bool(self._system.exists(f"{self._path}/{name}"))
        except Exception as error:
            problem = f"{self._shown} cannot be reached: {without_password(reason_of(error))}"
            raise SecateurError(problem, hint="check the place and its permissions", code="STORE") from error

    def send(self, file: Path, name: str) -> None:
        self._system.makedirs(self._path, exist_ok=True)
        unfinished = f"{self._path}/{name}.{os.urandom(6).hex()}.part"
        try:
            self._system.put_file(str(file), unfinished)
            self._system.mv(unfinished, f"{self._path}/{name}")
        except BaseException:
            with suppress(Exception):
                self._system.rm(unfinished)
            raise

    def remove(self, name: str) -> None:
        self._system.rm(f"{self._path}/{name}")

    def fetch(self, name: str, file: Path) -> None:
        with self._system.open(f"{self._path}/{name}", "rb") as source, replacing(file, durable=False) as sink:
            while piece := source.read(1 << 22):
                sink.write(piece)


def _open_filesystem(location: str) -> tuple[AbstractFileSystem, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        problem = "a URL for snapshots needs the extra cluster, which is not installed"
        raise SecateurError(problem, hint="pip install 'secateur[cluster]'", code="EXTRA_MISSING") from error
    try:
        system, path = url_to_fs(location, use_listings_cache=False)
    except Exception as error:  # each file system of fsspec raises errors of its own
        problem = f"{shown(without_password(location))} is no place for snapshots: {without_password(reason_of(error))}"
        raise UsageError(problem, hint="name a folder, or a URL that can be reached") from error
    return system, str(path).rstrip("/")


def _link_file(at: Path, to: Path) -> bool:
    """Gives a file a second name, which takes no room; returns False if the system cannot."""
    with suppress(OSError):
        if to.exists() and at.samefile(to):
            return True
        unfinished = to.with_name(f"{to.name}.{os.urandom(6).hex()}.part")
        os.link(at, unfinished)
        unfinished.replace(to)
        return True
    return False


def hash_name(*parts: str) -> str:
    """Makes a name from texts: equal texts, equal names."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def bytes_array(data: bytes) -> npt.NDArray[np.uint8]:
    """Makes an array of bytes, which can be stored among other arrays."""
    return np.frombuffer(data, dtype=np.uint8)
