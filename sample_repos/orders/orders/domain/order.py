"""The order aggregate and the value objects it is made of."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from orders.domain.money import Money, sum_money
from orders.domain.states import OrderState, check_transition
from orders.errors import NotFound


def new_order_id() -> str:
    return f"ord_{secrets.token_hex(8)}"


@dataclass
class OrderLine:
    """One product of an order, with its share of discount and tax."""

    sku: str
    quantity: int
    unit_price: Money
    discount: Money
    tax: Money
    returned: int = 0

    def gross(self) -> Money:
        return self.unit_price.times(self.quantity)

    def payable(self) -> Money:
        """What the customer really pays for this line."""
        return self.gross() - self.discount + self.tax


@dataclass
class PriceBreakdown:
    """Result of pricing a cart; every amount is already rounded."""

    lines: list[OrderLine]
    subtotal: Money
    discount: Money
    shipping: Money
    shipping_tax: Money
    tax: Money
    total: Money
    discount_code: str | None = None
    rejected_codes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tender:
    """One way the customer wants to pay; ``limit`` caps a voucher."""

    method: str
    token: str
    limit: Money | None = None


@dataclass
class PaymentRecord:
    """A charge that went through."""

    method: str
    reference: str
    amount: Money
    refunded: Money

    def refundable(self) -> Money:
        return self.amount - self.refunded


@dataclass
class RefundRecord:
    id: str
    amount: Money
    items: dict[str, int]
    shipping: bool
    reason: str


@dataclass
class Order:
    id: str
    currency: str
    region: str
    price: PriceBreakdown
    state: OrderState = OrderState.NEW
    tenders: list[Tender] = field(default_factory=list)
    payments: list[PaymentRecord] = field(default_factory=list)
    refunds: list[RefundRecord] = field(default_factory=list)
    request_key: str | None = None
    failure: str | None = None
    tracking: str | None = None
    version: int = 0

    @property
    def lines(self) -> list[OrderLine]:
        return self.price.lines

    def move_to(self, state: OrderState) -> None:
        """Change state or raise ``InvalidTransition``."""
        check_transition(self.state, state)
        self.state = state

    def line(self, sku: str) -> OrderLine:
        for line in self.lines:
            if line.sku == sku:
                return line
        raise NotFound(f"order {self.id} has no line {sku}", sku=sku)

    def captured(self) -> Money:
        return sum_money((p.amount for p in self.payments), self.currency)

    def refunded(self) -> Money:
        return sum_money((r.amount for r in self.refunds), self.currency)

    def shipping_refunded(self) -> bool:
        return any(refund.shipping for refund in self.refunds)
