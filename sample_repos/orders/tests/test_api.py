import io
import json
import unittest

from orders.api import OrdersApp
from tests.helpers import ShopFixture


class ApiTest(ShopFixture, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.app = OrdersApp(self.shop)

    def call(self, method, path, body=None, **headers):
        data = json.dumps(body).encode() if body is not None else b""
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "CONTENT_LENGTH": str(len(data)),
            "wsgi.input": io.BytesIO(data),
            **headers,
        }
        seen = {}
        chunks = self.app(environ, lambda status, _: seen.update(status=status))
        return int(seen["status"][:3]), json.loads(b"".join(chunks))

    def checkout(self, token="tok_ok", **headers):
        body = {
            "region": "DE",
            "items": [{"sku": "mug", "quantity": 2}],
            "payments": [{"method": "card", "token": token}],
        }
        return self.call("POST", "/orders", body, **headers)

    def test_order_life_cycle(self):
        status, order = self.checkout()
        self.assertEqual((status, order["state"]), (201, "paid"))
        path = f"/orders/{order['id']}"
        status, refund = self.call("POST", f"{path}/refunds", {"items": {"mug": 1}})
        self.assertEqual(status, 201)
        _, order = self.call("GET", path)
        self.assertEqual(order["refunded"], refund["amount"])
        _, log = self.call("GET", f"{path}/events")
        self.assertEqual(len(log["events"]), 3)

    def test_errors_have_status_and_code(self):
        status, error = self.checkout("tok_declined")
        self.assertEqual((status, error["error"]), (402, "payment_declined"))
        status, error = self.call("GET", "/orders/ord_none")
        self.assertEqual((status, error["error"]), (404, "not_found"))
        status, error = self.call("POST", "/orders", {"region": "DE"})
        self.assertEqual((status, error["field"]), (422, "items"))
