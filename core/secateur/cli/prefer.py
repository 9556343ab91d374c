"""`secateur prefer add|remove|list SYMBOL [PATH]`: the symbols that you prefer in a repository, in your own folder."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from secateur import directories
from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall
from secateur.cli.output import emit
from secateur.cli.parsing import literal, one_of
from secateur.errors import UsageError, unreadable_folder
from secateur.notice import Notice
from secateur.remembered.store import HALF_LIFE, RULE, PreferenceStore, RememberedError
from secateur.render.page import Column, Page, Section
from secateur.settings import Settings
from secateur.shape import Count, Shape, dumps
from secateur.sources.named import FORMS
from secateur.suggestions import suggestion
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.index.facts.snapshot import Snapshot

ACTIONS = ("add", "remove", "list")

NAMED = 5  # symbols that an error names before it only counts

_TO_TURN_ON = "preference.enabled = true"


Fraction = Annotated[float, Meta(ge=0, le=1)]


class Preferred(Shape, frozen=True):
    """A symbol that the user prefers, and what it counts now."""

    symbol: str
    value: Fraction
    strength: Fraction
    days: Count


class PreferOutput(Shape, frozen=True):
    """The output of `secateur prefer` with `--format json`: what is remembered afterwards."""

    action: Annotated[str, Meta(extra_json_schema={"enum": [*ACTIONS]})]
    changed: str
    enabled: bool
    weight: float
    half_life: Count
    symbols: list[Preferred]
    warnings: list[Notice]


def arguments(parser: CommandParser) -> None:
    """Flags of the command."""
    parser.epilog = literal(RULE)
    parser.add_argument("action", metavar="|".join(ACTIONS), type=one_of("prefer", ACTIONS), help="what to do")
    parser.add_argument(
        "symbol",
        metavar="SYMBOL",
        nargs="?",
        help="a symbol id (search --explain shows ids), or a unique end of one; not for list",
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help=f"the repository: {FORMS} (default: here)")
    parser.add_argument(
        "--strength", metavar="X", type=_strength, default=None, help="with add: its strength, above 0 to 1 (default 1)"
    )
    parser.add_argument("--all", action="store_true", help="with remove: forget every symbol of the repository")
    parser.source_arguments()
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Changes what is remembered, and prints what is."""
    symbol, path = _words(options)
    root = options.named_folder(path)
    if not root.is_dir():
        raise unreadable_folder(root)
    settings = options.repository_settings(root).settings
    store = PreferenceStore(directories.config_dir(os.environ), root, time.time)
    warnings, changed = list[str](), ""
    if options.action == "add":
        changed = _resolve_symbol(symbol, root, settings, options)
        if store.add(changed, 1.0 if options.strength is None else options.strength):
            warnings.append("The remembered symbols could not be read; their file was set aside, and a new one begins.")
    elif options.action == "remove":
        changed = _remove(store, symbol, everything=options.all)
    try:
        values = store.symbols()
    except RememberedError as error:
        values = []
        warnings.append(f"{error.message}; the symbols remembered here are ignored. `prefer add` begins a new file.")
    rows = [Preferred(row.symbol, store.value(row), row.strength, store.days(row)) for row in values]
    for warning in warnings:
        options.say(f"warning: {warning}")
    if options.format == "json":
        figures = settings.preference.enabled, settings.preference.weight, HALF_LIFE
        notices = [Notice("preferences_unreadable", warning) for warning in warnings]
        emit(dumps(PreferOutput(options.action, changed, *figures, rows, notices)))
    else:
        emit(_text(rows, settings))
    return 0


