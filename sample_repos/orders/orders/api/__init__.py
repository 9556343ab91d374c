"""JSON over WSGI."""

from orders.api.wsgi import OrdersApp

__all__ = ["OrdersApp"]
