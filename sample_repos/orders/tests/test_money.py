import unittest

from orders.domain.money import Money


class MoneyTest(unittest.TestCase):
    def test_parses_and_prints(self):
        self.assertEqual(Money.of("12.34", "EUR").minor, 1234)
        self.assertEqual(str(Money(500, "JPY")), "500 JPY")
        self.assertEqual(str(Money(-5, "EUR")), "-0.05 EUR")

    def test_allocate_keeps_the_sum(self):
        parts = Money(100, "EUR").allocate([1, 1, 1])
        self.assertEqual([p.minor for p in parts], [34, 33, 33])

    def test_allocate_gives_cents_to_the_largest_remainder(self):
        parts = Money(10, "EUR").allocate([1, 5, 2])
        self.assertEqual([p.minor for p in parts], [1, 6, 3])
