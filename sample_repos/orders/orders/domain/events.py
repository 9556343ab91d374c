"""Facts about orders that other systems may want to hear."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

ORDER_PLACED = "order.placed"
ORDER_PAID = "order.paid"
ORDER_FAILED = "order.failed"
ORDER_CANCELLED = "order.cancelled"
ORDER_SHIPPED = "order.shipped"
ORDER_REFUNDED = "order.refunded"
PAYMENT_PENDING = "payment.pending"


@dataclass(frozen=True)
class Event:
    """An immutable record; ``data`` must be JSON serialisable."""

    kind: str
    order_id: str
    at: datetime
    data: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "order_id": self.order_id,
            "at": self.at.isoformat(),
            "data": self.data,
        }
