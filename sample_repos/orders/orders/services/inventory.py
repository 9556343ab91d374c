"""库存服务: 下单时预留, 付款后扣减, 失败或取消时释放。"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Callable

from orders.domain.order import Order
from orders.errors import OutOfStock, ReservationLost
from orders.storage.stock_repository import StockRepository


class InventoryService:
    """All-or-nothing reservations on top of the stock table."""

    def __init__(
        self,
        stock: StockRepository,
        clock: Callable[[], datetime],
        hold_for: timedelta = timedelta(minutes=30),
    ) -> None:
        self._stock = stock
        self._clock = clock
        self._hold_for = hold_for

    def reserve(self, order: Order) -> None:
        """为订单的每一行预留库存; 任何一行不足则整单失败。

        必须在事务中调用: 抛出 ``OutOfStock`` 后由事务回滚已预留的行。
        """
        expires = self._clock() + self._hold_for
        short = []
        for line in order.lines:
            if not self._stock.reserve(order.id, line.sku, line.quantity, expires):
                short.append(line.sku)
        if short:
            raise OutOfStock(f"not enough stock for {', '.join(short)}", skus=short)

    def release(self, order_id: str) -> int:
        """Give reserved units back; safe to call twice. Returns the units."""
        return self._stock.release(order_id)

    def commit(self, order_id: str) -> None:
        """Turn a reservation into a sale."""
        if not self._stock.commit(order_id):
            raise ReservationLost(f"the reservation of {order_id} is gone", order_id=order_id)

    def restock(self, items: dict[str, int]) -> None:
        """Put returned goods back on the shelf."""
        for sku, quantity in items.items():
            self._stock.add(sku, quantity)

    def expired_orders(self) -> list[str]:
        return self._stock.expired(self._clock())
