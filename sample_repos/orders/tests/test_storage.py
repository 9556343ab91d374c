import unittest
from datetime import datetime, timezone

from orders.services.outbox import OutboxRelay
from orders.storage.sqlite_store import Database
from orders.storage.stock_repository import StockRepository
from tests.helpers import CARD, ShopFixture


class DatabaseTest(unittest.TestCase):
    def setUp(self):
        self.db = Database()
        self.addCleanup(self.db.close)
        self.stock = StockRepository(self.db)

    def test_inner_failure_rolls_back_everything(self):
        with self.assertRaises(ValueError), self.db.transaction():
            self.stock.add("mug", 1)
            with self.db.transaction():
                self.stock.add("mug", 2)
                raise ValueError
        self.assertEqual(self.stock.level("mug"), (0, 0))

    def test_reserved_units_cannot_be_reserved_again(self):
        later = datetime(2026, 3, 2, tzinfo=timezone.utc)
        self.stock.add("mug", 3)
        self.assertTrue(self.stock.reserve("a", "mug", 2, later))
        self.assertFalse(self.stock.reserve("b", "mug", 2, later))
        self.assertEqual(self.stock.release("a"), 2)
        self.assertEqual(self.stock.release("a"), 0)


class RelayTest(ShopFixture, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.received = []
        self.broken = False
        self.relay = OutboxRelay(self.shop.outbox, self.publish, self.clock)
        self.shop.processor.process_order(self.cart(mug=1), [CARD])

    def publish(self, event):
        if self.broken:
            raise ConnectionError("queue is down")
        self.received.append(event["kind"])

    def test_failed_event_holds_back_later_ones_of_the_order(self):
        self.broken = True
        self.assertEqual(self.relay.deliver_pending(), 0)
        self.broken = False
        self.assertEqual(self.relay.deliver_pending(), 0)
        self.clock.advance(seconds=3)
        self.assertEqual(self.relay.deliver_pending(), 2)
        self.assertEqual(self.received, ["order.placed", "order.paid"])
