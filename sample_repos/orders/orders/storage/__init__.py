"""Persistence in SQLite: one repository per aggregate."""

from orders.storage.order_repository import OrderRepository
from orders.storage.sqlite_store import Database

__all__ = ["Database", "OrderRepository"]
