"""Shared fixtures: a shop with a movable clock and a scripted acquirer."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from orders.bootstrap import Shop, build_shop
from orders.config import Settings
from orders.domain.cart import Cart
from orders.domain.catalogue import Catalogue, Product
from orders.domain.discounts import AmountOff, DiscountCatalogue, FreeShipping, PercentOff
from orders.domain.money import Money
from orders.domain.order import Tender
from orders.payments.card import SandboxTransport
from orders.services.shipping import Band, Zone


def eur(text: str) -> Money:
    return Money.of(text, "EUR")


CARD = Tender("card", "tok_ok")
DECLINED = Tender("card", "tok_declined")
TIMEOUT = Tender("card", "tok_timeout")


class Clock:
    """Starts on a fixed day and only moves when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **delta: float) -> None:
        self.now += timedelta(**delta)


def make_settings() -> Settings:
    return Settings(
        card_attempts=1,
        catalogue=Catalogue(
            [
                Product("mug", eur("9.90"), 350),
                Product("tea", eur("4.45"), 120),
                Product("card", eur("20.00")),
            ]
        ),
        discounts=make_discounts(),
        zones=(
            Zone("eu", frozenset({"DE", "FR"}), (Band(500, eur("3.90")), Band(2000, eur("5.90")))),
        ),
    )


def make_discounts() -> DiscountCatalogue:
    return DiscountCatalogue(
        [PercentOff("TEN", Decimal(10)), AmountOff("FIVER", eur("5.00")), FreeShipping("SHIPFREE")]
    )


class ShopFixture:
    """Mix into a ``TestCase`` that needs a complete shop."""

    def setUp(self) -> None:
        self.transport = SandboxTransport()
        self.clock = Clock()
        self.shop: Shop = build_shop(make_settings(), transport=self.transport, clock=self.clock)
        for sku in ("mug", "tea", "card"):
            self.shop.stock.add(sku, 10)
        self.addCleanup(self.shop.db.close)

    def cart(self, region: str = "DE", **quantities: int) -> Cart:
        cart = Cart("EUR", region)
        for sku, quantity in quantities.items():
            product = self.shop.settings.catalogue.lookup(sku)
            cart.add(sku, quantity, product.price, product.grams)
        return cart

    def kinds(self, order_id: str) -> list[str]:
        return [event.kind for event in self.shop.event_log.history(order_id)]
