"""Texts that hold a credential, by their syntax, and texts that hold none. Credentials are drawn at run time."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable, Mapping
from random import Random
from urllib.parse import quote

from support.credentials import ALPHANUMERIC, BASE64, drawn, private_key

HEX = "0123456789abcdef"
URL_SAFE = ALPHANUMERIC + "-_"

VALUES: Mapping[str, Callable[[Random], str]] = {
    "letters and digits": lambda r: drawn(r, 24),
    "twelve signs": lambda r: drawn(r, 12),
    "hexadecimal": lambda r: drawn(r, 40, HEX),
    "base64": lambda r: drawn(r, 43, BASE64) + "=",
    "very long": lambda r: drawn(r, 5000),
    "words within": lambda r: f"{drawn(r, 9)}xxxx{drawn(r, 5)}your{drawn(r, 6)}...{drawn(r, 4)}example{drawn(r, 5)}",
}
"""Values that may stand in any syntax."""

ODD_VALUES: Mapping[str, Callable[[Random], str]] = {
    "signs": lambda r: f"{drawn(r, 5)}$#?{drawn(r, 4)}:,({drawn(r, 5)}",
    "begins with a dollar": lambda r: "$" + drawn(r, 13),
    "begins with a percent": lambda r: "%" + drawn(r, 13, "GHJKLMNPQRSTUVWXYZghjkmnpqrstuvwxyz23456789"),
    "begins with a brace": lambda r: "{" + drawn(r, 13),
    "begins with a star": lambda r: "*" + drawn(r, 13),
    "begins with your": lambda r: "Your" + drawn(r, 12),
    "a blank": lambda r: f"{drawn(r, 9)} {drawn(r, 9)}",
}
"""Values that only stand in quotes."""

NAMED = (
    'password = "{}"', "password = '{}'", '"password": "{}"', "'db_password' => '{}',",
    'const password: string = "{}"', 'const apiKey = `{}`;', 'let api_key: &str = "{}";', 'var token string = "{}"',
    'secret_key := "{}"', 'config["SECRET_KEY"] = "{}"', 'conn(user="a", password="{}")',
    'password: Optional[str] = "{}"', 'os.getenv("DB_PASSWORD", "{}")', "os.environ.get('API_TOKEN', '{}')",
    'process.env.API_TOKEN || "{}"', 'process.env.API_TOKEN ?? "{}"', 'ENV.fetch("API_TOKEN", "{}")',
    "env('APP_SECRET', '{}')", 'props.put("password", "{}");', 'client.setPassword("{}")',
    '{{"name": "DB_PASSWORD", "value": "{}"}}', '<add key="ApiKey" value="{}"/>',
    '<property name="password" value="{}"/>', 'export API_TOKEN="{}" && make', "docker run -e API_TOKEN='{}' image",
    'variable "db_password" {{\n  type = string\n  default = "{}"\n}}', '- name: DB_PASSWORD\n  value: "{}"\n',
    'tool --password "{}" run', "curl -H 'PRIVATE-TOKEN: {}' url", 'X-Api-Key: "{}"', 'String clientSecret = "{}";',
    'char *password = "{}";', "ALTER ROLE a PASSWORD '{}'", "aws_session_token: '{}'",
    'settings.SECRET_KEY_BASE = "{}"', "CREATE LOGIN app WITH PASSWORD = N'{}'", "define('AUTH_KEY',         '{}');",
    'get(url, auth=("user", "{}"))', 'auth = (USER, "{}")', 'httpx.BasicAuth("user", "{}")',
    'smtp.login("a@b.io", "{}")',
    'requests.auth.HTTPBasicAuth("user", "{}")', 'req.SetBasicAuth(user, "{}")', "'auth' => ['user', '{}'],",
    'client.get(url).basic_auth("user", Some("{}"))', 'Credentials.basic("user", "{}")',
    'new UsernamePasswordCredentials("user", "{}")', 'ConvertTo-SecureString "{}" -AsPlainText -Force',
    "ConvertTo-SecureString -AsPlainText -Force -String '{}'", '  psk="{}"', "ldapsearch -x -D 'cn=a' -w '{}' -b dc=e",
)  # fmt: skip
"""Places of a value in quotes."""

BARE = (
    "API_TOKEN={}", "export API_TOKEN={} && make", "API_TOKEN={} # prod", "docker run -e API_TOKEN={} image",
    "API_TOKEN={} ./run", '{{"content": "DB_PASSWORD={}"}}', "cmd = 'DB_PASSWORD={} ./run'", "db_password={}",
    "password: {}", "password = {}", "spring.datasource.password={}", "machine host login user password {}",
    "ENV API_TOKEN {}", "ENV API_TOKEN={}", "- name: DB_PASSWORD\n  value: {}\n", "<password>{}</password>",
    '<entry key="db.password">{}</entry>', "jdbc:sqlserver://h:1433;user=sa;password={};encrypt=true",
    "Server=h;User Id=sa;Password={};", "tool --password={} run", "tool --token {} run",
    "curl -H 'PRIVATE-TOKEN: {}' u", "X-Api-Key: {}", "Authorization: Bearer {}", "use Bearer {} here",
    "Authorization: Token {}", "Set-Cookie: session={}; Path=/", "https://h/a?access_token={}&b=c",
    "mysql -u root -p{} db", "curl -u admin:{} https://h", "//registry.npmjs.org/:_authToken={}",
    "redis://:{}@cache:6379/0", "https://{}@github.com/a/b.git", "https://joe@corp.com:{}@h.io/x",
    "postgres://app:{}@db.internal:5432/app", "psql ${{DB_PASSWORD:-{}}}", "db.internal:5432:app:user:{}",
    "user:{}@tcp(db:3306)/app", "  password: {}\n  user: a", '"args": ["-e", "API_TOKEN={}"]', "token={}, user=a",
    "[INFO] auth token={}", "\"token\\\": \\\"{}\\\"", '{{\\"password\\": \\"{}\\"}}', "login with token {} now",
    "SetEnv API_TOKEN {}", "Authorization: SSWS {}", '{{"Authorization": "GenieKey {}"}}', "authorization: Frob-Key {}",
    "bindpw {}", "bind_pw={}", "rootpw: {}", "rootpw --plaintext {}", "wpa_psk={}", "curl -sSu admin:{} https://h",
    "ldapmodify -x -D 'cn=a, dc=e' -w {} -f a.ldif", "curl --proxy-user a:{} https://h",
)  # fmt: skip
"""Places of a value without quotes."""

URL_VALUES: Mapping[str, Callable[[Random], str]] = {
    **{name: make for name, make in ODD_VALUES.items() if name not in ("a blank", "signs")},
    "a slash": lambda r: f"{drawn(r, 6)}/{drawn(r, 6)}",
    "an at": lambda r: f"{drawn(r, 6)}@{drawn(r, 6)}",
}

_WORDS = (
    "falcon",
    "candle",
    "maple",
    "river",
    "Stone",
    "Tiger",
    "Oyster",
    "velvet",
    "Walnut",
    "kitten",
    "Thunder",
    "ivory",
)
WORDS_AND_DIGITS: Mapping[str, Callable[[Random], str]] = {
    f"{words} words and {sign!r}": lambda r, words=words, sign=sign: (
        f"{sign.join(r.choice(_WORDS) for _ in range(words))}{r.choice(('', sign))}{r.randrange(10, 100)}"
    )
    for words in (2, 3, 4)
    for sign in ("-", "")
}
"""Passwords made of words, which stand behind names such as `password`."""

PROVIDERS: Mapping[str, Callable[[Random], str]] = {
    "sendgrid": lambda r: f"SG.{drawn(r, 22)}.{drawn(r, 43)}",
    "shopify": lambda r: "shpat_" + drawn(r, 32, HEX),
    "digitalocean": lambda r: "dop_v1_" + drawn(r, 64, HEX),
    "linear": lambda r: "lin_api_" + drawn(r, 40),
    "databricks": lambda r: "dapi" + drawn(r, 32, HEX),
    "doppler": lambda r: "dp.pt." + drawn(r, 43),
    "postman": lambda r: f"PMAK-{drawn(r, 24, HEX)}-{drawn(r, 34, HEX)}",
    "age": lambda r: "AGE-SECRET-KEY-1" + drawn(r, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "grafana": lambda r: f"glsa_{drawn(r, 32)}_{drawn(r, 8, HEX)}",
    "grafana cloud": lambda r: "glc_" + drawn(r, 60, BASE64),
    "azure": lambda r: f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={drawn(r, 86, BASE64)}==",
    "slack webhook": lambda r: f"https://hooks.slack.com/services/T{drawn(r, 8)}/B{drawn(r, 8)}/{drawn(r, 24)}",
    "discord webhook": lambda r: f"https://discord.com/api/webhooks/{drawn(r, 18, string.digits)}/{drawn(r, 68)}",
    "telegram": lambda r: f"{drawn(r, 9, string.digits)}:AA{drawn(r, 33)}",
    "vault": lambda r: "hvs." + drawn(r, 90),
    "terraform": lambda r: f"{drawn(r, 14)}.atlasv1.{drawn(r, 67)}",
    "docker": lambda r: "dckr_pat_" + drawn(r, 27),
    "atlassian": lambda r: "ATATT3" + drawn(r, 180),
    "figma": lambda r: "figd_" + drawn(r, 40),
    "notion": lambda r: "ntn_" + drawn(r, 46),
    "supabase": lambda r: "sbp_" + drawn(r, 40, HEX),
    "planetscale": lambda r: "pscale_" + "tkn_" + drawn(r, 43),
    "sentry": lambda r: "sntrys_" + drawn(r, 120, BASE64),
    "newrelic": lambda r: "NRAK-" + drawn(r, 27, string.ascii_uppercase + string.digits),
    "mailgun": lambda r: "key-" + drawn(r, 32, HEX),
    "square": lambda r: "sq0csp-" + drawn(r, 43),
    "gitlab runner": lambda r: "glrt-" + drawn(r, 20),
    "twilio": lambda r: "twilio SK" + drawn(r, 32, HEX),
    "rubygems": lambda r: "rubygems_" + drawn(r, 48, HEX),
    "azure devops": lambda r: f"{drawn(r, 76)}AZDO{drawn(r, 4)}",
    "azure devops, short": lambda r: "dev.azure.com " + drawn(r, 52, string.ascii_lowercase + "234567"),
    "okta": lambda r: "okta 00" + drawn(r, 40, URL_SAFE),
    "firebase": lambda r: f"AAAA{drawn(r, 7)}:APA91b{drawn(r, 134, URL_SAFE)}",
    "google refresh": lambda r: "1//04" + drawn(r, 60, URL_SAFE),
    "aws session": lambda r: "FwoGZXIvYXdz" + drawn(r, 300, BASE64) + "==",
    "aws session, new": lambda r: "IQoJb3JpZ2lu" + drawn(r, 300, BASE64) + "==",
    "aws address": lambda r: "https://b.s3.amazonaws.com/k?X-Amz-Expires=300&X-Amz-Signature=" + drawn(r, 64, HEX),
    "aws security": lambda r: "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=" + drawn(r, 300),
    "cloudfront": lambda r: "https://d.cloudfront.net/k?Expires=1&Signature=" + drawn(r, 340, URL_SAFE),
    "google address": lambda r: "https://storage.googleapis.com/b/k?X-Goog-Signature=" + drawn(r, 512, HEX),
    "shared access": lambda r: f"https://a.blob.core.windows.net/c?sp=r&sig={drawn(r, 43)}%3D",
    "vercel": lambda r: f"vercel_blob_rw_{drawn(r, 16)}_{drawn(r, 30)}",
    "neon": lambda r: "napi_" + drawn(r, 64, string.ascii_lowercase + string.digits),
    "sonarqube": lambda r: r.choice(("squ_", "sqp_", "sqa_")) + drawn(r, 40, HEX),
    "cerebras": lambda r: "csk-" + drawn(r, 48, string.ascii_lowercase + string.digits),
    "firecrawl": lambda r: "fc-" + drawn(r, 32, HEX),
    "mapbox": lambda r: f"sk.eyJ{drawn(r, 80)}.{drawn(r, 22)}",
    "paseto": lambda r: f"v{r.choice('1234')}.{r.choice(('local', 'public'))}.{drawn(r, 120, URL_SAFE)}",
    "smtp": lambda r: "AUTH PLAIN " + base64.b64encode(f"\0joe\0{drawn(r, 12)}".encode()).decode(),
}
"""Tokens that are known by how they begin; the last word, after a blank, is the credential."""

_LOG_PREFIXES: Mapping[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "time": lambda n: f"[2024-05-0{n % 9 + 1}T10:00:0{n % 10}.123Z] ",
    "compose": lambda _: "web_1  | ",
    "journald": lambda n: f"Nov 25 12:00:{n % 60:02} host app[12]: ",
    "blame": lambda n: f"3f2a9c1d (Ann Other 2024-05-01 10:00:00 +0200 {n:3}) ",
    "arrow": lambda n: f"{n:6}→",
    "number": lambda n: f"{n}: ",
    "quote": lambda _: "> ",
    "grep": lambda n: f"src/key.py:{n}:",
    "added": lambda _: "+",
    "removed": lambda _: "-",
    "pod": lambda n: f"2024-05-01T10:00:{n % 60:02}.123456789Z stdout F ",
    "comment": lambda _: "# ",
    "yaml": lambda _: "      ",
    "literal": lambda _: '    "',
}


def key_texts(random: Random) -> list[tuple[str, str, list[str]]]:
    """(kind, text, lines of the key of which none may stay): whole and cut keys behind every prefix."""
    out = []
    for name, prefix in _LOG_PREFIXES.items():
        lines = private_key(random, 14).split("\n")
        suffix = '\\n"' if name == "literal" else ""
        framed = [prefix(number + 1) + line + suffix for number, line in enumerate(lines)]
        out.append((f"whole key behind {name}", "\n".join(["begin", *framed, "end of it"]), lines[1:-1]))
        out.append((f"head of a key behind {name}", "\n".join(["begin", *framed[:6], "end of it"]), lines[1:6]))
        out.append((f"tail of a key behind {name}", "\n".join(["begin", *framed[9:], "end of it"]), lines[9:-1]))
        if name in ("none", "added", "removed", "compose", "time", "quote", "arrow", "yaml"):
            out.append((f"middle of a key behind {name}", "\n".join(["begin", *framed[4:9], "end of it"]), lines[4:9]))
    lines = private_key(random, 20).split("\n")
    for width in (64, 70):
        body = [drawn(random, width, BASE64) for _ in range(9)]
        hunk = f"diff --git a/key b/key\n--- a/key\n+++ b/key\n@@ -8,7 +8,7 @@ {body[0]}\n" + "\n".join(
            f"{sign}{line}" for sign, line in zip("   -+   ", body[1:], strict=True)
        )
        out.append((f"hunk in the middle, {width} wide", hunk + "\n", body))
    out.append(("key in one string", repr("\n".join(lines)), lines[1:-1]))
    out.append(("key with blanks for ends of lines", f'KEY="{" ".join(lines)}"', lines[1:-1]))
    out.append(("key in joined literals", "\n".join(f'  "{line}\\n" +' for line in lines), lines[1:-1]))
    putty = [drawn(random, 64, BASE64) for _ in range(8)]
    text = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 8\n" + "\n".join(putty)
    out.append(("putty", text + "\nPrivate-MAC: " + drawn(random, 64, HEX), putty))
    return out


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" if sign in "_=" else sign for sign in text)


ESCAPED: Mapping[str, Callable[[str], str]] = {
    "colours": lambda v: f"\x1b[32mAPI_TOKEN\x1b[0m=\x1b[1m{v}\x1b[0m",
    "colours within": lambda v: f"API_TOKEN={v[:5]}\x1b[1;31m{v[5:]}\x1b[0m",
    "zero width": lambda v: f"API_TO\u200bKEN={v[:7]}\u200b{v[7:]}",
    "escapes of a language": lambda v: f'"API{_escaped("_")}TOKEN{_escaped("=")}{v}"',
    "escapes of a URL": lambda v: f"state=API%5FTOKEN%3D{quote(v, safe='')}%26a%3Db",
    "entities": lambda v: f"API&#95;TOKEN&#x3d;{v}",
    "quotes as entities": lambda v: f"password=&quot;{v}&quot;",
    "markdown": lambda v: f"API\\_TOKEN={v}",
    "joined with plus": lambda v: f'password = "{v[:8]}" + "{v[8:]}"',
    "joined over lines": lambda v: f'password = ("{v[:8]}"\n            "{v[8:]}")',
    "joined with a dot": lambda v: f"$password = '{v[:8]}' . '{v[8:]}';",
    "backslash and line": lambda v: f"export API_TOKEN={v[:8]}\\\n{v[8:]}\n",
    "base64 of a line": lambda v: base64.b64encode(f"API_TOKEN={v}\n".encode()).decode(),
    "kubernetes": lambda v: f"kind: Secret\ndata:\n  password: {base64.b64encode(v.encode()).decode()}\n",
}
"""Values behind escapes; of their text nothing of eight signs may stay."""

HARMLESS = (
    "token: 'xoxb-my-bot-token'", "SLACK_BOT_TOKEN={your-bot-token-xoxb-1234}", "x = 'https://user:pass@host/a/b@v1.0'",
    'encrypted_key: "OKOawDo13gRp2ojaHV7LFpZcgV7T6DVZKTyKOMTYUmKoTCVJRgckCL9kiMT03JGe"',
    "generateSecret('A128CBC-HS256')", '_preferred_keys = ("ecdsa-sha2-nistp256", "rsa-sha2-512")',
    "clientSecret: env.AUTH_AZURE_AD_B2C_SECRET,", 'private_key = read("secp521r1-private.json")',
    "redis-cli -u redis://localhost:6379", "token = OAuth2Token({})", "Authorization: AWS4-HMAC-SHA256 ...",
    "napi_create_external_arraybuffer_2", "auth = (username, password2)", 'authorize("user", "update-post")',
    '"sessionId": "3f2a9c1d-5e6b-4a8c-9d0e-1f2a3b4c5d6e"', '{"session_id"=>"e29b9ea315edf98aad94cc78c34cc9b2"}',
    "https://user:pa%20ssword@h.io",
    'token: /[[:alnum:]]{1,10}/', '<input name="authenticity_token" value="a1B2c3D4e5F6">',
    'password = "correct-horse-battery-staple"', 'password = os.environ["DB_PASSWORD"]', "password = get_password(x)",
    "token: str", "token = self.token", "def f(token: str = None, password: str | None = None) -> str:",
    "password = user.profile.password2", "tokenizer = AutoTokenizer.from_pretrained(model_name_2)", "max_tokens=4096",
    "token_count: 12345678", 'secretary = "Ann Marie 3rd of 12"', "keyboard=QWERTY1234567",
    "primary_key = 'a1b2c3d4e5f6g7h8'", 'password_field = "a1B2c3D4e5F6"',
    'csrf_token = request.META["CSRF_COOKIE_2"]', "password: ${DB_PASSWORD}", "password: {{ vault_db_password_2 }}",
    "token: <your-token-1>", "password=%(password)s", "api_key: xxxxxxxxxxxxxxxx", 'api_key = "your-api-key-here"',
    "DB_PASSWORD=changeme", "SECRET_KEY=change-me-please", "password: 'secret123'", 'password = "Passw0rd"',
    'password="password1234"', "token: abcdefghijklmnop1234567890", "password: qwertyuiop123",
    "https://user:pass@example.com/", "https://user:password@host.org/", "http://a:b@c.com",
    "https://medium.com/@user/post-1a2b3c", "https://cdn.io/npm/pkg@1.2.3/dist/a.js:12", "git@github.com:a/b.git",
    "http://localhost:8080/@vite/client", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}",
    'headers["Authorization"] = f"Bearer {token}"', "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "commit 3f2a9c1d5e6b7a8c9d0e1f2a3b4c5d6e7f8a9b0c",
    '"integrity": "sha512-' + "q3" * 43 + '=="', "password = hash_password(request.form['password'])",
    "const token = await getToken(user2Id)", "if (token === prevToken2) {", "sort_key: createdAt2024Desc",
    'public_key = "ssh-rsa AAAAB3Nza"', "cacheKey = `${a}-${b}-v2`", "secret: /run/secrets/db_password_2",
    "token_url: https://login.io/oauth2/v2.0/token", "next_page_token: a1B2c3D4e5F6g7H8", "key={item.id}",
    "<Token>value</Token>", "tokens = [Token(1, 'a'), Token(2, 'b2')]", "password must be at least 8 characters",
    '"password": "must have 8 or more signs"', 'pattern = "password: [a-zA-Z0-9]{8,}"', "--token TOKEN_VALUE_2",
    "session = requests.Session()", "auth = (user, password)",
    "strip_auth('http://h.io:80/a', 'https://h.io:8443/b')", 'auth("POST", "/v2/users/1?page=3")',
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.PBKDF2PasswordHasher']", "password: [redacted: password #1]",
    "https://u:[redacted: url-password #1]@h.io", "author: Ann2 Other99 <a@b.io>", "passed: 12345678 tests in 3.5s",
)  # fmt: skip
