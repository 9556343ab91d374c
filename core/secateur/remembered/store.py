"""Reads and changes a small JSON file in the user's folder, one for each repository. The file has a limited size, is
replaced atomically, and is changed by one process at a time.

    <configuration folder>/repositories/<name>-<digest of the repository's path>/preferences.json

If a file cannot be read, the reader gets an error that says why. The next change sets it aside and begins a new one.

Remembers the symbols that a user prefers in a repository, with values that decay (SC-SP-007).

A symbol is added with a strength. Its value halves every HALF_LIFE whole days, so that a query has the
same answer all day. Adding the symbol again renews it. A symbol whose value falls below LEAST is forgotten.

    store = PreferenceStore(config_dir, root, clock=time.time)
    store.add("orders/money.py::Money.round")
    store.values()     # {"orders/money.py::Money.round": 1.0}; 30 days later 0.5
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from secateur.errors import SecateurError, reason_of, shown
from secateur.index.store.folder import folder_name, remove_leftovers, replacing, set_aside
from secateur.recognised import without_recognised
from secateur.system.files import one_at_a_time

FOLDER = "repositories"
SAID_FILE = "said.json"  # what was said about a repository, so that it is said once

MAX_BYTES = 1 << 20  # a larger file is not read

VERSION = 1

_ABSENT = (FileNotFoundError, NotADirectoryError)


class RememberedError(SecateurError):
    """A remembered file cannot be read or written. `why` says it without the path, which differs between machines."""

    default_code = "REMEMBERED"

    def __init__(self, message: str, *, hint: str = "", code: str = "", why: str = "") -> None:
        super().__init__(f"{message}: {why}" if why else message, hint=hint, code=code)
        self.why = why


class RememberedFile:
    """One remembered file of a repository.

    file = RememberedFile(config_dir, root, "preferences.json")
    file.read()                                      # {} if nothing is remembered yet
    file.update(lambda fields: fields | {"a": 1})    # takes the present fields, returns the new ones
    """

    def __init__(self, user_dir: Path, root: Path, name: str) -> None:
        self.path = user_dir / FOLDER / folder_name(root) / name

    def read(self) -> dict[str, Any]:
        """Reads the fields; {} if the file does not exist. Raises RememberedError: the file cannot be read, is too
        large, or is not one of ours."""
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except _ABSENT:
            return {}
        except OSError as error:
            raise self._unreadable(reason_of(error)) from error
        if len(data) > MAX_BYTES:
            raise self._unreadable(f"it is larger than {MAX_BYTES:,} bytes")
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._unreadable("it is not JSON") from error
        if not isinstance(fields, dict) or fields.get("version") != VERSION:
            raise self._unreadable(f"it is not of version {VERSION}")
        return {name: value for name, value in fields.items() if name != "version"}

    def update(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Replaces the fields by the result of `change`, while other processes wait. Returns True if an unreadable file
        was set aside. Raises RememberedError: the folder cannot be written, or the fields are too large."""
        folder, broken = self.path.parent, False
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with one_at_a_time(folder):
                try:
                    fields = self.read()
                except RememberedError:
                    fields, broken = {}, True
                text = json.dumps({"version": VERSION, **change(fields)}, ensure_ascii=True, indent=1)
                data = without_recognised(text).encode()
                if len(data) > MAX_BYTES:
                    raise self._unwritable(f"more than {MAX_BYTES:,} bytes would have to be kept")
                if broken:
                    set_aside(self.path)
                remove_leftovers(folder, self.path.name)
                with replacing(self.path) as file:
                    file.write(data)
        except OSError as error:
            raise self._unwritable(reason_of(error)) from error
        return broken

    def _unreadable(self, why: str) -> RememberedError:
        return RememberedError(f"cannot read {shown(self.path)}", why=why, hint="remove the file, or mend it")

    def _unwritable(self, why: str) -> RememberedError:
        return RememberedError(
            f"cannot write {shown(self.path)}", why=why, hint="SECATEUR_CONFIG_DIR names another folder"
        )


def first_time(user_dir: Path, root: Path, what: str) -> bool:
    """Returns True the first time this is asked about the repository, then False; False if it cannot be saved."""
    file, first = RememberedFile(user_dir, root, SAID_FILE), False
    with suppress(RememberedError):  # reads without writing, because most calls are not the first
        if what in _said(file.read()):
            return False

    def add(fields: dict[str, Any]) -> dict[str, Any]:
        nonlocal first
        said = _said(fields)
        first = what not in said
        return fields | {"said": [*said, what] if first else said}

    try:
        file.update(add)
    except RememberedError:
        return False
    return first


