"""Keeps answers for a limited time, by everything that changes them: the result cache of the graph-rag spec
(REQ-GRAG-004).

Entries lie in the user's cache folder, apart for each repository: a search writes nothing into what it reads. The
spec's place, `SPEC_FOLDER` below the repository, is used where the user's `graph_rag.cache_dir` names it. A repository
could ship such a folder, so entries are JSON, carry a signature made with a key from the user's own folder, and a
folder reached through a symbolic link is not used. Anything unexpected is a miss, never an error.

Holds finished answers, and the places where they are kept. The module imports little: a repeated call of the command
line imports this, and nothing of the index.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b, sha256
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from secateur.index.store.folder import remove_leftovers, replacing
from secateur.notice import Notice
from secateur.sources.files import path_bytes
from secateur.sources.open import SourceOpener, open_source
from secateur.sources.source import TOKEN_BYTES, Source
from secateur.system.files import new_file

if TYPE_CHECKING:
    from secateur.index.open_index import OpenIndex
    from secateur.settings import Settings

# The folder in which the graph-rag spec keeps answers, below the repository.
SPEC_FOLDER = ".devbooks/cache/graph-context"

MAX_ENTRY_BYTES = 64 << 20  # larger files are not entries of ours
MAX_ENTRIES = 200  # entries kept; the oldest go first

KEY_FILE = "cache.key"

CALLS = "calls"  # the folder of the calls, below the user's
CALL_SECONDS = 3600  # the time that a call is kept; no answer is kept longer

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
        return cls._open(_folders(root, relative, user_cache), user_cache, ttl, clock)

    @classmethod
    def of_calls(cls, user_cache: Path, clock: Callable[[], float]) -> ResultCache | None:
        """Opens the cache of calls of the command line, each of which names an answer in the cache of a repository."""
        return cls._open([user_cache / CALLS], user_cache, CALL_SECONDS, clock)

    @classmethod
    def _open(
        cls, folders: Sequence[Path], user_cache: Path, ttl: int, clock: Callable[[], float]
    ) -> ResultCache | None:
        try:
            user_cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            secret = _secret(user_cache / KEY_FILE)
        except OSError:
            return None
        for folder in folders:
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
    """Removes the cached answers of a repository, the calls that name them, and the folders that held nothing else.
    Returns how many bytes they had."""
    size = 0
    with suppress(OSError):
        for call in [*(user_cache / CALLS).iterdir()]:
            with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                if json.loads(json.loads(call.read_bytes())["text"])["place"]["root"] == str(root):
                    size += call.lstat().st_size
                    call.unlink()
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


def warn_of_old_cache(root: Path, relative: str) -> Notice | None:
    """Warns of answers that earlier releases kept in the repository without being asked, and that nothing reads any
    more. Returns None if the folder holds no answers, or the settings still ask for it."""
    folder = root / SPEC_FOLDER
    try:
        holds_answers = (
            folder != root / relative
            and _inside(folder, root)
            and any(_ENTRY.fullmatch(path.name) for path in folder.iterdir())
        )
    except OSError:
        return None
    message = (
        f"{SPEC_FOLDER} in this folder holds answers of an earlier release, which are no longer read. Delete it, or set"
        f' graph_rag.cache_dir = "{SPEC_FOLDER}" in your own configuration to keep answers there.'
    )
    return Notice("old_cache", message) if holds_answers else None


def _folders(root: Path | None, relative: str, user_cache: Path) -> list[Path]:
    """Lists the folders that may hold answers: the chosen one in the repository, then the one in the user's folder."""
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
    """Holds a finished answer: the text that goes out, whether it came from the cache, its warnings, and its key in
    the cache ("" if the cache does not hold it)."""

    text: str
    cached: bool
    warnings: tuple[Notice, ...] = ()
    key: str = ""

    @property
    def low(self) -> bool:
        """True if nothing answers the query, or hardly anything: `--fail-on-low` fails on it."""
        return any(notice.code in LOW for notice in self.warnings)

    def to_text(self) -> str:
        """Formats the answer for the cache."""
        return json.dumps({"text": self.text, "warnings": [[notice.code, notice.message] for notice in self.warnings]})

    @classmethod
    def from_text(cls, stored: str, key: str) -> Answer | None:
        """Reads an answer from the cache; None if the text is not an answer."""
        try:
            entry = json.loads(stored)
            return cls(entry["text"], True, tuple(Notice(*warning) for warning in entry["warnings"]), key)
        except (ValueError, KeyError, TypeError):
            return None


class AnswerPlace(Struct, frozen=True):
    """Says where an answer is kept, and which state of the source it rests on: enough to give it again without an
    index.

    Attributes:
        root, folder, ttl: the result cache; see `ResultCache.open`.
        key: the answer's key in that cache.
        path, rev, ignore, max_file_bytes, trust: the source; see `open_source`.
        state: the digest of the source (`state_of`).
    """

    root: str
    folder: str
    ttl: int
    key: str
    path: str
    rev: str | None
    ignore: tuple[str, ...]
    max_file_bytes: int
    trust: bool
    state: str

    @classmethod
    def of(cls, answer: Answer, index: OpenIndex, settings: Settings) -> AnswerPlace | None:
        """Returns the place of an answer; None if it is not kept, or rests on more than a folder and the settings."""
        opener, source, rag = index.opener, index.source, settings.graph_rag
        if not answer.key or not isinstance(opener, SourceOpener) or source.root is None:
            return None
        if index.notices or settings.preference.enabled:  # both can change although the source does not
            return None
        cache = str(source.root), rag.cache_dir, rag.cache_ttl, answer.key
        return cls(*cache, str(opener.path), opener.rev, *opener.limits, state_of(source))

    def to_dict(self) -> dict[str, Any]:
        """Returns the place for JSON; `AnswerPlace(**…)` reads it."""
        return structs.asdict(self)

    def answer(self, user_cache: Path, clock: Callable[[], float]) -> Answer | None:
        """Returns the answer; None if the cache no longer holds it, or the source has changed. Raises RepositoryError
        if the source can no longer be read."""
        cache = ResultCache.open(Path(self.root), self.folder, user_cache, ttl=self.ttl, clock=clock)
        text = cache.get(self.key) if cache is not None else None
        if text is None:
            return None
        source = open_source(
            Path(self.path), self.rev, ignore=self.ignore, max_file_bytes=self.max_file_bytes, trust=self.trust
        )
        return Answer.from_text(text, self.key) if state_of(source) == self.state else None


def state_of(source: Source) -> str:
    """Computes the digest of a source, in hexadecimal, from its paths and tokens of files, its commit, how far its
    history reaches, its name for people, and its notices. Raises RepositoryError if the source cannot be listed."""
    parts = [source.commit, source.history_id, source.describe()]
    for entry in source.entries():
        parts += entry.path, entry.token
    parts.append("")  # no path is empty
    for notice in source.notices():
        parts += notice.code, notice.message
    return blake2b(b"\0".join(map(path_bytes, parts)), digest_size=TOKEN_BYTES).hexdigest()
