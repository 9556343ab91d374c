"""Wires the parts together; the only place that knows all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Callable

from orders.config import Settings
from orders.payments import CardGateway, GatewayRegistry, TenderSplitter, VoucherGateway
from orders.payments.card import SandboxTransport, Transport
from orders.services.inventory import InventoryService
from orders.services.outbox import EventLog
from orders.services.pricing import PricingService
from orders.services.processing import OrderProcessor
from orders.services.refunds import RefundService
from orders.services.shipping import ShippingQuoter
from orders.storage.order_repository import OrderRepository
from orders.storage.outbox_repository import OutboxRepository
from orders.storage.sqlite_store import Database
from orders.storage.stock_repository import StockRepository
from orders.storage.voucher_repository import VoucherRepository


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class Shop:
    """Everything an entry point needs."""

    settings: Settings
    db: Database
    orders: OrderRepository
    stock: StockRepository
    vouchers: VoucherRepository
    outbox: OutboxRepository
    pricing: PricingService
    inventory: InventoryService
    refunds: RefundService
    processor: OrderProcessor
    event_log: EventLog
    clock: Callable[[], datetime]


def build_shop(
    settings: Settings | None = None,
    transport: Transport | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Shop:
    settings = settings or Settings()
    db = Database(settings.database)
    orders = OrderRepository(db)
    stock = StockRepository(db)
    outbox = OutboxRepository(db)
    event_log = EventLog(outbox)
    vouchers = VoucherRepository(db)
    card = CardGateway(transport or SandboxTransport(), settings.card_attempts)
    gateways = GatewayRegistry([card, VoucherGateway(vouchers)])
    inventory = InventoryService(stock, clock, settings.hold_for)
    pricing = PricingService(
        settings.discounts,
        ShippingQuoter(settings.zones),
        currencies=frozenset({settings.currency}),
    )
    refunds = RefundService(db, orders, gateways, inventory, event_log, clock)
    processor = OrderProcessor(
        db=db,
        orders=orders,
        pricing=pricing,
        inventory=inventory,
        tenders=TenderSplitter(gateways),
        refunds=refunds,
        event_log=event_log,
        clock=clock,
    )
    return Shop(
        settings=settings,
        db=db,
        orders=orders,
        stock=stock,
        vouchers=vouchers,
        outbox=outbox,
        pricing=pricing,
        inventory=inventory,
        refunds=refunds,
        processor=processor,
        event_log=event_log,
        clock=clock,
    )
