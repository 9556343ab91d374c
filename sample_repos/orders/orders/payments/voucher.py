"""礼品券支付: 余额保存在本地数据库, 不涉及网络调用。"""

from __future__ import annotations

from orders.domain.money import Money
from orders.errors import PaymentDeclined
from orders.payments.gateway import PaymentGateway
from orders.storage.voucher_repository import VoucherRepository


class VoucherGateway(PaymentGateway):
    """Debits a voucher; the ledger entry's key makes retries harmless."""

    method = "voucher"

    def __init__(self, vouchers: VoucherRepository) -> None:
        self._vouchers = vouchers

    def _charge(self, key: str, amount: Money, token: str) -> None:
        if not self._vouchers.debit(key, token, amount):
            raise PaymentDeclined(f"voucher {token} does not cover {amount}")

    def void(self, key: str) -> None:
        self._vouchers.undo(key)

    def refund(self, reference: str, amount: Money, key: str) -> None:
        self._vouchers.credit(key, reference, amount)

    def available(self, token: str, currency: str) -> Money | None:
        return self._vouchers.balance(token, currency)
