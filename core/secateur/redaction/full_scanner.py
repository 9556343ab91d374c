"""The maintained scanner of the extra `secrets`: Kingfisher's rules for 480 kinds of credentials, a native module.

It is imported when the first content is scanned, once per process, and uses no network: its checks of credentials at
their providers are never called. It caches its compiled rules in the user's cache folder; without them every start
takes 3 s of processor time instead of 0.3. If it is missing, fails or takes too long, only our own rules run, and a
notice says so."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from secateur.progress import Progress, unreported
from secateur.redaction.spans import CredentialSpan

PACKAGE, _MODULE = "kingfisher-secret-scanner", "kingfisher_sdk"

SLICE_BYTES = 4 << 20
"""Bytes that are scanned at once, which Ctrl-C waits for."""

OVERLAP_BYTES = 16 << 10
"""Bytes that two slices share, so that no credential is cut by both."""

SLICE_SECONDS = 20.0
"""The time limit for a slice; an ordinary one takes 0.05 s."""

_PREFIX = re.compile(r"\A(?:betterleaks|kingfisher|veles|custom)(?:\.secrets/|[./])")
_HELPS = re.compile(r"secret|token\Z|passphrase|api-key|consumer-key")
"""Rules that only support another rule, but whose findings are credentials too."""

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
            end = _slice_end(data, start)
            try:
                spans += [_shift_span(span, start) for span in self._slice(data[start:end])]
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
                start, end = _trim_span(data, start, end)
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


def _slice_end(data: bytes, start: int) -> int:
    """Returns the end of a slice: the end of a line in its second half if there is one."""
    end = start + SLICE_BYTES
    if end >= len(data):
        return len(data)
    line = data.rfind(b"\n", start + SLICE_BYTES // 2, end) + 1
    return line or end


def _shift_span(span: CredentialSpan, by: int) -> CredentialSpan:
    return CredentialSpan(span.start + by, span.end + by, span.rule) if by else span


def _trim_span(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Shrinks a span by quotes and blanks around the value, which must stay in the text."""
    edge = b" \t\r\n\"'`"
    while start < end and data[start] in edge:
        start += 1
    while end > start and data[end - 1] in edge:
        end -= 1
    return start, end


@cache
def _marker_name(rule: str) -> str:
    """Converts the scanner's name of a rule to the form used in markers."""
    return re.sub(r"[^a-z0-9]+", "-", rule).strip("-")[:64].rstrip("-") or "credential"
