"""Lets a user overrule decisions by settings, and locates entries in files. Pure: settings in, settings out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from secateur.ledger import Notice
from secateur.settings import Settings, with_values
from secateur.suggestions import describe_unknown

# The factors that a key steps through; 1 means no boost.
BOOSTS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)


class Steer(StrEnum):
    """A way to overrule; its value is the participle for people."""

    PIN = "pinned"
    EXCLUDE = "excluded"
    BOOST = "boosted"
    DAMP = "damped"


class FilePlace(Struct, frozen=True):
    """The file and the line, from 1, of an entry."""

    path: Path
    line: int = 1


def location_in(folder: Path | None, name: object, line: int = 1) -> FilePlace | None:
    """Locates a line in a file of a folder; None for standard input, several files or a missing file."""
    if folder is None or not isinstance(name, str) or name in ("", "-"):
        return None
    path = (folder / name).absolute()
    return FilePlace(path, max(1, line)) if path.is_file() else None


def steered(settings: Settings, symbol: str, how: Steer) -> Settings:
    """Toggles pinning or excluding a symbol, or steps its factor. Pinning ends excluding, and the other way round."""
    if how is Steer.PIN:
        pins = _toggle(settings.pins, symbol)
        return with_values(settings, {"pins": pins, "excludes": _without(settings.excludes, symbol)})
    if how is Steer.EXCLUDE:
        excludes = _toggle(settings.excludes, symbol)
        return with_values(settings, {"excludes": excludes, "pins": _without(settings.pins, symbol)})
    factor = next_factor(settings.boosts.get(symbol, 1.0), 1 if how is Steer.BOOST else -1)
    boosts = {name: value for name, value in settings.boosts.items() if name != symbol}
    return with_values(settings, {"boosts": boosts if factor == 1.0 else boosts | {symbol: factor}})


def overruling(settings: Settings, symbol: str) -> Steer | None:
    """Returns how the settings overrule a symbol: the reverse of `steered`."""
    if symbol in settings.pins or symbol in settings.excludes:
        return Steer.PIN if symbol in settings.pins else Steer.EXCLUDE
    factor = settings.boosts.get(symbol, 1.0)
    return None if factor == 1.0 else Steer.BOOST if factor > 1.0 else Steer.DAMP


def warn_unknown_pins(
    settings: Settings, ids: Collection[str], looks: str = "--explain and the ledger of --format json list the ids"
) -> tuple[Notice, ...]:
    """Warns about pins that name no entry. `ids`: those of the ledger; `looks`: how ids look, or where they stand."""
    unknown = [name for name in settings.pins if name not in ids]
    return (Notice("unknown_symbol", describe_unknown(unknown, ids, looks)),) if unknown else ()


def next_factor(factor: float, direction: int) -> float:
    """The next factor of BOOSTS above (1) or below (-1) a factor; the last one stays."""
    if direction > 0:
        return next((step for step in BOOSTS if step > factor), max(factor, BOOSTS[-1]))
    return next((step for step in reversed(BOOSTS) if step < factor), min(factor, BOOSTS[0]))


def _toggle(names: Sequence[str], name: str) -> tuple[str, ...]:
    return _without(names, name) if name in names else (*names, name)


def _without(names: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)
