"""Discount codes and the rule that decides between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Iterable, Mapping, Sequence

from orders.domain.money import Money
from orders.errors import ValidationError


@dataclass(frozen=True)
class Saving:
    """How much a discount takes off the goods and off the shipping."""

    goods: Money
    shipping: Money

    def total(self) -> Money:
        return self.goods + self.shipping


@dataclass(frozen=True)
class Discount(ABC):
    code: str
    min_spend: Money | None = field(default=None, kw_only=True)
    expires: date | None = field(default=None, kw_only=True)

    def applies(self, subtotal: Money, today: date) -> bool:
        if self.expires is not None and today > self.expires:
            return False
        return self.min_spend is None or subtotal >= self.min_spend

    @abstractmethod
    def saving(self, subtotal: Money, shipping: Money) -> Saving:
        """Never more than there is to pay."""


@dataclass(frozen=True)
class PercentOff(Discount):
    percent: Decimal = Decimal(0)

    def saving(self, subtotal: Money, shipping: Money) -> Saving:
        goods = subtotal.share(self.percent / 100)
        return Saving(goods, Money.zero(subtotal.currency))


@dataclass(frozen=True)
class AmountOff(Discount):
    amount: Money | None = None

    def saving(self, subtotal: Money, shipping: Money) -> Saving:
        nothing = Money.zero(subtotal.currency)
        if self.amount is None or self.amount.currency != subtotal.currency:
            return Saving(nothing, nothing)
        return Saving(min(self.amount, subtotal), nothing)


@dataclass(frozen=True)
class FreeShipping(Discount):
    def saving(self, subtotal: Money, shipping: Money) -> Saving:
        return Saving(Money.zero(subtotal.currency), shipping)


@dataclass(frozen=True)
class DiscountChoice:
    code: str | None
    saving: Saving
    rejected: list[str] = field(default_factory=list)


def choose_discount(
    discounts: Sequence[Discount], subtotal: Money, shipping: Money, today: date
) -> DiscountChoice:
    """Decide which discount wins when two or more apply.

    Discounts never stack: the one that saves the customer most wins.
    """
    # 优惠金额相同时, 顾客先输入的优惠码胜出, 所以这里必须用严格大于比较。
    best: Discount | None = None
    nothing = Money.zero(subtotal.currency)
    best_saving = Saving(nothing, nothing)
    for discount in discounts:
        if not discount.applies(subtotal, today):
            continue
        saving = discount.saving(subtotal, shipping)
        if saving.total() > best_saving.total():
            best, best_saving = discount, saving
    rejected = [d.code for d in discounts if d is not best]
    return DiscountChoice(best.code if best else None, best_saving, rejected)


class DiscountCatalogue:
    """All codes the shop currently knows."""

    def __init__(self, discounts: Iterable[Discount] = ()) -> None:
        self._by_code = {d.code: d for d in discounts}

    def resolve(self, codes: Iterable[str]) -> list[Discount]:
        """Look codes up, keeping the order in which they were typed."""
        found = []
        for code in codes:
            if code not in self._by_code:
                raise ValidationError(f"unknown discount code {code}", discount=code)
            found.append(self._by_code[code])
        return found


def discount_from_config(code: str, raw: Mapping[str, object], currency: str) -> Discount:
    """Build a discount from one ``[discounts.CODE]`` table."""
    kind = raw.get("kind")
    common: dict[str, Any] = {
        "expires": raw.get("expires"),
        "min_spend": (Money.of(str(raw["min_spend"]), currency) if "min_spend" in raw else None),
    }
    if kind == "percent":
        percent = Decimal(str(raw.get("percent", 0)))
        if not 0 < percent <= 100:
            raise ValidationError(f"discount {code}: percent must be 1 to 100")
        return PercentOff(code, percent, **common)
    if kind == "amount":
        return AmountOff(code, Money.of(str(raw["amount"]), currency), **common)
    if kind == "free_shipping":
        return FreeShipping(code, **common)
    raise ValidationError(f"discount {code}: unknown kind {kind!r}")