def _said(fields: dict[str, Any]) -> list[str]:
    said = fields.get("said")
    return [name for name in said if isinstance(name, str)] if isinstance(said, list) else []


FILE_NAME = "preferences.json"

LEAST = 0.01  # the value below which a symbol is forgotten: rounding would remove its term
MOST = 1_000  # the most symbols of a repository; the weakest are forgotten
LONGEST = 1_000  # the most characters of a symbol id
HALF_LIFE = 30  # days after which a value is half of what it was: work on one part of a repository lasts weeks

DAY = 86_400

DIGITS = 4  # decimal places of a value

RULE = (
    f"A symbol is added with a strength from 0 to 1 (default 1). Its value halves every {HALF_LIFE}"
    f" whole days, adding it again renews it, and below {LEAST} it is forgotten. With preference.enabled"
    " its priority gains preference.weight times the value, as a term of its own."
)


class PreferredSymbol(Struct, frozen=True):
    """A symbol, the strength of the preference, and when it was added (seconds since 1970)."""

    symbol: str
    strength: float
    added: int

    def days(self, now: float) -> int:
        """Returns the whole days since it was added; 0 if the clock was set back."""
        return max(0, int(now - self.added) // DAY)

    def value(self, now: float) -> float:
        """Returns the value at a time."""
        return round(self.strength * math.pow(0.5, self.days(now) / HALF_LIFE), DIGITS)


class PreferenceStore:
    """The preferences of a user for a repository."""

    def __init__(self, user_dir: Path, root: Path, clock: Callable[[], float]) -> None:
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self._clock = clock

    @property
    def path(self) -> Path:
        """The file that holds them."""
        return self._file.path

    def symbols(self) -> list[PreferredSymbol]:
        """Returns the symbols that are not forgotten, the strongest first; equal ones by name. Raises RememberedError:
        the file cannot be read."""
        return self._rank(_parse(self._file.read()))

    def values(self) -> dict[str, float]:
        """Returns symbol id -> value in [LEAST, 1]. Raises RememberedError like `symbols`."""
        now = self._clock()
        return {preferred.symbol: preferred.value(now) for preferred in self.symbols()}

    def value(self, preferred: PreferredSymbol) -> float:
        """Returns the value of a symbol now."""
        return preferred.value(self._clock())

    def days(self, preferred: PreferredSymbol) -> int:
        """Returns the whole days since a symbol was added."""
        return preferred.days(self._clock())

    def add(self, symbol: str, strength: float) -> bool:
        """Adds or renews a symbol. Returns True if an unreadable file was set aside. Raises RememberedError: the file
        cannot be written."""
        new = PreferredSymbol(symbol, round(strength, DIGITS), int(self._clock()))

        def add(known: dict[str, PreferredSymbol]) -> list[PreferredSymbol]:
            return [*self._rank({**known, symbol: new})]

        return self._change(add)

    def remove(self, symbol: str) -> None:
        """Forgets a symbol. Raises RememberedError like `add`."""
        self._change(lambda known: self._rank({k: v for k, v in known.items() if k != symbol}))

    def clear(self) -> None:
        """Forgets every symbol. Raises RememberedError like `add`."""
        self._change(lambda _: [])

    def _change(self, change: Callable[[dict[str, PreferredSymbol]], list[PreferredSymbol]]) -> bool:
        def change_fields(fields: dict[str, Any]) -> dict[str, Any]:
            try:
                known = _parse(fields)
            except RememberedError:
                known = {}
            return {"symbols": {preferred.symbol: [preferred.strength, preferred.added] for preferred in change(known)}}

        return self._file.update(change_fields)

    def _rank(self, known: Mapping[str, PreferredSymbol]) -> list[PreferredSymbol]:
        now = self._clock()
        alive = [preferred for preferred in known.values() if preferred.value(now) >= LEAST]
        return sorted(alive, key=lambda preferred: (-preferred.value(now), preferred.symbol))[:MOST]


def _parse(fields: Mapping[str, Any]) -> dict[str, PreferredSymbol]:
    symbols = fields.get("symbols", {})
    if not isinstance(symbols, dict):
        raise RememberedError(
            f"cannot read {FILE_NAME}", why="symbols is not a table", hint="remove the file, or mend it"
        )
    parsed = {}
    for symbol, pair in list(symbols.items())[:MOST]:  # an invalid entry is ignored, and the others count
        if not isinstance(pair, list) or len(pair) != 2 or len(symbol) > LONGEST:
            continue
        if any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in pair):
            continue
        if all(map(math.isfinite, pair)) and 0 < pair[0] <= 1:
            parsed[symbol] = PreferredSymbol(symbol, float(pair[0]), int(pair[1]))
    return parsed
