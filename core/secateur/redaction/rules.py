"""Our own rules, which always look: credentials that are known by how they begin, by what stands before them, or by
both. Bytes in, spans out; pure.

Every rule begins at a text that each of its credentials holds (`needles`), found by `bytes.find`, and goes on from
there by a pattern whose repetitions are bounded and give nothing back: time is linear, whatever the content holds.
"""

from __future__ import annotations

import binascii
import math
import re
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from re import Pattern

from secateur.redaction.private_keys import private_keys
from secateur.redaction.spans import CredentialSpan

RULES_VERSION = 1
"""Changes when the same content gives other spans."""

_BOUNDARY = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_ESCAPES = frozenset(b"nrt")


@dataclass(frozen=True, slots=True)
class CredentialRule:
    """A rule: one of its needles, and at that place the pattern, whose last group is the credential."""

    name: str
    needles: tuple[bytes, ...]
    pattern: Pattern[bytes]
    apart: bool = True  # no letter or digit stands before the needle
    holds: Callable[[bytes], bool] | None = None  # tells whether what matched may be a credential


def find_credentials(data: bytes) -> list[CredentialSpan]:
    """Credentials that our rules find, in no order; spans may overlap."""
    found = list(private_keys(data))
    for rule in RULES:
        found += _found(rule, data)
    return found


def find_tokens(data: bytes) -> list[CredentialSpan]:
    """Credentials that are known by their own look alone, wherever they stand: in the name of a file, for example."""
    return [span for rule in RULES if rule.apart for span in _found(rule, data)]


def _found(rule: CredentialRule, data: bytes) -> Iterator[CredentialSpan]:
    for needle in rule.needles:
        place = data.find(needle)
        while place >= 0:
            after = place + len(needle)
            if not rule.apart or _stands_apart(data, place):
                match = rule.pattern.match(data, place)
                if match is not None:
                    group = match.lastindex or 0
                    if rule.holds is None or rule.holds(match.group(group)):
                        yield CredentialSpan(*match.span(group), rule.name)
                        after = max(after, match.end(group))
            place = data.find(needle, after)


def _stands_apart(data: bytes, place: int) -> bool:
    """Tells whether no name goes on into a place; a letter that is part of an escape sequence such as `\\n` is none."""
    if place == 0 or data[place - 1] not in _BOUNDARY:
        return True
    return place > 1 and data[place - 1] in _ESCAPES and data[place - 2] == 0x5C


# --- what a credential looks like -------------------------------------------------------------------------------------


def entropy(value: bytes) -> float:
    """Bits a byte, by the bytes' own frequencies; 0 for nothing."""
    size = len(value)
    return -sum(times / size * math.log2(times / size) for times in Tally(value).values()) if size else 0.0


_PLACEHOLDER = re.compile(
    rb"(?i)[$<{%*]|\[redacted|x{4}|\.{3}|example|placeholder|change.?me|your|dummy|sample|insert|replace"
    rb"|(?:pass(?:w(?:or)?d)?|secret|user(?:name)?|token|pw|pwd|key|string|none|null|true|false)\d{0,4}\Z"
)
_KINDS = bytes(
    ord("d") if 48 <= one <= 57 else ord("u") if 65 <= one <= 90 else ord("l") if 97 <= one <= 122 else ord("s")
    for one in range(256)
)
_WORD_PARTS = re.compile(rb"[_\-./:]+")


def _is_no_placeholder(value: bytes) -> bool:
    return _PLACEHOLDER.match(value) is None and len(set(value)) > 3 and b"EXAMPLE" not in value


def _is_random(value: bytes) -> bool:
    """A value that no person wrote as words: letters and digits mixed, many different ones."""
    if _PLACEHOLDER.search(value) is not None or len(set(value)) < 6:
        return False
    longest = max(_WORD_PARTS.split(value), key=len)
    if len(longest) < 8 or longest.isalpha() or longest.isdigit() or _turns(longest) < 3:
        return False
    classes = sum(any(map(test, map(_byte, value))) for test in (bytes.islower, bytes.isupper, bytes.isdigit))
    if len(value) < 16:
        return classes == 3 and entropy(value) >= 3.0
    return classes >= 2 and any(48 <= byte <= 57 for byte in value) and entropy(value) >= 3.3


def _turns(value: bytes) -> int:
    """Counts the places where a capital, a small letter, a digit or anything else follows one of another sort: a word
    with a number has few of these turns."""
    kinds = value.translate(_KINDS)
    return sum(one != other for one, other in pairwise(kinds))


def _byte(value: int) -> bytes:
    return bytes((value,))


def _is_mixed(value: bytes) -> bool:
    """Letters of both cases and digits, as keys with dashes have them, and names with dashes do not."""
    has_digit = any(48 <= byte <= 57 for byte in value)
    return has_digit and not value.islower() and not value.isupper() and b"EXAMPLE" not in value


def _is_basic(value: bytes) -> bool:
    """Name and password, as `Authorization: Basic` sends them."""
    try:
        name, colon, password = binascii.a2b_base64(value + b"=" * (-len(value) % 4)).partition(b":")
    except binascii.Error:
        return False
    return bool(colon and name and _is_no_placeholder(password))


