"""Payment providers behind one small interface."""

from orders.payments.card import CardGateway
from orders.payments.gateway import GatewayRegistry, PaymentGateway
from orders.payments.tenders import TenderSplitter
from orders.payments.voucher import VoucherGateway

__all__ = ["CardGateway", "GatewayRegistry", "PaymentGateway", "TenderSplitter", "VoucherGateway"]
