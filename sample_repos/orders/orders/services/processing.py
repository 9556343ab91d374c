"""订单处理服务。

从购物车到已付款订单的完整流程都由 ``OrderProcessor`` 编排:
计价、建单、预留库存、扣款、确认或回退。具体规则分别在 pricing、inventory、
payments 中实现, 本模块只负责顺序、事务边界以及出错时的补偿动作。
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Callable, Sequence

from orders.domain import events
from orders.domain.cart import Cart
from orders.domain.order import Order, PaymentRecord, PriceBreakdown, Tender, new_order_id
from orders.domain.states import OrderState, holds_stock
from orders.errors import (
    InvalidTransition,
    OrdersError,
    PaymentError,
    PaymentTimeout,
    ReservationLost,
    ValidationError,
)
from orders.payments.tenders import TenderSplitter
from orders.services.inventory import InventoryService
from orders.services.outbox import EventLog
from orders.services.pricing import PricingService
from orders.services.refunds import RefundService
from orders.storage.order_repository import OrderRepository
from orders.storage.sqlite_store import Database

log = logging.getLogger(__name__)


class OrderProcessor:
    """编排下单、结算、取消、发货等用例。

    网络调用(扣款、退款)一律放在数据库事务之外, 避免长时间占用写锁。
    """

    def __init__(
        self,
        db: Database,
        orders: OrderRepository,
        pricing: PricingService,
        inventory: InventoryService,
        tenders: TenderSplitter,
        refunds: RefundService,
        event_log: EventLog,
        clock: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._orders = orders
        self._pricing = pricing
        self._inventory = inventory
        self._tenders = tenders
        self._refunds = refunds
        self._event_log = event_log
        self._clock = clock

    def process_order(
        self, cart: Cart, tenders: Sequence[Tender], request_key: str | None = None
    ) -> Order:
        """订单处理的核心逻辑, 也是下单的唯一入口。

        处理步骤:

        1. 按 ``request_key`` 判重, 重复请求直接返回原订单;
        2. 计价: 折扣、运费、税;
        3. 在同一个事务里建单、预留库存、写事件;
        4. 在事务之外扣款;
        5. 扣款成功则确认订单并扣减库存; 被拒绝则释放库存;
           超时则挂起, 等待 ``settle_pending`` 重试。
        """
        self._tenders.check(tenders)
        previous = self._find_previous(request_key)
        if previous is not None:
            return previous
        price = self._pricing.quote(cart, self._clock().date())
        order = self._open_order(cart, price, tenders, request_key)
        return self._collect(order, tenders)

    def settle_pending(self, order_id: str) -> Order:
        """Charge an order again whose payment result is unknown.

        The gateways deduplicate by key, so a charge that did go through the
        first time is not taken twice.
        """
        order = self._orders.get(order_id)
        if order.state is not OrderState.PENDING_PAYMENT:
            raise InvalidTransition(f"{order_id} is not waiting for a payment")
        return self._collect(order, order.tenders)

    def cancel_order(self, order_id: str, reason: str = "customer") -> Order:
        """取消订单: 未付款的直接释放库存, 已付款未发货的全额退款。"""
        order = self._orders.get(order_id)
        if order.state is OrderState.PAID:
            self._refunds.refund_everything(order_id, reason)
            return self._orders.get(order_id)
        if not holds_stock(order.state):
            raise InvalidTransition(f"{order_id} can no longer be cancelled")
        # The charge may have gone through unnoticed; void it before letting go.
        self._tenders.void_all(order.id, order.tenders)
        return self._abandon(order, OrderState.CANCELLED, reason)

    def ship_order(self, order_id: str, tracking: str) -> Order:
        """Hand a paid order to the carrier."""
        if not tracking.strip():
            raise ValidationError("a tracking number is required")
        with self._db.transaction():
            order = self._orders.get(order_id)
            order.move_to(OrderState.SHIPPED)
            order.tracking = tracking.strip()
            self._save(order, events.ORDER_SHIPPED, tracking=order.tracking)
        return order

    def expire_reservations(self) -> list[str]:
        """取消所有预留已过期的订单, 返回被取消的订单号(由定时任务调用)。"""
        expired = []
        for order_id in self._inventory.expired_orders():
            try:
                self.cancel_order(order_id, reason="expired")
            except InvalidTransition:
                # Paid or cancelled since we looked; nothing left to expire.
                log.info("order %s moved on before it expired", order_id)
                continue
            except PaymentError as exc:
                # Not voided for sure, so keep the stock and try next time.
                log.warning("could not expire %s: %s", order_id, exc)
                continue
            expired.append(order_id)
        return expired

    # -- steps ------------------------------------------------------------

    def _find_previous(self, request_key: str | None) -> Order | None:
        if request_key is None:
            return None
        return self._orders.find_by_request_key(request_key)

    def _open_order(
        self, cart: Cart, price: PriceBreakdown, tenders: Sequence[Tender], request_key: str | None
    ) -> Order:
        """建单并预留库存; 库存不足时整个事务回滚, 不留下任何痕迹。"""
        order = Order(
            id=new_order_id(),
            currency=cart.currency,
            region=cart.region,
            price=price,
            tenders=list(tenders),
            request_key=request_key,
        )
        with self._db.transaction():
            self._inventory.reserve(order)
            order.move_to(OrderState.RESERVED)
            self._save(order, events.ORDER_PLACED, total=str(price.total), region=cart.region)
        log.info("order %s placed, total %s", order.id, price.total)
        return order

    def _collect(self, order: Order, tenders: Sequence[Tender]) -> Order:
        """扣款并根据结果推进订单; 此处不得处于任何事务之中。"""
        try:
            payments = self._tenders.charge(order.id, order.price.total, tenders)
        except PaymentTimeout as exc:
            return self._park(order, exc)
        except PaymentError as exc:
            self._release_and_fail(order, exc)
            raise
        try:
            return self._confirm_paid(order, payments)
        except ReservationLost as exc:
            # 钱已扣而货没了: 先撤销扣款, 再把订单标记为失败。
            self._tenders.void_all(order.id, tenders)
            self._release_and_fail(order, exc)
            raise

    def _confirm_paid(self, order: Order, payments: list[PaymentRecord]) -> Order:
        with self._db.transaction():
            self._inventory.commit(order.id)
            order.payments = payments
            order.move_to(OrderState.PAID)
            self._save(order, events.ORDER_PAID, amount=str(order.captured()))
        log.info("order %s paid by %s", order.id, [p.method for p in payments])
        return order

    def _park(self, order: Order, exc: PaymentTimeout) -> Order:
        """Keep the reservation while we do not know whether we were paid."""
        log.warning("payment of %s is unknown: %s", order.id, exc)
        if order.state is OrderState.PENDING_PAYMENT:
            return order
        with self._db.transaction():
            order.move_to(OrderState.PENDING_PAYMENT)
            self._save(order, events.PAYMENT_PENDING, cause=str(exc))
        return order

    def _release_and_fail(self, order: Order, exc: OrdersError) -> None:
        """付款失败的补偿: 释放预留库存, 并把订单标记为失败。"""
        exc.details["order_id"] = order.id
        log.warning("payment of %s failed: %s", order.id, exc)
        self._abandon(order, OrderState.FAILED, str(exc))

    def _abandon(self, order: Order, state: OrderState, reason: str) -> Order:
        """Release the stock and close the order, in one transaction."""
        failed = state is OrderState.FAILED
        kind = events.ORDER_FAILED if failed else events.ORDER_CANCELLED
        with self._db.transaction():
            units = self._inventory.release(order.id)
            order.failure = reason
            order.move_to(state)
            self._save(order, kind, reason=reason, released=units)
        return order

    def _save(self, order: Order, kind: str, **data: object) -> None:
        """保存订单并写入事件(发件箱模式): 两者必须在同一事务内。"""
        self._orders.save(order)
        self._event_log.record(events.Event(kind, order.id, self._clock(), dict(data)))
