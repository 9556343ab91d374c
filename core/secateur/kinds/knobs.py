"""Knobs change one setting each, by steps within its range. Pure: settings in, settings out.

Lets a user overrule decisions by settings, and locates entries in files. Pure: settings in, settings out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from secateur.errors import ConfigError
from secateur.ledger import Notice
from secateur.settings import PROFILES, Settings, key_of, keys, lookup, with_profile, with_values
from secateur.suggestions import describe_unknown


class Knob(Struct, frozen=True):
    """One row of the panel. Range and choices come from the schema of the setting.

    >>> Knob("context_prune.max_tokens", "max tokens", step=50).turned(Settings(), 1).context_prune.max_tokens
    8050
    """

    key: str  # dotted key of the setting
    label: str
    step: float = 0  # 0: 1 for an integer, else 0.05
    fine_step: float = 0  # 0: 1 for an integer, else 0.01
    mutable: bool = False  # `0` sets it to zero
    signal: str = ""  # the signal that it weighs
    rounded: bool = False  # a step leads to the next round number, about a twentieth away
    asking: tuple[str, ...] = ()  # choices that ask a language model, if one is set (`[llm]`)

    @property
    def choices(self) -> tuple[str, ...]:
        return key_of(self.key).choices

    @property
    def integer(self) -> bool:
        return key_of(self.key).kind is int

    @property
    def high(self) -> float:
        """The end of the range."""
        high = key_of(self.key).high
        assert high is not None
        return high

    def value(self, settings: Settings) -> str | int | float:
        value: str | int | float = lookup(settings, self.key)
        return value

    def in_force(self, settings: Settings) -> int:
        """The value of this knob as a budget."""
        return int(self.value(settings))

    def text(self, settings: Settings) -> str:
        """The value as printed: at least two decimals, thousands separated."""
        value = self.value(settings)
        if isinstance(value, bool):
            return "on" if value else "off"
        return decimal(value) if isinstance(value, float) else value if isinstance(value, str) else f"{value:,}"

    def turned(self, settings: Settings, direction: int, *, fine: bool = False) -> Settings:
        """Turns the knob one step up (1) or down (-1), to the end of its range; choices and switches wrap around."""
        value = self.value(settings)
        if isinstance(value, bool):
            return self.put(settings, not value)
        if isinstance(value, str):
            position = self.choices.index(value) + direction
            return self.put(settings, self.choices[position % len(self.choices)])
        if self.rounded and not fine:
            moved: float = round_step(int(value), direction)
        else:
            step = (self.fine_step if fine else self.step) or (1 if self.integer else 0.01 if fine else 0.05)
            moved = round(value + direction * step, 6)
        return self.within(settings, moved)

    def near(self, settings: Settings, value: float) -> Settings:
        """Sets a fraction to the multiple of its step nearest to `value`, within its range."""
        step = self.step or 0.05
        return self.within(settings, round(round(value / step) * step, 6))

    def within(self, settings: Settings, value: float) -> Settings:
        """Sets a number to `value`, or to the nearest end of its range."""
        schema = key_of(self.key)
        value = value if schema.low is None else max(schema.low, value)
        return self.put(settings, value if schema.high is None else min(schema.high, value))

    def put(self, settings: Settings, value: str | int | float) -> Settings:
        """Sets the knob to `value`; returns the same object if nothing changes."""
        if not isinstance(value, str):
            value = key_of(self.key).kind(value)
        return settings if value == self.value(settings) else with_values(settings, {self.key: value})


def profiles_of(settings: Settings) -> list[str]:
    """Names of all profiles, the built-in ones first."""
    return [*PROFILES, *(name for name in settings.profiles if name not in PROFILES)]


class ProfileKnob(Knob, frozen=True):
    """The profile as a knob: it goes around the built-in profiles and the user's own."""

    key: str = "profile"
    label: str = "profile"

    def turned(self, settings: Settings, direction: int, *, fine: bool = False) -> Settings:  # noqa: ARG002
        """The settings under the next profile."""
        names = profiles_of(settings)
        return self.put(settings, names[(names.index(settings.profile) + direction) % len(names)])

    def put(self, settings: Settings, value: str | int | float) -> Settings:
        return settings if value == settings.profile else with_profile(settings, str(value))


