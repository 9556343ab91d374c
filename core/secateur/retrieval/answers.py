"""Holds finished answers, and the places where they are kept. The module imports little: a repeated call of the command
line imports this, and nothing of the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from secateur.notice import Notice
from secateur.retrieval.cache import ResultCache
from secateur.sources.files import path_bytes
from secateur.sources.open import SourceOpener, open_source
from secateur.sources.source import TOKEN_BYTES, Source

if TYPE_CHECKING:
    from secateur.index.open_index import OpenIndex
    from secateur.settings import Settings

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
