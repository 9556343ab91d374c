"""Judges a value by its look: a secret, a placeholder, a documented example, or words.

A random value often switches between capitals, small letters, digits and signs, or has letters in an order that no
language has. Only the first `LOOKED_AT` bytes of a value are examined, so a value of any length costs the same.
"""

from __future__ import annotations

import binascii
import math
import re
from collections import Counter as Tally
from functools import lru_cache
from operator import ne

LOOKED_AT = 128  # bytes of a value that are examined
# Bytes of the shortest value that is a credential only because of its name; shorter ones are words in tests.
LEAST_SECRET = 8

LEAST_DISTINCTIVE = 8

_PAIRS_OF_WORDS = (
    b"ab ac ad ag ai ak al am an ap ar as at au av ay ba be bi bl bo br bs bu ca cc ce ch ci ck cl co cr cs ct cu "
    b"da dd de di do dr ds du ea eb ec ed ee ef eg el em en ep eq er es et ev ew ex fa fe ff fi fl fo fr fu ga ge "
    b"gg gh gi gn go gr gs gu ha he hi ho hr ht ia ib ic id ie if ig il im in io ip ir is it iv iz ke ki ks la ld "
    b"le li ll lo ls lt lu ly ma mb me mi mm mo mp ms mu na nc nd ne nf ng ni nn no ns nt nu nv oa ob oc od og oi "
    b"ok ol om on oo op or os ot ou ov ow pa pe ph pi pl po pp pr ps pt pu qu ra rc rd re rg ri rk rl rm rn ro rr "
    b"rs rt ru rv ry sa sc se sh si sl so sp ss st su sy ta tc te th ti tl to tr ts tt tu ty ua ub uc ue ug ui ul "
    b"um un up ur us ut va ve vi wa we wh wi wo wr xp xt yp ys ze"
)
# Pairs of letters that occur in words: a third of all possible pairs, and nine tenths of the pairs in words.
_LETTER_PAIRS = frozenset(_PAIRS_OF_WORDS.split())

_ATOM = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Converts each byte to its kind: digit, upper case, lower case or sign.
_KINDS = (b"s" * 48 + b"d" * 10 + b"s" * 7 + b"u" * 26 + b"s" * 6 + b"l" * 26).ljust(256, b"s")

_INTERPOLATION = re.compile(
    rb"\$\{\{?[^{}]{0,80}\}\}?|\$\([^()]{0,80}\)|#?\{\{?[^{}]{0,80}\}\}?|<[^<>]{1,60}>"
    rb"|%\([a-z_]{1,40}\)s|%[-+]?\d{0,3}[sdvq]"
    rb"|%[A-Za-z_]{2,40}%|\$[A-Za-z_]\w{0,60}|\[redacted[^\]]{0,80}\]?"
)
_STAND_IN_WORDS = (
    "a abc access account admin alice an and any api app auth bad bar baz bearer bob bot changed change change.?me "
    "client code correct credential db default demo dev dummy example fake foo for from good guest hello here "
    "hunter id in insert invalid is key letmein local long me mock mongo my mysql new nil no none not null of old "
    "only open or pass passcode passphrase passwd password placeholder please postgres prod production pw pwd "
    "qwerty random replace replaced root sample secret sekret sesame session shared some staging string super "
    "supersecret swordfish test tester testing the this to token true false unsafe use user username valid value "
    "very welcome with world wrong xox[abp] xapp xyz you your "
    "aes aws cbc cert cha?cha curve gcm hmac hs256 hs384 hs512 kw ecdh ecdsa eddsa ed25519 md5 nistp oaep openssh.com "
    "pbes poly1305 ps256 rs256 rs512 rsa sha ssh v01 x25519"  # names of algorithms
)
# A value in lower case that is made only of these words is nobody's secret.
_STAND_IN = re.compile(
    b"(?:"
    + "|".join(sorted(_STAND_IN_WORDS.split(), key=len, reverse=True)).encode()
    + rb"|x{2,}+|[-_.:!@#* ]|\d{1,4}+(?!\d))++\Z"
)

