"""Scans for credentials under the user's settings: which scanner, and which values are harmless.

    scanning = Scanning.of(settings.redaction, cache_dir)
    spans, whole = scanning.spans(data, "src/config.py")

The maintained scanner of the extra `secrets` is a native module with Kingfisher's rules for 480 kinds of credentials.
It is imported when the first content is scanned, once per process, and uses no network: its checks of credentials at
their providers are never called. It caches its compiled rules in the user's cache folder; without them every start
takes 3 s of processor time instead of 0.3. If it is missing, fails or takes too long, only our own rules run, and a
notice says so.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from secateur.directories import cache_dir
from secateur.progress import Progress, unreported
from secateur.redaction.decoded_views import decode_escapes, decode_json
from secateur.redaction.rules import RULES_VERSION, find_credentials
from secateur.redaction.spans import CredentialSpan, RepeatedValues, merge_spans
from secateur.settings import Redacting

PACKAGE, _MODULE = "kingfisher-secret-scanner", "kingfisher_sdk"

SLICE_BYTES = 4 << 20  # bytes that are scanned at once, which Ctrl-C waits for
OVERLAP_BYTES = 16 << 10  # bytes that two slices share, so that no credential is cut by both
SLICE_SECONDS = 20.0  # the time limit for a slice; an ordinary one takes 0.05 s
_PREFIX = re.compile(r"\A(?:betterleaks|kingfisher|veles|custom)(?:\.secrets/|[./])")
_EDGE = b" \t\r\n\"'`"
# Rules that only support another rule, but whose findings are credentials too.
_HELPS = re.compile(r"secret|token\Z|passphrase|api-key|consumer-key")

FOLDER = "secret-rules"


@cache
def find_version() -> str:
    """Returns the version of the installed scanner; "" if it is not installed. Does not import it."""
    if find_spec(_MODULE) is None:
        return ""
    from importlib.metadata import PackageNotFoundError, version  # takes a while, and most runs scan nothing

    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "unknown"


class FullScanner:
    """The scanner of one process.

    Attributes:
        fault: why it can no longer be used; "" if it can.
    """

    def __init__(self, rules_folder: Path) -> None:
        self.fault = ""
        self._folder = rules_folder
        self._scan: Callable[..., Any] | None = None
        self._loading = threading.Lock()

    def find(self, data: bytes, progress: Progress = unreported) -> list[CredentialSpan] | None:
        """Returns the credentials in UTF-8 text; None if the scanner failed, now or before."""
        spans: list[CredentialSpan] = []
        start = 0
        while not self.fault:
            end = min(start + SLICE_BYTES, len(data))
            if end < len(data):  # the end of a line in the second half, if there is one
                end = data.rfind(b"\n", start + SLICE_BYTES // 2, end) + 1 or end
            try:
                spans += [
                    CredentialSpan(span.start + start, span.end + start, span.rule)
                    for span in self._slice(data[start:end])
                ]
            except Exception as error:  # of native code: anything
                self.fault = f"{type(error).__name__}: {error}"[:200].partition("\n")[0]
                break
            if end >= len(data):
                return sorted(spans)  # sorted, so that of two rules with the same finding always the same one names it
            progress("scanning", end, len(data))
            start = max(end - OVERLAP_BYTES, start + 1)
        return None

    def _slice(self, data: bytes) -> list[CredentialSpan]:
        spans = []
        for finding in self._scanner()(data, timeout=SLICE_SECONDS):
            location = finding.location
            start, end = int(location["start_offset"]), int(location["end_offset"])
            name = _PREFIX.sub("", finding.rule_id.lower())
            if (finding.visible or _HELPS.search(name)) and 0 <= start < end <= len(data):
                value = data[start:end]  # without the quotes and blanks around it, which must stay in the text
                start += len(value) - len(value.lstrip(_EDGE))
                end -= len(value) - len(value.rstrip(_EDGE))
                if end - start >= 6:
                    spans.append(CredentialSpan(start, end, _marker_name(name)))
        return spans

    def _scanner(self) -> Callable[..., Any]:
        with self._loading:
            if self._scan is None:
                kingfisher = import_module(_MODULE)
                rules = kingfisher.Rules(cache_dir=str(self._folder))
                self._scan = kingfisher.Scanner(rules).scan
            return self._scan


@cache
def _marker_name(rule: str) -> str:
    """Converts the scanner's name of a rule to the form used in markers."""
    return re.sub(r"[^a-z0-9]+", "-", rule).strip("-")[:64].rstrip("-") or "credential"


# By the folder of the compiled rules: one per process, because starting costs more than scanning most contents.
_scanners: dict[str, FullScanner] = {}


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
        if (escapes_view := decode_escapes(text)) is not None:
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
        progress("scanning", 0, len(data))
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
