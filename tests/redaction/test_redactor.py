"""Texts in which credentials were replaced: markers, numbers, lines, JSON, and what stays by the user's word."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.model import Redaction
from secateur.redaction import CredentialNumbers, Redactor, Scanning, insert_markers, redact
from secateur.redaction.spans import CredentialSpan, merge_spans
from secateur.settings import Redacting, Settings
from support.credentials import MAKERS, RULES, planted, private_key

OWN = Scanning(full=False)
AWS, OTHER = MAKERS["aws-access-key"](Random(1)), MAKERS["aws-access-key"](Random(2))
GITHUB = MAKERS["github-token"](Random(1))
KEY = private_key(Random(1))


def clean(text: str, **rules: object) -> str:
    return Redactor(Scanning.of(Redacting(scanner="rules", **rules))).text(text)  # type: ignore[arg-type]


def test_the_same_credential_has_the_same_number_and_another_has_another() -> None:
    redactor = Redactor(OWN)
    assert redactor.text(f"{AWS} {OTHER} {GITHUB} {AWS}") == (
        "[redacted: aws-access-key #1] [redacted: aws-access-key #2] [redacted: github-token #1]"
        " [redacted: aws-access-key #1]"
    )
    assert redactor.text(f"in another text {OTHER}") == "in another text [redacted: aws-access-key #2]"
    assert redactor.text(f'password = "{GITHUB}"') == 'password = "[redacted: github-token #1]"'


def test_it_says_what_was_taken_out_of_which_line() -> None:
    redactor = Redactor(OWN)
    text = redactor.text(f"a\n{AWS}\nb {GITHUB}\n")
    assert redactor.within(text) == (Redaction("aws-access-key", 2), Redaction("github-token", 3))
    assert redactor.within(text, 10) == (Redaction("aws-access-key", 11), Redaction("github-token", 12))
    assert redactor.within("nothing") == ()


def test_a_marker_that_was_there_before_is_no_redaction_and_its_number_is_not_given_again() -> None:
    redactor = Redactor(OWN)
    text = redactor.text(f"[redacted: aws-access-key #1] {AWS}")
    assert text == "[redacted: aws-access-key #1] [redacted: aws-access-key #2]"
    assert redactor.within(text) == (Redaction("aws-access-key", 1),)


def test_lines_stay_where_they_are() -> None:
    text = f"before\n{KEY}\nafter"
    out = clean(text)
    assert out.count("\n") == text.count("\n")
    assert out.startswith("before\n[redacted: private-key #1]\n")
    assert out.endswith("\n\nafter")
    hunk = "@@ -0,0 +1,14 @@\n" + "".join(f"+{line}\n" for line in KEY.split("\n")) + " after\n"
    lines = clean(hunk).split("\n")
    assert lines[1] == "+[redacted: private-key #1]"
    assert lines[2:-2] == ["+"] * 13


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_stays_json_and_keys_behind_escapes_are_found(indent: int | None, ascii_only: bool) -> None:
    value = [{"role": "user", "content": f"é\n{AWS}\n{KEY}\n", "a\nb": f'token = "{GITHUB}"', "n": 1.5, "s": "\\"}]
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(clean(text)) == [
        {
            "role": "user",
            "content": "é\n[redacted: aws-access-key #1]\n[redacted: private-key #1]\n",
            "a\nb": 'token = "[redacted: github-token #1]"',
            "n": 1.5,
            "s": "\\",
        }
    ]


def test_escaped_signs_of_a_credential() -> None:
    key = MAKERS["aws-access-key"](Random(5))
    text = '{"a": "' + "".join(f"\\u{ord(sign):04x}" for sign in key) + '"}'
    assert clean(text) == '{"a": "[redacted: aws-access-key #1]"}'


def test_lines_of_json_with_damaged_ones_between() -> None:
    lines = [json.dumps({"a": f"x\n{AWS}"}), f'{{"cut": "{GITHUB}', "", json.dumps({"b": f"y\n{OTHER}"})]
    out = clean("\n".join(lines)).split("\n")
    assert json.loads(out[0]) == {"a": "x\n[redacted: aws-access-key #1]"}
    assert out[1] == '{"cut": "[redacted: github-token #1]'
    assert json.loads(out[3]) == {"b": "y\n[redacted: aws-access-key #2]"}


def test_bytes_that_are_no_text_and_utf_16() -> None:
    redactor = Redactor(OWN)
    assert redactor.data(b"\x00\xff\xfe" + b"plain") == b"\x00\xff\xfeplain"
    assert redactor.data(b"\xff " + AWS.encode() + b" \xff") == b"\xff [redacted: aws-access-key #1] \xff"
    wide = ("\ufeff" + AWS).encode("utf-16-le")
    assert redactor.data(wide) == b"[redacted: aws-access-key #1]"
    same = b"nothing to find"
    assert redactor.data(same) is same


def test_the_user_may_let_credentials_stay() -> None:
    text = f"{AWS} {GITHUB}"
    assert clean(text, enabled=False) == text
    assert clean(text, allow=(AWS,)) == f"{AWS} [redacted: github-token #1]"
    assert clean(text, allow=("AK*",)) == f"{AWS} [redacted: github-token #1]"
    assert clean(text, allow_rules=("github-token",)) == f"[redacted: aws-access-key #1] {GITHUB}"
    redactor = Redactor(Scanning.of(Redacting(scanner="rules", allow_paths=("tests/*",))))
    assert redactor.text(text, "tests/a/keys.py") == text
    assert redactor.text(text, "src/tests.py") != text


def test_the_id_of_a_scanning_changes_with_all_that_changes_its_spans() -> None:
    ids = [
        Scanning.of(rules).id
        for rules in (
            Redacting(scanner="rules"),
            Redacting(enabled=False),
            Redacting(scanner="rules", allow=("a",)),
            Redacting(scanner="rules", allow_rules=("a",)),
            Redacting(scanner="rules", allow_paths=("a",)),
        )
    ]
    assert len(set(ids)) == len(ids)
    assert Scanning(version="1.5.0").id != Scanning(version="1.6.0").id != Scanning(version="").id


def test_a_text_of_a_program() -> None:
    settings = Settings(redaction=Redacting(scanner="rules"))
    assert redact(f"a\n{AWS}", settings) == ("a\n[redacted: aws-access-key #1]", (Redaction("aws-access-key", 2),))


SPANS = st.lists(
    st.builds(lambda a, b, rule: CredentialSpan(min(a, b), max(a, b) + 1, rule), *[st.integers(0, 99)] * 2,
              st.sampled_from(("a", "b", "c-d"))), max_size=12,
)  # fmt: skip


@given(st.binary(min_size=100, max_size=120), SPANS)
def test_no_byte_of_a_span_leaves_and_every_other_does(data: bytes, spans: list[CredentialSpan]) -> None:
    data = data.replace(b"\n", b" ")
    one_by_one = merge_spans(spans)
    assert all(first.end <= second.start for first, second in pairwise(one_by_one))
    out = insert_markers(data, one_by_one, CredentialNumbers())
    covered = {place for span in spans for place in range(span.start, span.end)}
    rest = data
    for span in reversed(one_by_one):
        rest = rest[: span.start] + b"\0" + rest[span.end :]
    parts = rest.split(b"\0") if one_by_one else [rest]
    assert sum(map(len, data.split(b"\0"))) >= 0
    assert len(covered) == sum(span.end - span.start for span in one_by_one)
    if b"\0" not in data:
        place = 0
        for part in parts:
            place = out.index(part, place) + len(part)


@given(st.lists(st.sampled_from(RULES), min_size=1, max_size=6), st.integers(0, 2**32), st.text(max_size=30))
def test_no_credential_leaves_a_text_or_a_transcript(rules: list[str], seed: int, between: str) -> None:
    random = Random(seed)
    pairs = [planted(random, rule) for rule in rules]
    between = between.replace("\r", "")
    text = "\n".join(f"{between}\n{text}\n" for _, text in pairs)
    for held in (text, json.dumps({"a": [text], text: 1})):
        out = Redactor(OWN).text(held)
        assert not [credential for credential, _ in pairs if credential.split("\n")[-2:][0] in out]
        assert Redactor(OWN).text(out) == out
    assert out.count("[redacted: ") >= 1