_KEY = rb"[A-Za-z0-9_-]"
_NAME = (
    b"assw", b"ASSW", b"ecret", b"ECRET", b"oken", b"OKEN", b"_key", b"_KEY", b"Key", b"apikey", b"APIKEY", b"api-key",
    b"Api-Key", b"pwd", b"PWD", b"passphrase", b"credential", b"CREDENTIAL",
)  # fmt: skip
"""Parts of the names of things that hold a credential."""

_AUTHORIZATION = b"uthorization", b"UTHORIZATION"
_HEADER = rb"(?i:uthorization)\\?[\"']?[\]) \t]{0,4}[:=,][ \t]{0,8}f?\\?[\"']?"

RULES = (
    CredentialRule(
        "aws-access-key",
        (b"AKIA", b"ASIA"),
        re.compile(rb"A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
        holds=_is_no_placeholder,
    ),
    CredentialRule(
        "aws-secret-key",
        (b"aws_secret", b"AWS_SECRET", b"awsSecret", b"secretAccessKey", b"SecretAccessKey"),
        re.compile(
            rb"(?i:[a-z_]{10,40}+)\\?[\"']?[ \t]{0,8}(?:[:=]|=>)[ \t]{0,8}"
            rb"\\?[\"']?([A-Za-z0-9/+]{40}+)(?![A-Za-z0-9/+])"
        ),
        holds=_is_no_placeholder,
    ),
    CredentialRule(
        "github-token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
        re.compile(rb"gh[pousr]_[A-Za-z0-9]{36,251}+|github_pat_[A-Za-z0-9_]{50,251}+"),
        holds=_is_no_placeholder,
    ),
    CredentialRule(
        "gitlab-token",
        (b"glpat-", b"gldt-", b"glrt-", b"glptt-"),
        re.compile(rb"gl(?:pa|d|r|pt)t-[A-Za-z0-9_.-]{20,300}+"),
        holds=_is_mixed,
    ),
    CredentialRule(
        "slack-token",
        (b"xoxa-", b"xoxb-", b"xoxe-", b"xoxp-", b"xoxr-", b"xoxs-"),
        re.compile(rb"xox[abeprs]-[A-Za-z0-9-]{10,250}+"),
        holds=lambda value: _is_no_placeholder(value) and sum(48 <= byte <= 57 for byte in value) >= 6,
    ),
    CredentialRule("anthropic-key", (b"sk-ant-",), re.compile(rb"sk-ant-" + _KEY + rb"{20,200}+"), holds=_is_mixed),
    CredentialRule("openai-key", (b"sk-",), re.compile(rb"sk-(?!ant-)" + _KEY + rb"{20,200}+"), holds=_is_mixed),
    CredentialRule(
        "google-api-key", (b"AIza",), re.compile(rb"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"), holds=_is_mixed
    ),
    CredentialRule(
        "jwt",
        (b"eyJ",),
        re.compile(rb"eyJ" + _KEY + rb"{10,8000}+\.eyJ" + _KEY + rb"{8,16000}+\." + _KEY + rb"{16,4000}+"),
    ),
    CredentialRule("npm-token", (b"npm_",), re.compile(rb"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"), holds=_is_mixed),
    CredentialRule("pypi-token", (b"pypi-AgE",), re.compile(rb"pypi-AgE" + _KEY + rb"{50,1000}+")),
    CredentialRule(
        "huggingface-token", (b"hf_",), re.compile(rb"hf_[A-Za-z]{34}(?![A-Za-z0-9])"), holds=_is_no_placeholder
    ),
    CredentialRule(
        "stripe-key",
        (b"sk_live_", b"rk_live_", b"sk_test_", b"rk_test_"),
        re.compile(rb"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}+"),
        holds=_is_mixed,
    ),
    CredentialRule(
        "authorization",
        _AUTHORIZATION,
        re.compile(_HEADER + rb"(?i:bearer|token)[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,4096}+)"),
        apart=False,
        holds=_is_random,
    ),
    CredentialRule(
        "authorization",
        _AUTHORIZATION,
        re.compile(_HEADER + rb"(?i:basic)[ \t]{1,4}([A-Za-z0-9+/_-]{8,4096}+={0,2}+)"),
        apart=False,
        holds=_is_basic,
    ),
    CredentialRule(
        "url-password",
        (b"://",),
        re.compile(rb"://[A-Za-z0-9._~%!$&*+,;=-]{0,256}+:([^\s/?#@:\"'`<>\[\](){}|\\]{3,256}+)@[A-Za-z0-9\[]"),
        apart=False,
        holds=_is_no_placeholder,
    ),
    CredentialRule(
        "password",
        _NAME,
        re.compile(
            rb"[A-Za-z_-]{3,24}+(?:[_.-]?[A-Za-z0-9]{1,24}+){0,2}+\\?[\"']?\]?[ \t]{0,16}(?::|=|:=|=>)[ \t]{0,16}"
            rb"[bru]?\\?[\"']([^\s\"'\\`<>(){}\[\],;]{8,200}+)\\?[\"']"
        ),
        apart=False,
        holds=_is_random,
    ),
    CredentialRule(
        "password",
        (b"PASSWORD", b"PASSWD", b"SECRET", b"TOKEN", b"_KEY"),
        re.compile(rb"[A-Z0-9_]{3,40}+=([A-Za-z0-9_+/.!@%^&*~-]{12,200}+={0,2}+)(?=[ \t]*(?:[\r\n]|\\[nr]|\Z))"),
        apart=False,
        holds=_is_random,
    ),
)