def _words(options: CommandCall) -> tuple[str, str]:
    """The symbol and the path of a call; `list` takes a path alone. Raises UsageError: a word or a flag that the action
    does not take, or the symbol is missing."""
    action, symbol, path = options.action, options.symbol, options.path
    for flag, of in (("--strength", "add"), ("--all", "remove")):
        if getattr(options, flag[2:]) not in (None, False) and action != of:
            raise UsageError(f"prefer {action} takes no {flag}", hint=f"{flag} goes with prefer {of}")
    if action == "list" or options.all:
        if path is not None:
            command = f"prefer {action}" + (" --all" if options.all else "")
            raise UsageError(f"{command} takes no SYMBOL", hint=f"secateur {command} PATH")
        return "", symbol or "."
    if not symbol:
        raise UsageError(f"prefer {action} needs a SYMBOL", hint=f"for example secateur prefer {action} Money.round")
    return symbol, path or "."


def _remove(store: PreferenceStore, symbol: str, *, everything: bool) -> str:
    if everything:
        store.clear()
        return ""
    known = [entry.symbol for entry in store.symbols()]
    ends = [entry for entry in known if _is_end(symbol, entry)]
    if symbol not in known and len(ends) != 1:
        if ends:
            raise UsageError(f"{symbol} is the end of {len(ends)} symbols", hint=f"name one: {_list_names(ends)}")
        near = suggestion(symbol, known)
        hint = f"did you mean {near}? " if near else ""
        raise UsageError(f"{symbol} is not remembered here", hint=f"{hint}secateur prefer list shows all")
    removed = symbol if symbol in known else ends[0]
    store.remove(removed)
    return removed


def _resolve_symbol(symbol: str, root: Path, settings: Settings, options: CommandCall) -> str:
    from secateur.engine import Engine

    progress = options.progress_bar()
    with Engine.open(root, settings) as engine:
        try:
            engine.refresh(progress)
        finally:
            progress.close()
        return symbol_meant(symbol, engine.code()[0])


def symbol_meant(symbol: str, snapshot: Snapshot) -> str:
    """Returns the id of the symbol that a word means: an id, or the end of exactly one id. Raises UsageError: the word
    means no symbol, or several."""
    if snapshot.row_of(symbol) >= 0:
        return symbol
    name = symbol.rpartition("::")[2]
    rows = [row for row, known in enumerate(snapshot.qualnames) if known == name or known.endswith(f".{name}")]
    matches = [candidate for candidate in map(snapshot.symbol_id, rows) if _is_end(symbol, candidate)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"{len(matches)} symbols here are called {symbol}", hint=f"name one: {_list_names(matches)}")
    from secateur.index.facts.names import near_names

    ids = {known.lower(): snapshot.symbol_id(row) for row, known in reversed(list(enumerate(snapshot.qualnames)))}
    ids.pop("", None)
    near = [ids[known] for known, _ in near_names(name.lower(), list(ids))]
    hint = f"did you mean {_list_names(near)}?" if near else "secateur search --explain shows the ids of what it finds"
    raise UsageError(f"nothing here is called {symbol}", hint=hint)


def _is_end(word: str, symbol: str) -> bool:
    return symbol == word or symbol.endswith((f"::{word}", f".{word}", f"/{word}"))


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _text(rows: list[Preferred], settings: Settings) -> str:
    preference = settings.preference
    lines = [("value", "strength", "days", "symbol")] if rows else []
    lines += [(f"{row.value:.3f}", f"{row.strength:.2f}", f"{row.days:,}", visible(row.symbol)) for row in rows]
    if preference.enabled:
        status = f"on: the priority gains {preference.weight:g} × value"
    else:
        status = f"off: none counts until your own configuration or --set has {_TO_TURN_ON}"
    head = [("preference", status), ("half-life", f"{HALF_LIFE} days"), ("remembered", f"{len(rows):,}")]
    columns = (Column(6, right=True, gap=0), Column(8, right=True), Column(5, right=True), Column())
    return Page(head, [Section(lines, columns=columns)] if lines else [], label_cells=11).text()


def _strength(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise UsageError(f"--strength {text!r} is not allowed", hint="--strength takes a number above 0, to 1")
    return value
