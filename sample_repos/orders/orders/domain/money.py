"""金额类型。

金额一律以最小货币单位的整数保存(欧元为分, 日元为元), 绝不使用 float。
不同币种之间不能相加或比较, 一旦混用立即抛出 ``MoneyError``。
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import total_ordering
from typing import Iterable, Sequence

from orders.errors import MoneyError

EXPONENTS = {"EUR": 2, "GBP": 2, "CHF": 2, "CNY": 2, "JPY": 0, "KWD": 3}


def round_minor(exact: Decimal | Fraction, rounding: str = ROUND_HALF_UP, step: int = 1) -> int:
    """Round an exact amount in minor units to a multiple of ``step``.

    ``step`` is 5 for Swiss prices, which are rounded to five rappen.
    """
    if isinstance(exact, Fraction):
        exact = Decimal(exact.numerator) / Decimal(exact.denominator)
    units = (exact / step).quantize(Decimal(1), rounding=rounding)
    return int(units) * step


@total_ordering
@dataclass(frozen=True)
class Money:
    """An amount in minor units of one currency."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if self.currency not in EXPONENTS:
            raise MoneyError(f"unknown currency {self.currency!r}")
        if not isinstance(self.minor, int) or isinstance(self.minor, bool):
            raise MoneyError("minor units must be an integer")

    @classmethod
    def zero(cls, currency: str) -> Money:
        return cls(0, currency)

    @classmethod
    def of(cls, text: str | int, currency: str) -> Money:
        """Parse ``"12.34"``; refuses digits the currency does not have."""
        if currency not in EXPONENTS:
            raise MoneyError(f"unknown currency {currency!r}")
        try:
            scaled = Decimal(text).scaleb(EXPONENTS[currency])
        except (InvalidOperation, TypeError) as exc:
            raise MoneyError(f"not an amount: {text!r}") from exc
        if not scaled.is_finite() or scaled != scaled.to_integral_value():
            raise MoneyError(f"{text!r} has too many digits for {currency}")
        return cls(int(scaled), currency)

    def _same(self, other: Money) -> None:
        if self.currency != other.currency:
            raise MoneyError(f"cannot mix {self.currency} and {other.currency}")

    def __add__(self, other: Money) -> Money:
        self._same(other)
        return Money(self.minor + other.minor, self.currency)

    def __sub__(self, other: Money) -> Money:
        self._same(other)
        return Money(self.minor - other.minor, self.currency)

    def __lt__(self, other: Money) -> bool:
        self._same(other)
        return self.minor < other.minor

    def __bool__(self) -> bool:
        return self.minor != 0

    def __str__(self) -> str:
        exponent = EXPONENTS[self.currency]
        value = Decimal(self.minor).scaleb(-exponent)
        return f"{value:.{exponent}f} {self.currency}"

    def times(self, count: int) -> Money:
        return Money(self.minor * count, self.currency)

    def share(self, ratio: Decimal, rounding: str = ROUND_HALF_UP) -> Money:
        """A fraction of the amount, e.g. ``share(Decimal("0.1"))`` for 10 %."""
        return Money(round_minor(self.minor * ratio, rounding), self.currency)

    def allocate(self, weights: Sequence[int]) -> list[Money]:
        """按权重拆分金额, 各份之和严格等于原金额。

        先向下取整, 余下的最小单位按余数从大到小逐个分配(最大余数法);
        余数相同时靠前的份额优先, 因此结果是确定的。
        """
        if not weights:
            raise MoneyError("cannot allocate to nobody")
        total = sum(weights)
        if total == 0:
            weights, total = [1] * len(weights), len(weights)
        shares = [self.minor * weight // total for weight in weights]
        remainders = [self.minor * weight % total for weight in weights]
        left = self.minor - sum(shares)
        by_remainder = sorted(range(len(weights)), key=lambda i: (-remainders[i], i))
        for index in by_remainder[:left]:
            shares[index] += 1
        return [Money(share, self.currency) for share in shares]


def sum_money(amounts: Iterable[Money], currency: str) -> Money:
    """Like ``sum`` but with a typed zero, so an empty iterable works too."""
    total = Money.zero(currency)
    for amount in amounts:
        total = total + amount
    return total
