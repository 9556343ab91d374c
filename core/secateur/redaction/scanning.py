"""Scans for credentials under the user's settings: which scanner, and which values are harmless.

    scanning = Scanning.of(settings.redaction, cache_dir)
    spans, whole = scanning.spans(data, "src/config.py")

The maintained scanner of the extra `secrets` is a native module with Kingfisher's rules for 480 kinds of credentials.
It is imported when the first content is scanned, once per process, and uses no network: its checks of credentials at
their providers are never called. It caches its compiled rules in the user's cache folder; without them every start
takes 3 s of processor time instead of 0.3. If it is missing, fails or takes too long, only our own rules run, and a
notice says so.

Decodes texts before they are searched for credentials, and maps the findings back.

`decode_json` undoes the escapes of JSON strings. A finding then lies inside one string, so the file stays valid JSON
after its removal. `decode_escapes` undoes all others: terminal colours, characters without width, escapes of URLs, of
HTML, of Markdown and of languages, joints of two literals, and base64 of text. It contains only lines with such
escapes, so other lines cost nothing.
"""

from __future__ import annotations

import binascii
import json
import os
import re
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from secateur.directories import cache_dir
from secateur.progress import Progress, unreported
from secateur.redaction.rules import RULES_VERSION, find_credentials
from secateur.redaction.spans import CredentialSpan, RepeatedValues, merge_spans
from secateur.settings import Redacting

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_JSON_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WITHOUT_WIDTH = frozenset((0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF))
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b" ", b"f": b" "}

_ESCAPE = re.compile(
    rb"""
      \x1b\[[0-9;?]{0,40}+[A-Za-z]
    | \xe2\x80[\x8b-\x8f] | \xe2\x81\xa0 | \xef\xbb\xbf | \xc2\xad
    | %(?P<url>[2-7][0-9A-Fa-f])
    | &\#(?P<decimal>[0-9]{2,3});
    | &\#[xX](?P<entity>[2-7][0-9A-Fa-f]);
    | &(?P<named>amp|lt|gt|quot|apos);
    | \\(?P<markdown>[_*])
    | \\(?:u00|x)(?P<code>[2-7][0-9A-Fa-f])
    | (?P<quote>["'])(?:[ \t]{0,40}+[+.&][ \t]{0,40}+(?:\\?\r?\n[-+ \t]{0,80}+)?
        |[ \t]{0,40}+\\?\r?\n[-+ \t]{0,80}+(?:[+.&][ \t]{0,40}+)?|[ \t]{1,40}+)[bfr]?(?P=quote)
    | \\\r?\n[ \t]{0,80}+
    | (?<![A-Za-z0-9+/_=.-])(?P<base64>[A-Za-z0-9+/]{24,5400}+={0,2})(?![A-Za-z0-9+/_-])
    """,
    re.VERBOSE,
)
_JOINT = r"(?:[ \t]{{1,40}}+|[ \t]{{0,40}}+\\?\r?\n[-+ \t]{{0,80}}+)?[+.&]?[ \t\r\n]{{0,80}}+[bfr]?{0}"
# Beginnings of escapes; each starts with a byte that is fast to find.
_SIGNS = tuple(
    re.compile(pattern.encode("latin-1"))
    for pattern in (
        "\x1b\\[", "\xe2(?:\x80[\x8b-\x8f]|\x81\xa0)", "\xef\xbb\xbf", "\xc2\xad", "%[2-7][0-9A-Fa-f]",
        "&(?:#|amp;|lt;|gt;|quot;|apos;)",
        r"\\(?:[_*\r\n]|u00[2-7]|x[2-7])", '"(?!")' + _JOINT.format('"'), "'(?!')" + _JOINT.format("'"),
    )
)  # fmt: skip

_ENTITIES = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}

_BASE64 = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte in b"+/=" else 0x20 for byte in range(256))
LEAST_BASE64, MOST_BASE64 = 24, 5400  # least and most bytes of base64 that is decoded: the most are 4 KB of text


class View(Struct, frozen=True):
    """Bytes with some parts replaced.

    Attributes:
        text: the result, which is searched.
        text_starts, text_ends: positions of the replacements in `text`; `data_starts`, `data_ends`: in the original.
        string_starts, string_ends: contents of strings in the original; each credential stays within one of them.
    """

    text: bytes
    text_starts: array[int]
    text_ends: array[int]
    data_starts: array[int]
    data_ends: array[int]
    string_starts: array[int] = field(default_factory=lambda: array("q"))
    string_ends: array[int] = field(default_factory=lambda: array("q"))

    def spans(self, spans: Iterable[CredentialSpan]) -> Iterator[CredentialSpan]:
        """Converts spans of the text to spans of the original bytes."""
        for span in spans:
            start, end = self._start(span.start), self._end(span.end)
            if self.string_starts:
                string = bisect_right(self.string_starts, start) - 1
                if string < 0 or start >= self.string_ends[string]:
                    continue
                end = min(end, self.string_ends[string])
            if start < end:
                yield CredentialSpan(start, end, span.rule)

    def _start(self, offset: int) -> int:
        index = bisect_right(self.text_starts, offset) - 1
        if index < 0:
            return offset
        if offset < self.text_ends[index]:
            return self.data_starts[index]
        return self.data_ends[index] + offset - self.text_ends[index]

    def _end(self, offset: int) -> int:
        index = bisect_left(self.text_starts, offset) - 1
        return offset if index < 0 else self.data_ends[index] + max(0, offset - self.text_ends[index])


