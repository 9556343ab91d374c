"""Finds credentials in everything that is read, and replaces them with markers: `[redacted: aws-access-key #1]`.

    redactor = Redactor.of(settings.redaction, cache)
    redactor.data(b'key = "AKIA…"')     # the same bytes with the marker in place of the key
    redactor.within(text)               # which markers of this redactor a text holds: rule and line

This is done once for every kind of context: files of a repository are scanned while they are indexed
(`index.facts.extract`), everything else when it is read (`kinds.environment`). The rules of `rules.py` always run; the
maintained scanner of the extra `secrets` runs if it is installed (`scanning.py`). For a finding, only its rule and
its position are stored, never the credential nor a hash of it. Nothing here uses the network.

Replaces credentials in texts, and reports later which of its markers a text contains.

redactor = Redactor(Scanning.of(settings.redaction, cache))
data = redactor.data(path.read_bytes(), "ci.log")
redactor.within(lines)      # (Redaction("aws-access-key", 3),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from secateur.encodings import as_utf8
from secateur.ledger import Notice, Redaction
from secateur.progress import Progress, unreported
from secateur.recognised import ignore_allowed, may_hold_token, recognise, separate_run, without_recognised
from secateur.redaction.rules import find_tokens
from secateur.redaction.scanning import Scanning
from secateur.redaction.spans import MARKER, CredentialNumbers, CredentialSpan, insert_markers
from secateur.redaction.value_looks import is_distinctive, is_random, word_share
from secateur.settings import Redacting, Settings

# Shown if the extra `secrets` is not installed, unless `redaction.scanner` is "rules".
NOT_SCANNED = Notice("not_scanned", "Credentials: not scanned by the full scanner.")

# A word as long as a key that contains a digit; words joined by `_`, `-` or `.` do not count.
_MADE_BY_MACHINE = re.compile(r"(?<![A-Za-z0-9+/=])(?=[A-Za-z+/=]*\d)[A-Za-z0-9+/=]{16,}")

_NAMING = r"(?i)(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api[-_]?key)[-_=.:]"
_NAMED_IN_NAME = re.compile(_NAMING + r"((?=[A-Za-z]*\d)[A-Za-z0-9+=~!@%^]{12,256}+)")
_NAMED_IN_TYPED = re.compile(_NAMING + r"(?=\S{0,2047}\d)(\S{12,2048}+)")
_MOST_WORDS = 0.7  # a value with a larger share of words than this, after such a prefix, is a name
SCANNER_FAILED = "scanner_failed"  # code of the notice that the full scanner skipped something


class Redactor:
    """The credentials of one reading. The same texts in the same order give the same markers."""

    def __init__(self, scanning: Scanning | None = None) -> None:
        self.scanning = scanning or Scanning()
        self._numbers = CredentialNumbers()
        self._failed = False

    @classmethod
    def of(cls, rules: Redacting, cache: Path | None = None) -> Redactor:
        """Returns a redactor for the user's settings; `cache`: their cache folder, if it is not the usual one."""
        return cls(Scanning.of(rules, cache))

    def data(self, data: bytes, path: str = "", progress: Progress = unreported) -> bytes:
        """Returns a text in UTF-8 with markers in place of credentials; the same object if nothing changes."""
        return self.utf8(as_utf8(data), path, progress)

    def utf8(self, text: bytes, path: str = "", progress: Progress = unreported) -> bytes:
        """Does the same with a text that is taken to be UTF-8, such as one line of a file that grows."""
        if not self.scanning.on:
            return text
        spans, whole = self.scanning.spans(text, path, progress)
        self._failed |= not whole
        if spans:
            self._numbers.keep_free(text)
        return self._numbers.bare(insert_markers(text, spans, self._numbers))

    def bare(self, text: str) -> str:
        """Returns an already redacted text without values that later texts showed to be credentials."""
        data = text.encode("utf-8", "surrogatepass")
        out = self._numbers.bare(data)
        return text if out is data else out.decode("utf-8", "surrogatepass")

    def text(self, text: str, path: str = "") -> str:
        """Does the same as `data` for a text."""
        data = text.encode("utf-8", "surrogatepass")
        out = self.utf8(data, path)
        return text if out is data else out.decode("utf-8", "surrogatepass")

    def json_value(self, value: Any) -> Any:
        """Does the same for a value from `json.loads`; returns the same object if there are no credentials."""
        data = json.dumps(value).encode()
        out = self.utf8(data)
        return value if out is data else json.loads(out)

    def within(self, text: str, line_of: Callable[[int], int] | int = 1) -> tuple[Redaction, ...]:
        """Returns the credentials that this redactor replaced in a text. `line_of`: the line number of the text's first
        line; or a function from a line of the text, counted from 0, to the line number that it stands for."""
        if not (issued := self._numbers.issued) or "[redacted: " not in text:
            return ()
        line_number = line_of if callable(line_of) else (lambda index: line_of + index)
        redactions = []
        index = offset = 0
        for marker in MARKER.finditer(text):
            if marker.group() in issued:
                index += text.count("\n", offset, marker.start())
                offset = marker.start()
                redactions.append(Redaction(marker[1], line_number(index)))
        return tuple(redactions)

    @property
    def found_any(self) -> bool:
        """True if a credential was replaced."""
        return bool(self._numbers.issued)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warning that the full scanner skipped a text, if it did."""
        if not self._failed:
            return ()
        message = (
            f"Credentials: the full scanner stopped ({self.scanning.fault or 'it took too long'}); the built-in rules"
        )
        return (Notice(SCANNER_FAILED, f"{message} ran alone."),)


def not_scanned(settings: Settings) -> tuple[Notice, ...]:
    """Returns the warning for every output if the full scanner is requested but not installed."""
    return (NOT_SCANNED,) if Scanning.of(settings.redaction).lacks_scanner else ()


def redact_typed(text: str, rules: Redacting) -> str:
    """Returns a text that a person typed, such as a query, without credentials. The full scanner is slow to start, so
    it runs only if a word looks as if a machine made it."""
    scanning = Scanning.of(rules)
    return Redactor(scanning if _MADE_BY_MACHINE.search(text) else replace(scanning, full=False)).text(text)


def recognise_in_typed_text(typed: str) -> None:
    """Recognises credentials in the words of a call before anything can repeat them, for example in an error. Uses only
    our own rules."""
    Redactor(Scanning(full=False)).text(typed)
    recognise_in_names([typed])
    for match in _NAMED_IN_TYPED.finditer(typed):
        if is_random(match[1].encode("utf-8", "replace")):
            recognise(match[1], "password")


def forget_allowed(rules: Redacting) -> None:
    """Forgets recognised credentials that the user's settings allow."""
    ignore_allowed(replace(Scanning.of(rules), full=False).stays)


