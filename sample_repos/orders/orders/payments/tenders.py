"""Splits an order total over several tenders."""

from __future__ import annotations

import logging
from typing import Sequence

from orders.domain.money import Money
from orders.domain.order import PaymentRecord, Tender
from orders.errors import PaymentDeclined, PaymentError, ValidationError
from orders.payments.gateway import GatewayRegistry

log = logging.getLogger(__name__)


class TenderSplitter:
    def __init__(self, gateways: GatewayRegistry) -> None:
        self._gateways = gateways

    def check(self, tenders: Sequence[Tender]) -> None:
        """在预留库存之前调用, 提前拒绝无法使用的支付方式。"""
        if not tenders:
            raise ValidationError("no payment method given")
        for tender in tenders:
            self._gateways.get(tender.method)
            if tender.limit is not None and tender.limit.minor <= 0:
                raise ValidationError("the limit of a payment must be positive")

    def charge(self, order_id: str, total: Money, tenders: Sequence[Tender]) -> list[PaymentRecord]:
        """按顺序扣款: 先礼品券, 后银行卡; 任何一步失败则撤销已扣的款项。"""
        payments: list[PaymentRecord] = []
        left = total
        try:
            for index, tender in self._ordered(tenders):
                part = self._part(tender, left)
                if not part:
                    continue
                gateway = self._gateways.get(tender.method)
                key = charge_key(order_id, index)
                payments.append(gateway.charge(key, part, tender.token))
                left = left - part
            if left:
                raise PaymentDeclined(f"{left} of {total} is not covered")
        except PaymentError:
            self._undo(payments)
            raise
        return payments

    def void_all(self, order_id: str, tenders: Sequence[Tender]) -> None:
        """Void every charge an order may have made, known or not."""
        for index, tender in reversed(self._ordered(tenders)):
            self._gateways.get(tender.method).void(charge_key(order_id, index))

    def _ordered(self, tenders: Sequence[Tender]) -> list[tuple[int, Tender]]:
        """Limited tenders first, so an open-ended card covers the rest."""
        return sorted(enumerate(tenders), key=lambda item: item[1].method == "card")

    def _part(self, tender: Tender, left: Money) -> Money:
        gateway = self._gateways.get(tender.method)
        caps = [tender.limit, gateway.available(tender.token, left.currency)]
        return min([left, *(cap for cap in caps if cap is not None)])

    def _undo(self, payments: Sequence[PaymentRecord]) -> None:
        """Void in reverse order; one failing void must not stop the others."""
        for payment in reversed(payments):
            try:
                self._gateways.get(payment.method).void(payment.reference)
            except PaymentError:
                log.exception("could not void %s", payment.reference)


def charge_key(order_id: str, index: int) -> str:
    """Stable across retries: derived from the order, not from the attempt."""
    return f"{order_id}/{index}"
