import unittest

from orders.payments.card import CardGateway
from tests.helpers import eur


class CardGatewayTest(unittest.TestCase):
    """Retries of the card gateway."""

    def setUp(self):
        self.answers = []
        self.slept = []
        self.keys = []
        self.gateway = CardGateway(self.transport, attempts=3, sleep=self.slept.append)

    def transport(self, operation, payload):
        self.keys.append(payload["key"])
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def test_timeouts_are_retried_with_the_same_key(self):
        self.answers = [TimeoutError(), TimeoutError(), {"status": "ok"}]
        self.gateway.charge("k", eur("1.00"), "tok")
        self.assertEqual(self.keys, ["k", "k", "k"])
        self.assertEqual(self.slept, [0.2, 0.4])
