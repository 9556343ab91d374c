"""Checks request bodies and turns them into domain objects."""

from __future__ import annotations

from typing import Any

from orders.config import Settings
from orders.domain.cart import Cart
from orders.domain.money import Money
from orders.domain.order import Order, Tender
from orders.errors import ValidationError


def require(body: dict[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) and kind is int:
        raise ValidationError(f"{name} must be a {kind.__name__}", field=name)
    return value


def parse_cart(body: dict[str, Any], settings: Settings) -> Cart:
    """单价取自商品目录, 绝不采信客户端传来的价格。"""
    cart = Cart(settings.currency, require(body, "region", str))
    for entry in require(body, "items", list):
        if not isinstance(entry, dict):
            raise ValidationError("every item must be an object", field="items")
        product = settings.catalogue.lookup(require(entry, "sku", str))
        cart.add(product.sku, require(entry, "quantity", int), product.price, product.grams)
    for code in require(body, "codes", list) if "codes" in body else []:
        cart.add_code(str(code))
    return cart


def parse_tenders(body: dict[str, Any], settings: Settings) -> list[Tender]:
    tenders = []
    for entry in require(body, "payments", list):
        if not isinstance(entry, dict):
            raise ValidationError("every payment must be an object", field="payments")
        limit = entry.get("limit")
        tenders.append(
            Tender(
                require(entry, "method", str),
                require(entry, "token", str),
                Money.of(limit, settings.currency) if limit is not None else None,
            )
        )
    return tenders


def parse_items(body: dict[str, Any]) -> dict[str, int]:
    """``{"sku": quantity}`` of a refund request."""
    items = body.get("items", {})
    if not isinstance(items, dict):
        raise ValidationError("items must map SKU to quantity", field="items")
    for sku in items:
        require(items, sku, int)
    return items


def order_view(order: Order) -> dict[str, Any]:
    """What clients see of an order; payment tokens stay out."""
    return {
        "id": order.id,
        "state": order.state.value,
        "total": str(order.price.total),
        "tax": str(order.price.tax),
        "discount": str(order.price.discount),
        "discount_code": order.price.discount_code,
        "shipping": str(order.price.shipping),
        "refunded": str(order.refunded()),
        "tracking": order.tracking,
        "items": [
            {"sku": line.sku, "quantity": line.quantity, "returned": line.returned}
            for line in order.lines
        ],
    }
