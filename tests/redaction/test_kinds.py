"""Credentials by the syntax that they stand in, texts that hold none, and what holds for any text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.redaction import CredentialNumbers, Scanning, insert_markers, is_distinctive
from secateur.redaction.rules import find_credentials
from secateur.redaction.scanning import decode_escapes, decode_json
from support.credential_texts import (
    BARE,
    ESCAPED,
    HARMLESS,
    NAMED,
    ODD_VALUES,
    PROVIDERS,
    URL_VALUES,
    VALUES,
    WORDS_AND_DIGITS,
    key_texts,
)
from support.credentials import drawn

OWN = Scanning(full=False)
SEEDS = range(3)


def clean(text: str) -> str:
    data = text.encode()
    return insert_markers(data, OWN.spans(data)[0], CredentialNumbers()).decode()


def stays(credential: str, text: str) -> bool:
    """Tells whether eight signs of a credential, or all of a shorter one, stand in a text."""
    size = min(8, len(credential))
    return any(credential[at : at + size] in text for at in range(len(credential) - size + 1))


def left(places: tuple[str, ...], make: Callable[[Random], str]) -> list[str]:
    """The places in which something of a value stays."""
    values = [(place, make(Random(f"{place}{seed}"))) for place in places for seed in SEEDS]
    return [place.format(value) for place, value in values if stays(value, clean(place.format(value)))]


@pytest.mark.parametrize("name", VALUES)
def test_values_in_quotes(name: str) -> None:
    assert left(NAMED, VALUES[name]) == []


@pytest.mark.parametrize("name", ODD_VALUES)
def test_values_with_signs_and_blanks_in_quotes(name: str) -> None:
    places = (place for place in NAMED if name != "a blank" or not place.startswith(("curl", "Convert", "ldap")))
    assert left(tuple(places), ODD_VALUES[name]) == []


@pytest.mark.parametrize(
    "place",
    [
        'password = "{}"', "DB_PASSWORD={}", "password: {}", '{{"password": "{}"}}', "tool --password {} run",
        "postgres://app:{}@db.internal:5432/app", "setPassword('{}')", "mysql -u root -p{} db", 'auth=("user", "{}")',
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", WORDS_AND_DIGITS)
def test_passwords_of_words_and_digits(name: str, place: str) -> None:
    values = [WORDS_AND_DIGITS[name](Random(seed)) for seed in range(100)]
    assert sum(value in clean(place.format(value)) for value in values) <= 3


WEAK = ("session={}", "https://{}@")
"""Places that say so little of a value that it must be longer than twelve signs; the second holds no slash."""


@pytest.mark.parametrize("name", VALUES)
def test_values_without_quotes(name: str) -> None:
    skipped = WEAK if name == "twelve signs" else WEAK[1:] if name == "base64" else ()
    places = tuple(place for place in BARE if not any(weak in place for weak in skipped))
    assert left(places, VALUES[name]) == []


@pytest.mark.parametrize("name", URL_VALUES)
def test_passwords_of_urls(name: str) -> None:
    assert left(("postgres://app:{}@db.internal:5432/app", "url = 'amqps://a%40b.c:{}@mq.io'"), URL_VALUES[name]) == []


@pytest.mark.parametrize("name", PROVIDERS)
def test_tokens_of_providers(name: str) -> None:
    text = PROVIDERS[name](Random(name))
    for place in ("{}", 'x = "{}"', "- {}\n", "see {}, please", '{{"a": "b\\n{}\\n"}}'):
        assert not stays(text[-16:], clean(place.format(text))), place


@pytest.mark.parametrize("name", ESCAPED)
def test_values_behind_escapes(name: str) -> None:
    for seed in SEEDS:
        value = drawn(Random(f"{name}{seed}"), 24)
        text = ESCAPED[name](value)
        out = clean(text)
        assert out != text
        assert not stays(value, out), text
        assert not stays(value, clean(json.dumps({"a": text})))


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_of_private_keys(seed: int) -> None:
    kept = [kind for kind, text, lines in key_texts(Random(seed)) if any(stays(line, clean(text)) for line in lines)]
    assert kept == []


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_texts_stay(text: str) -> None:
    assert clean(text) == text
    assert json.loads(clean(json.dumps([text]))) == [text]


def test_certificates_pictures_and_signatures_stay() -> None:
    lines = "\n".join(drawn(Random(seed), 64) for seed in range(8))
    for label in ("CERTIFICATE", "PUBLIC KEY", "PGP SIGNATURE", "PGP PUBLIC KEY BLOCK"):
        block = f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"
        hunk = "@@ -1,10 +1,10 @@\n" + "".join(f"+{line}\n" for line in block.splitlines())
        assert clean(block) == block
        assert clean(hunk) == hunk
    picture = f"iVBORw0KGgo{lines[11:]}"
    of_certificate = f"--- a/ca.crt\n+++ b/ca.crt\n@@ -3,4 +3,4 @@\n {lines}"
    hexadecimal = "\n".join(drawn(Random(seed), 64, "0123456789abcdef") for seed in range(8))
    for text in (picture, of_certificate, hexadecimal):
        assert clean(text) == text


def test_a_recognised_value_is_taken_out_wherever_it_stands() -> None:
    value = drawn(Random(1), 14)
    assert clean(f"login with {value} failed\npassword: {value}\nlonger{value}er\n") == (
        f"login with [redacted: password #1] failed\npassword: [redacted: password #1]\nlonger{value}er\n"
    )
    lines = [json.dumps({"a": f"password={value}"}), json.dumps({"b": f"at\n{value}"})]
    assert clean("\n".join(lines)).count("[redacted: password #1]") == 2
    many = [drawn(Random(seed), 14) for seed in range(90)]
    out = clean("".join(f"token='{one}'\n" for one in many) + " ".join(many))
    assert not any(stays(one, out) for one in many)


def test_what_is_distinctive() -> None:
    assert is_distinctive(drawn(Random(1), 12).encode())
    assert not any(
        is_distinctive(value) for value in (b"", b"a1B2", b"password", b"production", b"correct horse", b"a\nb1C2d3E4")
    )


KEY_WORDS = ("-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----", "ghp" + "_")
PIECES = st.sampled_from(
    (
        *KEY_WORDS, "password", "token", "SECRET_KEY", "=", ": ", "'", '"', "\\", '\\"', "\n", "\\n", "{", "}", "[",
        "]", ",", " ", "<", ">", "@", "://", ":", "user", "aB3dE5fG7hI9", "aB3dE5fG7hI9jK1l" * 4, "%5F", "&#95;",
        "\x1b[0m", "\u200b", "é", "+", " + ", "eyJ", "=>", "value", "name", "[redacted: password #1]", "Bearer ",
    )
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@given(TEXTS)
def test_spans_lie_in_the_bytes_and_markers_are_never_replaced(text: str) -> None:
    data = text.encode()
    assert all(0 <= span.start < span.end <= len(data) for span in find_credentials(data))
    out = clean(text)
    assert out.count("\n") == text.count("\n")
    assert out.count("[redacted: password #1]") >= (text.count("[redacted: password #1]") if out == text else 0)
    assert clean(out) == out


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=4), st.booleans())
def test_json_stays_json(texts: list[str], by_line: bool) -> None:
    records = [{"a": text, "password": text} for text in texts]
    out = clean("\n".join(map(json.dumps, records)) if by_line else json.dumps(records))
    values = [json.loads(line) for line in out.split("\n") if line] if by_line else json.loads(out)
    assert [set(value) for value in values] == [{"a", "password"}] * len(texts)


@given(TEXTS)
def test_a_view_leads_back_to_the_bytes(text: str) -> None:
    data = text.encode()
    for view in (decode_json(data), decode_escapes(data)):
        if view is not None:
            assert len(view.text_starts) == len(view.data_ends)
            assert all(start <= end for start, end in zip(view.data_starts, view.data_ends, strict=True))
            assert list(view.data_starts) == sorted(view.data_starts)


class Counted(bytes):
    """Bytes that count how many of them are copied out."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        out = super().__getitem__(key)
        Counted.copied += len(out) if isinstance(out, bytes) else 1
        return out


