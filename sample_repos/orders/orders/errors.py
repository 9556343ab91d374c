"""Exceptions raised by the order back end.

Every error carries a stable ``code`` for API clients and the HTTP ``status``
the WSGI layer answers with, so handlers never need their own try/except.
"""

from __future__ import annotations


class OrdersError(Exception):
    """Base class; ``details`` ends up in the JSON error body."""

    code = "orders_error"
    status = 400

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.details = details


class ValidationError(OrdersError):
    """The request is malformed or refers to something that cannot be sold."""

    code = "invalid"
    status = 422


class MoneyError(ValidationError):
    """Mixed currencies or an amount that cannot be represented."""

    code = "invalid_amount"


class NotFound(OrdersError):
    """No such order, product or voucher."""

    code = "not_found"
    status = 404


class InvalidTransition(OrdersError):
    """The order is in a state that does not allow the requested step."""

    code = "invalid_transition"
    status = 409


class ConcurrentUpdate(OrdersError):
    """Somebody else saved the order since we loaded it."""

    code = "concurrent_update"
    status = 409


class OutOfStock(OrdersError):
    """At least one line cannot be reserved in full."""

    code = "out_of_stock"
    status = 409


class ReservationLost(OrdersError):
    """付款期间预留已过期, 库存可能已被他人买走。"""

    code = "reservation_lost"
    status = 409


class PaymentError(OrdersError):
    """Base class for everything a payment provider can answer."""

    code = "payment_error"
    status = 402


class PaymentDeclined(PaymentError):
    """A definite no: retrying the same charge cannot help."""

    code = "payment_declined"


class PaymentTimeout(PaymentError):
    """The provider did not answer; the charge may or may not have happened."""

    code = "payment_timeout"
    status = 504


class RefundError(OrdersError):
    """The refund asks for more than is left to give back."""

    code = "refund_rejected"
    status = 409
