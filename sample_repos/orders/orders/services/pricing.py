"""Turns a cart into a price breakdown."""

from __future__ import annotations

from datetime import date

from orders.domain.cart import Cart
from orders.domain.discounts import DiscountCatalogue, DiscountChoice, choose_discount
from orders.domain.money import Money, sum_money
from orders.domain.order import OrderLine, PriceBreakdown
from orders.domain.tax import compute_tax, rule_for
from orders.errors import ValidationError
from orders.services.shipping import ShippingQuoter


class PricingService:
    """Discount first, then shipping, then tax on what is left."""

    def __init__(
        self,
        discounts: DiscountCatalogue,
        shipping: ShippingQuoter,
        currencies: frozenset[str] = frozenset({"EUR"}),
    ) -> None:
        self._discounts = discounts
        self._shipping = shipping
        self._currencies = currencies

    def quote(self, cart: Cart, today: date) -> PriceBreakdown:
        """Price ``cart``; raises ``ValidationError`` for a cart we cannot sell."""
        cart.validate()
        self._check_currency(cart)
        subtotal = cart.subtotal()
        shipping = self._shipping.quote(cart)
        choice = self._pick_discount(cart, subtotal, shipping, today)
        shipping = shipping - choice.saving.shipping
        discount = choice.saving.goods

        # 折扣按各行金额分摊, 退款时才知道每一行实际付了多少。
        shares = discount.allocate([line.total().minor for line in cart.lines])
        net = [line.total() - share for line, share in zip(cart.lines, shares)]
        # Shipping is taxed like one more line, at the rate of the goods.
        taxes = compute_tax(rule_for(cart.region), [*net, shipping])
        shipping_tax = taxes.pop()
        lines = [
            OrderLine(line.sku, line.quantity, line.unit_price, share, tax)
            for line, share, tax in zip(cart.lines, shares, taxes)
        ]
        tax = sum_money(taxes, cart.currency) + shipping_tax
        return PriceBreakdown(
            lines=lines,
            subtotal=subtotal,
            discount=discount,
            shipping=shipping,
            shipping_tax=shipping_tax,
            tax=tax,
            total=subtotal - discount + shipping + tax,
            discount_code=choice.code,
            rejected_codes=choice.rejected,
        )

    def _pick_discount(
        self, cart: Cart, subtotal: Money, shipping: Money, today: date
    ) -> DiscountChoice:
        discounts = self._discounts.resolve(cart.codes)
        return choose_discount(discounts, subtotal, shipping, today)

    def _check_currency(self, cart: Cart) -> None:
        if cart.currency not in self._currencies:
            raise ValidationError(
                f"the shop does not sell in {cart.currency}", currency=cart.currency
            )
