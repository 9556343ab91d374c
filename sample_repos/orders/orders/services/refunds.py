"""退款服务: 整单退款、按行部分退款, 以及退款总额的取整。

金额采用累计法: 先算出"到目前为止应退总额"并取整一次, 再减去已退金额。
因此无论分几次退, 全部退完时的合计恰好等于实付金额, 不会差一分钱。
"""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import Callable, Iterable, Mapping

from orders.domain import events
from orders.domain.money import Money, round_minor, sum_money
from orders.domain.order import Order, OrderLine, RefundRecord
from orders.domain.states import OrderState
from orders.errors import RefundError, ValidationError
from orders.payments.gateway import GatewayRegistry
from orders.services.inventory import InventoryService
from orders.services.outbox import EventLog
from orders.storage.order_repository import OrderRepository
from orders.storage.sqlite_store import Database


def line_refund(line: OrderLine, quantity: int) -> Fraction:
    """Exact (unrounded) share of a line for ``quantity`` returned units."""
    return Fraction(line.payable().minor * quantity, line.quantity)


def round_refund_total(parts: Iterable[Fraction], currency: str) -> Money:
    """退款总额在这里取整, 并且只取整这一次(四舍五入)。

    逐行取整会让多行退款的误差累积, 所以先精确求和, 最后再取整。
    """
    return Money(round_minor(sum(parts, Fraction(0))), currency)


class RefundService:
    """Works out what to give back and through which payment."""

    def __init__(
        self,
        db: Database,
        orders: OrderRepository,
        gateways: GatewayRegistry,
        inventory: InventoryService,
        event_log: EventLog,
        clock: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._orders = orders
        self._gateways = gateways
        self._inventory = inventory
        self._event_log = event_log
        self._clock = clock

    def refund(
        self,
        order_id: str,
        items: Mapping[str, int],
        shipping: bool = False,
        reason: str = "return",
        restock: bool = True,
    ) -> RefundRecord:
        """Refund some units, and the shipping costs if asked to.

        The money goes back first and is recorded afterwards; the gateways
        deduplicate by key, so a crash in between is repaired by retrying.
        """
        order = self._orders.get(order_id)
        self._check(order, items, shipping)
        for sku, quantity in items.items():
            order.line(sku).returned += quantity
        amount = self._due(order, shipping) - order.refunded()
        number = len(order.refunds) + 1
        record = RefundRecord(
            id=f"{order.id}/refund/{number}",
            amount=amount,
            items=dict(items),
            shipping=shipping,
            reason=reason,
        )
        self._give_back(order, record)
        with self._db.transaction():
            self._store(order, record)
            if restock:
                self._inventory.restock(record.items)
        return record

    def refund_everything(self, order_id: str, reason: str) -> RefundRecord:
        """整单退款: 所有尚未退回的商品加上运费。"""
        order = self._orders.get(order_id)
        items = {
            line.sku: line.quantity - line.returned
            for line in order.lines
            if line.returned < line.quantity
        }
        shipping = bool(order.price.shipping) and not order.shipping_refunded()
        return self.refund(order_id, items, shipping=shipping, reason=reason)

    def _check(self, order: Order, items: Mapping[str, int], shipping: bool) -> None:
        if not items and not shipping:
            raise ValidationError("nothing to refund")
        if shipping and order.shipping_refunded():
            raise RefundError("shipping was refunded already")
        if not order.payments:
            raise RefundError(f"{order.id} was never paid")
        for sku, quantity in items.items():
            line = order.line(sku)
            left = line.quantity - line.returned
            if not 1 <= quantity <= left:
                raise RefundError(f"only {left} of {sku} can be returned", sku=sku)

    def _due(self, order: Order, shipping: bool) -> Money:
        """Everything owed for the units returned so far, this refund included."""
        parts = [line_refund(line, line.returned) for line in order.lines]
        if shipping or order.shipping_refunded():
            paid = order.price.shipping + order.price.shipping_tax
            parts.append(Fraction(paid.minor))
        return round_refund_total(parts, order.currency)

    def _give_back(self, order: Order, record: RefundRecord) -> None:
        """Spread the amount over the payments, the last one charged first.

        Vouchers are charged first, so the card gets its money back before a
        voucher is topped up again.
        """
        left = record.amount
        available = sum_money((p.refundable() for p in order.payments), order.currency)
        if left > available:
            raise RefundError(f"only {available} left to refund")
        for index, payment in reversed(list(enumerate(order.payments))):
            part = min(left, payment.refundable())
            if not part:
                continue
            gateway = self._gateways.get(payment.method)
            gateway.refund(payment.reference, part, f"{record.id}/{index}")
            payment.refunded = payment.refunded + part
            left = left - part

    def _store(self, order: Order, record: RefundRecord) -> None:
        order.refunds.append(record)
        done = order.refunded() == order.captured()
        order.move_to(OrderState.REFUNDED if done else OrderState.PARTLY_REFUNDED)
        with self._db.transaction():
            self._orders.save(order)
            data: dict[str, object] = {"amount": str(record.amount), "items": record.items}
            self._event_log.record(
                events.Event(events.ORDER_REFUNDED, order.id, self._clock(), data)
            )
