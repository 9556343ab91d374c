"""订单仓储: 订单主体以 JSON 存储, 需要查询的字段单独成列。"""

from __future__ import annotations

import json

from orders.domain.order import Order
from orders.domain.states import OrderState
from orders.errors import ConcurrentUpdate, NotFound
from orders.storage.base import Repository
from orders.storage.codec import order_from_dict, order_to_dict


class OrderRepository(Repository):
    def save(self, order: Order) -> None:
        """保存订单, 用版本号做乐观锁; 版本不符时抛出 ``ConcurrentUpdate``。"""
        body = json.dumps(order_to_dict(order), ensure_ascii=False)
        if order.version == 0:
            changed = self._db.execute(
                "INSERT INTO orders (id, state, body, request_key, version) VALUES (?, ?, ?, ?, 1)",
                order.id,
                order.state.value,
                body,
                order.request_key,
            )
        else:
            changed = self._db.execute(
                "UPDATE orders SET state = ?, body = ?, version = version + 1"
                " WHERE id = ? AND version = ?",
                order.state.value,
                body,
                order.id,
                order.version,
            )
        if changed != 1:
            raise ConcurrentUpdate(f"{order.id} was changed by somebody else")
        order.version += 1

    def get(self, order_id: str) -> Order:
        row = self._db.row("SELECT body, version FROM orders WHERE id = ?", order_id)
        if row is None:
            raise NotFound(f"no order {order_id}", order_id=order_id)
        return self._load(row)

    def find_by_request_key(self, request_key: str) -> Order | None:
        row = self._db.row("SELECT body, version FROM orders WHERE request_key = ?", request_key)
        return self._load(row) if row else None

    def ids_in_state(self, state: OrderState) -> list[str]:
        rows = self._db.rows("SELECT id FROM orders WHERE state = ? ORDER BY rowid", state.value)
        return [row["id"] for row in rows]

    def _load(self, row) -> Order:
        order = order_from_dict(json.loads(row["body"]))
        order.version = row["version"]
        return order
