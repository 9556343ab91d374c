"""Shipping quotes by zone and weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from orders.domain.cart import Cart
from orders.domain.money import Money
from orders.errors import ValidationError


@dataclass(frozen=True)
class Band:
    """Parcels up to ``max_grams`` (inclusive) cost ``price``."""

    max_grams: int
    price: Money


@dataclass(frozen=True)
class Zone:
    name: str
    regions: frozenset[str]
    bands: tuple[Band, ...]

    def price_for(self, grams: int) -> Money:
        for band in sorted(self.bands, key=lambda b: b.max_grams):
            if grams <= band.max_grams:
                return band.price
        raise ValidationError(f"{grams} g is too heavy for zone {self.name}")


class ShippingQuoter:
    """Finds the zone of a cart and asks it for a price."""

    def __init__(self, zones: Iterable[Zone]) -> None:
        self._zones = list(zones)

    def quote(self, cart: Cart) -> Money:
        """运费报价: 先按地区找到配送区, 再按总重量查价目表。"""
        grams = cart.weight()
        if grams == 0:
            # 全是虚拟商品, 不需要配送。
            return Money.zero(cart.currency)
        return self._zone(cart.region).price_for(grams)

    def _zone(self, region: str) -> Zone:
        for zone in self._zones:
            if region in zone.regions:
                return zone
        raise ValidationError(f"we do not ship to {region}", region=region)
