"""Reads ``orders.toml`` into typed settings."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Mapping

from orders.domain.catalogue import Catalogue, Product
from orders.domain.discounts import DiscountCatalogue, discount_from_config
from orders.domain.money import Money
from orders.errors import ValidationError
from orders.services.shipping import Band, Zone


@dataclass
class Settings:
    """Defaults are meant for tests; a shop always brings its own file."""

    database: str = ":memory:"
    currency: str = "EUR"
    hold_for: timedelta = timedelta(minutes=30)
    card_attempts: int = 3
    catalogue: Catalogue = field(default_factory=Catalogue)
    discounts: DiscountCatalogue = field(default_factory=DiscountCatalogue)
    zones: tuple[Zone, ...] = ()


def load_settings(path: str | Path) -> Settings:
    """Parse a settings file; mistakes surface as ``ValidationError``."""
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as exc:
        raise ValidationError(f"cannot read {path}: {exc}") from exc
    try:
        return parse_settings(raw)
    except KeyError as exc:
        raise ValidationError(f"{path}: missing setting {exc}") from exc


def parse_settings(raw: Mapping[str, Any]) -> Settings:
    shop = raw.get("shop", {})
    currency = shop.get("currency", "EUR")
    return Settings(
        database=shop.get("database", ":memory:"),
        currency=currency,
        hold_for=timedelta(minutes=shop.get("hold_minutes", 30)),
        card_attempts=shop.get("card_attempts", 3),
        catalogue=Catalogue(
            Product(p["sku"], Money.of(p["price"], currency), p.get("grams", 0))
            for p in raw.get("products", [])
        ),
        discounts=DiscountCatalogue(
            discount_from_config(code, table, currency)
            for code, table in raw.get("discounts", {}).items()
        ),
        zones=tuple(
            Zone(
                name,
                frozenset(table["regions"]),
                tuple(
                    Band(band["max_grams"], Money.of(band["price"], currency))
                    for band in table["bands"]
                ),
            )
            for name, table in raw.get("zones", {}).items()
        ),
    )