HOSTILE = (
    "password=", "password = '", "token: ", "key-", "eyJaaaaaaaaaa-", "eyJaaaaaaaaaa.", "sk-", "=", '"', 'token="',
    "token=\"a token='b ", 'token=\\"', "password>", "<password>", "token=x)))))", "&a", "mysql -u ", "uthorization:",
    "oracle:thin:a/", "://a:b@c", "@tcp(", "aB3dE5fG7hI9jK1l" * 4 + "\n", "aB3dE5fG7hI9jK1l" * 12 + "\nx\n", "\x1b[",
    "%41", '"a" + ', "- name: PASSWORD\n  ", "--token ", '{"password":"aB3dE5fG7hI9"}\n',
    "session=aB3dE5fG7hI9jK1lM2", "Private-Lines: 9\n", "-----BEGIN RSA PRIVATE " + "KEY-----\n",
)  # fmt: skip


def works(text: str, size: int) -> Iterator[int]:
    for times in (1, 4):
        data = Counted((text * (size * times // len(text) + 1))[: size * times].encode())
        Counted.copied = 0
        find_credentials(data)
        yield Counted.copied


@pytest.mark.parametrize("text", HOSTILE)
def test_four_times_the_text_is_four_times_the_work(text: str) -> None:
    """Counted by the bytes that are copied; what patterns read is bounded by their form."""
    once, four_times = works(text, 20_000)
    assert four_times <= 5 * once + 20_000
