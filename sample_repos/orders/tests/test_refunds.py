import unittest
from fractions import Fraction

from orders.domain.states import OrderState
from orders.errors import RefundError
from orders.services.refunds import round_refund_total
from tests.helpers import CARD, ShopFixture, Tender, eur


class RefundTest(ShopFixture, unittest.TestCase):
    def place(self, *tenders, code=None, **quantities):
        cart = self.cart(**quantities)
        if code:
            cart.add_code(code)
        return self.shop.processor.process_order(cart, list(tenders) or [CARD])

    def test_full_refund(self):
        order = self.place(mug=2, tea=1)
        record = self.shop.refunds.refund_everything(order.id, "withdrawn")
        self.assertEqual(record.amount, order.price.total)
        self.assertIs(self.shop.orders.get(order.id).state, OrderState.REFUNDED)

    def test_total_is_rounded_once(self):
        thirds = [Fraction(100, 3)] * 3
        self.assertEqual(round_refund_total(thirds, "EUR").minor, 100)
        self.assertEqual(round_refund_total([Fraction(1, 2)], "EUR").minor, 1)

    def test_single_returns_add_up_to_what_was_paid(self):
        """三件商品逐件退货, 合计必须与实付金额一致。"""
        order = self.place(tea=3, code="FIVER")
        for _ in range(3):
            self.shop.refunds.refund(order.id, {"tea": 1})
        self.shop.refunds.refund(order.id, {}, shipping=True)
        stored = self.shop.orders.get(order.id)
        self.assertEqual(stored.refunded(), order.price.total)
        self.assertIs(stored.state, OrderState.REFUNDED)

    def test_card_is_refunded_before_the_voucher(self):
        self.shop.vouchers.issue("GIFT", eur("10.00"))
        order = self.place(Tender("voucher", "GIFT"), CARD, mug=2)
        self.shop.refunds.refund(order.id, {"mug": 1})
        self.assertEqual(self.shop.vouchers.balance("GIFT", "EUR"), eur("0.00"))
        self.shop.refunds.refund_everything(order.id, "rest")
        self.assertEqual(self.shop.vouchers.balance("GIFT", "EUR"), eur("10.00"))

    def test_cannot_return_more_than_was_bought(self):
        order = self.place(mug=2)
        self.shop.refunds.refund(order.id, {"mug": 1})
        with self.assertRaises(RefundError):
            self.shop.refunds.refund(order.id, {"mug": 2})

    def test_returned_goods_are_restocked_unless_damaged(self):
        order = self.place(mug=2)
        self.shop.refunds.refund(order.id, {"mug": 1})
        self.shop.refunds.refund(order.id, {"mug": 1}, restock=False)
        self.assertEqual(self.shop.stock.level("mug"), (9, 0))
