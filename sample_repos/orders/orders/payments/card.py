"""Card payments through an HTTP-ish transport."""

from __future__ import annotations

import time
from typing import Callable

from orders._vendor.backoff import exponential, retry_call
from orders.domain.money import Money
from orders.errors import PaymentDeclined, PaymentError, PaymentTimeout
from orders.payments.gateway import PaymentGateway

Transport = Callable[[str, dict[str, object]], dict[str, object]]


class CardGateway(PaymentGateway):
    """Talks to the acquirer; retries timeouts, never declines."""

    method = "card"

    def __init__(
        self, transport: Transport, attempts: int = 3, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._transport = transport
        self._attempts = attempts
        self._sleep = sleep

    def _charge(self, key: str, amount: Money, token: str) -> None:
        self._send("charge", key=key, amount=amount.minor, currency=amount.currency, token=token)

    def void(self, key: str) -> None:
        self._send("void", key=key)

    def refund(self, reference: str, amount: Money, key: str) -> None:
        self._send(
            "refund", key=key, charge=reference, amount=amount.minor, currency=amount.currency
        )

    def _send(self, operation: str, **payload: object) -> dict[str, object]:
        """发送请求; 只有超时才重试, 重试时沿用同一个 key, 不会重复扣款。"""
        delays = exponential(base=0.2, limit=2.0, attempts=self._attempts - 1)
        try:
            answer = retry_call(
                lambda: self._transport(operation, payload),
                delays,
                retry_on=(TimeoutError,),
                sleep=self._sleep,
            )
        except TimeoutError as exc:
            raise PaymentTimeout(f"card {operation} timed out") from exc
        status = answer.get("status")
        if status == "ok":
            return answer
        if status == "declined":
            reason = str(answer.get("reason", "unknown"))
            raise PaymentDeclined(f"card declined: {reason}", reason=reason)
        raise PaymentError(f"unexpected answer to {operation}: {status!r}")


class SandboxTransport:
    """Stand-in acquirer for development; the token picks the outcome."""

    def __init__(self) -> None:
        self.charges: dict[str, int] = {}
        self.refunds: dict[str, int] = {}
        self.calls: list[str] = []
        self.answer_timeouts = False  # flip to let "tok_timeout" recover

    def __call__(self, operation: str, payload: dict[str, object]) -> dict[str, object]:
        self.calls.append(operation)
        key = str(payload["key"])
        if operation == "charge":
            return self._charge(key, payload)
        if operation == "void":
            self.charges.pop(key, None)
        elif operation == "refund":
            self.refunds[key] = int(str(payload["amount"]))
        return {"status": "ok"}

    def _charge(self, key: str, payload: dict[str, object]) -> dict[str, object]:
        token = str(payload["token"])
        if token == "tok_timeout" and not self.answer_timeouts:
            raise TimeoutError("sandbox timeout")
        if token == "tok_declined":
            return {"status": "declined", "reason": "insufficient_funds"}
        self.charges[key] = int(str(payload["amount"]))
        return {"status": "ok"}
