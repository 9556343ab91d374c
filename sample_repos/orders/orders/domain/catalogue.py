"""Products the shop sells; prices never come from the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from orders.domain.money import Money
from orders.errors import NotFound


@dataclass(frozen=True)
class Product:
    sku: str
    price: Money
    grams: int = 0


class Catalogue:
    def __init__(self, products: Iterable[Product] = ()) -> None:
        self._products = {product.sku: product for product in products}

    def lookup(self, sku: str) -> Product:
        try:
            return self._products[sku]
        except KeyError:
            raise NotFound(f"no product {sku}", sku=sku) from None
