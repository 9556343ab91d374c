"""Vouchers and their ledger.

A ledger entry is keyed by the charge or refund that caused it, which is what
makes debits and credits idempotent.
"""

from __future__ import annotations

from orders.domain.money import Money
from orders.errors import NotFound
from orders.storage.base import Repository


class VoucherRepository(Repository):
    def issue(self, code: str, balance: Money) -> None:
        self._db.execute(
            "INSERT INTO vouchers (code, currency, balance) VALUES (?, ?, ?)",
            code,
            balance.currency,
            balance.minor,
        )

    def balance(self, code: str, currency: str) -> Money:
        """A voucher in another currency counts as empty."""
        row = self._db.row(
            "SELECT balance FROM vouchers WHERE code = ? AND currency = ?", code, currency
        )
        return Money(row["balance"] if row else 0, currency)

    def debit(self, key: str, code: str, amount: Money) -> bool:
        """扣减余额; 余额不足返回 False, 同一 key 重复扣减视为成功。"""
        with self._db.transaction():
            if self._entry(key) is not None:
                return True
            changed = self._db.execute(
                "UPDATE vouchers SET balance = balance - ?"
                " WHERE code = ? AND currency = ? AND balance >= ?",
                amount.minor,
                code,
                amount.currency,
                amount.minor,
            )
            if changed:
                self._book(key, code, -amount.minor)
            return bool(changed)

    def credit(self, key: str, reference: str, amount: Money) -> None:
        """Pay a refund back into the voucher that ``reference`` debited."""
        with self._db.transaction():
            if self._entry(key) is not None:
                return
            debit = self._entry(reference)
            if debit is None:
                raise NotFound(f"no voucher charge {reference}")
            self._top_up(debit["code"], amount.minor)
            self._book(key, debit["code"], amount.minor)

    def undo(self, key: str) -> None:
        """Remove an entry as if it had never been booked."""
        with self._db.transaction():
            entry = self._entry(key)
            if entry is None:
                return
            self._top_up(entry["code"], -entry["amount"])
            self._db.execute("DELETE FROM voucher_entries WHERE key = ?", key)

    def _entry(self, key: str):
        return self._db.row("SELECT code, amount FROM voucher_entries WHERE key = ?", key)

    def _book(self, key: str, code: str, amount: int) -> None:
        self._db.execute(
            "INSERT INTO voucher_entries (key, code, amount) VALUES (?, ?, ?)", key, code, amount
        )

    def _top_up(self, code: str, amount: int) -> None:
        self._db.execute("UPDATE vouchers SET balance = balance + ? WHERE code = ?", amount, code)
