"""Command line: serve the API and run the periodic jobs."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from typing import Sequence
from wsgiref.simple_server import make_server

from orders.api import OrdersApp
from orders.bootstrap import Shop, build_shop
from orders.config import load_settings
from orders.domain.states import OrderState
from orders.errors import OrdersError
from orders.services.outbox import OutboxRelay


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="orders")
    parser.add_argument("--config", default="orders.toml")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="run the HTTP API")
    serve.add_argument("--port", type=int, default=8080)
    stock = commands.add_parser("stock", help="book goods received")
    stock.add_argument("sku")
    stock.add_argument("quantity", type=int)
    show = commands.add_parser("show", help="print the events of an order")
    show.add_argument("order_id")
    commands.add_parser("expire", help="cancel orders whose reservation ran out")
    commands.add_parser("settle", help="retry payments with unknown result")
    commands.add_parser("relay", help="print undelivered events as JSON lines")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    arguments = build_parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    try:
        shop = build_shop(load_settings(arguments.config))
        return run(shop, arguments)
    except OrdersError as exc:
        print(f"orders: {exc}", file=sys.stderr)
        return 1


def run(shop: Shop, arguments: argparse.Namespace) -> int:
    """Dispatch one sub-command; returns the exit status."""
    if arguments.command == "serve":
        with make_server("127.0.0.1", arguments.port, OrdersApp(shop)) as server:
            server.serve_forever()
    elif arguments.command == "stock":
        shop.stock.add(arguments.sku, arguments.quantity)
        print(*shop.stock.level(arguments.sku))
    elif arguments.command == "show":
        for event in shop.event_log.history(arguments.order_id):
            print_event(event.to_dict())
    elif arguments.command == "expire":
        print(*shop.processor.expire_reservations(), sep="\n")
    elif arguments.command == "settle":
        for order_id in shop.orders.ids_in_state(OrderState.PENDING_PAYMENT):
            try:
                order = shop.processor.settle_pending(order_id)
            except OrdersError as exc:
                # 一笔结算失败不应影响其余订单。
                print(order_id, f"failed: {exc}")
            else:
                print(order_id, order.state.value)
    elif arguments.command == "relay":
        relay = OutboxRelay(shop.outbox, print_event, shop.clock)
        print(f"{relay.deliver_pending()} delivered", file=sys.stderr)
    return 0


def print_event(event: dict[str, object]) -> None:
    print(json.dumps(event, ensure_ascii=False))