def recognise_tokens(text: str) -> None:
    """Recognises tokens of providers by their look."""
    if may_hold_token(text):
        data = text.encode("utf-8", "replace")
        for span in find_tokens(data):
            recognise(data[span.start : span.end].decode("utf-8", "replace"), span.rule)


def recognise_in_names(names: Iterable[str]) -> None:
    """Recognises credentials in the names of files, folders and branches, before they are cut to the width of a screen:
    tokens of providers, and random text after a word such as `password-`."""
    text = "\n".join(names)
    recognise_tokens(text)
    for match in _NAMED_IN_NAME.finditer(text):
        if word_share(match[1].encode("utf-8", "replace")) < _MOST_WORDS:
            recognise(match[1], "password")


def outgoing(text: str) -> str:
    """Returns a text that is safe to print or write: without the credentials that this run recognised, and without
    tokens of providers, wherever they come from. The last check; see `secateur.recognised`."""
    recognise_tokens(text)
    return without_recognised(text)


@contextmanager
def separate_call(typed: str) -> Iterator[Callable[[str], str]]:
    """Opens a run for one call of a server, which shares no recognised credentials with others. Yields `outgoing`.
    `typed`: the words of the call, in which credentials are recognised before anything can repeat them."""
    with separate_run():
        recognise_in_typed_text(typed)
        yield outgoing


def redact(text: str, settings: Settings | None = None) -> tuple[str, tuple[Redaction, ...]]:
    """Returns a text with markers in place of its credentials, and the rule and line of each credential.

    Programs that use secateur need this: functions that take texts return them unredacted.
    """
    redactor = Redactor.of((settings or Settings()).redaction)
    out = redactor.text(text)
    return out, redactor.within(out)


__all__ = [
    "NOT_SCANNED",
    "CredentialNumbers",
    "CredentialSpan",
    "Redactor",
    "Scanning",
    "forget_allowed",
    "insert_markers",
    "is_distinctive",
    "not_scanned",
    "outgoing",
    "recognise_in_names",
    "recognise_in_typed_text",
    "redact",
    "redact_typed",
    "separate_call",
]
