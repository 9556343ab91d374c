"""Symbols that a user prefers in a repository, each with a value that decays (SC-SP-007).

A symbol is added with a strength. Its value halves every `preference.half_life` days, counted in whole days, so that a
question has one answer a day; adding it again renews it. Below LEAST it is forgotten.

    store = PreferenceStore(config_dir, root, clock=time.time)
    store.add("orders/money.py::Money.round")
    store.values(half_life=30)     # {"orders/money.py::Money.round": 1.0}; 30 days later 0.5
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.remembered.store import RememberedError, RememberedFile

FILE_NAME = "preferences.json"

LEAST = 0.01
"""The value below which a symbol is forgotten: its term would be lost in rounding."""

MOST = 1_000
"""Symbols that are remembered of a repository; of more the weakest go."""

LONGEST = 1_000
"""Characters of a symbol id."""

DAY = 86_400

DIGITS = 4
"""Decimal places of a value."""

RULE = (
    "A symbol is added with a strength from 0 to 1 (default 1). Its value halves every preference.half_life days"
    f" (whole days; default 30), adding it again renews it, and below {LEAST} it is forgotten. With preference.enabled"
    " its priority gains preference.weight times the value, as a term of its own."
)


@dataclass(frozen=True, slots=True)
class PreferredSymbol:
    """A symbol, how strongly it was preferred, and when (seconds since 1970)."""

    symbol: str
    strength: float
    added: int

    def days(self, now: float) -> int:
        """Whole days since it was added; 0 where the clock was set back."""
        return max(0, int(now - self.added) // DAY)

    def value(self, now: float, half_life: int) -> float:
        """The value at a time."""
        return round(self.strength * math.pow(0.5, self.days(now) / half_life), DIGITS)


class PreferenceStore:
    """The preferences of a user for a repository."""

    def __init__(self, user_dir: Path, root: Path, clock: Callable[[], float]) -> None:
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self._clock = clock

    def symbols(self, half_life: int) -> list[PreferredSymbol]:
        """Those that are not forgotten, the strongest first; equal ones by name.

        Raises:
            RememberedError: the file cannot be read.
        """
        return self._ranked(_parsed(self._file.read()), half_life)

    def values(self, half_life: int) -> dict[str, float]:
        """Symbol id -> value in [LEAST, 1]; raises as `symbols`."""
        now = self._clock()
        return {one.symbol: one.value(now, half_life) for one in self.symbols(half_life)}

    def value(self, one: PreferredSymbol, half_life: int) -> float:
        """The value of a symbol now."""
        return one.value(self._clock(), half_life)

    def days(self, one: PreferredSymbol) -> int:
        """Whole days since it was added."""
        return one.days(self._clock())

    def add(self, symbol: str, strength: float, half_life: int) -> bool:
        """Adds or renews a symbol. True where a file that could not be read was set aside.

        Raises:
            RememberedError: the file cannot be written.
        """
        new = PreferredSymbol(symbol, round(strength, DIGITS), int(self._clock()))

        def added(known: dict[str, PreferredSymbol]) -> list[PreferredSymbol]:
            return [*self._ranked({**known, symbol: new}, half_life)]

        return self._changed(added)

    def remove(self, symbol: str, half_life: int) -> None:
        """Forgets a symbol; raises as `add`."""
        self._changed(lambda known: self._ranked({k: v for k, v in known.items() if k != symbol}, half_life))

    def clear(self) -> None:
        """Forgets every symbol; raises as `add`."""
        self._changed(lambda _: [])

    def _changed(self, change: Callable[[dict[str, PreferredSymbol]], list[PreferredSymbol]]) -> bool:
        def changed(fields: dict[str, Any]) -> dict[str, Any]:
            try:
                known = _parsed(fields)
            except RememberedError:
                known = {}
            return {"symbols": {one.symbol: [one.strength, one.added] for one in change(known)}}

        return self._file.update(changed)

    def _ranked(self, known: Mapping[str, PreferredSymbol], half_life: int) -> list[PreferredSymbol]:
        now = self._clock()
        alive = [one for one in known.values() if one.value(now, half_life) >= LEAST]
        return sorted(alive, key=lambda one: (-one.value(now, half_life), one.symbol))[:MOST]


def _parsed(fields: Mapping[str, Any]) -> dict[str, PreferredSymbol]:
    symbols = fields.get("symbols", {})
    if not isinstance(symbols, dict):
        raise RememberedError(f"cannot read {FILE_NAME}", why="symbols is no table", hint="remove the file, or mend it")
    found = {}
    for symbol, pair in list(symbols.items())[:MOST]:
        one = _symbol(symbol, pair)
        if one is not None:  # one entry that is none costs itself
            found[symbol] = one
    return found


def _symbol(symbol: str, pair: Any) -> PreferredSymbol | None:
    if not isinstance(pair, list) or len(pair) != 2 or len(symbol) > LONGEST:
        return None
    strength, added = pair
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one) for one in pair):
        return None
    return PreferredSymbol(symbol, float(strength), int(added)) if 0 < strength <= 1 else None
