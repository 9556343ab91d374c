"""Well-formed credentials that belong to nobody, made anew at every run: no file of this repository holds one."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping
from random import Random

LETTERS = string.ascii_letters
ALPHANUMERIC = LETTERS + string.digits
BASE64 = ALPHANUMERIC + "+/"


def drawn(random: Random, size: int, signs: str = ALPHANUMERIC) -> str:
    """So many signs, among them a capital, a small letter and a digit where `signs` has them."""
    kinds = [kind for kind in (string.ascii_uppercase, string.ascii_lowercase, string.digits) if set(kind) & set(signs)]
    while True:
        text = "".join(random.choice(signs) for _ in range(size))
        if all(set(kind) & set(text) for kind in kinds):
            return text


def _part(random: Random, **fields: object) -> str:
    fields |= {"jti": drawn(random, 12)}
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def private_key(random: Random, lines: int = 12) -> str:
    """A block that looks like a private key."""
    body = "\n".join(drawn(random, 64, BASE64) for _ in range(lines))
    return f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{body}\n-----END RSA PRIVATE {'KEY'}-----"


MAKERS: Mapping[str, Callable[[Random], str]] = {
    "aws-access-key": lambda r: "AK" + "IA" + drawn(r, 16, string.ascii_uppercase + "234567"),
    "github-token": lambda r: r.choice(("ghp", "gho", "ghs")) + "_" + drawn(r, 36),
    "gitlab-token": lambda r: "glpat" + "-" + drawn(r, 20),
    "slack-token": lambda r: f"xoxb-{drawn(r, 12, string.digits)}-{drawn(r, 12, string.digits)}-{drawn(r, 24)}",
    "anthropic-key": lambda r: "sk-" + "ant-api03-" + drawn(r, 93) + "AA",
    "openai-key": lambda r: "sk-" + "proj-" + drawn(r, 74),
    "google-api-key": lambda r: "AI" + "za" + drawn(r, 35),
    "jwt": lambda r: f"{_part(r, alg='HS256', typ='JWT')}.{_part(r, sub='4711', name='user')}.{drawn(r, 43)}",
    "npm-token": lambda r: "npm" + "_" + drawn(r, 36),
    "pypi-token": lambda r: "pypi-" + "AgEIcHlwaS5vcmc" + drawn(r, 150),
    "huggingface-token": lambda r: "hf" + "_" + drawn(r, 34, LETTERS),
    "stripe-key": lambda r: "sk" + "_live_" + drawn(r, 24),
    "private-key": private_key,
}
"""By the name of the rule: credentials that are known by their own look."""

PLACES: Mapping[str, tuple[Callable[[Random], str], str]] = {
    "aws-secret-key": (lambda r: drawn(r, 40, BASE64), "aws_secret_access_key = {}"),
    "url-password": (lambda r: drawn(r, 14), "DATABASE_URL=postgres://app:{}@db.internal:5432/app"),
    "authorization": (lambda r: drawn(r, 40), "Authorization: Bearer {}"),
    "password": (lambda r: drawn(r, 20), 'password = "{}"'),
}
"""By the name of the rule: credentials that are known by what stands around them, and that."""


def planted(random: Random, rule: str) -> tuple[str, str]:
    """(a credential of a rule, the text that it stands in)."""
    if rule in MAKERS:
        credential = MAKERS[rule](random)
        return credential, credential
    make, around = PLACES[rule]
    credential = make(random)
    return credential, around.format(credential)


RULES = (*MAKERS, *PLACES)
