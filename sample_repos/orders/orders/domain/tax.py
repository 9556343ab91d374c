"""按地区计税。

各地区的舍入规则不同: 有的逐行取整(DE、GB、CN), 有的只对税额总数取整一次
(FR、CH、JP)。瑞士还要求取整到 5 分(rappen)。
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Sequence

from orders.domain.money import Money, round_minor
from orders.errors import ValidationError

PER_LINE = "line"
PER_TOTAL = "total"


@dataclass(frozen=True)
class TaxRule:
    """Rate and rounding habit of one region."""

    region: str
    rate: Decimal
    scope: str = PER_LINE
    rounding: str = ROUND_HALF_UP
    step: int = 1


TAX_RULES = {
    rule.region: rule
    for rule in (
        TaxRule("DE", Decimal("0.19")),
        TaxRule("GB", Decimal("0.20"), rounding=ROUND_DOWN),
        TaxRule("CN", Decimal("0.13"), rounding=ROUND_HALF_EVEN),
        TaxRule("FR", Decimal("0.20"), scope=PER_TOTAL),
        TaxRule("CH", Decimal("0.081"), scope=PER_TOTAL, step=5),
        TaxRule("JP", Decimal("0.10"), scope=PER_TOTAL, rounding=ROUND_DOWN),
    )
}


def rule_for(region: str) -> TaxRule:
    try:
        return TAX_RULES[region]
    except KeyError:
        raise ValidationError(f"no tax rule for region {region}", region=region) from None


def compute_tax(rule: TaxRule, amounts: Sequence[Money]) -> list[Money]:
    """Tax for each net amount, rounded the way the region wants it.

    With ``PER_TOTAL`` the sum is rounded once and then spread over the
    amounts, so the returned list always adds up to the legal total.
    """
    if not amounts:
        return []
    currency = amounts[0].currency
    if rule.scope == PER_LINE:
        return [
            Money(round_minor(a.minor * rule.rate, rule.rounding, rule.step), currency)
            for a in amounts
        ]
    net = sum(a.minor for a in amounts)
    total = Money(round_minor(net * rule.rate, rule.rounding, rule.step), currency)
    return total.allocate([a.minor for a in amounts])
