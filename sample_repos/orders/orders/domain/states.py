"""订单状态机。

状态只能沿 ``TRANSITIONS`` 中列出的箭头变化, 其余一律拒绝::

    new -> reserved -> paid -> shipped -> refunded
              |  \\       \\-> partly_refunded
              |   pending_payment
              +-> failed / cancelled

终态(failed、cancelled、refunded)没有出边。
"""

from __future__ import annotations

from enum import Enum

from orders.errors import InvalidTransition


class OrderState(str, Enum):
    NEW = "new"
    RESERVED = "reserved"
    PENDING_PAYMENT = "pending_payment"
    PAID = "paid"
    SHIPPED = "shipped"
    PARTLY_REFUNDED = "partly_refunded"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"
    FAILED = "failed"


TRANSITIONS: dict[OrderState, frozenset[OrderState]] = {
    OrderState.NEW: frozenset({OrderState.RESERVED, OrderState.FAILED}),
    OrderState.RESERVED: frozenset(
        {OrderState.PENDING_PAYMENT, OrderState.PAID, OrderState.FAILED, OrderState.CANCELLED}
    ),
    # 付款结果未知: 之后要么结算成功, 要么作废, 不会退回 reserved。
    OrderState.PENDING_PAYMENT: frozenset(
        {OrderState.PAID, OrderState.FAILED, OrderState.CANCELLED}
    ),
    OrderState.PAID: frozenset(
        {OrderState.SHIPPED, OrderState.PARTLY_REFUNDED, OrderState.REFUNDED}
    ),
    OrderState.SHIPPED: frozenset({OrderState.PARTLY_REFUNDED, OrderState.REFUNDED}),
    # A second partial refund keeps the state, hence the self loop.
    OrderState.PARTLY_REFUNDED: frozenset({OrderState.PARTLY_REFUNDED, OrderState.REFUNDED}),
    OrderState.REFUNDED: frozenset(),
    OrderState.CANCELLED: frozenset(),
    OrderState.FAILED: frozenset(),
}


def holds_stock(state: OrderState) -> bool:
    """该状态下的订单是否仍占用预留库存(尚未扣减)。"""
    return state in (OrderState.RESERVED, OrderState.PENDING_PAYMENT)


def check_transition(current: OrderState, wanted: OrderState) -> None:
    """校验一次状态变更; 不允许时抛出 ``InvalidTransition``。"""
    if wanted not in TRANSITIONS[current]:
        raise InvalidTransition(
            f"cannot go from {current.value} to {wanted.value}",
            current=current.value,
            wanted=wanted.value,
        )
