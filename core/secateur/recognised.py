"""The credentials that a run recognised, and texts without them: the last door before a screen, a stream or a file.

Credentials leave a text where it is read (`secateur.redaction`), before anything is counted. This is for what comes
another way: a value that was recognised in one text and stands bare in another, in the name of a file, in an error, in
what was typed. It knows values and no rules, so that every layer can use it.

    recognise("hunter2hunter2")
    without_recognised("login with hunter2hunter2 failed")      # "login with [redacted] failed"

A run is a process, unless `own_run` says otherwise; `secateur.cli` begins one with each command.
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
"""Stands in the place of a value."""

SHORTEST = 8
"""Characters of a value that is replaced wherever it stands; a shorter one may well be a part of a word."""

SHORTEST_LINE = 16
"""Characters of a line of a value over several lines, such as a private key, that is replaced by itself."""

MOST_VALUES = 4_096
"""Values that are remembered; the oldest gives way. Their number bounds the time that a text costs."""


_LONG_WORD = re.compile(r"(?=[^\s/]*\d)[^\s/]{20,}|hf_[A-Za-z]{20}|://")


def may_hold_token(text: str) -> bool:
    """Tells whether a text has a word that is as long as the tokens of providers, or an address."""
    return _LONG_WORD.search(text) is not None


class _Run:
    """The values of one run, each with every form that it may stand in: as it is, and escaped."""

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
    """Begins a run, in which no value is known."""
    run = _current.get()
    run.forms.clear()
    run.rules.clear()
    run.stays = None


def leave_in(stays: Callable[[str, str], bool]) -> None:
    """Forgets values that the user leaves in, and recognises no more of them in this run.

    Args:
        stays: tells of a value, and of the rule that found it, whether the user leaves it in.
    """
    run = _current.get()
    run.stays = stays
    for value, rule in tuple(run.rules.items()):
        if stays(value, rule):
            run.drop(value)


def recognise(credential: str, rule: str = "") -> None:
    """Remembers a credential, or each line of one over several lines, unless it is short or the user leaves it in."""
    run = _current.get()
    if "\n" not in credential:
        run.add(credential, rule)
        return
    for line in map(str.strip, credential.split("\n")):
        if len(line) >= SHORTEST_LINE and " " not in line:
            run.add(line, rule)


def without_recognised(text: str) -> str:
    """The text with `REDACTED` in place of every recognised value; the same object if it holds no such value."""
    for forms in tuple(_current.get().forms.values()):
        for form in forms:
            if form in text:
                text = text.replace(form, REDACTED)
    return text


@contextmanager
def own_run() -> Iterator[None]:
    """A run of its own within this process, in this thread: of a server's call, which learns nothing of another's."""
    token = _current.set(_Run())
    try:
        yield
    finally:
        _current.reset(token)


def _forms(value: str) -> tuple[str, ...]:
    escaped = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
    written = html.escape(value), html.escape(value, quote=False), quote(value, safe=""), quote(value)
    return tuple(sorted({value, *escaped, *written}, key=lambda form: (-len(form), form)))
