"""The outbox table."""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from orders.domain.events import Event
from orders.storage.base import Repository, from_text, to_text


class Entry(NamedTuple):
    id: int
    event: Event
    attempts: int


class OutboxRepository(Repository):
    def append(self, event: Event) -> None:
        self._db.execute(
            "INSERT INTO outbox (order_id, kind, at, data) VALUES (?, ?, ?, ?)",
            event.order_id,
            event.kind,
            to_text(event.at),
            json.dumps(event.data, ensure_ascii=False),
        )

    def for_order(self, order_id: str) -> list[Event]:
        rows = self._db.rows("SELECT * FROM outbox WHERE order_id = ? ORDER BY id", order_id)
        return [self._load(row) for row in rows]

    def pending(self, now: datetime, limit: int) -> list[Entry]:
        """Due entries, oldest first.

        An entry waits while an older one of the same order is postponed, or
        the consumer would see ``order.paid`` before ``order.placed``.
        """
        rows = self._db.rows(
            "SELECT * FROM outbox AS entry WHERE delivered_at IS NULL AND dead = 0"
            " AND NOT EXISTS (SELECT 1 FROM outbox AS older"
            "  WHERE older.order_id = entry.order_id AND older.id <= entry.id"
            "  AND older.delivered_at IS NULL AND older.dead = 0"
            "  AND older.not_before > ?)"
            " ORDER BY id LIMIT ?",
            to_text(now),
            limit,
        )
        return [Entry(row["id"], self._load(row), row["attempts"]) for row in rows]

    def mark_delivered(self, entry_id: int, now: datetime) -> None:
        self._db.execute("UPDATE outbox SET delivered_at = ? WHERE id = ?", to_text(now), entry_id)

    def postpone(self, entry_id: int, attempts: int, until: datetime) -> None:
        self._db.execute(
            "UPDATE outbox SET attempts = ?, not_before = ? WHERE id = ?",
            attempts,
            to_text(until),
            entry_id,
        )

    def bury(self, entry_id: int, attempts: int) -> None:
        """Give up on an entry; an operator has to look at it."""
        self._db.execute(
            "UPDATE outbox SET attempts = ?, dead = 1 WHERE id = ?", attempts, entry_id
        )

    def _load(self, row) -> Event:
        return Event(row["kind"], row["order_id"], from_text(row["at"]), json.loads(row["data"]))
