"""Takes credentials out of what is read, and knows afterwards which text holds which marker.

redactor = Redactor(Scanning.of(settings.redaction, cache))
data = redactor.data(path.read_bytes(), "ci.log")
redactor.within(lines)      # (Redaction("aws-access-key", 3),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from secateur.ledger import Notice, Redaction
from secateur.progress import Progress, unreported
from secateur.recognised import leave_in, may_hold_token, recognise, without_recognised
from secateur.redaction.rules import find_tokens
from secateur.redaction.scanning import Scanning, as_utf8
from secateur.redaction.spans import MARKER, CredentialNumbers, with_markers
from secateur.redaction.value_looks import is_random, word_share
from secateur.settings import Redacting, Settings

NOT_SCANNED = Notice("not_scanned", "Credentials: not scanned by the full scanner.")
"""Said where the extra `secrets` is not installed, unless `redaction.scanner` is "rules"."""

_MADE_BY_MACHINE = re.compile(r"(?=[A-Za-z+/=]*\d)[A-Za-z0-9+/=]{16,}")
"""A piece of the length of a key with a digit in it; words that are joined by `_`, `-` or `.` do not count."""

_NAMING = r"(?i)(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api[-_]?key)[-_=.:]"
_NAMED_IN_NAME = re.compile(_NAMING + r"((?=[A-Za-z]*\d)[A-Za-z0-9+=~!@%^]{12,256}+)")
_NAMED_IN_TYPED = re.compile(_NAMING + r"(?=\S*\d)(\S{12,2048}+)")
_MOST_WORDS = 0.7
"""The share of words in what stands behind such a word, above which it is a name."""

SCANNER_FAILED = "scanner_failed"
"""Code of the notice that the scanner did not look at everything."""


class Redactor:
    """The credentials of one reading. Texts are given in a fixed order, so that the same input has the same markers."""

    def __init__(self, scanning: Scanning | None = None) -> None:
        self.scanning = scanning or Scanning()
        self._numbers = CredentialNumbers()
        self._failed = False

    @classmethod
    def of(cls, rules: Redacting, cache: Path | None = None) -> Redactor:
        """A redactor under the user's settings; `cache`: their cache folder, where it is another than usual."""
        return cls(Scanning.of(rules, cache))

    def data(self, data: bytes, path: str = "", progress: Progress = unreported) -> bytes:
        """The bytes of a text with markers in place of credentials; the same object where there are none."""
        if not self.scanning.on:
            return data
        text = as_utf8(data)
        spans, whole = self.scanning.spans(text, path, progress)
        self._failed |= not whole
        if spans:
            self._numbers.keep_free(text)
        out = self._numbers.bare(with_markers(text, spans, self._numbers))
        return data if out is text else out

    def bare(self, text: str) -> str:
        """A text that went through here before, without what later texts showed to be a credential."""
        data = text.encode("utf-8", "surrogatepass")
        out = self._numbers.bare(data)
        return text if out is data else out.decode("utf-8", "surrogatepass")

    def text(self, text: str, path: str = "") -> str:
        """The same for a text."""
        data = text.encode("utf-8", "surrogatepass")
        out = self.data(data, path)
        return text if out is data else out.decode("utf-8", "surrogatepass")

    def json_value(self, value: Any) -> Any:
        """The same for a value as `json.loads` gives it; the same object where there are none."""
        data = json.dumps(value).encode()
        out = self.data(data)
        return value if out is data else json.loads(out)

    def within(self, text: str, line_of: Callable[[int], int] | int = 1) -> tuple[Redaction, ...]:
        """The credentials that were taken out of a text that was read through this redactor.

        Args:
            line_of: the line of the text's first line; or a function from the number of a line in the text, from 0, to
                the line that it stands for.
        """
        issued = self._numbers.issued
        if not issued or "[redacted: " not in text:
            return ()
        place = line_of if callable(line_of) else (lambda number: line_of + number)
        return tuple(
            Redaction(found[1], place(text.count("\n", 0, found.start())))
            for found in MARKER.finditer(text)
            if found.group() in issued
        )

    @property
    def found_any(self) -> bool:
        """True where a credential was taken out."""
        return bool(self._numbers.issued)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warning that the full scanner did not look at every text so far, where that is so."""
        if not self._failed:
            return ()
        said = (
            f"Credentials: the full scanner stopped ({self.scanning.fault or 'it took too long'}); the built-in rules"
        )
        return (Notice(SCANNER_FAILED, f"{said} looked alone."),)


def not_scanned(settings: Settings) -> tuple[Notice, ...]:
    """The warning of every output where the full scanner is asked for and not installed."""
    return (NOT_SCANNED,) if Scanning.of(settings.redaction).lacks_scanner else ()


def redact_typed(text: str, rules: Redacting) -> str:
    """A text that a person typed, such as a query, without credentials. The full scanner, which takes a while to start,
    is asked only where a word looks as if no person had made it up."""
    scanning = Scanning.of(rules)
    return Redactor(scanning if _MADE_BY_MACHINE.search(text) else replace(scanning, full=False)).text(text)


def recognise_typed(typed: str) -> None:
    """Recognises credentials in the words of a call before anything can repeat them, in an error for example. Our own
    rules look."""
    Redactor(Scanning(full=False)).text(typed)
    recognise_in_names([typed])
    for found in _NAMED_IN_TYPED.finditer(typed):
        if is_random(found[1].encode("utf-8", "replace")):
            recognise(found[1], "password")


def leave_in_under(rules: Redacting) -> None:
    """Forgets what was recognised in this run and the user's settings leave in."""
    leave_in(replace(Scanning.of(rules), full=False).stays)


def recognise_tokens(text: str) -> None:
    """Recognises tokens of providers, which are known by their own look."""
    if may_hold_token(text):
        data = text.encode("utf-8", "replace")
        for span in find_tokens(data):
            recognise(data[span.start : span.end].decode("utf-8", "replace"), span.rule)


def recognise_in_names(names: Iterable[str]) -> None:
    """Recognises credentials in the names of files, folders and branches, before they are cut to the width of a screen:
    tokens of providers, and what is random behind a word such as `password-`."""
    text = "\n".join(names)
    recognise_tokens(text)
    for found in _NAMED_IN_NAME.finditer(text):
        if word_share(found[1].encode("utf-8", "replace")) < _MOST_WORDS:
            recognise(found[1], "password")


def outgoing(text: str) -> str:
    """A text as it may be printed or written: without the credentials that this run recognised, and without tokens of
    providers, wherever they come from. The last door; see `secateur.recognised`."""
    recognise_tokens(text)
    return without_recognised(text)


def redact(text: str, settings: Settings | None = None) -> tuple[str, tuple[Redaction, ...]]:
    """A text with markers in place of the credentials in it, and what was taken out, with rule and line.

    For texts of a program of yours: the functions that take texts give back what they were given.
    """
    redactor = Redactor.of((settings or Settings()).redaction)
    out = redactor.text(text)
    return out, redactor.within(out)
