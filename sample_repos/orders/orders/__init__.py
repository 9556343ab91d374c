"""Order processing back end for a small web shop."""

from orders.domain import Cart, Money, Order
from orders.errors import OrdersError
from orders.services.processing import OrderProcessor

__version__ = "1.4.0"

__all__ = ["Cart", "Money", "Order", "OrderProcessor", "OrdersError", "__version__"]
