"""Ways in which a user overrules a decision, and the place where an entry stands. Pure: settings in, settings out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from secateur.settings import Settings, with_values

BOOSTS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Factors that a key leads through; 1 is none."""


class Steer(StrEnum):
    """A way; its value is the participle for people."""

    PIN = "pinned"
    EXCLUDE = "excluded"
    BOOST = "boosted"
    DAMP = "damped"


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The file and the line, from 1, where an entry stands."""

    path: Path
    line: int = 1


def location_in(folder: Path | None, name: object, line: int = 1) -> FilePlace | None:
    """A file of a folder that is there; None for standard input, several files, or no file."""
    if folder is None or not isinstance(name, str) or name in ("", "-"):
        return None
    path = (folder / name).absolute()
    return FilePlace(path, max(1, line)) if path.is_file() else None


def steered(settings: Settings, symbol: str, how: Steer) -> Settings:
    """The settings with a symbol pinned or excluded, or no longer, or its factor a step further. What is pinned is not
    excluded, and the other way round."""
    if how is Steer.PIN:
        pins = _toggled(settings.pins, symbol)
        return with_values(settings, {"pins": pins, "excludes": _without(settings.excludes, symbol)})
    if how is Steer.EXCLUDE:
        excludes = _toggled(settings.excludes, symbol)
        return with_values(settings, {"excludes": excludes, "pins": _without(settings.pins, symbol)})
    factor = next_factor(settings.boosts.get(symbol, 1.0), 1 if how is Steer.BOOST else -1)
    boosts = {name: value for name, value in settings.boosts.items() if name != symbol}
    return with_values(settings, {"boosts": boosts if factor == 1.0 else boosts | {symbol: factor}})


def overruling(settings: Settings, symbol: str) -> Steer | None:
    """The way in which the settings overrule a symbol: `steered`, read back."""
    if symbol in settings.pins or symbol in settings.excludes:
        return Steer.PIN if symbol in settings.pins else Steer.EXCLUDE
    factor = settings.boosts.get(symbol, 1.0)
    return None if factor == 1.0 else Steer.BOOST if factor > 1.0 else Steer.DAMP


def next_factor(factor: float, direction: int) -> float:
    """The next of BOOSTS above (1) or below (-1) a factor; the last one stays."""
    if direction > 0:
        return next((one for one in BOOSTS if one > factor), max(factor, BOOSTS[-1]))
    return next((one for one in reversed(BOOSTS) if one < factor), min(factor, BOOSTS[0]))


def _toggled(names: Sequence[str], name: str) -> tuple[str, ...]:
    return _without(names, name) if name in names else (*names, name)


def _without(names: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(one for one in names if one != name)
