"""Our own rules, which always run. They recognise credentials by their beginning, by the text before them, or by both.
Pure: bytes in, spans out.

A rule first finds one of its `needles` with `bytes.find`; every match contains one. It then matches a pattern there
whose repetitions are possessive or, in most cases, bounded. A long run of bytes without a credential is not read again,
so the time is linear for any content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from secateur.redaction.named_values import find_named_values
from secateur.redaction.private_keys import find_private_keys
from secateur.redaction.spans import CredentialSpan
from secateur.redaction.value_looks import (
    MOST_JUDGED,
    entropy,
    is_basic,
    is_distinctive,
    is_human_password,
    is_mixed,
    is_placeholder,
    is_random,
    is_sequence,
    is_strongly_random,
    word_share,
)

__all__ = ["RULES_VERSION", "find_credentials", "is_distinctive"]

RULES_VERSION = 7  # increase it when the spans of the same content change
_WORD_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_ESCAPES = frozenset(b"nrt")

LEAST_TOKEN = 20  # least bytes of a provider's token, with its prefix
# Turns all bytes that tokens never contain into blanks: only the few words as long as a token are searched.
_WORD_SIGNS = bytes(byte if re.match(rb"[A-Za-z0-9_.~%:/+=*-]", bytes((byte,))) else 0x20 for byte in range(256))

LEAST_WORD = 10  # least letters of a URL's password that consists of letters only, but not of words
LONG_RUN = 200  # a longer match without a credential is skipped as a whole; the search does not continue inside it
_RUN = re.compile(rb"[\w.~+/=:-]*+")

_compile = cache(re.compile)  # at the first needle of a rule: most runs meet hardly any, and compiling all takes 15 ms


class CredentialRule(Struct, frozen=True):
    """A rule. Its pattern is matched at each of its needles; the last group is the credential, or the whole
    match if there is no group.

    Attributes:
        at_word_start: no letter, digit or underscore may precede the needle, except the letter of an escape.
        is_credential: judges the matched value.
        context: a text in lower case that the content must also contain; b"" for none. Only `find_tokens` checks it.
    """

    name: str
    needles: tuple[bytes, ...]
    pattern: bytes
    at_word_start: bool = True
    is_credential: Callable[[bytes], bool] | None = None
    context: bytes = b""


def find_credentials(data: bytes) -> list[CredentialSpan]:
    """Returns the credentials that our rules find, unordered; spans may overlap."""
    lower = data.lower()
    spans = [*find_private_keys(data), *find_tokens(data, lower)]
    for rule in _OTHER_RULES:
        for needle in rule.needles:
            spans += _apply_rule(rule, needle, data, lower)
    spans += _find_url_passwords(data)
    spans += _find_driver_passwords(data)
    spans += find_named_values(data, lower)
    return spans


def find_tokens(data: bytes, lower: bytes | None = None) -> list[CredentialSpan]:
    """Returns tokens of providers, JWTs, and passwords of Oracle and .pgpass. Most need no context, so they are
    recognised even in the name of a file. `lower`: the content in lower case, if the caller has it."""
    lower = data.lower() if lower is None else lower
    # Most long words of a file repeat, and each needle is searched in all of them.
    long_words = b" ".join({word: 0 for word in data.translate(_WORD_SIGNS).split() if len(word) >= LEAST_TOKEN})
    if not long_words:  # like most small files
        return []
    spans = [
        span
        for rule, needle in _TOKEN_NEEDLES
        if needle in long_words and rule.context in lower
        for span in _apply_rule(rule, needle, data, data)
    ]
    for name, context, pattern in _WITHOUT_BEGINNING:
        if context in lower and pattern.search(long_words):
            tokens = (CredentialSpan(*token.span(), name) for token in pattern.finditer(data))
            spans += [span for span in tokens if is_strongly_random(data[span.start : span.end])]
    if _PREFIXED.search(long_words):
        known_ends = {span.end for span in spans}  # found by a provider's rule, which a user may allow
        matches = (match for match in _PREFIXED.finditer(data) if match.end() not in known_ends and _is_prefixed(match))
        spans += [CredentialSpan(*match.span(), "token") for match in matches]
    return spans


def _apply_rule(rule: CredentialRule, needle: bytes, data: bytes, haystack: bytes) -> Iterator[CredentialSpan]:
    offset, found = haystack.find(needle), 0
    while offset >= 0:
        after = offset + len(needle)
        if not rule.at_word_start or _begins_word(data, offset):
            if (match := _compile(rule.pattern).match(data, offset)) is not None:
                group = match.lastindex or 0
                if rule.is_credential is None or found >= MOST_JUDGED or rule.is_credential(match.group(group)):
                    found += 1
                    yield CredentialSpan(*match.span(group), rule.name)
                    after = max(after, match.end(group))
                elif match.end() - offset > LONG_RUN:
                    after = match.end()
            elif (run := _RUN.match(data, offset)) and run.end() - offset > LONG_RUN:
                after = run.end()
        offset = haystack.find(needle, after)


def _begins_word(data: bytes, offset: int) -> bool:
    """Tells whether no word continues across an offset. The letter of an escape such as `\\n` does not count."""
    if offset == 0 or data[offset - 1] not in _WORD_BYTES:
        return True
    return offset > 1 and data[offset - 1] in _ESCAPES and data[offset - 2] == 0x5C


# --- tokens of providers ----------------------------------------------------------------------------------------------

# One rule per line: name, needles (every credential contains one), pattern, and optionally a context.
_TOKENS = Path(__file__).with_name("tokens.txt")


# Tokens that are known by the length of their parts: name, a text in lower case beside them, and pattern.
_WITHOUT_BEGINNING = (
    ("discord-token", b"", re.compile(rb"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-]|\.[\w-]{6})")),
    ("azure-devops-token", b"azdo", re.compile(rb"(?<![\w+/-])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![\w+/=-])")),
    ("azure-devops-token", b"azure", re.compile(rb"(?<![\w+/-])[a-z2-7]{52}(?![\w+/=-])")),
)


# A token of an unknown provider: a short prefix and one long random part.
_PREFIXED = re.compile(
    rb"(?<![\w.+/=%-])([A-Za-z]{2,12}(?:[_-][A-Za-z0-9]{1,10}){0,3}[_-])([A-Za-z0-9]{24,160})(?![\w+/=-])"
)

_DIGEST_PREFIX = re.compile(rb"(?i:sha\d|md5|blake)")
_CREDENTIAL_PREFIX = re.compile(rb"(?i)(?:\A|[_-])(?:key|token|secret|pat|sk|pk|live|api|oauth|access|refresh)[_-]")


def _is_prefixed(match: re.Match[bytes]) -> bool:
    """Tells whether the part after a prefix is random: with both cases and digits, or after a word such as `key`."""
    prefix, body = match.groups()
    if _DIGEST_PREFIX.match(prefix) or is_placeholder(body) or is_sequence(body) or word_share(body) >= 0.3:
        return False
    digits = sum(body.count(digit) for digit in b"0123456789")
    capitals = len(body) - digits - sum(0x61 <= byte <= 0x7A for byte in body)
    small = len(body) - digits - capitals
    if min(digits, capitals, small) >= 3:
        return entropy(body) >= 3.8
    return len(body) >= 32 and digits >= 4 and entropy(body) >= 3 and _CREDENTIAL_PREFIX.search(prefix) is not None


def _has_body(value: bytes) -> bool:
    body = max(re.split(rb"[-_.=:]", value), key=len) if len(value) < 200 else value
    if is_placeholder(value) or len(set(body.lower())) <= 5 or is_sequence(body):
        return False
    return any(48 <= byte <= 57 for byte in value) or (word_share(body) < 0.5 and len(set(body)) > 7)


def _parse_token_rules() -> Iterator[CredentialRule]:
    for line in _TOKENS.read_text("ascii").splitlines():
        name, needles, pattern, *context = line.split()
        whole_token = rf"(?:{pattern})(?![A-Za-z0-9])".encode()
        mixed = name in ("openai-key", "anthropic-key", "gitlab-token", "google-api-key")
        yield CredentialRule(
            name,
            tuple(needles.encode().split(b",")),
            whole_token,
            at_word_start=needles[0].isalnum() and not needles.endswith("Q~") and "AccountKey" not in needles,
            is_credential=is_mixed if mixed else _has_body,
            context=context[0].encode() if context else b"",
        )


def _is_password(value: bytes) -> bool:
    return not is_placeholder(value) and (is_random(value) or is_human_password(value))


def _is_random(value: bytes) -> bool:
    return not is_placeholder(value) and is_random(value)


def _until(flag: bytes) -> bytes:
    return rb"(?:[ \t]+(?!" + flag + rb")[^\s|;&]{1,80}+){0,12}+[ \t]+"


_AUTHORIZATION = (b"uthorization",)
_HEADER = rb"(?i:uthorization)\\*[\"']?[\]) \t]{0,4}[:=,][ \t]{0,8}f?\\*[\"']?"
_TOKEN = rb"([A-Za-z0-9._~+/=:-]{8,}+)"
_SCHEME = rb"(?!(?i:basic)[ \t])[A-Za-z][\w-]{0,30}+[ \t=]{1,4}\\*[\"']?"
_PARAMETERS = rb"[^\n?&]{0,300}?(?i:signature|mac|response|token)=\\*[\"']?"
_BASE64 = rb"([A-Za-z0-9+/_-]{8,}+={0,2}+)"
_ARGUMENT = rb"[\"']?([^\s\"'`\\]{8,}+)"
# A name and a password: `auth=("user", "…")`, `BasicAuth("user", "…")`, `smtp.login("user", "…")`.
_PAIR = (
    rb"(?i:auth(?:enticate)?|credentials?(?:\.basic)?|login)[\"']?[ \t]{0,4}(?:=>?|:)?[ \t]{0,4}[(\[][ \t]{0,4}"
    rb"(?:[bru]?[\"'][^\"'\n]{1,80}+[\"']|[\w.]{1,60}+(?:\(\))?),\s{0,40}+(?:Some\()?[bru]?[\"']"
    rb"(?!\w{1,12}+://|/[\w.-]{1,40}+/)([^\"'\\\n]{8,}+)[\"']"  # no address and no path
)

_TOKEN_RULES = (
    *_parse_token_rules(),
    CredentialRule(
        "password", (b"oracle:thin:",), rb"oracle:thin:[\w$#-]{1,60}+/([^\s@\"'`]{4,256}+)@", is_credential=_is_password
    ),
    CredentialRule(
        "password",
        (b":5432:", b":5433:", b":6432:", b":*:"),  # of .pgpass
        rb":(?:\d{4}|\*):[\w*.-]{1,64}+:[\w*.@-]{1,64}+:([^\s\"':]{8,}+)(?=\s|\\n|[\"']|\Z)",
        at_word_start=False,
        is_credential=_is_password,
    ),
    CredentialRule(
        "jwt",
        (b"eyJ",),
        (
            rb"eyJ[\w-]{10,}+\.eyJ[\w-]{8,}+\.[\w-]{16,}+"
            rb"|eyJ[\w-]{10,}+\.[\w-]{0,}+\.[\w-]{8,}+\.[\w-]{16,}+\.[\w-]{16,}+"
        ),
        is_credential=lambda value: b".eyJzdWIiOiIxMjM0NTY3ODkwIi" not in value,  # the example of jwt.io
    ),
)
_TOKEN_NEEDLES = tuple((rule, needle) for rule in _TOKEN_RULES for needle in rule.needles)

_OTHER_RULES = tuple(
    CredentialRule(name, tuple(needles), pattern, at_word_start=False, is_credential=judge)
    for name, needles, pattern, judge in (
        ("authorization", (b"earer ",), rb"(?i:earer)[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,}+)", is_random),
        ("authorization", _AUTHORIZATION, _HEADER + _TOKEN, _is_random),
        ("authorization", _AUTHORIZATION, _HEADER + _SCHEME + _TOKEN, _is_random),
        ("authorization", _AUTHORIZATION, _HEADER + _SCHEME + _PARAMETERS + _TOKEN, _is_random),
        ("authorization", _AUTHORIZATION, _HEADER + rb"(?i:basic)[ \t]{1,4}" + _BASE64, is_basic),
        (
            "authorization",
            (b"auth plain ", b"authenticate plain "),
            rb"(?i:auth(?:enticate)?) PLAIN " + _BASE64,
            is_basic,
        ),
        ("password", (b"mysql", b"mariadb"), rb"[a-z-]{5,27}+" + _until(b"-p") + rb"-p" + _ARGUMENT, _is_password),
        (
            "password",
            (b"sshpass", b"redis-cli", b"docker login", b"ldap"),  # ldapsearch and its like
            rb"[a-z_]{3,12}+(?:-cli)?" + _until(rb"-[paPw][ \t]") + rb"-[paPw][ \t]{0,2}" + _ARGUMENT,
            _is_password,
        ),
        (
            "password",
            (b" -u", b"-user", b'"-u"', b"curl -"),
            rb"(?:curl )?[\" -]?-(?:[A-Za-z]{0,4}u|user)[\", =]{0,4}[\"']?[^\s:\"'$<{]{1,80}+:(?!//)"
            rb"([^\s\"'`\\]{8,}+)",
            _is_password,
        ),
        (
            "password",
            (b"dentified by ", b"dentified with ", b"assword '"),
            rb"(?i:dentified (?:by|with \w{1,40}+ (?:by|as))|assword) \\*" + _ARGUMENT.replace(b"?", b"", 1),
            _is_password,
        ),
        (
            "password",
            (b"convertto-securestring",),
            rb"[A-Za-z-]{22}(?:[ \t]+-\w{5,11}+){0,3}+[ \t]+" + _ARGUMENT,
            _is_password,
        ),
        ("password", (b"auth", b"credential", b"login("), _PAIR, _is_password),
        (
            "password",
            (b"define(",),
            rb"define\([ ]?'[A-Z_]{4,11}_(?:KEY|SALT)',[ \t]{0,80}+'([^'\n]{32,}+)'",
            _is_random,
        ),
    )
)


# --- passwords in URLs ------------------------------------------------------------------------------------------------

# The text after `://`, up to the next `://`, so that no byte is read twice.
_AUTHORITY = re.compile(rb"(?:[^\s\"'`<>\\:|]|:(?!//)|\|(?![ \t|]))++")

_HOST = re.compile(
    rb"@(?:[A-Za-z0-9][A-Za-z0-9._-]*+|\[[0-9a-fA-F:.]++\]|\$?\{+[^{}]{1,60}\}+"
    rb"|\$\w++|tcp\(|unix\()(?=[:/?#,;)\]}&!.]|\Z)"
)
_DRIVER = re.compile(rb"@(?:tcp|unix)\(")
_VERSION = re.compile(rb"@v?\d+(?:\.\d+){1,2}")
_NOBODYS_HOST = re.compile(
    rb"@(?:[\w.-]*\.)?(?:example(?:\.(?:com|org|net|edu))?|localhost|127\.0\.0\.1|\[::1\]"
    rb"|(?:test|invalid|foo|bar)(?:\.com)?|\d\.\d\.\d\.\d"
    rb"|host(?:name)?|domain(?:\.\w+)?|server)(?=[^\w.-]|\Z)"
)


def _find_url_passwords(data: bytes) -> Iterator[CredentialSpan]:
    """Yields passwords and tokens before the `@` of a URL. A password may contain `/` and `@`, a name `@`."""
    offset = data.find(b"://")
    while offset >= 0:
        start = offset + 3
        offset = data.find(b"://", start)
        if data.find(b"@", start, offset if offset >= 0 else len(data)) < 0:
            continue
        if (match := _AUTHORITY.match(data, start)) is None:
            continue
        hosts = list(_HOST.finditer(data, start, match.end()))
        slash = data.find(b"/", start, match.end())
        colon = data.find(b":", start, match.end())
        if not hosts:
            continue
        if slash >= 0 and hosts[-1].start() > slash:  # a path may contain an `@` too
            port = re.compile(rb":\d{0,5}(?=/)").match(data, colon) if 0 <= colon < slash else None
            within = 0 <= colon < slash and (port is None or port.end() != slash)
            hosts = hosts if within else [host for host in hosts if host.start() < slash]
            if before := [host for host in hosts if host.start() < slash]:
                host = hosts[-1].group()
                is_host = host == b"@localhost" or (b"." in host and _VERSION.fullmatch(host) is None)
                hosts = hosts if is_host else before
        if not hosts:
            continue
        end = hosts[-1].start()
        if 0 <= colon < end:
            password = data[colon + 1 : end]
            name = data[start:colon]
            if len(name) >= 20 and is_strongly_random(name):
                yield CredentialSpan(start, colon, "url-password")
            if _is_url_password(name, password, hosts[-1].group()):
                yield CredentialSpan(colon + 1, end, "url-password")
        elif end - start >= 16 and is_strongly_random(data[start:end], 16):
            yield CredentialSpan(start, end, "url-password")


def _find_driver_passwords(data: bytes) -> Iterator[CredentialSpan]:
    """Yields passwords before the address of a Go driver: `user:password@tcp(host:3306)/name`."""
    offset = 0
    for address in _DRIVER.finditer(data):
        before = data[max(offset, data.rfind(b"\n", offset, address.start())) : address.start()]
        offset = address.end()
        name, colon, password = re.split(rb"[\s\"'`]|(?<![A-Za-z0-9+/])=|=(?=[\w.-]+:)", before)[-1].partition(b":")
        if colon and _is_url_password(name, password, b""):
            yield CredentialSpan(address.start() - len(password), address.start(), "url-password")


def _is_url_password(name: bytes, password: bytes, host: bytes) -> bool:
    if b"%" in password:
        password = unquote_to_bytes(password)  # `pa%20ssword` consists of words
    if len(password) < 3 or is_placeholder(password) or password.lower() == name.lower():
        return False
    if is_random(password):
        return True
    if _NOBODYS_HOST.match(host):
        return is_human_password(password)
    if password.isalpha() and len(password) < LEAST_WORD:
        return False
    has_digit = any(48 <= byte <= 57 for byte in password)
    return (has_digit or word_share(password) < 0.6) and len(set(password)) > 3 and not is_sequence(password)
