"""Keeps answers for a limited time, by everything that changes them: the result cache of the graph-rag spec
(REQ-GRAG-004).

Entries lie in the user's cache folder, apart for each repository: a search writes nothing into what it reads. The
spec's place, `SPEC_FOLDER` below the repository, is used where the user's `graph_rag.cache_dir` names it. A repository
could ship such a folder, so entries are JSON, carry a signature made with a key from the user's own folder, and a
folder reached through a symbolic link is not used. Anything unexpected is a miss, never an error.

Holds finished answers too.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b, sha256
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct

from secateur.index.store.folder import remove_leftovers, replacing
from secateur.notice import Notice
from secateur.system.files import new_file

# The folder in which the graph-rag spec keeps answers, below the repository.
SPEC_FOLDER = ".devbooks/cache/graph-context"

MAX_ENTRY_BYTES = 64 << 20  # larger files are not entries of ours
MAX_ENTRIES = 200  # entries kept; the oldest go first

KEY_FILE = "cache.key"

_MARKER, _MARK = ".gitignore", "*\n"

_UNFINISHED = "[0-9a-f]" * 64 + ".json."  # the beginning of the names of half-written entries, as a pattern of `glob`

# Names of entries. The user may choose a folder that holds other files, which are not ours to remove.
_ENTRY = re.compile(r"[0-9a-f]{64}\.json")


class ResultCache:
    """Keeps answers as texts, by key, for `ttl` seconds.

    cache = ResultCache.open(root, settings.graph_rag.cache_dir, user_cache, ttl=300, clock=time.time)
    text = cache.get(key) or cache.put(key, compute())
    """

    def __init__(self, folder: Path, secret: bytes, ttl: int, clock: Callable[[], float]) -> None:
        self.folder, self._secret, self._ttl, self._clock = folder, secret, ttl, clock

    @classmethod
    def open(
        cls, root: Path | None, relative: str, user_cache: Path, *, ttl: int, clock: Callable[[], float]
    ) -> ResultCache | None:
        """Opens the cache of a repository: in `relative` below it, or in the user's folder where that is empty or
        cannot be used. Returns None where nothing can be written."""
        try:
            user_cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            secret = _secret(user_cache / KEY_FILE)
        except OSError:
            return None
        for folder in _folders(root, relative, user_cache):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                # Exclusive creation does not follow a link: a repository could ship one that leads out of it.
                with suppress(FileExistsError), (folder / _MARKER).open("x") as marker:
                    marker.write(_MARK)
                if os.access(folder, os.W_OK):
                    return cls(folder, secret, ttl, clock)
        return None

    def get(self, key: str) -> str | None:
        """Returns the answer, if there is one that is young enough and was written by this user."""
        path = self._path(key)
        try:
            look = path.lstat()
            if not S_ISREG(look.st_mode) or look.st_size > MAX_ENTRY_BYTES:
                return None
            entry = json.loads(path.read_text("utf-8"))
            text, written, signature = entry["text"], entry["written"], entry["signature"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if not (isinstance(text, str) and isinstance(written, int) and isinstance(signature, str)):
            return None
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(key, written, text).encode()):
            return None
        return text if 0 <= self._clock() - written < self._ttl else None

    def put(self, key: str, text: str) -> str:
        """Stores an answer and returns it. A full or read-only disk only means that it is not stored."""
        from secateur.redaction import outgoing  # takes a while to import, and an answer that is repeated needs it not

        if outgoing(text) is not text:  # the name of a file holds one, and no marker can stand for it
            return text
        written = int(self._clock())
        entry = json.dumps({"text": text, "written": written, "signature": self._sign(key, written, text)})
        with suppress(OSError):
            with replacing(self._path(key), durable=False) as file:
                file.write(entry.encode())
            ours = (path for path in self.folder.iterdir() if _ENTRY.fullmatch(path.name))
            for path in sorted(ours, key=lambda path: (path.lstat().st_mtime, path.name))[:-MAX_ENTRIES]:
                path.unlink(missing_ok=True)
            remove_leftovers(self.folder, _UNFINISHED)
        return text

    def _path(self, key: str) -> Path:
        return self.folder / f"{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}.json"

    def _sign(self, key: str, written: int, text: str) -> str:
        return hmac.new(self._secret, json.dumps([key, written, text]).encode(), sha256).hexdigest()


def remove(root: Path, relative: str, user_cache: Path) -> int:
    """Removes the cached answers of a repository, and the folders that held nothing else. Returns how many bytes they
    had."""
    size = 0
    for folder in _folders(root, relative, user_cache):
        with suppress(OSError):
            for path in [*folder.iterdir()]:
                if _ENTRY.fullmatch(path.name):
                    size += path.lstat().st_size
                    path.unlink()
            remove_leftovers(folder, _UNFINISHED)
            if [path.name for path in folder.iterdir()] == [_MARKER] and (folder / _MARKER).read_text() == _MARK:
                (folder / _MARKER).unlink()
                while root in folder.parents or user_cache in folder.parents:  # another folder is the user's own
                    folder.rmdir()  # stops with an error at the first that holds anything else
                    folder = folder.parent
    return size


def _folders(root: Path | None, relative: str, user_cache: Path) -> list[Path]:
    inside = [root / relative] if root and _inside(root / relative, root) else []
    return [*inside, user_cache / "graph-context" / blake2b(os.fsencode(str(root or "")), digest_size=16).hexdigest()]


def _secret(path: Path) -> bytes:
    """Returns the user's key. Makes it on first use, and replaces a half-written or foreign file."""
    with suppress(OSError):
        secret = path.read_bytes()
        if len(secret) == 32:
            return secret
    import secrets

    handle, temporary = new_file(path.parent, "", ".part")
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        os.link(temporary, path)  # if another process was first, its key stays
    except FileExistsError:
        if path.stat().st_size != 32:
            temporary.replace(path)
    except OSError:  # a file system without hard links
        temporary.replace(path)
    temporary.unlink(missing_ok=True)
    return path.read_bytes()


def _inside(folder: Path, root: Path | None) -> bool:
    """Checks that no part of the folder below the repository is a symbolic link or leads out of it. An absolute folder
    elsewhere is the user's choice.

    The repository's own top is not taken: a folder that ignores itself must hold nothing else.
    """
    if root is None or not folder.is_relative_to(root):
        return root is not None
    if folder == root or ".." in folder.relative_to(root).parts:
        return False
    current = root
    for part in folder.relative_to(root).parts:
        current = current / part
        if current.is_symlink():
            return False
    return True


# Codes that say that nothing here answers the query, or hardly anything.
LOW = frozenset({"no_match", "low_relevance", "empty_query", "nothing_indexed"})


class Answer(Struct, frozen=True):
    """Holds a finished answer: the text that goes out, whether it came from the cache, and its warnings."""

    text: str
    cached: bool
    warnings: tuple[Notice, ...] = ()

    @property
    def low(self) -> bool:
        """True if nothing answers the query, or hardly anything: `--fail-on-low` fails on it."""
        return any(notice.code in LOW for notice in self.warnings)

    def to_text(self) -> str:
        """Formats the answer for the cache."""
        return json.dumps({"text": self.text, "warnings": [[notice.code, notice.message] for notice in self.warnings]})

    @classmethod
    def from_text(cls, stored: str) -> Answer | None:
        """Reads an answer from the cache; None if the text is not an answer."""
        try:
            entry = json.loads(stored)
            return cls(entry["text"], True, tuple(Notice(*warning) for warning in entry["warnings"]))
        except (ValueError, KeyError, TypeError):
            return None
