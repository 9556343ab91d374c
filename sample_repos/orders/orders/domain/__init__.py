"""Pure domain model: no I/O in this package."""

from orders.domain.cart import Cart, CartLine
from orders.domain.money import Money, sum_money
from orders.domain.order import Order, OrderLine, PriceBreakdown
from orders.domain.states import OrderState

__all__ = [
    "Cart",
    "CartLine",
    "Money",
    "Order",
    "OrderLine",
    "OrderState",
    "PriceBreakdown",
    "sum_money",
]
