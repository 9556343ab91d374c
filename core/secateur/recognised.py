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
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote

REDACTED = "[redacted]"  # replaces a value
SHORTEST = 8  # characters of the shortest value that is replaced everywhere; a shorter one may be a part of a word

# Characters of the shortest line that is replaced by itself, in a multi-line value such as a private key.
SHORTEST_LINE = 16

MOST_VALUES = 4_096  # most values that are remembered; the oldest is dropped


_LONG_WORD = re.compile(r"(?<![^\s/])(?=[^\s/]*\d)[^\s/]{20,}|hf_[A-Za-z]{20}|://")

_SAME_EVERYWHERE = re.compile(r"[A-Za-z0-9_.-]+")  # a value that no escape changes


def may_hold_token(text: str) -> bool:
    """Tells whether a text has an address, or a word as long as the tokens of providers."""
    return _LONG_WORD.search(text) is not None


class _Run:
    """The values of one run, each with every form in which it may appear: plain and escaped."""

    def __init__(self) -> None:
        self.rules = OrderedDict[str, str]()  # by value; the first of a dict from which many went is slow to find
        self.forms: dict[str, int] = {}  # the number of values with the form
        self.lengths: dict[str, dict[int, int]] = {}  # the number of forms by their SHORTEST first letters and length
        self.stays: Callable[[str, str], bool] | None = None

    def add(self, value: str, rule: str) -> None:
        if value in self.rules or len(value) < SHORTEST or (self.stays is not None and self.stays(value, rule)):
            return
        while len(self.rules) >= MOST_VALUES:
            self.drop(next(iter(self.rules)))
        self.rules[value] = rule
        self._count(value, 1)

    def drop(self, value: str) -> None:
        del self.rules[value]
        self._count(value, -1)

    def _count(self, value: str, number: int) -> None:
        forms = {value}
        if not _SAME_EVERYWHERE.fullmatch(value):
            forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            forms |= {html.escape(value), html.escape(value, quote=False), quote(value, safe=""), quote(value)}
        for form in forms:
            head, size = form[:SHORTEST], len(form)
            self.forms[form] = self.forms.get(form, 0) + number
            lengths = self.lengths.setdefault(head, {})
            lengths[size] = lengths.get(size, 0) + number
            if not self.forms[form]:
                del self.forms[form]
            if not lengths[size]:
                del lengths[size]
            if not lengths:
                del self.lengths[head]


_everywhere = _Run()
_current: ContextVar[_Run] = ContextVar("recognised", default=_everywhere)


def begin_run() -> None:
    """Begins a run without known values."""
    run = _current.get()
    for values in (run.rules, run.forms, run.lengths):
        values.clear()
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
    forms, lengths = _current.get().forms, _current.get().lengths
    if not forms:
        return text
    parts: list[str] = []
    start = end = 0  # of the text that was kept last, and of the values after it
    for offset in [at for at in range(len(text) - SHORTEST + 1) if text[at : at + SHORTEST] in lengths]:
        sizes = tuple(lengths.get(text[offset : offset + SHORTEST], ()))  # another thread may add one
        value_end = offset + max((size for size in sizes if text[offset : offset + size] in forms), default=0)
        if value_end > max(offset, end):
            if offset >= end:
                parts += (text[start:offset], REDACTED)
            start = end = value_end
    return "".join((*parts, text[start:])) if parts else text


@contextmanager
def separate_run() -> Iterator[None]:
    """Opens a separate run in this thread, for a server's call: calls share no recognised values."""
    token = _current.set(_Run())
    try:
        yield
    finally:
        _current.reset(token)
