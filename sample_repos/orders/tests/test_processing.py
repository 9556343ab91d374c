import unittest

from orders.domain.states import OrderState
from orders.errors import (
    ConcurrentUpdate,
    InvalidTransition,
    OutOfStock,
    PaymentDeclined,
    ReservationLost,
    ValidationError,
)
from tests.helpers import CARD, DECLINED, TIMEOUT, ShopFixture, Tender, eur


class ProcessOrderTest(ShopFixture, unittest.TestCase):
    """下单主流程。"""

    def place(self, *tenders, **quantities):
        return self.shop.processor.process_order(
            self.cart(**(quantities or {"mug": 2})), list(tenders) or [CARD]
        )

    def test_paid_order_is_stored(self):
        order = self.place()
        self.assertIs(order.state, OrderState.PAID)
        self.assertEqual(self.shop.orders.get(order.id), order)
        self.assertEqual(self.transport.charges, {f"{order.id}/0": order.price.total.minor})
        self.assertEqual(self.shop.stock.level("mug"), (8, 0))
        self.assertEqual(self.kinds(order.id), ["order.placed", "order.paid"])

    def test_out_of_stock_leaves_no_trace(self):
        with self.assertRaises(OutOfStock):
            self.place(mug=1, tea=11)
        self.assertEqual(self.shop.stock.level("mug"), (10, 0))
        self.assertEqual(self.shop.orders.ids_in_state(OrderState.RESERVED), [])

    def test_declined_payment_releases_the_stock(self):
        with self.assertRaises(PaymentDeclined) as caught:
            self.place(DECLINED)
        self.assertEqual(self.shop.stock.level("mug"), (10, 0))
        order = self.shop.orders.get(caught.exception.details["order_id"])
        self.assertIs(order.state, OrderState.FAILED)
        self.assertIn("insufficient_funds", order.failure)

    def test_voucher_is_used_before_the_card(self):
        self.shop.vouchers.issue("GIFT", eur("10.00"))
        order = self.place(CARD, Tender("voucher", "GIFT"))
        self.assertEqual([p.method for p in order.payments], ["voucher", "card"])
        self.assertEqual(order.captured(), order.price.total)
        self.assertEqual(self.shop.vouchers.balance("GIFT", "EUR"), eur("0"))

    def test_declined_card_gives_the_voucher_back(self):
        self.shop.vouchers.issue("GIFT", eur("10.00"))
        with self.assertRaises(PaymentDeclined):
            self.place(Tender("voucher", "GIFT"), DECLINED)
        self.assertEqual(self.shop.vouchers.balance("GIFT", "EUR"), eur("10.00"))

    def test_unknown_payment_method_reserves_nothing(self):
        with self.assertRaises(ValidationError):
            self.place(Tender("cheque", "1"))
        self.assertEqual(self.shop.stock.level("mug"), (10, 0))

    def test_same_request_key_is_processed_once(self):
        cart = self.cart(mug=1)
        first = self.shop.processor.process_order(cart, [CARD], "key-1")
        second = self.shop.processor.process_order(cart, [CARD], "key-1")
        self.assertEqual(first.id, second.id)
        self.assertEqual(self.transport.calls, ["charge"])


class PendingPaymentTest(ShopFixture, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.order = self.shop.processor.process_order(self.cart(mug=2), [TIMEOUT])

    def test_timeout_keeps_the_reservation(self):
        self.assertIs(self.order.state, OrderState.PENDING_PAYMENT)
        self.assertEqual(self.shop.stock.level("mug"), (10, 2))

    def test_settling_charges_again_with_the_same_key(self):
        self.transport.answer_timeouts = True
        order = self.shop.processor.settle_pending(self.order.id)
        self.assertIs(order.state, OrderState.PAID)
        self.assertEqual(list(self.transport.charges), [f"{order.id}/0"])

    def test_expired_reservation_cancels_the_order(self):
        self.clock.advance(minutes=29)
        self.assertEqual(self.shop.processor.expire_reservations(), [])
        self.clock.advance(minutes=1)
        self.assertEqual(self.shop.processor.expire_reservations(), [self.order.id])
        self.assertEqual(self.shop.stock.level("mug"), (10, 0))
        self.assertIn("void", self.transport.calls)

    def test_payment_is_voided_when_the_reservation_is_gone(self):
        self.shop.stock.release(self.order.id)
        self.transport.answer_timeouts = True
        with self.assertRaises(ReservationLost):
            self.shop.processor.settle_pending(self.order.id)
        self.assertEqual(self.transport.charges, {})
        self.assertIs(self.shop.orders.get(self.order.id).state, OrderState.FAILED)


class CancelAndShipTest(ShopFixture, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.order = self.shop.processor.process_order(self.cart(mug=2), [CARD])

    def test_cancelling_a_paid_order_refunds_it(self):
        order = self.shop.processor.cancel_order(self.order.id)
        self.assertIs(order.state, OrderState.REFUNDED)
        self.assertEqual(order.refunded(), order.price.total)
        self.assertEqual(self.shop.stock.level("mug"), (10, 0))

    def test_shipped_order_cannot_be_cancelled(self):
        order = self.shop.processor.ship_order(self.order.id, " TRACK-1 ")
        self.assertEqual(order.tracking, "TRACK-1")
        with self.assertRaises(InvalidTransition):
            self.shop.processor.cancel_order(order.id)

    def test_stale_order_is_not_saved(self):
        stale = self.shop.orders.get(self.order.id)
        self.shop.processor.ship_order(self.order.id, "TRACK-1")
        with self.assertRaises(ConcurrentUpdate):
            self.shop.orders.save(stale)
