"""Kinds, shapes and places that whoever writes the rules for credentials does not read: they judge the rules."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Sequence
from random import Random

from support.credentials import BASE64, drawn
from support.planted import (
    DIGITS,
    HEX,
    URL_SAFE,
    Kind,
    Place,
    Shape,
    altered,
    envelope,
    free,
    halves,
    in_csv,
    in_json,
    in_line,
    in_quotes,
    in_shell,
    in_url,
    key_block,
    key_lines,
    messages,
    name_of_file,
    named,
    no_blank,
    source,
    typed,
)


def _jwe(random: Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"dir","enc":"A256GCM"}').decode().rstrip("=")
    return f"{head}..{drawn(random, 16, URL_SAFE)}.{drawn(random, 120, URL_SAFE)}.{drawn(random, 22, URL_SAFE)}"


_LOOKS: dict[str, Callable[[Random], str]] = {
    "airtable": lambda r: "pat" + drawn(r, 14) + "." + drawn(r, 64, HEX),
    "asana": lambda r: "2/" + drawn(r, 16, DIGITS) + "/" + drawn(r, 16, DIGITS) + ":" + drawn(r, 32, HEX),
    "buildkite": lambda r: "bkua_" + drawn(r, 40, HEX),
    "clojars": lambda r: "CLOJARS_" + drawn(r, 60, string.ascii_lowercase + DIGITS),
    "contentful": lambda r: "CFPAT-" + drawn(r, 43, URL_SAFE),
    "dropbox": lambda r: "sl.u." + drawn(r, 140, URL_SAFE),
    "dynatrace": lambda r: (
        "dt0c01." + drawn(r, 24, string.ascii_uppercase + DIGITS) + "." + drawn(r, 64, string.ascii_uppercase + DIGITS)
    ),
    "easypost": lambda r: "EZAK" + drawn(r, 54),
    "flyio": lambda r: "FlyV1 fm2_" + drawn(r, 120, BASE64),
    "gitlab-runner": lambda r: "glrt-" + drawn(r, 20, URL_SAFE),
    "gitlab-deploy": lambda r: "gldt-" + drawn(r, 20, URL_SAFE),
    "groq": lambda r: "gsk_" + drawn(r, 52),
    "jwe": _jwe,
    "langsmith": lambda r: "lsv2_pt_" + drawn(r, 32, HEX) + "_" + drawn(r, 10, HEX),
    "mapbox": lambda r: "sk." + "eyJ1Ijoi" + drawn(r, 70, URL_SAFE) + "." + drawn(r, 22, URL_SAFE),
    "netlify": lambda r: "nfp_" + drawn(r, 36),
    "openrouter": lambda r: "sk-or-v1-" + drawn(r, 64, HEX),
    "perplexity": lambda r: "pplx-" + drawn(r, 48),
    "prefect": lambda r: "pnu_" + drawn(r, 36),
    "pulumi": lambda r: "pul-" + drawn(r, 40, HEX),
    "rubygems": lambda r: "rubygems_" + drawn(r, 48, HEX),
    "sendinblue": lambda r: "xkeysib-" + drawn(r, 64, HEX) + "-" + drawn(r, 16),
    "slack-app": lambda r: (
        "xapp-1-A" + drawn(r, 10, string.ascii_uppercase + DIGITS) + f"-{drawn(r, 13, DIGITS)}-{drawn(r, 64, HEX)}"
    ),
    "tailscale": lambda r: f"tskey-auth-k{drawn(r, 11)}CNTRL-{drawn(r, 32)}",
    "wandb": lambda r: "wandb_v1_" + drawn(r, 77, URL_SAFE),
    "xai": lambda r: "xai-" + drawn(r, 80),
    "replicate": lambda r: "r8_" + drawn(r, 37),
    "cloudflare-origin": lambda r: "v1.0-" + drawn(r, 24, HEX) + "-" + drawn(r, 146, HEX),
    "onepassword-service": lambda r: "ops_" + "eyJ" + drawn(r, 250, URL_SAFE),
}

_VALUES: dict[str, Callable[[Random], str]] = {
    "lower-16": lambda r: drawn(r, 16, string.ascii_lowercase + DIGITS),
    "upper-32": lambda r: drawn(r, 32, string.ascii_uppercase + DIGITS),
    "human-year": lambda r: r.choice(("Kestrel", "Marigold", "Lighthouse")) + "!" + drawn(r, 3, DIGITS) + drawn(r, 3),
    "human-leet": lambda r: r.choice(("p@55", "s3cr", "l0ng")) + drawn(r, 5) + r.choice(("#1", "$7", "!9")),
    "words-dashes": lambda r: "-".join(drawn(r, 6, string.ascii_lowercase + DIGITS) for _ in range(5)),
    "base64-url-43": lambda r: base64.urlsafe_b64encode(r.randbytes(32)).decode().rstrip("="),
    "base64-88": lambda r: base64.b64encode(r.randbytes(64)).decode(),
    "hex-upper-48": lambda r: drawn(r, 48, "0123456789ABCDEF"),
    "digits-and-dots": lambda r: f"{drawn(r, 8, DIGITS)}.{drawn(r, 7)}.{drawn(r, 9)}",
    "begins-with-dash": lambda r: "-" + drawn(r, 18),
    "holds-test": lambda r: drawn(r, 8) + "test" + drawn(r, 9),
    "holds-secret": lambda r: drawn(r, 6) + "secret" + drawn(r, 8),
    "long-3000": lambda r: drawn(r, 3000, URL_SAFE),
    "percent-and-caret": lambda r: f"{drawn(r, 6)}%{drawn(r, 4)}^{drawn(r, 6)}",
}

_TEXTS: dict[str, tuple[Callable[[Random], str], str]] = {
    "redis-url": (lambda r: drawn(r, 24), "redis://:{}@cache.internal:6379/0"),
    "amqp-url": (lambda r: drawn(r, 18), "amqps://orders:{}@mq.internal/shop"),
    "mongo-url": (lambda r: drawn(r, 20), "mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/?retryWrites=true"),
    "smtp-url": (lambda r: drawn(r, 16), "smtp://mailer%40shop.example:{}@smtp.internal:587"),
    "pip-index": (lambda r: drawn(r, 32), "--extra-index-url https://__token__:{}@pypi.internal/simple"),
    "npmrc": (lambda r: drawn(r, 36, BASE64), "//npm.internal/:_authToken={}"),
    "npmrc-auth": (lambda r: base64.b64encode(f"ada:{drawn(r, 20)}".encode()).decode(), "_auth={}"),
    "docker-auth": (
        lambda r: base64.b64encode(f"ada:{drawn(r, 24)}".encode()).decode(),
        '{"auths": {"registry.internal": {"auth": "{}"}}}',
    ),
    "aws-session": (lambda r: "IQoJb3JpZ2luX2Vj" + drawn(r, 320, BASE64), "aws_session_token = {}"),
    "presigned": (lambda r: drawn(r, 64, HEX), "https://b.s3.amazonaws.com/a?X-Amz-Expires=600&X-Amz-Signature={}"),
    "azure-client-secret": (lambda r: drawn(r, 3) + "8Q~" + drawn(r, 34), "AZURE_CLIENT_SECRET={}"),
    "service-bus": (
        lambda r: base64.b64encode(r.randbytes(32)).decode(),
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
    ),
    "oauth-refresh": (lambda r: "1//0" + drawn(r, 98, URL_SAFE), '"refresh_token": "{}"'),
    "curl-user": (lambda r: drawn(r, 16), "curl -u ada:{} https://git.internal/api"),
    "digest-header": (lambda r: drawn(r, 40, HEX), "Authorization: token {}"),
    "totp": (
        lambda r: drawn(r, 32, string.ascii_uppercase + "234567"),
        "otpauth://totp/shop:ada?secret={}&issuer=shop",
    ),
    "ansible-become": (lambda r: drawn(r, 15), "ansible_become_password={}"),
    "teams-webhook": (
        lambda r: f"{drawn(r, 32, HEX)}/IncomingWebhook/{drawn(r, 32, HEX)}",
        "https://shop.webhook.office.com/webhookb2/{}",
    ),
    "wifi": (lambda r: drawn(r, 16), 'network={ ssid="shop" psk="{}" }'),
}

_BLOCKS = {
    "private-key-dsa": key_block("DSA PRIVATE " + "KEY", 8),
    "private-key-encrypted-pkcs8": key_block("ENCRYPTED PRIVATE " + "KEY", 16),
}

KINDS = (
    *(Kind(name, "look", make) for name, make in _LOOKS.items()),
    *(Kind(name, "value", make) for name, make in _VALUES.items()),
    *(Kind(name, "text", make, around) for name, (make, around) in _TEXTS.items()),
    *(Kind(name, "block", make) for name, make in _BLOCKS.items()),
)


def _base64_of_url(credential: str, _: str) -> tuple[str, Sequence[str]]:
    coded = base64.b64encode(f"postgres://app:{credential}@db:5432/a".encode()).decode()
    return f"data:\n  DATABASE_URL: {coded}\n", [coded[20:-12]]


def _in_hex_dump(credential: str, _: str) -> tuple[str, Sequence[str]]:
    data = f"PASSWORD={credential}".encode()
    rows = [data[start : start + 16] for start in range(0, len(data), 16)]
    lines = [f"{16 * n:08x}  {row.hex(' '):48} |{row.decode()}|" for n, row in enumerate(rows)]
    return "\n".join(lines), [row.decode() for row in rows[1:]]


SHAPES = (
    free("table-cell", "a.md", "| deploy | {} | since May |"),
    free("yaml-list-item", "a.yaml", "allowed:\n  - {}\n  - none"),
    free("html-code", "a.html", "<p>Paste <code>{}</code> below.</p>"),
    free("csv", "a.csv", "id,value,owner\n7,{},mei\n"),
    free("sql-insert", "a.sql", "INSERT INTO settings VALUES (7, 'deploy', '{}');"),
    free("rust-macro", "a.rs", 'let client = Client::new(concat!("", "{}"));'),
    free("quoted-mail", "", "> > Mei wrote:\n> > take {} until then"),
    free(
        "stack-trace",
        "a.log",
        "  File \"a.py\", line 7, in open\n    ValueError: refused: '{}'",
    ),
    in_json(
        "json-in-json",
        lambda text: {"arguments": json.dumps({"content": f"it says {text}\n"})},
        group=0,
        forms=("look", "text", "block"),
    ),
    key_lines("key-behind-kubectl", "a.log", lambda _, line: f"2026-11-25T12:00:01.123456789Z stdout F {line}"),
    key_lines("key-behind-grep", "", lambda number, line: f"deploy/id_rsa:{number}:{line}"),
    key_lines("key-behind-quote", "", lambda _, line: f"> {line}"),
    key_lines("key-behind-comment", "a.py", lambda _, line: f"# {line}"),
    key_lines("key-behind-number", "", lambda number, line: f"{number:5}\t{line}"),
    key_lines("key-two-lines-of-middle", "a.txt", lambda _, line: line, slice(4, 6)),
    key_lines("key-in-java-strings", "A.java", lambda _, line: f'        + "{line}\\n"'),
    named("toml", "a.toml", '[database]\npassword = "{}"'),
    named("toml-inline", "a.toml", 'db = { user = "ada", password = "{}" }'),
    named("fish", "a.fish", "set -gx API_TOKEN {}", in_shell),
    named("powershell", "a.ps1", '$env:API_TOKEN = "{}"'),
    named("windows-set", "a.bat", "set DB_PASSWORD={}", no_blank),
    named("windows-setx", "a.bat", 'setx API_SECRET "{}"'),
    named("systemd", "a.service", 'Environment="DB_PASSWORD={}" "PORT=1"', no_blank),
    named("helm-set", "", "helm upgrade shop . --set db.password={},db.port=1", in_csv),
    named("kubectl-literal", "", "kubectl create secret generic db --from-literal=password={}", in_shell),
    named("mysql-p", "", "mysql -u ada -p{} shop", in_shell),
    named("pgpassword", "", "PGPASSWORD='{}' psql -h db -U ada"),
    named("sshpass", "", "sshpass -p '{}' ssh ada@host"),
    named("sql-identified", "a.sql", "CREATE USER ada IDENTIFIED BY '{}';"),
    named("sql-role", "a.sql", "ALTER ROLE ada WITH LOGIN PASSWORD '{}';"),
    named("ruby-hash", "a.rb", "config = { adapter: 'pg', :password => '{}' }"),
    named("php-define", "a.php", "define('DB_PASSWORD', '{}');"),
    named("php-array", "a.php", "'password' => env('DB_PASSWORD', '{}'),"),
    named("csharp", "A.cs", 'private const string ApiKey = "{}";'),
    named("kotlin", "a.kt", 'val clientSecret: String = "{}"'),
    named("swift", "a.swift", 'static let apiToken = "{}"'),
    named("rust", "a.rs", 'const API_KEY: &str = "{}";'),
    named(
        "java-annotation",
        "A.java",
        '@Value("${db.password:{}}") String password;',
        lambda value: in_quotes(value) and "}" not in value,
    ),
    named("spring-yaml", "application.yml", "spring:\n  datasource:\n    password: '{}'\n"),
    named("setattr", "a.py", 'settings["client_secret"] = "{}"'),
    named("dict-python", "a.py", "auth = {'user': 'ada', 'passwd': '{}'}"),
    named("requests-auth", "a.py", 'requests.get(url, auth=("ada", "{}"))'),
    named("argument-default", "a.py", 'def connect(user="ada", api_key="{}"):'),
    named("default-of-argparse", "a.py", 'parser.add_argument("--token", default="{}")'),
    named("json-camel", "a.json", '{"clientId": "shop", "clientSecret": "{}"}'),
    in_json(
        "json-name-value", lambda text: {"environment": [{"name": "API_TOKEN", "value": text}]}, forms=("value", "look")
    ),
    in_json("json-headers", lambda text: {"headers": {"X-Auth-Token": text, "Accept": "*/*"}}, forms=("value", "look")),
    in_json(
        "json-double", lambda text: {"body": json.dumps({"login": "ada", "password": text})}, forms=("value", "look")
    ),
    in_json(
        "json-mcp-env",
        lambda text: {"mcpServers": {"a": {"command": "a", "env": {"SHOP_API_KEY": text}}}},
        forms=("value", "look"),
    ),
    named("form-body", "a.http", "grant_type=password&username=ada&password={}&scope=all", in_url),
    named("url-fragment", "", "https://app.internal/callback#access_token={}&expires_in=3600", in_url),
    named("header-log", "a.log", "> x-auth-token: {}", no_blank),
    named("header-dict", "a.py", 'headers = {"Authorization": "Token {}"}', no_blank),
    named("proxy-authorization", "a.http", "Proxy-Authorization: Bearer {}", no_blank),
    named("log-equals", "a.log", 'level=info msg="login" user=ada password="{}" took=3ms'),
    named("log-repr", "a.log", "Settings(host='db', user='ada', password='{}', port=5432)"),
    named(
        "log-go-struct",
        "a.log",
        "config: {Host:db User:ada Password:{} Port:5432}",
        lambda value: no_blank(value) and "}" not in value,
    ),
    named("sentence-is", "a.md", "The password is {} for now.", no_blank),
    named("sentence-german", "a.md", "Passwort: {}", no_blank),
    named("chat-colon", "", "login: ada\npass: {}\n", no_blank),
    named("git-credentials", ".git-credentials", "https://ada:{}@github.internal", in_url),
    named("vault-write", "", "vault kv put secret/shop db_password={}", in_shell),
    named("github-action", "a.yml", "      with:\n        token: {}\n        ref: main", no_blank),
    named("ansible-var", "a.yml", "  vars:\n    db_pass: {}\n", no_blank),
    named("terraform-tfvars", "a.tfvars", 'db_admin_password = "{}"'),
    named("nginx", "a.conf", 'proxy_set_header Authorization "Bearer {}";', no_blank),
    named("maven", "settings.xml", "    <id>shop</id>\n    <passphrase>{}</passphrase>"),
    named("plist", "a.plist", "<key>ApiSecret</key>\n<string>{}</string>"),
    named("ini-colon", "a.cfg", "[pypi]\nusername: ada\npassword: {}", in_line),
    named("curl-data", "", "curl -d 'user=ada&password={}' https://api.internal", in_url),
    named("odbc", "", "Driver={PostgreSQL};Server=db;Uid=ada;Pwd={};", in_csv),
    named("diff-of-env", "a.diff", "@@ -1,2 +1,2 @@\n-API_TOKEN={}\n+API_TOKEN=\n PORT=1", no_blank),
    named("url-user-only", "", "remote = https://x-access-token:{}@github.internal/shop.git", in_url, 5),
    named("again-as-argument", "", 'API_TOKEN = "{}"\n\n\nGET /v1?t={} 401', in_url, 8),
    named("again-in-json", "", '{"password": "{}", "log": ["ada", "bad login {}"]}', no_blank, 8),
    halves("plus-below", "a.js", 'const token =\n  "{1}" +\n  "{2}";'),
    halves("heredoc-fold", "a.yaml", "password: >-\n  {1}\\\n  {2}"),
    halves("join", "a.py", 'password = "".join(["{1}", "{2}"])'),
    halves("soft-hyphen", "", "password: {1}\u00ad{2}"),
    halves("bold-inside", "a.html", "password: {1}<wbr>{2}"),
    Shape("base64-of-url", 9, "secret.yaml", ("value",), _base64_of_url, in_url),
    Shape("hex-dump", 9, "", ("value",), _in_hex_dump, no_blank),
    altered("percent-all", "", "POST /login password={}", lambda value: "".join(f"%{ord(sign):02X}" for sign in value)),
    altered("hex-escapes", "a.py", 'password = "{}"', lambda value: "".join(f"\\x{ord(sign):02x}" for sign in value)),
    altered("spaced", "", "password: {}", " ".join),
)


def _changelog(items: Sequence[str]) -> str:
    return "# Changelog of storage\n\n## 1.0\n\n" + "\n".join(f"- {item}" for item in items) + "\n"


PLACES = (
    Place(
        "ruby",
        "  password = '{}'",
        "  use '{}'",
        "  key = <<~E\n{}\n  E",
        "src/storage.rb",
        source("def open_storage_{}", "end"),
    ),
    Place(
        "rust",
        '    let password = "{}";',
        '    open("{}");',
        '    let key = r#"\n{}\n"#;',
        "src/storage.rs",
        source("fn open_storage_{}() {", "}", "// {}"),
    ),
    Place(
        "csharp",
        '    var password = "{}";',
        '    Open("{}");',
        path="src/Storage.cs",
        whole=lambda items: "class Storage {\n" + source("  void Open{}() {", "  }", "  // {}")(items) + "}\n",
    ),
    Place(
        "toml",
        'password = "{}"',
        'storage = "{}"',
        'key = """\n{}\n"""',
        "deploy/storage.toml",
        lambda items: "\n".join(f"[storage.s{n}]\n{item}" for n, item in enumerate(items)) + "\n",
    ),
    Place("sql", "ALTER ROLE storage PASSWORD '{}';", "INSERT INTO storage VALUES ('{}');", path="deploy/storage.sql"),
    Place(
        "html",
        '<input type="password" name="storage" value="{}">',
        "<code>{}</code>",
        "<pre>{}</pre>",
        "docs/storage.html",
    ),
    Place("csv", "storage,password={},1", "storage,{},1", path="data/storage.csv"),
    Place(
        "changelog",
        "The storage takes password={} again",
        "The storage takes {} again",
        "```\n{}\n```",
        "CHANGELOG.md",
        _changelog,
    ),
    Place("test-snapshot", "storage(password='{}')", "storage('{}')", "{}", "tests/__snapshots__/storage.ambr"),
    Place("commit-trailer", "Storage-Password: {}", "Storage: {}", git="body"),
    Place(
        "diff-renamed",
        '    password = "{}"',
        '    use("{}")',
        path="src/renamed.py",
        whole=source("def storage_renamed_{}():"),
        git="changed",
    ),
    Place(
        "log-json-lines",
        '{"level": "error", "msg": "storage", "password": "{}"}',
        '{"level": "error", "msg": "storage {}"}',
        path="in/lines.log",
        fits=lambda value: '"' not in value and "\\" not in value,
    ),
    Place(
        "conversation-thinking",
        "The storage needs password={} here.",
        "The storage needs {} here.",
        "{}",
        "in/thinking.jsonl",
        messages(
            lambda item: [
                {"role": "user", "content": "go on"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": item, "signature": "s"},
                        {"type": "text", "text": "ok"},
                    ],
                },
            ]
        ),
    ),
    Place(
        "conversation-name",
        "storage password={}",
        "storage {}",
        "{}",
        "in/blocks.jsonl",
        messages(
            lambda item: [
                {"role": "user", "content": [{"type": "text", "text": item}]},
                {"role": "assistant", "content": "ok"},
            ]
        ),
    ),
    Place(
        "envelope-baseline",
        "STORAGE_PASSWORD={}",
        "storage {}",
        "{}",
        "in/baseline.json",
        envelope("normative_baseline"),
    ),
    Place(
        "envelope-capabilities",
        "STORAGE_PASSWORD={}",
        "storage {}",
        "{}",
        "in/tools.json",
        envelope("tool_capabilities"),
    ),
    Place(
        "typed-log-query",
        "storage password={}",
        "storage {}",
        words=("log", "ROOT/in/a.log", "--query", "{}", "--format", "json"),
        fits=typed,
    ),
    Place(
        "typed-files-query",
        "storage password={}",
        "storage {}",
        words=("files", "ROOT/src", "--query", "{}"),
        fits=typed,
    ),
    Place("typed-exclude", "password={}", "{}", words=("search", "storage", "ROOT", "--exclude", "{}"), fits=typed),
    Place("missing-envelope", "password={}.json", "{}.json", words=("envelope", "{}"), fits=name_of_file),
    Place(
        "missing-profile",
        "password={}",
        "{}",
        words=("search", "storage", "ROOT", "--profile", "{}"),
        fits=name_of_file,
    ),
    Place("wrong-command", "password={}", "{}", words=("{}", "ROOT"), fits=typed),
)
