"""Finds values that are credentials because of the name before them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`,
`<password>…</password>`, `os.getenv("SECRET", "…")`.

A name is found by a part of it (`_STEMS`), and split into words. It must be followed by one of the separators of
`_SEPARATOR`, and then by a value, quoted or not, that looks like a secret and not like code. No syntax has its own
rule. Linear: every repetition is bounded or possessive, and bytes that were read as an unquoted value are not read
again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from secateur.redaction.spans import CredentialSpan
from secateur.redaction.value_looks import (
    LOOKED_AT,
    MOST_JUDGED,
    is_human_password,
    is_placeholder,
    is_random,
    is_strongly_random,
    word_share,
)

RULE = "password"

AWS_SECRET = 40  # bytes of the secret of an AWS key, which only its name identifies
LONGEST_NAME = 80  # most bytes before and after the part by which a name is found
LONGEST_ATTRIBUTE = 12  # bytes of an attribute such as `key1.name`; the parts of a dotted token are longer


class Name(IntEnum):
    """The degree to which a name suggests that its value is a credential."""

    NOTHING = 0
    KEY = 1  # may be a credential: a key, a session
    SECRET = 2  # is one, made by a machine
    PASSWORD = 3  # is one, made by a person too


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STEMS = (b"pass", b"pw", b"psk", b"secret", b"token", b"credential", b"key", b"auth", b"sess", b".sid")

_PASSWORDS = ("password", "passwd", "passwort", "passphrase", "passcode", "pwd", "passwords")
_PASSWORD_PARTS = frozenset((*_PASSWORDS, "pass", "psw"))
_NO_PASSWORDS = ("bypass", "compass", "overpass", "surpass", "trespass", "underpass")
_SECRET_PARTS = (
    "secret", "secrets", "token", "tokens", "credential", "credentials", "apikey", "secretkey", "privatekey",
    "accesskey", "accountkey", "masterauth", "authkey", "masterkey", "signingkey", "apikeys", "licensekey", "keybase",
)  # fmt: skip
_KEYS = _split_words(
    "api access secret private encryption encrypt signing sign signature master auth account client shared "
    "service admin license app application session cookie jwt hmac aes consumer subscription storage webhook "
    "deploy security crypto cipher root ssh rsa nonce preshared bot integration org project server write ingest "
    "function host"
)
_HARMLESS_KEYS = _split_words(
    "public pub primary foreign cache sort partition object map index group dict lookup idempotency search "
    "registry row column unique translation message i18n header hot short arrow last first next prev page react "
    "item json query hash route view template param test site websocket socket accept event state context config "
    "setting block rate checksum encrypted wrapped"
)
_QUALIFIERS = _split_words(
    "prod production dev development test testing staging stage live old new default value val plain plaintext "
    "text raw base b64 encoded string str primary secondary main current previous v hex env local here is ro rw "
    "file1"
)
_COUNTS = _split_words(
    "max min num count total next page pagination continuation cancellation cancel stop pad eos bos unk mask "
    "special start end sync etag lock authenticity csrf xsrf change"
)

_PART = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_REST = re.compile(rb"[A-Za-z0-9_]{0,40}+(?:[.-][A-Za-z_][A-Za-z0-9_]{0,30}+){0,3}+")

_SEPARATOR = re.compile(
    rb"""
    (?:\[\d{0,6}\])?(?P<quote>\\{0,8}+["'`])?
    (?:
      [ \t]{0,8}+[])]{0,2}+
      (?:
        (?P<pair>[ \t]{0,8}+[,{]?(?:[ \t]{0,8}+\\*["']?(?:value|Value|VALUE|content|default)\\*["']?|
            (?:\r?\n|\\n)[-+ \t]{0,80}+
            (?:(?!default|value)[a-z_]{2,20}+[ \t]{0,20}+=[^\n{}]{0,160}+\n[-+ \t]{0,80}+){0,4}+
            \\*["']?(?:value|Value|VALUE|default)\\*["']?)
            [ \t]{0,20}+[:=][ \t]{0,20}+(?:[|>][-+]?[ ]?\r?\n[ \t]{1,80}+)?)
      | [ \t]{0,20}+
        (?:
          (?P<assign>(?:\??:[ \t]{0,4}+[&A-Za-z]|(?<=[ \t])[A-Za-z\[*])
                [\w&'<>\[\]|.,*\ ]{0,40}?[ \t]?=[ \t]{0,20}+(?=[bru&]?\\{0,8}["'`])
            |=[ \t]{0,20}+[\w.]{1,60}+(?:[(\[]["'][\w.-]{1,60}+["'][)\]])?[ \t]{1,4}(?:or|\|\||\?\?)[ \t]{1,4}(?=["'`])
            |:?=>?(?![=~])[ \t]{0,20}+|\*{0,3}:(?!:)\*{0,3}[ \t]{0,20}+(?:[|>][-+]?[ ]?\r?\n[ \t]{1,80}+)?
            |\|[ \t]{1,20}+|->[ \t]?|%3[AaDd])
        | (?P<default>(?:,|\|\||\?\?|or[ ]|:-)[ \t]{0,40}+(?:default[ \t]?[:=][ \t]?)?)
        | (?P<call>\()[ \t]{0,4}+
        )
      )
    | (?P<element>(?:</key>\s{0,40}<string|[ \t][^<>\n]{0,200}+)?(?<![-=])>(?:<!\[CDATA\[)?)
    | (?P<blank>[ \t]{1,20}+(?:is[ ]|:[ ]|--plaintext[ ])?)
    )
    """,
    re.VERBOSE,
)
_OPENING = re.compile(
    rb"(?:[bruf@&$NE]{1,2}(?=\\*[\"'`])|(?:[A-Za-z_\[][\w.:<>\[\]&*]{0,40}+)?\([ \t]{0,4}+(?:\r?\n[ \t]{0,80}+)?"
    rb"[bru]?(?=\\*[\"'`])"
    rb"|\\?\r?\n[ \t]{1,80}+|)(\\*)([\"'`])"
)
_CLOSING = {
    0x22: re.compile(rb'(?:[^"\\\n]|\\[^\n])*+'),
    0x27: re.compile(rb"(?:[^'\\\n]|\\[^\n])*+"),
    0x60: re.compile(rb"(?:[^`\\\n]|\\[^\n])*+"),
}
_OPENS = {b")": b"(", b"]": b"[", b"}": b"{"}
_MOST_CLOSING = 8
_ELEMENT_TEXT = re.compile(rb"[^<>\n\]]++(?=\]\]>|<)")
# An unquoted value: up to a blank, a quote, or a character that begins the next name.
_BARE = re.compile(
    rb"(?:[^\s\"'`<>\\&;,|]|\\(?![nrt\"'`\\\s])|<(?![A-Za-z/!])"
    rb"|[&;,|](?![\s&|\"'\\]|[A-Za-z_$][\w.$-]{0,40}+[=:]|\Z))++"
)

_CALL = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)*[!?]?[(\[{]")
_CALLED = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*\((?:[\w., $\[\]-]*\))?")
_CHAIN = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+")
# The name of a constant or of a file.
_CONSTANT = re.compile(
    rb"(?:env\.|\w+\.env\.)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[\w@./-]+\.(?:pem|json|ya?ml|txt|crt|cer|p12|jks)"
)

_HAS_DIGIT = re.compile(rb"\d")
# Names whose values are credentials in cookies; elsewhere they often name a talk or a run.
_SESSION = re.compile(rb"(?i)sess|sid|cookie")

_UUID = re.compile(rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_QUOTES = (b'"', b"'", b"`")
# Hashes of passwords are meant to be stored.
_HASH = re.compile(
    rb"\$(?:2[abxy]?|argon2\w{1,2}|pbkdf2[\w-]*|scrypt|apr1|bcrypt\w*)\$|(?:pbkdf2|argon2|scrypt)[\w:]*\$"
    rb"|\{(?:S?SHA|CRYPT|MD5)|(?:SHA256|MD5):"
)

_CODE = re.compile(rb"\[\^|\[:|\A/.*/\Z|\[\^?[a-zA-Z0-9]-[a-zA-Z0-9]|\\[dws]|\(\?[:=!P<]|://|=>|\$\{[a-z]+[.(]")


def find_named_values(data: bytes, lower: bytes) -> Iterator[CredentialSpan]:
    """Yields the credentials that names identify. `lower`: the same bytes in lower case."""
    found = 0
    for stem in _STEMS:
        bare = (-1, -1)  # the unquoted run that was read last
        offset = lower.find(stem)
        while offset >= 0:
            after = offset + len(stem)
            rest = _REST.match(data, after)
            end = rest.end() if rest else after
            separator = _SEPARATOR.match(data, end)
            kind = Name.NOTHING
            if separator is not None:
                start = end - len(_read_name(data, offset, end))
                kind = judge_name(data[max(0, start - 4) if end - start == 3 else start : end])
                if kind is Name.KEY and data[end : end + 1] != b"=" and _SESSION.search(data, start, end):
                    kind = Name.NOTHING
            if separator is not None and kind is not Name.NOTHING:
                form = separator.lastgroup or ""
                first = last = 0
                if form == "default" and separator["quote"] and data[start - 1 : start] not in _QUOTES:
                    kind = Name.NOTHING  # the end of another text in a list, as in `"/etc/passwd", "…"`
                opening = _OPENING.match(data, separator.end())
                quoted = _find_quoted_span(data, opening) if opening is not None and form != "element" else None
                every = found >= MOST_JUDGED
                if kind is Name.NOTHING:
                    holds = False
                elif quoted is not None:
                    first, last = quoted
                    holds = every or _is_secret(_cut_head(data, first, last), kind, code=False)
                    if not every and form == "blank" and data[start : start + 1] != b"-":  # as in "Pass `--flag`"
                        holds &= is_strongly_random(_cut_head(data, first, last), 16) or _names_value(data, start)
                elif form == "element":
                    text = _ELEMENT_TEXT.match(data, separator.end())
                    first, last = text.span() if text else (end, end)
                    holds = _in_element(data, start) and (
                        every or _is_secret(_cut_head(data, first, last), kind, code=False)
                    )
                else:
                    first = opening.end() if opening is not None else separator.end()
                    if not bare[0] <= first < bare[1]:
                        run = _BARE.match(data, first)
                        bare = (first, run.end() if run else first)
                    last = _trim_brackets(data, first, bare[1])
                    holds = every or _is_bare_secret(data, start, end, form, _cut_head(data, first, last), last, kind)
                    if not holds and last - first > LOOKED_AT * 4:  # a long run of names without a value
                        after = first + LOOKED_AT
                if holds and first < last:
                    found += 1
                    is_aws = last - first == AWS_SECRET and b"aws" in lower[start:end]
                    yield CredentialSpan(first, last, "aws-secret-key" if is_aws else RULE)
                    after = max(after, last)
            offset = lower.find(stem, after)


def _cut_head(data: bytes, start: int, end: int) -> bytes:
    return data[start : min(end, start + LOOKED_AT)]


def _read_name(data: bytes, offset: int, end: int) -> bytes:
    before = data[max(0, offset - LONGEST_NAME) : offset]
    head = before[len(before.rstrip(_NAME_SIGNS)) :]
    if head[:1] in b"nrt" and head and data[offset - len(head) - 1 : offset - len(head)] == b"\\":
        head = head[1:]  # part of an escape such as `\n`
    return head + data[offset:end]


@lru_cache(maxsize=4096)
def judge_name(name: bytes) -> Name:
    """Judges a name by its words."""
    parts = [part.decode().lower() for part in _PART.findall(name)]
    if name[:1] in b"?&" and parts == ["key"]:
        return Name.KEY
    while len(parts) > 1 and (parts[-1] in _QUALIFIERS or parts[-1].isdigit()):
        parts.pop()
    if not parts:
        return Name.NOTHING
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if before == "hashed":
        return Name.NOTHING
    if last == "base" and before == "key":  # SECRET_KEY_BASE
        return Name.SECRET
    if (
        last in _PASSWORD_PARTS
        or last.endswith((*_PASSWORDS, "pw", "psk"))
        or (last.endswith("pass") and last not in _NO_PASSWORDS)
    ):
        return Name.PASSWORD
    if last.endswith(_SECRET_PARTS):
        return Name.NOTHING if before in _COUNTS else Name.SECRET
    if last in ("key", "keys"):
        if before in _KEYS:
            return Name.SECRET
        return Name.NOTHING if before in _HARMLESS_KEYS or not before else Name.KEY
    if last in ("id", "sid") and before in ("session", "sess", "connect"):
        return Name.KEY
    if last in ("auth", "authorization", "session", "sessionid", "phpsessid", "jsessionid", "sessid", "sid", "cookie"):
        return Name.KEY
    return Name.NOTHING


def _find_quoted_span(data: bytes, opening: re.Match[bytes]) -> tuple[int, int] | None:
    start = opening.end()
    escapes, quote = opening.group(1), opening.group(2)
    if not escapes:
        content = _CLOSING[quote[0]].match(data, start)
        end = content.end() if content else start
        return (start, end) if data[end : end + 1] == quote else None
    end = data.find(escapes + quote, start)
    return (start, end) if end >= 0 and data.find(b"\n", start, end) < 0 else None


def _trim_brackets(data: bytes, start: int, end: int) -> int:
    """Returns the end of an unquoted value without trailing brackets and full stops that belong to the text around
    it."""
    head = data[start : min(end, start + LOOKED_AT)]
    for _ in range(_MOST_CLOSING):
        last = data[end - 1 : end]
        if end == start or not (last in b".,:;" or (last in b")]}" and _OPENS[last] not in head)):
            break
        end -= 1
    return end


def _in_element(data: bytes, start: int) -> bool:
    """Tells whether a name stands within the brackets of an element, or in the `<key>` of a property list."""
    if data.startswith(b"<key>", max(0, start - 5)):
        return True
    return data.rfind(b"<", max(0, start - 200), start) > data.rfind(b">", max(0, start - 200), start)


_LINE_CONTEXT = re.compile(
    rb"(?:ENV|ARG|machine|login|(?:create|alter) (?:role|user)|identified by|export|requirepass|masterauth)\b",
    re.IGNORECASE,
)

# The path of a file: `PASS src/cart1.test.ts`, as test runners print it, names no password.
_FILE = re.compile(rb"[\w@.-]+(?:/[\w@.-]+)+\.[A-Za-z]{1,5}(?:::\S+)?")


def _names_value(data: bytes, start: int) -> bool:
    """Tells whether the text before a name in its line shows that a value follows after a blank: `ENV NAME value`."""
    line = data.rfind(b"\n", max(0, start - 120), start) + 1
    return _LINE_CONTEXT.search(data, max(line, start - 120), start) is not None


def _is_bare_secret(data: bytes, start: int, end: int, form: str, value: bytes, value_end: int, kind: Name) -> bool:
    if form == "call":
        return False
    ends_line = data[value_end : value_end + 1] in (b"", b"\n", b"\r")
    if form == "default":  # only the shell's `${NAME:-value}` has unquoted values
        return data[end : end + 2] == b":-" and _is_secret(value, kind, code=True)
    if form == "blank":
        if value.isalpha() and (value.islower() or value[1:].islower()):
            return False
        line = data.rfind(b"\n", max(0, start - 120), start) + 1
        alone = ends_line and not data[max(line, start - 120) : start].strip() and not _FILE.fullmatch(value)
        if data[start : start + 1] == b"-" or _names_value(data, start) or alone:
            return _is_secret(value, kind, code=True, person=data[start : start + 1] == b"-")
        if kind >= Name.SECRET and is_strongly_random(value, 16) and len(set(value)) > 8:
            return any(65 <= byte <= 90 for byte in value) and any(97 <= byte <= 122 for byte in value)
        return False
    of_yaml = ends_line and data[end : end + 2] == b": "
    of_environment = data[start:end].isupper() and data[end : end + 1] == b"="
    return _is_secret(value, kind, code=True, person=of_yaml or of_environment)


def _is_secret(value: bytes, kind: Name, *, code: bool, person: bool = True) -> bool:
    """Tells whether the value of a name is a credential.

    Args:
        code: the value may be an expression of a language.
        person: the value may be a password made up by a person.
    """
    if b"%" in value:
        value = unquote_to_bytes(value)  # `a%20secret` consists of words
    least = 6 if kind is Name.PASSWORD and person else 8
    if len(value) < least or is_placeholder(value) or _CODE.search(value) or _HASH.match(value):
        return False
    if _CONSTANT.fullmatch(value) and word_share(value) >= 0.3:
        return False
    if code and _CHAIN.fullmatch(value):
        longest = max(re.split(rb"\W+", value), key=len)
        if not _HAS_DIGIT.search(value) or len(longest) < LONGEST_ATTRIBUTE:
            return False
    if code and (_CALLED.fullmatch(value) or ((call := _CALL.match(value)) and not is_random(call.group()))):
        return False
    if b" " in value:  # of a credential such as `Bearer …`, one of few pieces is random
        pieces = value.split(b" ")
        return kind >= Name.SECRET and len(pieces) <= 4 and any(is_random(piece) for piece in pieces)
    if kind is Name.KEY:
        return _UUID.fullmatch(value) is None and is_strongly_random(value, 16)
    if is_random(value):
        return True
    if kind is not Name.PASSWORD:
        return False
    return is_human_password(value, identifiers=person) if not code or person else is_human_password(value)