def _replace_parts(data: bytes, replacements: Iterable[tuple[int, int, bytes]]) -> View:
    starts, ends, data_starts, data_ends = (array("q") for _ in range(4))
    parts: list[bytes] = []
    offset = length = 0
    for start, end, plain in replacements:
        parts += (data[offset:start], plain)
        length += start - offset
        starts.append(length)
        length += len(plain)
        ends.append(length)
        data_starts.append(start)
        data_ends.append(end)
        offset = end
    parts.append(data[offset:])
    return View(b"".join(parts), starts, ends, data_starts, data_ends)


# --- JSON -------------------------------------------------------------------------------------------------------------


def is_json(data: bytes) -> bool:
    """Tells whether bytes are one JSON object or list."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def decode_json(data: bytes) -> View | None:
    """Returns the view of JSON or JSON lines without the escapes of their strings; None for any other data."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    pieces = [(0, len(data))] if is_json(data) else []
    offset = 0
    for line in () if pieces else data.split(b"\n"):
        if is_json(line):
            pieces.append((offset, offset + len(line)))
        offset += len(line) + 1
    if not pieces:
        return None
    strings = [string.span(1) for start, end in pieces for string in _STRING.finditer(data, start, end)]
    view = _replace_parts(data, _find_json_escapes(data, strings))
    between = zip((0, *(end for _, end in pieces)), (*(start for start, _ in pieces), len(data)), strict=True)
    bounds = sorted([*strings, *((start, end) for start, end in between if start < end)])  # text outside of JSON
    return replace(
        view,
        string_starts=array("q", (start for start, _ in bounds)),
        string_ends=array("q", (end for _, end in bounds)),
    )


def _find_json_escapes(data: bytes, strings: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
    for start, end in strings:
        if data.find(b"\\", start, end) >= 0:
            for escape in _JSON_ESCAPE.finditer(data, start, end):
                letter = data[escape.start() + 1 : escape.start() + 2]
                plain = _PLAIN.get(letter, letter)
                if letter == b"u":
                    code = int(escape.group()[2:], 16)
                    plain = bytes((code,)) if code < 128 else b" "  # credentials never hold other characters
                    if code in _WITHOUT_WIDTH:
                        plain = b""
                yield *escape.span(), plain


# --- all other escapes ------------------------------------------------------------------------------------------------


def decode_escapes(data: bytes) -> View | None:
    """Returns the view of the lines with escapes, decoded; None if no line has one."""
    lines = list(_find_escape_lines(data))
    return _replace_parts(data, _list_decodings(data, lines)) if lines else None


def _find_escape_lines(data: bytes) -> Iterator[tuple[int, int]]:
    signs = [sign.span() for pattern in _SIGNS for sign in pattern.finditer(data)]
    offset = 0
    for word in data.translate(_BASE64).split():
        if LEAST_BASE64 <= len(word) <= MOST_BASE64 and _decode_base64(word) is not None:
            offset = data.find(word, offset)
            signs.append((offset, offset + len(word)))
    run_start = run_end = -1
    for first, last in sorted(signs):
        if last <= run_end:
            continue
        start = data.rfind(b"\n", max(run_end, 0), first) + 1 or max(run_end, 0)
        end = data.find(b"\n", last)
        if run_start >= 0 and start > run_end + 1:
            yield run_start, run_end
            run_start = -1
        run_start, run_end = start if run_start < 0 else run_start, len(data) if end < 0 else end
    if run_start >= 0:
        yield run_start, run_end


def _list_decodings(data: bytes, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    for start, end in lines:
        if start > offset:
            yield offset, start, b"\n"
        for escape in _ESCAPE.finditer(data, start, end):
            if (plain := _decode_escape(escape)) is not None:
                yield *escape.span(), plain
        offset = end
    if offset < len(data):
        yield offset, len(data), b"\n"


def _decode_escape(escape: re.Match[bytes]) -> bytes | None:
    if (kind := escape.lastgroup) is None or kind == "quote":
        return b""
    value = escape.group(kind)
    if kind == "markdown":
        return value
    if kind == "named":
        return _ENTITIES[value]
    if kind == "decimal":
        code = int(value)
        return bytes((code,)) if 32 <= code < 127 else b" "
    return _decode_base64(value) if kind == "base64" else bytes((int(value, 16),))


def _decode_base64(value: bytes) -> bytes | None:
    body = value.rstrip(b"=")
    if len(body) % 4 == 1 or (body.isalpha() and body.islower()):
        return None
    try:
        text = binascii.a2b_base64(body + b"=" * (-len(body) % 4))
    except binascii.Error:
        return None
    text = text.rstrip(b"\n")
    is_text = text and text.isascii() and text.translate(None, b"\n\t\r").decode().isprintable()
    return text.replace(b"\r", b"") if is_text else None


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
        progress("scanning", 0, 0)  # our own rules take each a part of the time, which no number of bytes tells
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
