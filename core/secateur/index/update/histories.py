"""Keeps the history of a source from run to run: it is read once, and extended when commits come."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from secateur.index.facts.history import CommitHistory
from secateur.index.store.records import Store
from secateur.model import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.source import HISTORY_INCOMPLETE, Source

MOST_NEWS = 5_000
"""The most commits that are put before a known history. If more came, the whole history is read again."""

KEPT_HISTORIES = 4
"""Histories that are kept, so that switching between branches reads none again."""


class Histories:
    """The histories of a store, by the id of their commit."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[str, CommitHistory] | None = None

    def of(self, source: Source) -> CommitHistory:
        """Returns the history of the source's commit, and keeps it if it was read to its end."""
        wanted = source.history_id
        if not wanted:
            return _read(source)
        if self._last is None or self._last[0] != wanted:
            history = self._load(wanted)
            if history is None:
                history = self._extend_known(source) or _read(source)
                if incomplete(source):
                    return history
                self._keep(wanted, history)
            self._last = wanted, history
        return self._last[1]

    def _load(self, name: str) -> CommitHistory | None:
        data = self._store.get_blob("history", name)
        with suppress(msgspec.DecodeError):
            return CommitHistory.decode(data) if data is not None else None
        return None

    def _keep(self, name: str, history: CommitHistory) -> None:
        with self._store.writing():
            self._store.put_blobs("history", {name: history.encode()}, most=KEPT_HISTORIES)
            known = [name, *(old for old in self._list_known() if old != name)]
            self._store.put_blobs("histories", {"": msgspec.msgpack.encode(known[:KEPT_HISTORIES])})

    def _list_known(self) -> list[str]:
        """Lists the names of the kept histories, the newest first."""
        data = self._store.get_blob("histories", "")
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(data, type=list[str]) if data is not None else []
        return []

    def _extend_known(self, source: Source) -> CommitHistory | None:
        """Extends a known history by the commits that came since, exactly as if it were read; None if that is
        impossible."""
        cut = source.history_id.partition(":")[2]
        for name in self._list_known():
            commit, _, other_cut = name.partition(":")
            news = source.new_commits(commit, MOST_NEWS) if cut == other_cut else None
            known = self._load(name) if news else None
            # with a merge among the new commits, the limit may cut other commits than a new reading would
            if news and known is not None and (news[1] or len(known) + len(news[0]) <= HISTORY_LIMIT):
                return known.after(CommitHistory.of(news[0]), HISTORY_LIMIT)
        return None


def incomplete(source: Source) -> list[Notice]:
    """Returns the notices of the source about a history that could not be read to its end."""
    return [notice for notice in source.notices() if notice.code == HISTORY_INCOMPLETE]


def _read(source: Source) -> CommitHistory:
    return CommitHistory.of(list(source.history()))
