"""The interface every payment provider implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterable

from orders.domain.money import Money
from orders.domain.order import PaymentRecord
from orders.errors import ValidationError


class PaymentGateway(ABC):
    """Charges are identified by a caller-chosen ``key``.

    Repeating a call with the same key must not move money twice; that is what
    makes it safe to retry after a timeout.
    """

    method = ""

    def charge(self, key: str, amount: Money, token: str) -> PaymentRecord:
        """Template method: checks the amount, then asks the provider."""
        if amount.minor <= 0:
            raise ValidationError("can only charge a positive amount")
        self._charge(key, amount, token)
        return PaymentRecord(self.method, key, amount, Money.zero(amount.currency))

    @abstractmethod
    def _charge(self, key: str, amount: Money, token: str) -> None:
        """Take the money or raise a ``PaymentError``."""

    @abstractmethod
    def void(self, key: str) -> None:
        """Undo a charge completely; a no-op if it never happened."""

    @abstractmethod
    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Give back part of the charge ``reference``."""

    def available(self, token: str, currency: str) -> Money | None:
        """Upper limit of what can be charged, or ``None`` if there is none."""
        return None


class GatewayRegistry:
    def __init__(self, gateways: Iterable[PaymentGateway]) -> None:
        self._gateways = {gateway.method: gateway for gateway in gateways}

    def get(self, method: str) -> PaymentGateway:
        try:
            return self._gateways[method]
        except KeyError:
            raise ValidationError(f"unknown payment method {method!r}") from None