COUNTER = Knob("tokens.counter", "counter")

# Prefixes of settings without a knob: they change what is read or who is asked, or have their own key.
_NO_KNOBS = (
    *("index.", "embedding.", "redaction.", "tokens.", "preference."),
    *("graph_rag.cache_", "graph_rag.enabled", "graph_rag.token_budget"),
)

_ROUND_FROM = 100  # integers with at least this default step through round numbers


def further_knobs(knobs: Sequence[Knob], deciding_keys: Sequence[str]) -> tuple[Knob, ...]:
    """Makes knobs for the profile, the counter, and all numbers, switches and choices among these keys.

    Args:
        knobs: the knobs that exist already.
        deciding_keys: those of the kind.
    """
    present = {knob.key for knob in knobs}
    further: list[Knob] = [ProfileKnob(), COUNTER]
    for key in (keys()[name] for name in deciding_keys if name in keys() and not name.startswith(_NO_KNOBS)):
        if key.name not in present and key.scope != "run" and (key.choices or key.kind in (bool, int, float)):
            *tables, leaf = key.name.split(".")
            label = f"−{leaf}" if tables[-1] == "penalty" else leaf.replace("_", " ")
            further.append(
                Knob(key.name, label, mutable=key.low == 0, rounded=key.kind is int and key.default >= _ROUND_FROM)
            )
    return tuple(further)


def typed(knob: Knob, text: str, settings: Settings) -> Settings:
    """Sets a knob to a typed value: `4,000`, `4k`, `0.35`, `+250`, `-50`, a choice, `on`. Raises ConfigError: the value
    is not valid, or out of range."""
    word, value = text.strip(), knob.value(settings)
    if isinstance(value, str):
        return knob.put(settings, word)
    if isinstance(value, bool):
        if word not in _SWITCHED:
            raise ConfigError(f"{word!r} is not on or off", hint="type on or off")
        return knob.put(settings, _SWITCHED[word])
    if (match := _NUMBER.fullmatch(word)) is None:
        example = "4,000, 4k or +250" if knob.integer else "0.35 or +0.05"
        raise ConfigError(f"{word!r} is not a number", hint=f"for example {example}")
    amount = float(re.sub(r"[,_ ']", "", match[2])) * (1000 if match[3] else 1)
    if match[1]:
        amount = value + (amount if match[1] == "+" else -amount)
    if knob.integer and amount != int(amount):
        raise ConfigError(f"{word} is not a whole number", hint=f"{knob.label} is {key_of(knob.key).allowed()}")
    return with_values(settings, {knob.key: int(amount) if knob.integer else amount})


_SWITCHED = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}

_NUMBER = re.compile(r"([+\-−]?)\s*(\d{1,12}(?:[,_ ']\d{3}){0,3}(?:\.\d{0,12})?|\.\d{1,12})\s*([kK]?)")


def decimal(value: float) -> str:
    """Writes two to four decimals: 0.4 → 0.40, 0.333 → 0.333."""
    return re.sub("0{1,2}$", "", f"{value:.4f}")


# (below this budget, step): about a twentieth, on round numbers; each limit is a multiple of the steps on both sides of
# it.
_BUDGET_STEPS = ((1_000, 50), (4_000, 250), (16_000, 500), (60_000, 2_000))

_LARGE_BUDGET_STEP = 10_000


def round_step(tokens: int, direction: int) -> int:
    """The next round number of tokens above (1) or below (-1), never under 0."""
    # Stepping down from a border uses the finer step below it, so that up and down visit the same numbers.
    reference = tokens if direction > 0 else tokens - 1
    step = next((step for limit, step in _BUDGET_STEPS if reference < limit), _LARGE_BUDGET_STEP)
    return (tokens // step + 1) * step if direction > 0 else max(0, -(-tokens // step) - 1) * step


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
