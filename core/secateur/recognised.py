"""The credentials that a run recognised, and texts without them: the last check before a screen, a stream or a file.

Credentials are replaced where a text is read (`secateur.redaction`), before anything is counted. This module catches
those that take another way: a value recognised in one text may appear in another, in a file name, in an error, in typed
text. It knows values but no rules, so that every layer can use it.

    recognise("hunter2hunter2")
    without_recognised("login with hunter2hunter2 failed")      # "login with [redacted] failed"

A run is a process, unless `separate_run` is used; `secateur.cli` begins one with each command.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote

REDACTED = "[redacted]"
"""Replaces a value."""

SHORTEST = 8
"""Characters of the shortest value that is replaced everywhere; a shorter one may be a part of a word."""

SHORTEST_LINE = 16
"""Characters of the shortest line that is replaced by itself, in a multi-line value such as a private key."""

MOST_VALUES = 4_096
"""Most values that are remembered; the oldest is dropped. Their number limits the time per text."""


_LONG_WORD = re.compile(r"(?<![^\s/])(?=[^\s/]*\d)[^\s/]{20,}|hf_[A-Za-z]{20}|://")


def may_hold_token(text: str) -> bool:
    """Tells whether a text has an address, or a word as long as the tokens of providers."""
    return _LONG_WORD.search(text) is not None


class _Run:
    """The values of one run, each with every form in which it may appear: plain and escaped."""

    def __init__(self) -> None:
        self.forms: dict[str, tuple[str, ...]] = {}
        self.rules: dict[str, str] = {}
        self.stays: Callable[[str, str], bool] | None = None

    def add(self, value: str, rule: str) -> None:
        if value in self.forms or len(value) < SHORTEST or (self.stays is not None and self.stays(value, rule)):
            return
        while len(self.forms) >= MOST_VALUES:
            self.drop(next(iter(self.forms)))
        self.forms[value], self.rules[value] = _forms(value), rule

    def drop(self, value: str) -> None:
        del self.forms[value], self.rules[value]


_everywhere = _Run()
_current: ContextVar[_Run] = ContextVar("recognised", default=_everywhere)


def begin_run() -> None:
    """Begins a run without known values."""
    run = _current.get()
    run.forms.clear()
    run.rules.clear()
    run.stays = None


def ignore_allowed(stays: Callable[[str, str], bool]) -> None:
    """Forgets values that the user allows, and ignores them for the rest of this run. `stays`: tells for a value, and
    the rule that found it, whether the user allows it."""
    run = _current.get()
    run.stays = stays
    for value, rule in tuple(run.rules.items()):
        if stays(value, rule):
            run.drop(value)


def recognise(credential: str, rule: str = "") -> None:
    """Remembers a credential, or each line of a multi-line one, unless it is short or the user allows it."""
    run = _current.get()
    if "\n" not in credential:
        run.add(credential, rule)
        return
    for line in map(str.strip, credential.split("\n")):
        if len(line) >= SHORTEST_LINE and " " not in line:
            run.add(line, rule)


def without_recognised(text: str) -> str:
    """Returns the text with `REDACTED` in place of every recognised value; the same object if it holds none."""
    for forms in tuple(_current.get().forms.values()):
        for form in forms:
            if form in text:
                text = text.replace(form, REDACTED)
    return text


@contextmanager
def separate_run() -> Iterator[None]:
    """Opens a separate run in this thread, for a server's call: calls share no recognised values."""
    token = _current.set(_Run())
    try:
        yield
    finally:
        _current.reset(token)


def _forms(value: str) -> tuple[str, ...]:
    escaped = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
    written = html.escape(value), html.escape(value, quote=False), quote(value, safe=""), quote(value)
    return tuple(sorted({value, *escaped, *written}, key=lambda form: (-len(form), form)))