_HEXADECIMAL = re.compile(rb"[0-9a-fA-F-]+")
_LEET = bytes.maketrans(b"013457@$", b"oieastas")
_SEQUENCES = (
    b"0123456789", b"1234567890", b"9876543210", b"abcdefghijklmnopqrstuvwxyz", b"zyxwvutsrqponmlkjihgfedcba",
    b"qwertyuiop", b"asdfghjkl", b"zxcvbnm", b"0123456789abcdef", b"deadbeef", b"cafebabe",
)  # fmt: skip
_RUNS = frozenset(row[at : at + 4] for row in _SEQUENCES for at in range(len(row) - 3)) | {
    bytes((byte,)) * 4 for byte in range(256)
}

# Credentials of a text after which no value is judged by its look, which takes most of the time: what a name calls a
# credential is replaced, and any of 8 bytes wherever it occurs again.
MOST_JUDGED = 2_000

# Values whose looks are remembered, since several rules and each answer ask again: more than a megabyte holds.
REMEMBERED = 1 << 16

# Values from RFCs 2617, 6455, 6749 and 6750, and from the documentation of AWS, Azure, Flask, FastAPI and Rails.
_DOCUMENTED = re.compile(
    rb"EXAMPLE(?:KEY)?\Z|\A(?:dGhlIHNhbXBsZSBub25jZQ|QWxhZGRpbjpvcGVuIHNlc2FtZQ|mF_9\.B5f|2YotnFZFEjr1zCsicMWpAA"
    rb"|tGzv3JOkF0XG5Qx2TlKWIA|SplxlOBeZQQYbYS6WxSbIA|czZCaGRSa3F0|gX1fBat3bV|7Fjfp0ZBr1KtDRbnfVdmIw|s6BhdRkqt3"
    rb"|dcd98b7102dd2f0e8b11d0f600bfb0c093|5ccc069c403ebaf9f0171e9517f40e41|09d25e094faa6ca2556c818166b7a956"
    rb"|192b9bdd22ab9ed4d12e236c78afcb9a|5f352379324c22463451387a0aec5d2f|_5#y2L|Eby8vdM02xNOcqFl"
    rb"|b3c631c314c0bbca|cf50faa3fe97702c|3b7cd727ee24e844)"
)


def entropy(value: bytes) -> float:
    """Returns the entropy in bits per byte, from the value's own byte frequencies; 0 for an empty value."""
    size = len(value)
    return -sum(times / size * math.log2(times / size) for times in Tally(value).values()) if size else 0.0


def is_placeholder(value: bytes) -> bool:
    """Tells whether the whole value stands for another: `${VAR}`, `<token>`, `xxxxxxxx`, `your-password-here`,
    `changeme`, a documented example."""
    return _is_placeholder(value[:LOOKED_AT])


@lru_cache(REMEMBERED)
def _is_placeholder(value: bytes) -> bool:
    lower = value.lower()
    if len(set(lower)) <= 3 or _STAND_IN.match(lower) or _STAND_IN.match(lower.translate(_LEET)):
        return True
    if _DOCUMENTED.search(value):
        return True
    parts = [part.group() for part in _INTERPOLATION.finditer(value)]
    if parts and all(word_share(part) >= 0.8 for part in parts) and not is_random(_INTERPOLATION.sub(b"", value)):
        return True
    if _INTERPOLATION.fullmatch(value) is None:
        return False
    inner = value.strip(b"${}()<>%#[] ")
    return _STAND_IN.match(inner.lower()) is not None or not is_random(inner)


def is_random(value: bytes, least: int = LEAST_SECRET) -> bool:
    """Tells whether a value looks random or chosen to be hard to guess, and not like words."""
    return len(value) >= least and _is_random(value[:LOOKED_AT])


@lru_cache(REMEMBERED)
def _is_random(value: bytes) -> bool:
    if is_sequence(value):
        return False
    kinds = value.translate(_KINDS)
    classes = set(kinds)
    if not classes & {0x6C, 0x75}:  # no letter: a number, a date
        return False
    bits = entropy(value)
    if word_share(value) >= 0.5:
        return False
    if word_share(value.translate(_LEET)) >= 0.8 and not _HEXADECIMAL.fullmatch(value):  # as in `s0meT0k3n`
        return False
    turns = sum(map(ne, kinds, kinds[1:]))
    if 0x64 not in classes or (len(value) >= 12 and turns < 4):  # letters, which follow one another as in no word
        one_case = len(classes - {0x73, 0x64}) == 1
        return len(value) >= 10 and bits >= 2.9 and (one_case or turns >= 2) and _pair_share(value) < 0.62
    if len(value) < 16:
        return bits >= 2.4 and (turns >= 4 or (len(classes) >= 3 and turns >= 2))
    return bits >= 2.6


