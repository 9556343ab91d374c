"""Shopping carts as they arrive from the storefront."""

from __future__ import annotations

from dataclasses import dataclass, field

from orders.domain.money import Money, sum_money
from orders.errors import ValidationError

MAX_LINES = 50
MAX_QUANTITY = 99
MAX_CODES = 5


@dataclass
class CartLine:
    sku: str
    quantity: int
    unit_price: Money
    grams: int = 0

    def total(self) -> Money:
        return self.unit_price.times(self.quantity)


@dataclass
class Cart:
    """A list of lines in one currency, bound for one region."""

    currency: str
    region: str = "DE"
    lines: list[CartLine] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)

    def add(self, sku: str, quantity: int, unit_price: Money, grams: int = 0) -> None:
        """Add a product; the same SKU twice becomes one line."""
        for line in self.lines:
            if line.sku == sku:
                if line.unit_price != unit_price:
                    raise ValidationError(f"two prices for {sku}", sku=sku)
                line.quantity += quantity
                return
        self.lines.append(CartLine(sku, quantity, unit_price, grams))

    def add_code(self, code: str) -> None:
        """Remember a discount code, in the order the customer typed them."""
        code = code.strip().upper()
        if code and code not in self.codes:
            self.codes.append(code)

    def subtotal(self) -> Money:
        return sum_money((line.total() for line in self.lines), self.currency)

    def weight(self) -> int:
        """Shipping weight in grams."""
        return sum(line.grams * line.quantity for line in self.lines)

    def validate(self) -> None:
        if not self.lines:
            raise ValidationError("the cart is empty")
        if len(self.lines) > MAX_LINES:
            raise ValidationError(f"more than {MAX_LINES} lines")
        if len(self.codes) > MAX_CODES:
            raise ValidationError(f"more than {MAX_CODES} discount codes")
        for line in self.lines:
            if not 1 <= line.quantity <= MAX_QUANTITY:
                raise ValidationError(
                    f"quantity of {line.sku} must be 1 to {MAX_QUANTITY}", sku=line.sku
                )
            if line.unit_price.minor < 0:
                raise ValidationError(f"negative price for {line.sku}", sku=line.sku)
            if line.unit_price.currency != self.currency:
                raise ValidationError(f"{line.sku} is not priced in {self.currency}")
