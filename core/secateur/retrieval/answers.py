"""Finished answers, and the places where they are kept. Light: a repeated call of the command line imports this and
nothing of the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur.notice import Notice
from secateur.retrieval.cache import ResultCache
from secateur.sources.open import SourceOpener, open_source

if TYPE_CHECKING:
    from secateur.index.opened_index import OpenedIndex
    from secateur.settings import Settings
from hashlib import blake2b

from secateur.sources.files import path_bytes
from secateur.sources.source import TOKEN_BYTES, Source


def state_of(source: Source) -> str:
    """The digest, in hexadecimal: of the files by path and token, the commit, how far the history reaches, the name for
    people, and what reading met on the way. Raises RepositoryError where the source cannot be listed."""
    parts = [source.commit, source.history_id, source.describe()]
    for entry in source.entries():
        parts += entry.path, entry.token
    parts.append("")  # no path is empty
    for notice in source.notices():
        parts += notice.code, notice.message
    return blake2b(b"\0".join(map(path_bytes, parts)), digest_size=TOKEN_BYTES).hexdigest()


LOW = frozenset({"no_match", "low_relevance", "empty_query", "nothing_indexed"})
"""Codes that say that nothing here answers the query, or hardly anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Holds a finished answer: the text that goes out, whether it came from the cache, its warnings, and its key in
    the cache, "" where it is not kept."""

    text: str
    cached: bool
    warnings: tuple[Notice, ...] = ()
    key: str = ""

    @property
    def low(self) -> bool:
        """True if nothing answers the query, or hardly anything: `--fail-on-low` fails on it."""
        return any(notice.code in LOW for notice in self.warnings)

    def stored(self) -> str:
        """The answer as the cache holds it."""
        return json.dumps({"text": self.text, "warnings": [[one.code, one.message] for one in self.warnings]})

    @classmethod
    def restored(cls, stored: str, key: str) -> Answer | None:
        """The answer that the cache holds; None where it is none."""
        try:
            entry = json.loads(stored)
            warnings = tuple(Notice(code, message) for code, message in entry["warnings"])
            return cls(entry["text"], True, warnings, key)
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Says where an answer is kept, and what of the source it rests on: enough to give it again without an index.

    Attributes:
        root, folder, ttl: of the result cache; as in `ResultCache.open`.
        key: in it.
        path, rev, ignore, max_file_bytes, trust: what was read; as in `open_source`.
        state: of that (`state_of`).
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
    def of(cls, answer: Answer, index: OpenedIndex, settings: Settings) -> AnswerPlace | None:
        """The place of an answer; None where it is not kept, or rests on more than a folder and the settings."""
        opener, source, rag = index.opener, index.source, settings.graph_rag
        if not answer.key or not isinstance(opener, SourceOpener) or source.root is None:
            return None
        if index.notices or settings.preference.enabled:  # what can be written, and is preferred, changes by itself
            return None
        cache = str(source.root), rag.cache_dir, rag.cache_ttl, answer.key
        return cls(*cache, str(opener.path), opener.rev, *opener.limits, state_of(source))

    def to_dict(self) -> dict[str, Any]:
        """The place for JSON; `AnswerPlace(**…)` reads it."""
        return asdict(self)

    def answer(self, user_cache: Path, clock: Callable[[], float]) -> Answer | None:
        """The answer; None where it is not kept any more, or what it rests on has changed. Raises RepositoryError where
        the source cannot be read any more."""
        cache = ResultCache.open(Path(self.root), self.folder, user_cache, ttl=self.ttl, clock=clock)
        kept = cache.get(self.key) if cache is not None else None
        if kept is None or self._state() != self.state:
            return None
        return Answer.restored(kept, self.key)

    def _state(self) -> str:
        return state_of(
            open_source(
                Path(self.path), self.rev, ignore=self.ignore, max_file_bytes=self.max_file_bytes, trust=self.trust
            )
        )
