"""Event log and the relay that delivers it (transactional outbox)."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Callable

from orders._vendor.backoff import exponential
from orders.domain.events import Event
from orders.storage.outbox_repository import OutboxRepository

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 8


class EventLog:
    """Write side: callers record events in the transaction of the change."""

    def __init__(self, outbox: OutboxRepository) -> None:
        self._outbox = outbox

    def record(self, event: Event) -> None:
        self._outbox.append(event)

    def history(self, order_id: str) -> list[Event]:
        return self._outbox.for_order(order_id)


class OutboxRelay:
    """Read side: hands undelivered events to a publisher, at least once."""

    def __init__(
        self,
        outbox: OutboxRepository,
        publish: Callable[[dict[str, object]], None],
        clock: Callable[[], datetime],
    ) -> None:
        self._outbox = outbox
        self._publish = publish
        self._clock = clock
        self._delays = list(exponential(base=2.0, limit=3600.0, attempts=MAX_ATTEMPTS))

    def deliver_pending(self, batch: int = 100) -> int:
        """投递到期的事件, 返回成功条数。

        同一订单的事件必须按顺序投递: 某条失败后, 本轮跳过该订单其余的事件。
        """
        delivered = 0
        blocked: set[str] = set()
        for entry in self._outbox.pending(self._clock(), batch):
            if entry.event.order_id in blocked:
                continue
            try:
                self._publish(entry.event.to_dict())
            except Exception as exc:  # a publisher may fail in any way
                blocked.add(entry.event.order_id)
                self._retry_later(entry.id, entry.attempts + 1, exc)
                continue
            self._outbox.mark_delivered(entry.id, self._clock())
            delivered += 1
        return delivered

    def _retry_later(self, entry_id: int, attempts: int, exc: Exception) -> None:
        if attempts >= MAX_ATTEMPTS:
            log.error("event %s is undeliverable: %s", entry_id, exc)
            self._outbox.bury(entry_id, attempts)
            return
        delay = timedelta(seconds=self._delays[attempts - 1])
        self._outbox.postpone(entry_id, attempts, self._clock() + delay)
