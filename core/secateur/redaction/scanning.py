"""Scans for credentials under the user's settings: which scanner, and which values are harmless.

scanning = Scanning.of(settings.redaction, cache_dir)
spans, whole = scanning.spans(data, "src/config.py")
"""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct, field

from secateur.directories import cache_dir
from secateur.progress import Progress, unreported
from secateur.redaction.decoded_views import decode_escapes, decode_json
from secateur.redaction.full_scanner import FOLDER, FullScanner, find_version
from secateur.redaction.rules import RULES_VERSION, find_credentials
from secateur.redaction.spans import CredentialSpan, RepeatedValues, merge_spans
from secateur.settings import Redacting

_scanners: dict[str, FullScanner] = {}
"""By the folder of the compiled rules: one per process, because starting costs more than scanning most contents."""


class Scanning(Struct, frozen=True):
    """See the module docstring. Contains only texts and flags, so that index processes receive it as JSON."""

    on: bool = True
    full: bool = True  # with the scanner of the extra, if it is installed
    allow: tuple[str, ...] = ()
    allow_rules: tuple[str, ...] = ()
    allow_paths: tuple[str, ...] = ()
    rules_folder: str = field(default_factory=lambda: str(cache_dir(os.environ) / FOLDER))
    version: str = field(default_factory=find_version)  # of the scanner; "" if it is not installed

    @classmethod
    def of(cls, rules: Redacting, cache: Path | None = None) -> Scanning:
        """Returns the scanning for some settings. `cache`: the user's cache folder, if it is not the usual one."""
        folder = str((cache_dir(os.environ) if cache is None else cache) / FOLDER)
        return cls(rules.enabled, rules.scanner == "full", rules.allow, rules.allow_rules, rules.allow_paths, folder)

    @property
    def id(self) -> str:
        """Identifies everything that spans depend on besides the content: part of the keys of the index and of
        results."""
        if not self.on:
            return "none"
        allowed = json.dumps([self.allow, self.allow_rules, self.allow_paths])
        digest = "" if allowed == "[[], [], []]" else blake2b(allowed.encode(), digest_size=8).hexdigest()
        return f"rules {RULES_VERSION}|{self.version if self.full else ''}|{digest}"

    @property
    def is_full(self) -> bool:
        """True if the scanner of the extra runs too."""
        return self.on and self.full and bool(self.version)

    @property
    def lacks_scanner(self) -> bool:
        """True if the scanner of the extra is requested but not installed."""
        return self.on and self.full and not self.version

    @property
    def fault(self) -> str:
        """The reason why the scanner of the extra no longer works in this process; "" if it does."""
        scanner = _scanners.get(self.rules_folder) if self.is_full else None
        return scanner.fault if scanner is not None else ""

    def spans(self, data: bytes, path: str = "", progress: Progress = unreported) -> tuple[list[CredentialSpan], bool]:
        """Returns the credentials in a content, merged, and whether all requested scanners completed.

        Args:
            data: UTF-8 text; see `encodings.as_utf8`.
            path: of the file, for `allow_paths`.
        """
        if not self.on or not data or any(fnmatchcase(path, pattern) for pattern in self.allow_paths if path):
            return [], True
        view = decode_json(data)
        text = data if view is None else view.text
        raw_spans, whole = self._scan(text, progress)
        values = {text[span.start : span.end]: span.rule for span in raw_spans}
        escapes_view = decode_escapes(text)
        if escapes_view is not None:
            more = find_credentials(escapes_view.text)
            values |= {escapes_view.text[span.start : span.end]: span.rule for span in more}
            raw_spans += escapes_view.spans(more)
        repeated = RepeatedValues()
        for value, rule in values.items():
            repeated.add(value, rule)
        raw_spans += repeated.find(text)
        spans = raw_spans if view is None else view.spans(raw_spans)
        return merge_spans(span for span in spans if not self._allows(data[span.start : span.end], span.rule)), whole

    def _scan(self, data: bytes, progress: Progress) -> tuple[list[CredentialSpan], bool]:
        spans = find_credentials(data)
        if not self.is_full:
            return spans, True
        scanner = _scanners.setdefault(self.rules_folder, FullScanner(Path(self.rules_folder)))
        more = scanner.find(data, progress)
        return spans + (more or []), more is not None

    def stays(self, credential: str, rule: str) -> bool:
        """Tells whether the user's settings allow a credential."""
        return not self.on or self._allows(credential.encode("utf-8", "surrogatepass"), rule)

    def _allows(self, credential: bytes, rule: str) -> bool:
        if rule in self.allow_rules:
            return True
        return bool(self.allow) and any(
            fnmatchcase(credential.decode("utf-8", "replace"), pattern) for pattern in self.allow
        )
