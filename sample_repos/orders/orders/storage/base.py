"""Common ground of the repositories."""

from __future__ import annotations

from datetime import datetime, timezone

from orders.storage.sqlite_store import Database


class Repository:
    """Holds the database; subclasses own one or two tables each."""

    def __init__(self, db: Database) -> None:
        self._db = db


def to_text(moment: datetime) -> str:
    """统一存为 UTC 的 ISO 文本, 这样按字符串比较就等于按时间比较。"""
    return moment.astimezone(timezone.utc).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    return datetime.fromisoformat(text)
