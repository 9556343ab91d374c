"""Orders to plain dictionaries and back; amounts are stored in minor units."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from orders.domain.money import Money
from orders.domain.order import (
    Order,
    OrderLine,
    PaymentRecord,
    PriceBreakdown,
    RefundRecord,
    Tender,
)
from orders.domain.states import OrderState


def order_to_dict(order: Order) -> dict[str, Any]:
    """A dictionary of JSON types; the version lives in its own column."""
    raw = _plain(order)
    del raw["version"]
    return raw


def _plain(value: Any) -> Any:
    if isinstance(value, Money):
        return value.minor
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def order_from_dict(raw: dict[str, Any]) -> Order:
    """从字典还原订单。

    旧版本写入的记录可能缺少后来新增的字段, 因此这些字段都用 ``get`` 读取。
    """
    currency = raw["currency"]
    price = raw["price"]

    def money(minor: int | None) -> Money:
        return Money(minor or 0, currency)

    breakdown = PriceBreakdown(
        lines=[
            OrderLine(
                sku=line["sku"],
                quantity=line["quantity"],
                unit_price=money(line["unit_price"]),
                discount=money(line.get("discount")),
                tax=money(line.get("tax")),
                returned=line.get("returned", 0),
            )
            for line in price["lines"]
        ],
        subtotal=money(price["subtotal"]),
        discount=money(price.get("discount")),
        discount_code=price.get("discount_code"),
        rejected_codes=price.get("rejected_codes", []),
        shipping=money(price.get("shipping")),
        shipping_tax=money(price.get("shipping_tax")),
        tax=money(price.get("tax")),
        total=money(price["total"]),
    )
    return Order(
        id=raw["id"],
        currency=currency,
        region=raw["region"],
        price=breakdown,
        state=OrderState(raw["state"]),
        tenders=[
            Tender(
                tender["method"],
                tender["token"],
                money(tender["limit"]) if tender["limit"] is not None else None,
            )
            for tender in raw.get("tenders", [])
        ],
        payments=[
            PaymentRecord(
                payment["method"],
                payment["reference"],
                money(payment["amount"]),
                money(payment.get("refunded")),
            )
            for payment in raw.get("payments", [])
        ],
        refunds=[
            RefundRecord(
                refund["id"],
                money(refund["amount"]),
                refund.get("items", {}),
                refund.get("shipping", False),
                refund["reason"],
            )
            for refund in raw.get("refunds", [])
        ],
        request_key=raw.get("request_key"),
        failure=raw.get("failure"),
        tracking=raw.get("tracking"),
    )
