"""库存表与预留表。可售数量 = on_hand - reserved。"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from orders.storage.base import Repository, to_text


class Level(NamedTuple):
    on_hand: int
    reserved: int


class StockRepository(Repository):
    def level(self, sku: str) -> Level:
        row = self._db.row("SELECT on_hand, reserved FROM stock WHERE sku = ?", sku)
        return Level(row["on_hand"], row["reserved"]) if row else Level(0, 0)

    def add(self, sku: str, quantity: int) -> None:
        """Goods received (or returned by a customer)."""
        self._db.execute(
            "INSERT INTO stock (sku, on_hand) VALUES (?, ?)"
            " ON CONFLICT (sku) DO UPDATE SET on_hand = on_hand + excluded.on_hand",
            sku,
            quantity,
        )

    def reserve(self, order_id: str, sku: str, quantity: int, expires: datetime) -> bool:
        """条件更新: 检查与预留在同一条语句完成, 并发下也不会超卖。"""
        changed = self._db.execute(
            "UPDATE stock SET reserved = reserved + ? WHERE sku = ? AND on_hand - reserved >= ?",
            quantity,
            sku,
            quantity,
        )
        if not changed:
            return False
        self._db.execute(
            "INSERT INTO reservations (order_id, sku, quantity, expires) VALUES (?, ?, ?, ?)",
            order_id,
            sku,
            quantity,
            to_text(expires),
        )
        return True

    def release(self, order_id: str) -> int:
        """Delete the reservation and make its units sellable again."""
        return self._close(order_id, sold=0)

    def commit(self, order_id: str) -> int:
        """Delete the reservation and take its units off the shelf."""
        return self._close(order_id, sold=1)

    def expired(self, now: datetime) -> list[str]:
        rows = self._db.rows(
            "SELECT DISTINCT order_id FROM reservations WHERE expires <= ? ORDER BY order_id",
            to_text(now),
        )
        return [row["order_id"] for row in rows]

    def _close(self, order_id: str, sold: int) -> int:
        units = 0
        rows = self._db.rows("SELECT sku, quantity FROM reservations WHERE order_id = ?", order_id)
        for row in rows:
            self._db.execute(
                "UPDATE stock SET reserved = reserved - ?, on_hand = on_hand - ? WHERE sku = ?",
                row["quantity"],
                row["quantity"] * sold,
                row["sku"],
            )
            units += row["quantity"]
        self._db.execute("DELETE FROM reservations WHERE order_id = ?", order_id)
        return units
