"""The HTTP API: a routing table and one small handler per route."""

from __future__ import annotations

import json
import logging
import re
from typing import Any, Callable, Iterable

from orders.api import schemas
from orders.bootstrap import Shop
from orders.domain.states import OrderState
from orders.errors import NotFound, OrdersError, ValidationError

log = logging.getLogger(__name__)

MAX_BODY = 64 * 1024
REASONS = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    402: "Payment Required",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
    504: "Gateway Timeout",
    500: "Internal Server Error",
}

Json = dict[str, Any]
Response = tuple[int, Json]


class OrdersApp:
    """WSGI callable."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Response]]] = [
            ("POST", re.compile(r"/quotes"), self._quote),
            ("POST", re.compile(r"/orders"), self._create_order),
            ("GET", re.compile(r"/orders/(\w+)"), self._show_order),
            ("GET", re.compile(r"/orders/(\w+)/events"), self._events),
            ("POST", re.compile(r"/orders/(\w+)/cancel"), self._cancel),
            ("POST", re.compile(r"/orders/(\w+)/ship"), self._ship),
            ("POST", re.compile(r"/orders/(\w+)/refunds"), self._refund),
        ]

    def __call__(self, environ: Json, start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            status, body = self._dispatch(environ)
        except OrdersError as exc:
            status = exc.status
            body = {"error": exc.code, "message": str(exc), **exc.details}
        except Exception:
            log.exception("unhandled error in %s", environ.get("PATH_INFO"))
            status, body = 500, {"error": "internal", "message": "internal error"}
        data = json.dumps(body, ensure_ascii=False).encode("utf-8")
        reason = REASONS.get(status, "Error")
        headers = [
            ("Content-Type", "application/json; charset=utf-8"),
            ("Content-Length", str(len(data))),
        ]
        start_response(f"{status} {reason}", headers)
        return [data]

    def _dispatch(self, environ: Json) -> Response:
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/")
        for verb, pattern, handler in self._routes:
            match = pattern.fullmatch(path)
            if match and verb == method:
                body = self._read_body(environ) if method == "POST" else {}
                return handler(environ, body, *match.groups())
        raise NotFound(f"no route for {method} {path}")

    def _read_body(self, environ: Json) -> Json:
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
        except ValueError:
            raise ValidationError("bad Content-Length") from None
        if not 0 <= length <= MAX_BODY:
            raise ValidationError("request body too large")
        if length == 0:
            return {}
        try:
            body = json.loads(environ["wsgi.input"].read(length))
        except ValueError as exc:
            raise ValidationError("the body is not JSON") from exc
        if not isinstance(body, dict):
            raise ValidationError("the body must be an object")
        return body

    # -- handlers ---------------------------------------------------------

    def _quote(self, environ: Json, body: Json) -> Response:
        cart = schemas.parse_cart(body, self._shop.settings)
        price = self._shop.pricing.quote(cart, self._shop.clock().date())
        return 200, {
            "subtotal": str(price.subtotal),
            "discount": str(price.discount),
            "discount_code": price.discount_code,
            "rejected_codes": price.rejected_codes,
            "shipping": str(price.shipping),
            "tax": str(price.tax),
            "total": str(price.total),
        }

    def _create_order(self, environ: Json, body: Json) -> Response:
        cart = schemas.parse_cart(body, self._shop.settings)
        tenders = schemas.parse_tenders(body, self._shop.settings)
        order = self._shop.processor.process_order(
            cart, tenders, request_key=environ.get("HTTP_IDEMPOTENCY_KEY")
        )
        # 202: accepted, but the payment provider has not confirmed yet.
        status = 202 if order.state is OrderState.PENDING_PAYMENT else 201
        return status, schemas.order_view(order)

    def _show_order(self, environ: Json, body: Json, order_id: str) -> Response:
        return 200, schemas.order_view(self._shop.orders.get(order_id))

    def _events(self, environ: Json, body: Json, order_id: str) -> Response:
        history = self._shop.event_log.history(order_id)
        return 200, {"events": [event.to_dict() for event in history]}

    def _cancel(self, environ: Json, body: Json, order_id: str) -> Response:
        reason = str(body.get("reason", "customer"))
        order = self._shop.processor.cancel_order(order_id, reason)
        return 200, schemas.order_view(order)

    def _ship(self, environ: Json, body: Json, order_id: str) -> Response:
        tracking = schemas.require(body, "tracking", str)
        order = self._shop.processor.ship_order(order_id, tracking)
        return 200, schemas.order_view(order)

    def _refund(self, environ: Json, body: Json, order_id: str) -> Response:
        record = self._shop.refunds.refund(
            order_id,
            schemas.parse_items(body),
            shipping=body.get("shipping") is True,
            reason=str(body.get("reason", "return")),
            restock=body.get("restock", True) is True,
        )
        return 201, {"id": record.id, "amount": str(record.amount)}
