import io
import unittest
from contextlib import redirect_stdout

from orders.cli import build_parser, run
from orders.config import load_settings
from tests.helpers import CARD, ShopFixture


class CliTest(ShopFixture, unittest.TestCase):
    def run_command(self, *argv):
        output = io.StringIO()
        with redirect_stdout(output):
            self.assertEqual(run(self.shop, build_parser().parse_args(argv)), 0)
        return output.getvalue().splitlines()

    def test_show_prints_the_history(self):
        order = self.shop.processor.process_order(self.cart(mug=1), [CARD])
        lines = self.run_command("show", order.id)
        self.assertEqual(len(lines), 2)
        self.assertIn("order.placed", lines[0])


class SettingsTest(unittest.TestCase):
    def test_example_settings_load(self):
        settings = load_settings("orders.toml")
        self.assertEqual(str(settings.catalogue.lookup("mug-blue").price), "9.90 EUR")
