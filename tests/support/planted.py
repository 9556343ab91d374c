"""What is planted to see whether it leaves: kinds of credentials, shapes in which they stand, places that hold them.

A kind makes a credential at run time. A shape writes it into a text, as people and programs do. A place is a file, a
name or an argument of a call. Who writes the rules does not read the others, in `held_out_credentials.py`.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal
from uuid import UUID
from zlib import crc32

from support.credentials import ALPHANUMERIC, BASE64, MAKERS, drawn, private_key

HEX = "0123456789abcdef"
DIGITS = string.digits
URL_SAFE = ALPHANUMERIC + "-_"

PIECE = 12
"""Characters of a credential in one piece that count as a leak."""

Form = Literal["value", "look", "text", "block"]
"""`value`: known by a name before it; `look`: by its own look; `text`: by what comes with it; `block`: many lines."""


@dataclass(frozen=True)
class Kind:
    """A kind of credential. `around`: what it comes with, `{}` for itself."""

    name: str
    form: Form
    make: Callable[[Random], str]
    around: str = "{}"

    def text(self, credential: str) -> str:
        """The credential with what it comes with."""
        return self.around.replace("{}", credential)


@dataclass(frozen=True)
class Shape:
    """A way to write a credential. `written` returns the text, and what of it is secret."""

    name: str
    group: int  # number in the list of what leaked
    path: str  # where such a text would stand, "" if anywhere
    forms: tuple[Form, ...]
    written: Callable[[str, str], tuple[str, Sequence[str]]]  # (credential, the same with what it comes with)
    fits: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True)
class Place:
    """A place that holds credentials, one an item. `words`: a call in which one is typed."""

    name: str
    named: str  # around a value, with a name that tells what it is
    free: str  # around what is known by itself
    block: str = ""  # around a text of many lines; "" if it holds one line only
    path: str = ""  # the file that holds the items, or ends with `/`: a file for each
    whole: Callable[[Sequence[str]], str] = "\n".join
    words: tuple[str, ...] = ()
    git: str = ""  # what of git holds it, for a place that is no content
    fits: Callable[[str], bool] = field(default=lambda _: True)

    def item(self, kind: Kind, credential: str) -> str | None:
        """The text that holds it here, or None where it cannot stand here."""
        text = kind.text(credential)
        if not self.fits(text):
            return None
        around = self.block if "\n" in text else self.named if kind.form == "value" else self.free
        return around.replace("{}", text) if around else None


def pieces(secret: str) -> Iterator[str]:
    """What of a secret must not leave: every piece of 12 characters behind its first sixth, else all of it."""
    for line in secret.split("\n"):
        first = len(line) // 6
        if len(line) < first + PIECE:
            yield from [line] * (len(line) >= 6)
        else:
            yield from (line[start : start + PIECE] for start in range(first, len(line) - PIECE + 1))


def secrets_of(credential: str) -> list[str]:
    """What of a credential is secret: of a private key the lines that are neither label, header nor public."""
    lines = credential.replace("\\n", "\n").split("\n")
    secret = [line for line in lines if len(line) > 30 and not line.startswith(("-----", "AAAA")) and ": " not in line]
    return [credential] if len(lines) == 1 else secret


# Kinds


def key_block(label: str, size: int = 12, head: str = "") -> Callable[[Random], str]:
    """A maker of private keys with another label than RSA."""

    def make(random: Random) -> str:
        body = "\n".join(drawn(random, 64, BASE64) for _ in range(size))
        return f"-----BEGIN {label}-----\n{head}{body}\n-----END {label}-----"

    return make


def putty_key(random: Random) -> str:
    """A key as PuTTY keeps it: the public line stays and shares nothing with the private ones."""
    public, *lines = (drawn(random, 64, BASE64) for _ in range(15))
    return (
        "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: deploy\nPublic-Lines: 6\n"
        f"AAAAB3NzaC1yc2E{public[15:]}\nPriv" + f"ate-Lines: {len(lines)}\n" + "\n".join(lines)
    )


def human(random: Random) -> str:
    """A password as people make them: 12 characters, a word with digits in it and a symbol."""
    return random.choice(("Tr0ub", "Summ3r", "C0rect", "Kett1e")) + random.choice("&!*+") + drawn(random, 5)


def url_with(
    password: Callable[[Random], str], around: str = "postgres://app:{}@db.internal:5432/app"
) -> tuple[Callable[[Random], str], str]:
    return password, "DATABASE_URL=" + around


def holding(word: str) -> Callable[[Random], str]:
    """A maker of values that hold a word of examples somewhere."""
    return lambda r: drawn(r, 9) + word + drawn(r, 11)


_SERVICE_ACCOUNT = (
    '{"type": "service_account", "project_id": "shop", "private_key_id": "1", "private_key": "-----BEGIN PRIVATE '
    + 'KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n", "client_email": "a@shop.iam.gserviceaccount.com"}'
)

LOOKS: dict[str, Callable[[Random], str]] = {name: make for name, make in MAKERS.items() if name != "private-key"} | {
    "sendgrid": lambda r: f"SG.{drawn(r, 22)}.{drawn(r, 43)}",
    "twilio": lambda r: "SK" + drawn(r, 32, HEX),
    "shopify": lambda r: "shpat_" + drawn(r, 32, HEX),
    "digitalocean": lambda r: "dop_v1_" + drawn(r, 64, HEX),
    "linear": lambda r: "lin_api_" + drawn(r, 40),
    "databricks": lambda r: "dapi" + drawn(r, 32, HEX),
    "doppler": lambda r: "dp.pt." + drawn(r, 43),
    "postman": lambda r: f"PMAK-{drawn(r, 24, HEX)}-{drawn(r, 34, HEX)}",
    "age": lambda r: "AGE-SECRET-KEY-1" + drawn(r, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "grafana": lambda r: f"glsa_{drawn(r, 32)}_{drawn(r, 8, HEX)}",
    "github-fine-grained": lambda r: "github_pat_" + drawn(r, 22) + "_" + drawn(r, 59),
    "discord-bot": lambda r: f"M{drawn(r, 23)}.{drawn(r, 6)}.{drawn(r, 38, URL_SAFE)}",
    "telegram-bot": lambda r: "7" + drawn(r, 9, DIGITS) + ":AA" + drawn(r, 33, URL_SAFE),
    "mailgun": lambda r: "key-" + drawn(r, 32, HEX),
    "square": lambda r: "EAAA" + drawn(r, 60, URL_SAFE),
    "heroku": lambda r: "HRKU-" + "AA" + drawn(r, 58, URL_SAFE),
    "vault": lambda r: "hvs." + "CAESI" + drawn(r, 90),
    "terraform-cloud": lambda r: drawn(r, 14) + ".atlasv1." + drawn(r, 67),
    "docker-pat": lambda r: "dckr_pat_" + drawn(r, 27, URL_SAFE),
    "atlassian": lambda r: "ATATT3" + drawn(r, 186, URL_SAFE),
    "figma": lambda r: "figd_" + drawn(r, 40, URL_SAFE),
    "notion": lambda r: "ntn_" + drawn(r, 11, DIGITS) + drawn(r, 35),
    "supabase": lambda r: "sbp_" + drawn(r, 40, HEX),
    "planetscale": lambda r: "pscale_tkn_" + drawn(r, 43, URL_SAFE),
    "sentry": lambda r: "sntrys_" + drawn(r, 100),
    "new-relic": lambda r: "NRAK-" + drawn(r, 27, string.ascii_uppercase + DIGITS),
}
"""Credentials known by their own look."""

VALUES: dict[str, Callable[[Random], str]] = {
    "random-20": lambda r: drawn(r, 20),
    "symbols": lambda r: (
        f"{drawn(r, 4)}${drawn(r, 3)}#{drawn(r, 3)}?{drawn(r, 3)}:{drawn(r, 3)},{drawn(r, 3)}({drawn(r, 4)}"
    ),
    "blank-inside": lambda r: f"{drawn(r, 8)} {drawn(r, 9)}",
    "human": human,
    "hex-32": lambda r: drawn(r, 32, HEX),
    "hex-40": lambda r: drawn(r, 40, HEX),
    "hex-64": lambda r: drawn(r, 64, HEX),
    "base64-44": lambda r: base64.b64encode(r.randbytes(32)).decode(),
    "uuid": lambda r: str(UUID(int=r.getrandbits(128), version=4)),
    "long-201": lambda r: drawn(r, 201),
    "long-900": lambda r: drawn(r, 900, BASE64),
    "holds-xxxx": holding("xxxx"),
    "holds-dots": holding("..."),
    "holds-your": holding("your"),
    "holds-insert": holding("insert"),
    "holds-example": holding("example"),
    "datadog": lambda r: drawn(r, 40, HEX),
}
"""Credentials known by a name that stands before them."""

TEXTS: dict[str, tuple[Callable[[Random], str], str]] = {
    "aws-secret-key": (lambda r: drawn(r, 40, BASE64), "aws_secret_access_key = {}"),
    "bearer-40": (lambda r: drawn(r, 40), "Authorization: Bearer {}"),
    "bearer-4500": (lambda r: drawn(r, 4500), "Authorization: Bearer {}"),
    "basic-header": (lambda r: base64.b64encode(f"ada:{drawn(r, 18)}".encode()).decode(), "Authorization: Basic {}"),
    "azure-storage": (
        lambda r: base64.b64encode(r.randbytes(64)).decode(),
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    "azure-sas": (
        lambda r: (
            base64.b64encode(r.randbytes(32)).decode().replace("/", "%2F").replace("+", "%2B").replace("=", "%3D")
        ),
        "https://shop.blob.core.windows.net/a?sv=2024-11-04&ss=b&srt=o&sp=r&se=2027-01-01T00:00:00Z&sig={}",
    ),
    "gcp-service-account": (
        lambda r: "\\n".join(drawn(r, 64, BASE64) for _ in range(12)),
        _SERVICE_ACCOUNT,
    ),
    "sentry-dsn": (lambda r: drawn(r, 32, HEX), "https://{}@o4507.ingest.sentry.io/4507"),
    "slack-webhook": (
        lambda r: f"T{drawn(r, 8)}/B{drawn(r, 10)}/".upper() + drawn(r, 24),
        "https://hooks.slack.com/services/{}",
    ),
    "url-plain": url_with(lambda r: drawn(r, 14)),
    "url-dollar": url_with(lambda r: "$" + drawn(r, 13)),
    "url-percent": url_with(lambda r: "%" + drawn(r, 13)),
    "url-brace": url_with(lambda r: "{" + drawn(r, 13)),
    "url-star": url_with(lambda r: "*" + drawn(r, 13)),
    "url-your": url_with(lambda r: "Your" + drawn(r, 12)),
    "url-slash": url_with(lambda r: drawn(r, 7) + "/" + drawn(r, 7)),
    "url-at": url_with(lambda r: drawn(r, 7) + "@" + drawn(r, 7)),
    "url-of-email": url_with(lambda r: drawn(r, 14), "https://ada@example.com:{}@git.internal/shop.git"),
    "url-token": url_with(lambda r: drawn(r, 26), "https://{}@git.internal/shop.git"),
}
"""Credentials known by what they come with."""

BLOCKS: dict[str, Callable[[Random], str]] = {
    "private-key": private_key,
    "private-key-pkcs8": key_block("PRIVATE " + "KEY"),
    "private-key-ec": key_block("EC PRIVATE " + "KEY", 3),
    "private-key-openssh": key_block("OPENSSH PRIVATE " + "KEY", 20),
    "private-key-encrypted": key_block(
        "RSA PRIVATE " + "KEY", 12, "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
    ),
    "private-key-pgp": key_block("PGP PRIVATE KEY " + "BLOCK", 20, "\n"),
    "private-key-putty": putty_key,
}
"""Credentials of many lines."""

KINDS = (
    *(Kind(name, "look", make) for name, make in LOOKS.items()),
    *(Kind(name, "value", make) for name, make in VALUES.items()),
    *(Kind(name, "text", make, around) for name, (make, around) in TEXTS.items()),
    *(Kind(name, "block", make) for name, make in BLOCKS.items()),
)

# Shapes


def in_quotes(value: str) -> bool:
    """A value that can stand between quotes as it is."""
    return not set(value) & set("\"'\\`<&\n")


def no_blank(value: str) -> bool:
    """A value that ends at a blank."""
    return in_quotes(value) and " " not in value


def in_line(value: str) -> bool:
    """A value that goes to the end of its line."""
    return in_quotes(value) and " #" not in value


def in_url(value: str) -> bool:
    """A value that is percent-coded in no place of a URL."""
    return no_blank(value) and not set(value) & set("$#?,(/+=@:%")


def in_shell(value: str) -> bool:
    """A value that a shell takes without quotes."""
    return no_blank(value) and not set(value) & set("$#?(*&;|!")


def in_csv(value: str) -> bool:
    """A value without what separates fields."""
    return no_blank(value) and not set(value) & set(":;,")


def named(name: str, path: str, template: str, fits: Callable[[str], bool] = in_quotes, group: int = 3) -> Shape:
    """A shape with a name that tells what the value is; a key of known look may stand there as well."""

    def written(credential: str, _: str) -> tuple[str, Sequence[str]]:
        return template.replace("{}", credential), [credential]

    return Shape(name, group, path, ("value", "look"), written, fits)


def free(name: str, path: str, template: str, group: int = 0) -> Shape:
    """A shape that tells nothing of what stands in it."""

    def written(credential: str, text: str) -> tuple[str, Sequence[str]]:
        return template.replace("{}", text), secrets_of(credential)

    return Shape(name, group, path, ("look", "text"), written)


def in_json(
    name: str, value: Callable[[str], object], *, group: int = 3, forms: tuple[Form, ...] = ("value",)
) -> Shape:
    """A shape inside JSON, which is written by a program."""

    def written(credential: str, text: str) -> tuple[str, Sequence[str]]:
        return json.dumps(value(text)), secrets_of(credential)

    return Shape(name, group, "a.json", forms, written)


def key_lines(name: str, path: str, line: Callable[[int, str], str], cut: slice = slice(None)) -> Shape:
    """A private key whose lines are written each in a way, or some of them."""

    def written(credential: str, _: str) -> tuple[str, Sequence[str]]:
        secret = set(secrets_of(credential))
        lines = credential.split("\n")[cut]
        return "\n".join(map(line, range(1, len(lines) + 1), lines)), [one for one in lines if one in secret]

    return Shape(name, 2, path, ("block",), written)


def altered(
    name: str, path: str, template: str, alter: Callable[[str], str], forms: tuple[Form, ...] = ("value",)
) -> Shape:
    """A value of which a program or a person altered how it is written; altered, it must not leave either."""

    def written(credential: str, _: str) -> tuple[str, Sequence[str]]:
        other = alter(credential)
        return template.replace("{}", other), [other]

    return Shape(name, 9, path, forms, written, no_blank)


def halves(name: str, path: str, template: str, forms: tuple[Form, ...] = ("value", "look")) -> Shape:
    """A credential in two parts: `{1}` and `{2}`."""

    def written(credential: str, _: str) -> tuple[str, Sequence[str]]:
        half = len(credential) // 2
        first, second = credential[:half], credential[half:]
        return template.replace("{1}", first).replace("{2}", second), [first, second]

    return Shape(name, 9, path, forms, written, no_blank)


def line_in_base64(credential: str, _: str) -> tuple[str, Sequence[str]]:
    """A line of a file of settings, as a secret of Kubernetes holds it."""
    coded = base64.b64encode(f"DB_PASSWORD={credential}\n".encode()).decode()
    return f"apiVersion: v1\nkind: Secret\ndata:\n  .env: {coded}\n", [coded[16:]]


def underscores(sign: str) -> Callable[[str], str]:
    """Writes underscores otherwise; there is one in every value."""

    def alter(value: str) -> str:
        value = value if "_" in value else f"{value[:8]}_{value[8:]}"
        return value.replace("_", sign)

    return alter


_CURL = 'curl -H "{}" https://api.internal/v1'

SHAPES = (
    # 0: as it is
    free("bare", "", "{}"),
    free("in-sentence", "README.md", "Use {} for the deployment, and nothing else."),
    free("in-code", "a.py", 'client = Client("{}")'),
    free("in-comment", "a.go", "// until monday: {} (ask Mei)"),
    free("in-log", "a.log", "2026-11-25T12:00:01Z ERROR refused: {} from 10.0.0.7"),
    free("in-backticks", "a.md", "It is `{}`."),
    in_json(
        "in-json-text",
        lambda text: [{"role": "user", "content": f"why is this refused?\n{text}\n"}],
        group=0,
        forms=("look", "text", "block"),
    ),
    # 2: private keys of which a part is seen, or whose lines begin with something
    key_lines("key-whole", "id_rsa", lambda _, line: line),
    key_lines("key-in-yaml", "a.yaml", lambda number, line: ("key: |\n" if number == 1 else "") + f"    {line}"),
    key_lines(
        "key-middle-of-hunk",
        "a.diff",
        lambda number, line: (
            f"@@ -9,5 +9,5 @@\n {line}" if number == 1 else ("-" if number == 3 else "+" if number == 4 else " ") + line
        ),
        slice(2, 8),
    ),
    key_lines("key-deleted", "a.diff", lambda _, line: "-" + line),
    key_lines("key-without-begin", "a.txt", lambda _, line: line, slice(2, None)),
    key_lines("key-without-end", "a.txt", lambda _, line: line, slice(None, -2)),
    key_lines("key-behind-time", "a.log", lambda _, line: f"[2026-11-25 12:00:01] {line}"),
    key_lines("key-behind-service", "a.log", lambda _, line: f"web_1  | {line}"),
    key_lines("key-behind-journald", "a.log", lambda _, line: f"Nov 25 12:00:01 host app[417]: {line}"),
    key_lines(
        "key-behind-blame", "", lambda number, line: f"a1b2c3d4 (Mei Lin 2026-11-25 12:00:01 +0000 {number:3}) {line}"
    ),
    key_lines("key-behind-arrow", "", lambda number, line: f"{number:6}→{line}"),
    key_lines("key-in-strings", "a.py", lambda _, line: f'    "{line}\\n"'),
    # 3: a value behind its name
    named("env", ".env", "DB_PASSWORD={}", no_blank),
    named("env-lower", ".env", "db_password={}", no_blank),
    named("env-quoted", ".env", 'DB_PASSWORD="{}"'),
    named("export-and-more", "run.sh", "export DEPLOY_TOKEN={} && make deploy", in_shell),
    named("comment-behind", ".env", "DB_PASSWORD={} # prod", no_blank),
    named("docker-run", "run.sh", "docker run -e DB_PASSWORD={} -p 80:80 web", in_shell),
    named("before-command", "run.sh", "DB_PASSWORD={} ./run.sh --fast", in_shell),
    in_json("json-content", lambda text: {"content": f"DB_PASSWORD={text}"}),
    in_json("json-field", lambda text: {"user": "ada", "password": text}, forms=("value", "look")),
    in_json(
        "json-tool-input",
        lambda text: {"type": "tool_use", "name": "Bash", "input": {"command": f"export API_TOKEN='{text}' && make"}},
    ),
    in_json(
        "json-envelope",
        lambda text: {
            "session_meta": {"id": "1"},
            "target_snapshot": {"content": f"# Setup\n\nAPI_SECRET={text}\n\nThen start it."},
        },
    ),
    named("string-of-code", "a.py", 'run("DB_PASSWORD={} ./run.sh", shell=True)', in_shell),
    named("saved-scenario", "a.scenario.toml", 'query = "why does DB_PASSWORD={} fail"', no_blank),
    named("python", "a.py", 'password = "{}"'),
    named("python-argument", "a.py", 'connect(user="ada", password="{}", port=5432)'),
    named("typescript", "a.ts", 'const password: string = "{}";'),
    named("javascript-object", "a.js", "module.exports = { user: 'ada', password: '{}' };"),
    named("go-field", "a.go", '\tPassword: "{}",'),
    named("getenv-default", "a.py", 'os.getenv("DB_PASSWORD", "{}")'),
    named("environ-default", "a.py", 'os.environ.get("API_KEY", "{}")'),
    named("js-env-default", "a.js", "const apiKey = process.env.API_KEY || '{}';"),
    named("yaml", "a.yaml", "database:\n  user: ada\n  password: {}\n  port: 5432", no_blank),
    named("yaml-quoted", "a.yaml", "  api_key: '{}'"),
    named("compose-list", "compose.yaml", "    environment:\n      - DB_PASSWORD={}\n      - PORT=1", no_blank),
    named("ini", "a.ini", "[db]\nuser = ada\npassword = {}", in_line),
    named("properties", "a.properties", "spring.datasource.password={}", in_line),
    named("netrc", ".netrc", "machine api.internal login ada password {}", no_blank),
    named("pgpass", ".pgpass", "db.internal:5432:app:ada:{}", in_csv),
    named("dockerfile-blank", "Dockerfile", "FROM python:3.12\nENV DB_PASSWORD {}", no_blank),
    named("dockerfile-equals", "Dockerfile", "ENV PORT=1 DB_PASSWORD={} DEBUG=0", no_blank),
    named("kubernetes", "deploy.yaml", '        - name: DB_PASSWORD\n          value: "{}"'),
    named("terraform", "a.tf", 'variable "db_password" {\n  type    = string\n  default = "{}"\n}'),
    named("xml-element", "a.xml", "<server><username>ada</username><password>{}</password></server>"),
    named("xml-attribute", "a.config", '<add key="DbPassword" value="{}" />'),
    named("jdbc", "a.properties", "url=jdbc:postgresql://db/app?user=ada&password={}", in_url),
    named("ado", "appsettings.json", '"Default": "Server=db;User Id=ada;Password={};Encrypt=true"', in_csv),
    named("flag-equals", "", "$ tool login --user ada --password={} --host db", in_shell),
    named("flag-blank", "", "$ tool deploy --token {} --prod", in_shell),
    named("private-token", "", _CURL.replace("{}", "PRIVATE-TOKEN: {}"), no_blank),
    named("api-key-header", "a.http", "POST /v1 HTTP/1.1\nX-Api-Key: {}\nAccept: */*", no_blank),
    named("bearer-header", "", _CURL.replace("{}", "Authorization: Bearer {}"), no_blank),
    named("bearer-bare", "a.log", "sent Bearer {} to api.internal", no_blank),
    named("cookie", "a.http", "Cookie: session={}; theme=dark", in_csv),
    named("set-cookie", "a.http", "Set-Cookie: sessionid={}; Path=/; HttpOnly", in_csv),
    named("query-of-url", "a.log", '"GET /api/orders?access_token={}&page=2 HTTP/1.1" 200', in_url),
    # 5: one in a URL
    named("url-token-alone", "a.sh", "git clone https://{}@git.internal/shop.git", in_url, 5),
    named("url-token-as-password", "a.sh", "git clone https://oauth2:{}@git.internal/shop.git", in_url, 5),
    # 8: it stands bare elsewhere
    named("again-behind", "", 'password = "{}"\n\n\nERROR login of ada with {} failed', no_blank, 8),
    named("again-before", "", 'tried {} first\n\npassword = "{}"\n', no_blank, 8),
    # 9: written otherwise
    halves("two-lines", "a.py", 'password = "{1}\\\n{2}"'),
    halves("two-strings", "a.py", 'password = "{1}" + "{2}"'),
    halves("two-strings-below", "a.py", 'password = (\n    "{1}"\n    "{2}"\n)'),
    halves("ansi-inside", "a.log", "password={1}\x1b[0m\x1b[31m{2}\x1b[0m"),
    halves("zero-width-inside", "", "password: {1}\u200b{2}"),
    Shape("base64-of-line", 9, "secret.yaml", ("value",), line_in_base64, no_blank),
    altered("percent", "", "https://api.internal/?access_token={}&a=1", underscores("%5F")),
    altered("entity", "a.html", "<li>password: {}</li>", underscores("&#95;")),
    altered("backslash", "a.md", "The password: {} is new.", underscores("\\_")),
    altered("json-escape", "a.json", '{"password": "{}"}', underscores("\\u005f")),
    altered("percent-look", "", "GET /login?next={}&a=1", lambda value: value.replace("_", "%5F"), ("look",)),
    altered("backslash-look", "a.md", "Use {} here.", lambda value: value.replace("_", "\\_"), ("look",)),
)

# Places


def source(open_line: str, close: str = "", comment: str = "# {}") -> Callable[[Sequence[str]], str]:
    """Items in functions of eight."""

    def whole(items: Sequence[str]) -> str:
        return "\n\n".join(
            f"{comment.replace('{}', 'Connects the storage of refunds.')}\n{open_line.replace('{}', str(number))}\n"
            + "\n".join(part)
            + (f"\n{close}" if close else "")
            for number, part in enumerate(items[start : start + 8] for start in range(0, len(items), 8))
        ) + "\n"  # fmt: skip

    return whole


def messages(shape: Callable[[str], Sequence[object]]) -> Callable[[Sequence[str]], str]:
    """A transcript with the items, a message a line."""

    def whole(items: Sequence[str]) -> str:
        filler = "The storage of refunds answers slowly. " * 20
        lines = [{"role": "user", "content": "Why is the storage of refunds slow?"}]
        lines += [message for item in items for message in shape(item)]
        lines += [{"role": "assistant", "content": filler}, {"role": "user", "content": "And now?"}]
        return "\n".join(map(json.dumps, lines)) + "\n"

    return whole


def called(tool_input: str, result: str) -> Sequence[object]:
    """A call of a tool and its result."""
    call = {"id": f"call_{crc32((tool_input + result).encode())}", "type": "function"}
    call |= {"function": {"name": "run", "arguments": json.dumps({"command": tool_input})}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": result},
    ]


def envelope(section: str) -> Callable[[Sequence[str]], str]:
    """An envelope with the items in one of its sections."""

    def whole(items: Sequence[str]) -> str:
        sections: dict[str, object] = {name: {"note": "short"} for name in (
            "session_meta", "domain_profile", "normative_baseline", "target_snapshot", "dependency_digest",
            "tool_capabilities", "revision_info")}  # fmt: skip
        sections[section] = {"entries": [{"path": f"a/{n}.md", "content": item} for n, item in enumerate(items)]}
        return json.dumps(sections, indent=1)

    return whole


def cells(items: Sequence[str]) -> str:
    """A notebook with the items in its cells and outputs."""
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}}
    found = [
        cell | {"source": [item], "outputs": [{"output_type": "stream", "name": "stdout", "text": [item]}]}
        for item in items
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def findings(items: Sequence[str]) -> str:
    """What a linter printed."""
    return "".join(
        f"src/storage.py:{n}:1: S105 Possible hardcoded password: {item}\n" for n, item in enumerate(items, 1)
    )


def name_of_file(value: str) -> bool:
    """What can stand in the name of a file, a branch and a tag."""
    return len(value) < 120 and not set(value) & set(" /\\:?*\"'<>|~^$#(,=+%{@\n") and ".." not in value


def typed(value: str) -> bool:
    """What somebody types: no page."""
    return "\n" not in value and len(value) < 1000


PLACES = (
    Place(
        "python",
        '    password = "{}"',
        '    use("{}")',
        '    key = """\n{}\n"""',
        "src/storage.py",
        source("def connect_storage_{}():"),
    ),
    Place(
        "comment",
        "    # password = {}",
        "    # {}",
        path="src/comments.py",
        whole=lambda items: source("def storage_note_{}():", "    return 1")(items),
    ),
    Place(
        "docstring",
        '    """Storage: password={}"""',
        '    """Storage: {}"""',
        '    """Storage:\n{}\n    """',
        "src/docstrings.py",
        lambda items: (
            "\n\n".join(f"def storage_of_{n}():\n{item}\n    return {n}" for n, item in enumerate(items)) + "\n"
        ),
    ),
    Place(
        "typescript",
        '  const password: string = "{}";',
        '  use("{}");',
        "  const key = `\n{}\n`;",
        "src/storage.ts",
        source("export function openStorage{}() {", "}", "// {}"),
    ),
    Place(
        "go",
        '\tpassword := "{}"',
        '\tuse("{}")',
        "\tkey := `\n{}\n`",
        "src/storage.go",
        lambda items: "package storage\n\n" + source("func OpenStorage{}() {", "}", "// {}")(items),
    ),
    Place(
        "java",
        '    String password = "{}";',
        '    use("{}");',
        '    String key = """\n{}\n""";',
        "src/Storage.java",
        lambda items: "class Storage {\n" + source("  void open{}() {", "  }", "  // {}")(items) + "}\n",
    ),
    Place(
        "readme",
        "- The storage of refunds: `DB_PASSWORD={}`",
        "- The storage of refunds: `{}`",
        "```\n{}\n```",
        "README.md",
        lambda items: "# Storage of refunds\n\n" + "\n".join(items) + "\n",
    ),
    Place("env", "STORAGE_PASSWORD={}", "STORAGE={}", 'STORAGE_KEY="{}"', ".env.production"),
    Place(
        "yaml",
        "  password: {}",
        "  storage: {}",
        "  key: |\n{}",
        "deploy/storage.yaml",
        lambda items: "storage:\n" + "\n".join(items) + "\n",
    ),
    Place(
        "json",
        '{"password": "{}"}',
        '{"storage": "{}"}',
        path="deploy/storage.json",
        whole=lambda items: "[\n" + ",\n".join(items) + "\n]\n",
        fits=lambda value: '"' not in value and "\\" not in value,
    ),
    Place("notebook", 'password = "{}"\n', 'use("{}")\n', "{}\n", "notes/storage.ipynb", cells),
    Place(
        "dockerfile",
        "ENV STORAGE_PASSWORD {}",
        "RUN use {}",
        path="Dockerfile",
        whole=lambda items: "FROM python:3.12\n" + "\n".join(items) + "\n",
    ),
    Place("shell", "export STORAGE_TOKEN={} && make storage", "use '{}'", "cat > key <<E\n{}\nE", "deploy/storage.sh"),
    Place("terraform", 'variable "storage_password" {\n  default = "{}"\n}', "# storage {}", path="deploy/storage.tf"),
    Place(
        "commit-subject",
        "Storage: set DB_PASSWORD={} in refunds",
        "Storage of refunds: replace {}",
        git="subject",
        fits=typed,
    ),
    Place("commit-body", "It was DB_PASSWORD={} before.", "It was {} before.", "It was:\n{}", git="body"),
    Place("branch", "token={}", "{}", words=("chunk", "ROOT", "--base", "{}"), git="branch", fits=name_of_file),
    Place("tag", "token-{}", "{}", words=("status", "ROOT", "--rev", "{}"), git="tag", fits=name_of_file),
    Place("file-name", "password-{}.py", "{}.py", git="file", fits=name_of_file),
    Place("folder-name", "password-{}", "{}", git="folder", fits=name_of_file),
    Place(
        "diff-added",
        '    password = "{}"',
        '    use("{}")',
        '    key = """\n{}\n"""',
        "src/added.py",
        source("def storage_added_{}():"),
        git="changed",
    ),
    Place("diff-middle-of-key", "", "", "{}", git="key"),
    Place(
        "diff-deleted",
        '    password = "{}"',
        '    use("{}")',
        '    key = """\n{}\n"""',
        "src/deleted.py",
        source("def storage_deleted_{}():"),
        git="deleted",
    ),
    Place(
        "log", "12:00:01 ERROR storage refused DB_PASSWORD={}", "12:00:01 ERROR storage refused {}", "{}", "in/a.log"
    ),
    Place(
        "log-behind-service",
        "web_1  | ERROR storage password={}",
        "web_1  | ERROR storage {}",
        "{}",
        "in/b.log",
        lambda items: "\n".join("web_1  | " + line for line in "\n".join(items).split("\n")) + "\n",
    ),
    Place(
        "conversation-user",
        "The storage says DB_PASSWORD={} is wrong.",
        "The storage refused {} today.",
        "It is\n{}",
        "in/user.jsonl",
        messages(lambda item: [{"role": "user", "content": item}, {"role": "assistant", "content": "ok"}]),
    ),
    Place(
        "conversation-system",
        "Use DB_PASSWORD={} for the storage.",
        "Use {} for the storage.",
        "{}",
        "in/system.jsonl",
        messages(lambda item: [{"role": "system", "content": item}]),
    ),
    Place(
        "conversation-tool-input",
        "export STORAGE_TOKEN={} && make storage",
        "use '{}'",
        "cat <<E\n{}\nE",
        "in/tool-input.jsonl",
        messages(lambda item: called(item, "done")),
    ),
    Place(
        "conversation-tool-result",
        "storage: password={}",
        "storage: {}",
        "{}",
        "in/tool-result.jsonl",
        messages(lambda item: called("cat storage", item + "\n" + "ok\n" * 60)),
    ),
    Place("envelope-target", "STORAGE_PASSWORD={}", "storage {}", "{}", "in/target.json", envelope("target_snapshot")),
    Place(
        "envelope-digest", "STORAGE_PASSWORD={}", "storage {}", "{}", "in/digest.json", envelope("dependency_digest")
    ),
    Place("skill-file", "Use password={} to try the storage.", "Use {} to try the storage.", "{}", "in/SKILL.md"),
    Place("rules-file", "Use password={} to try the storage.", "Use {} to try the storage.", "{}", "CLAUDE.md"),
    Place("linter-file", "password = '{}'", "'{}'", path="in/linter.txt", whole=findings),
    Place(
        "typed-query",
        "storage DB_PASSWORD={}",
        "storage {}",
        words=("search", "{}", "ROOT", "--format", "json"),
        fits=typed,
    ),
    Place(
        "saved-query",
        "storage DB_PASSWORD={}",
        "storage {}",
        words=("search", "{}", "ROOT", "--format", "markdown", "--save", "SAVED", "--report", "REPORT"),
        fits=typed,
    ),
    Place(
        "typed-only", "password-{}/*", "{}/*", words=("search", "storage", "ROOT", "--only", "{}"), fits=name_of_file
    ),
    Place("typed-pin", "password-{}", "{}", words=("search", "storage", "ROOT", "--pin", "{}"), fits=typed),
    Place("missing-path", "password-{}", "{}", words=("files", "{}", "--query", "storage"), fits=name_of_file),
    Place("missing-log", "token={}.log", "{}.log", words=("log", "{}", "--format", "json"), fits=name_of_file),
    Place("missing-revision", "token={}", "{}", words=("chunk", "ROOT", "--base", "{}"), fits=name_of_file),
    Place("wrong-setting", "llm.password={}", "llm.key={}", words=("config", "ROOT", "--set", "{}"), fits=typed),
    Place("wrong-flag", "--password={}", "--use={}", words=("search", "storage", "ROOT", "{}"), fits=typed),
)
