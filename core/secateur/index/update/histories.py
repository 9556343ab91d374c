"""The history of a source, kept from run to run: read once, extended when commits come."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from secateur.index.facts.history import CommitHistory
from secateur.index.store.records import Store
from secateur.model import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.source import HISTORY_INCOMPLETE, Source

MOST_NEWS = 5_000
"""Commits that are put before a history that is known; where more came, all of it is read again."""

KEPT_HISTORIES = 4
"""Of branches that are switched between."""


class Histories:
    """Histories by the id of their source's commit."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[str, CommitHistory] | None = None

    def of(self, source: Source) -> CommitHistory:
        """History of the source's commit. It is kept if it was read to its end."""
        wanted = source.history_id
        if not wanted:
            return _read(source)
        if self._last is None or self._last[0] != wanted:
            history = self._stored(wanted)
            if history is None:
                history = self._continued(source) or _read(source)
                if incomplete(source):
                    return history
                self._keep(wanted, history)
            self._last = wanted, history
        return self._last[1]

    def _stored(self, name: str) -> CommitHistory | None:
        data = self._store.get_blob("history", name)
        with suppress(msgspec.DecodeError):
            return CommitHistory.decode(data) if data is not None else None
        return None

    def _keep(self, name: str, history: CommitHistory) -> None:
        with self._store.writing():
            self._store.put_blobs("history", {name: history.encode()}, most=KEPT_HISTORIES)
            known = [name, *(old for old in self._known() if old != name)]
            self._store.put_blobs("histories", {"": msgspec.msgpack.encode(known[:KEPT_HISTORIES])})

    def _known(self) -> list[str]:
        """Names of the histories that are kept, the newest first."""
        data = self._store.get_blob("histories", "")
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(data, type=list[str]) if data is not None else []
        return []

    def _continued(self, source: Source) -> CommitHistory | None:
        """A known history with the commits that came since, exactly as it would be read; None where there is none."""
        cut = source.history_id.partition(":")[2]
        for name in self._known():
            commit, _, other_cut = name.partition(":")
            news = source.news(commit, MOST_NEWS) if cut == other_cut else None
            known = self._stored(name) if news else None
            # behind a merge, which commits are the last that are read does not follow from those read before
            if news and known is not None and (news[1] or len(known) + len(news[0]) <= HISTORY_LIMIT):
                return known.after(CommitHistory.of(news[0]), HISTORY_LIMIT)
        return None


def incomplete(source: Source) -> list[Notice]:
    """Notices of the source about a history that could not be read to its end."""
    return [notice for notice in source.notices() if notice.code == HISTORY_INCOMPLETE]


def _read(source: Source) -> CommitHistory:
    return CommitHistory.of(list(source.history()))