def is_strongly_random(value: bytes, least: int = 20) -> bool:
    """Tells whether a value is random even if only a weak sign suggests a credential: it is long, with digits and
    letters in one piece."""
    value = value[:LOOKED_AT]
    if not is_random(value, least):
        return False
    longest = max(re.split(rb"[^A-Za-z0-9+]+", value), key=len)
    return len(longest) >= 12 and any(48 <= byte <= 57 for byte in longest) and entropy(longest) >= 3.0


def is_human_password(value: bytes, *, identifiers: bool = True) -> bool:
    """Tells whether a value looks like a password made by a person, from letters and digits or signs. `identifiers`:
    also accept values that may be names in a program, such as `summer2024rain`."""
    classes = set(value.translate(_KINDS))
    least = 6 if len(classes) == 4 else LEAST_SECRET
    if not least <= len(value) <= 64 or 0x64 not in classes or not classes & {0x6C, 0x75}:
        return False
    if b" " in value or is_sequence(value) or len(set(value)) < 5:
        return False
    if _CHAIN.fullmatch(value) is not None:
        has_cases = not value.islower() and not value.isupper()
        pattern = _WORDS_AND_DIGITS if has_cases else _SMALL_WORDS_AND_DIGITS
        return identifiers and pattern.fullmatch(value) is not None
    return len(classes) >= 3


_WORDS_AND_DIGITS = re.compile(rb"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_SMALL_WORDS_AND_DIGITS = re.compile(rb"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_CHAIN = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|::|->|-|/)[A-Za-z_$0-9][\w$]*)*[()\[\]]*")


def is_distinctive(value: bytes) -> bool:
    """Tells whether a credential is replaced wherever it occurs: at least 8 bytes in one line, and not plain words."""
    return (
        len(value) >= LEAST_DISTINCTIVE
        and b"\n" not in value
        and not is_placeholder(value)
        and (is_random(value) or is_human_password(value))
    )


def is_sequence(value: bytes) -> bool:
    """Tells whether half of a value follows the alphabet, digits or a keyboard row, or repeats one letter."""
    lower = value.lower()
    pairs = len(lower) - 3
    if pairs <= 0:
        return False
    return sum([lower[at : at + 4] in _RUNS for at in range(pairs)]) * 2 >= pairs


def word_share(value: bytes) -> float:
    """Returns the share of a value's letters and digits that look like parts of words."""
    words = size = 0
    for atom in _ATOM.findall(value.replace(b"OAuth", b"Oauth")):
        if len(atom) >= 4 and atom.isdigit():  # a row of digits says nothing
            continue
        size += len(atom)
        if len(atom) >= 4 and atom.isalpha() and _pair_share(atom) >= 0.8:
            words += len(atom)
    return words / size if size else 0.0


def _pair_share(value: bytes) -> float:
    lower = value.lower()
    pairs = [pair for at in range(len(lower) - 1) if (pair := lower[at : at + 2]).isalpha()]
    return sum([pair in _LETTER_PAIRS for pair in pairs]) / len(pairs) if pairs else 0.0


def is_mixed(value: bytes) -> bool:
    """Tells whether a value has letters of both cases and digits, like keys with dashes and unlike names with
    dashes."""
    has_digit = any(48 <= byte <= 57 for byte in value[:LOOKED_AT])
    return has_digit and not value.islower() and not value.isupper() and not is_placeholder(value)


def is_basic(value: bytes) -> bool:
    """Tells whether a value is a name and password as `Authorization: Basic` and `AUTH PLAIN` send them."""
    try:
        text = binascii.a2b_base64(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return False
    name, sign, password = text.rpartition(b"\0") if b"\0" in text else text.partition(b":")
    return bool(sign and name and not is_placeholder(password)) and _DOCUMENTED.search(value) is None
