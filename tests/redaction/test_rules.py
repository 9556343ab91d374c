"""Our own rules: what they find, what they leave alone, and that no content makes them slow."""

from __future__ import annotations

import base64
import json
from random import Random

import pytest
from secateur.redaction.rules import find_credentials
from support.credentials import MAKERS, RULES, drawn, planted, private_key


def found(text: str) -> list[tuple[str, str]]:
    data = text.encode()
    return [(span.rule, data[span.start : span.end].decode()) for span in find_credentials(data)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("around", ["{}", 'x = "{}"\n', "- {}\n", "use {}, please", '"a\\n{}\\n"', "é\t{}\t订"])
def test_each_rule_finds_the_whole_credential(rule: str, around: str) -> None:
    for seed in range(20):
        credential, text = planted(Random(seed), rule)
        assert (rule, credential) in found(around.format(text)), (rule, seed)


@pytest.mark.parametrize("rule", sorted(MAKERS.keys() - {"private-key"}))
def test_what_goes_on_is_another_word(rule: str) -> None:
    credential = MAKERS[rule](Random(1))
    assert rule not in [name for name, _ in found(f"prefix{credential}")]


@pytest.mark.parametrize(
    "text",
    [
        'password = "correct-horse-battery-staple"',
        'password = os.environ["DB_PASSWORD"]',
        'token = "your_token_here_1234567890"',
        "postgres://user:password@localhost/db",
        "postgres://${DB_USER}:${DB_PASSWORD}@localhost/db",
        "https://example.org/a:b@c",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_ACCESS_TOKEN",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        '"sk-container-id-1-document-link-fitted-estimator"',
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        'if line == "-----BEGIN RSA PRIVATE KEY-----":',
        'SECRET_NAME = "projects/orders/secrets/database"',
        'secret_key = "tests/data/tokenizer_v2_config.json"',
        "TOKEN=$(cat token.txt)",
        "token = tokenize(text)[0]",
        "PASS src/shelf0.test.ts\nPASS src/a1/cart.spec.js\n",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert found(text) == []


def test_name_and_password_of_basic_authorization() -> None:
    given = base64.b64encode(b"alice:Zx9!kQ2pLm").decode()
    assert found(f"Authorization: Basic {given}") == [("authorization", given)]
    assert found("Authorization: Basic " + base64.b64encode(b"nothing of the kind").decode()) == []


def test_a_key_that_is_cut_off_at_either_side() -> None:
    key = private_key(Random(3))
    lines = key.split("\n")
    head, tail = "\n".join(lines[:5]), "\n".join(lines[7:])
    assert found(f"before\n{head}\nafter the log was cut\n") == [("private-key", head)]
    assert found(f"before it\n{tail}\nafter\n") == [("private-key", tail)]


def test_keys_in_hunks_and_in_literals() -> None:
    key = private_key(Random(4))
    hunk = "".join(f"+{line}\n" for line in key.split("\n"))
    ((rule, text),) = found(f"@@ -0,0 +1,14 @@\n{hunk} after\n")
    assert (rule, "+" + text) == ("private-key", hunk.rstrip("\n"))
    literal = repr(key)
    assert found(f"KEY = {literal}\n") == [("private-key", literal[1:-1])]


HOSTILE = {
    "needles": "AKIA" * 50_000,
    "needles apart": "AKIA " * 50_000,
    "jwt": "eyJ" + "a" * 100_000 + "." + "eyJ" * 30_000,
    "jwts": "eyJaaaaaaaaaaaa.eyJ" * 10_000,
    "urls": "://" * 60_000,
    "urls with colons": "://a:" * 40_000,
    "assignments": "password" * 25_000,
    "assignments open": "password = '" * 20_000,
    "names": "secret_" * 30_000 + "= 'x'",
    "begins": ("-----BEGIN RSA PRIVATE " + "KEY-----\n") * 6_000,
    "ends": ("A" * 64 + "\n" + "-----END RSA PRIVATE " + "KEY-----\n") * 2_000,
    "begin and base64": "-----BEGIN RSA PRIVATE " + "KEY-----\n" + ("A" * 64 + "\n") * 4_000,
    "authorization": "Authorization: Bearer " * 10_000,
    "blanks": "token" + " " * 200_000 + "=",
    "quotes": "token = " + '"' * 200_000,
    "one line": "x" * 300_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_texts_come_to_an_end(name: str) -> None:
    """Any of them takes hours where a pattern gives back what it matched, or a block is read for each beginning."""
    data = HOSTILE[name].encode() * 2
    assert len(find_credentials(data)) <= len(data) // 16


TOKENS_WITH_SIGNS = {
    "atlassian-token": f"ATATT3{drawn(Random(1), 80)}_Pvt",
    "square-token": f"EAAA{drawn(Random(2), 59)}_",
    "discord-token": f"M{drawn(Random(3), 23)}.{drawn(Random(4), 6)}.{drawn(Random(5), 38)}",
}


@pytest.mark.parametrize("rule", TOKENS_WITH_SIGNS)
@pytest.mark.parametrize("around", ["{}", "use '{}'", "keys/{}.log", "{}/*"])
def test_tokens_with_signs_in_them_and_in_names_of_files(rule: str, around: str) -> None:
    token = TOKENS_WITH_SIGNS[rule]
    assert found(around.format(token)) == [(rule, token)]


def test_the_last_line_of_a_key_that_a_string_ends_with() -> None:
    lines = [drawn(Random(seed), 64) for seed in range(6)]
    key = "\n".join(("Public-Lines: 1", "AAAAB3NzaC1yc2E", f"Private-Lines: {len(lines)}", *lines))
    for text in (json.dumps({"content": key, "role": "user"}), f'"{key}"', f"key = '{key}';"):
        assert all(any(line in one for _, one in found(text)) for line in lines), text


@pytest.mark.parametrize("prefix", ["acme_", "acme_live_", "nk-", "ACME-", "api_v2_"])
def test_tokens_of_providers_that_no_rule_names(prefix: str) -> None:
    token = prefix + drawn(Random(1), 32)
    for around in ("{}", 'send("{}")', "curl -H 'X: {}'"):
        assert found(around.format(token)) == [("token", token)]


@pytest.mark.parametrize(
    "text",
    [
        "sha256_" + "0123456789abcdef" * 4,
        "integrity: sha512-" + drawn(Random(2), 86) + "==",
        "file_" + drawn(Random(3), 32, "0123456789abcdef"),
        "test_that_RefundTotalsAreRoundedOnce2024",
        "assets/app-" + drawn(Random(4), 12) + ".js",
    ],
)
def test_digests_names_and_parts_of_longer_words_are_no_tokens(text: str) -> None:
    assert found(text) == []
