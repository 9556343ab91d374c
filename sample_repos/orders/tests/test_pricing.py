import unittest
from datetime import date
from decimal import Decimal

from orders.domain.cart import Cart
from orders.domain.discounts import PercentOff, choose_discount
from orders.domain.money import Money
from orders.domain.tax import compute_tax, rule_for
from orders.errors import ValidationError
from tests.helpers import ShopFixture, eur

TODAY = date(2026, 3, 2)


class CartTest(unittest.TestCase):
    def test_quantities_out_of_range_are_refused(self):
        for quantity in (0, -1, 100):
            cart = Cart("EUR")
            cart.add("mug", quantity, eur("9.90"))
            with self.subTest(quantity=quantity), self.assertRaises(ValidationError):
                cart.validate()


class TaxTest(unittest.TestCase):
    """各地区舍入规则。"""

    def tax(self, region, currency, *amounts):
        rule = rule_for(region)
        return [t.minor for t in compute_tax(rule, [Money(a, currency) for a in amounts])]

    def test_germany_rounds_every_line(self):
        self.assertEqual(self.tax("DE", "EUR", 1003, 1003), [191, 191])

    def test_switzerland_rounds_to_five_rappen(self):
        self.assertEqual(sum(self.tax("CH", "CHF", 1000, 500)), 120)


class QuoteTest(ShopFixture, unittest.TestCase):
    def quote(self, cart, *codes):
        for code in codes:
            cart.add_code(code)
        return self.shop.pricing.quote(cart, TODAY)

    def test_total_adds_up(self):
        price = self.quote(self.cart(mug=1, tea=2))
        self.assertEqual(price.total, price.subtotal - price.discount + price.shipping + price.tax)
        self.assertEqual(str(price.total), "29.39 EUR")

    def test_only_the_best_discount_wins(self):
        price = self.quote(self.cart(mug=1), "TEN", "FIVER")
        self.assertEqual(price.discount_code, "FIVER")
        self.assertEqual(price.discount, eur("5.00"))
        self.assertEqual(price.rejected_codes, ["TEN"])

    def test_shipping_depends_on_the_weight(self):
        self.assertEqual(self.quote(self.cart(tea=1)).shipping, eur("3.90"))
        self.assertEqual(self.quote(self.cart(mug=4)).shipping, eur("5.90"))
        self.assertEqual(self.quote(self.cart(card=1)).shipping, eur("0.00"))
        with self.assertRaises(ValidationError):
            self.quote(self.cart(mug=9))

    def test_free_shipping_competes_with_other_codes(self):
        price = self.quote(self.cart(tea=1), "TEN", "SHIPFREE")
        self.assertEqual(price.discount_code, "SHIPFREE")
        self.assertEqual(price.shipping, eur("0.00"))


class ChooseDiscountTest(unittest.TestCase):
    def choose(self, *discounts):
        return choose_discount(discounts, eur("50.00"), eur("3.90"), TODAY)

    def test_first_code_wins_a_tie(self):
        first = PercentOff("A", Decimal(10))
        second = PercentOff("B", Decimal(10))
        self.assertEqual(self.choose(first, second).code, "A")
        self.assertEqual(self.choose(second, first).code, "B")


class CurrencyTest(ShopFixture, unittest.TestCase):
    def test_foreign_currency_is_refused(self):
        cart = Cart("CHF", "CH")
        cart.add("mug", 1, Money.of("9.90", "CHF"))
        with self.assertRaisesRegex(ValidationError, "does not sell in CHF"):
            self.shop.pricing.quote(cart, TODAY)
