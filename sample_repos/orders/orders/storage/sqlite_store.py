"""SQLite 连接、事务与建表迁移。

整个进程共用一个连接。事务可以嵌套: 内层直接并入外层, 只有最外层才真正提交,
异常传播到最外层时, 整个事务一起回滚。
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import Iterator, Sequence

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE orders (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        body TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE stock (
        sku TEXT PRIMARY KEY,
        on_hand INTEGER NOT NULL CHECK (on_hand >= 0),
        reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0)
    );
    CREATE TABLE reservations (
        order_id TEXT NOT NULL,
        sku TEXT NOT NULL REFERENCES stock (sku),
        quantity INTEGER NOT NULL,
        PRIMARY KEY (order_id, sku)
    );
    """,
    """
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        order_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX outbox_order ON outbox (order_id);
    """,
    """
    CREATE TABLE vouchers (
        code TEXT PRIMARY KEY,
        currency TEXT NOT NULL,
        balance INTEGER NOT NULL CHECK (balance >= 0)
    );
    CREATE TABLE voucher_entries (
        key TEXT PRIMARY KEY,
        code TEXT NOT NULL REFERENCES vouchers (code),
        amount INTEGER NOT NULL
    );
    """,
    """
    ALTER TABLE orders ADD COLUMN request_key TEXT;
    CREATE UNIQUE INDEX orders_request_key ON orders (request_key);
    """,
    """
    ALTER TABLE outbox ADD COLUMN delivered_at TEXT;
    ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN not_before TEXT;
    ALTER TABLE outbox ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE reservations ADD COLUMN expires TEXT NOT NULL DEFAULT '9999';
    """,
    """
    ALTER TABLE orders ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
    """,
)


class Database:
    """One connection; ``transaction()`` nests by joining the outer one."""

    def __init__(self, path: str = ":memory:") -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._depth = 0
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA busy_timeout = 5000")
        if path != ":memory:":
            # WAL lets the relay read while a checkout is writing.
            self._connection.execute("PRAGMA journal_mode = WAL")
        self._migrate()

    def _migrate(self) -> None:
        (done,) = self._connection.execute("PRAGMA user_version").fetchone()
        for number, script in enumerate(MIGRATIONS[done:], start=done + 1):
            self._connection.executescript(
                f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # 用 IMMEDIATE 立刻取得写锁, 否则读后再写可能中途遇到 SQLITE_BUSY。
        if self._depth == 0:
            self._connection.execute("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
        except BaseException:
            self._depth -= 1
            if self._depth == 0:
                self._connection.execute("ROLLBACK")
            raise
        self._depth -= 1
        if self._depth == 0:
            self._connection.execute("COMMIT")

    def execute(self, sql: str, *values: object) -> int:
        """Run a statement and return the number of rows it changed."""
        return self._connection.execute(sql, values).rowcount

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> sqlite3.Row | None:
        return self._connection.execute(sql, values).fetchone()

    def close(self) -> None:
        self._connection.close()
