"""Credentials of many kinds, planted in many shapes and places: no piece of one leaves or is written.

What leaves today is in the tables `NOT_YET`, which hold exactly: whoever mends a leak removes its name. All kinds and
shapes, and those held out, are in `tests/benchmarks/credential_leaks.py`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from secateur.redaction import Redactor, Scanning
from secateur.redaction.full_scanner import installed_version
from support import planted
from support.leaks import Plants, ask_server, inspect, left, repository, run_calls, run_typed
from support.planted import MAKERS, PLACES, SHAPES, Kind, Shape

KINDS = (
    *("github-token", "stripe-key", "random-20", "symbols", "human", "hex-40", "uuid", "long-201", "holds-example"),
    *("bearer-4500", "url-slash", "url-of-email", "url-token", "private-key"),
)
"""Kinds that our rules are to know, each standing for others."""

IN_PROGRAMS = ("github-token", "random-20", "long-201", "url-slash", "private-key")
"""Those that are planted in every place: one of each way to be known."""

CALLS = """\
status ROOT
status ROOT --examples --format json
search storage ROOT --budget 200000 --top-k 50 --format json --dropped all --explain
search 'password token' ROOT --budget 3000 --save OUT/a.scenario.toml --report OUT/a.html --report OUT/a.svg
inspect ROOT --query storage --plain
files ROOT --strategy delete --max-tokens 400000 --format markdown
files ROOT --query storage --max-tokens 20000 --strategy extract --save OUT/b.scenario.toml --report OUT/b.md
chunk ROOT --base HEAD~1 --out OUT/chunks --skill IN/SKILL.md --linter IN/linter.txt
chunk ROOT --base HEAD~1 --format markdown --save OUT/c.scenario.toml
log IN/a.log --format json
log IN/b.log --max-tokens 400 --save OUT/d.scenario.toml
conversation IN/user.jsonl --safe-zone 2000 --strategy summarize --out OUT/user --format json
conversation IN/system.jsonl --safe-zone 2000 --out OUT/system --report OUT/system.html
conversation IN/tool-input.jsonl --safe-zone 3000 --strategy truncate --out OUT/tool-input
conversation IN/tool-result.jsonl --out OUT/tool-result --save OUT/e.scenario.toml
envelope IN/target.json --model gpt-4o --context-budget 500000
envelope IN/digest.json --model gpt-4o --context-budget 500000 --report OUT/e.md
mine ROOT --out OUT/cases
check OUT
config ROOT --format json
""".splitlines()

NOT_YET_IN_SHAPES = """
ado: hex-40 holds-example human long-201 random-20 uuid
again-before: hex-40 holds-example human long-201 random-20 symbols uuid
again-behind: hex-40 holds-example long-201 random-20 symbols uuid
ansi-inside: github-token hex-40 holds-example human long-201 random-20 stripe-key symbols uuid
api-key-header: hex-40 holds-example human long-201 random-20 symbols uuid
backslash: hex-40 holds-example human long-201 random-20 symbols uuid
backslash-look: github-token stripe-key
bare: bearer-4500 url-of-email url-slash url-token
base64-of-line: hex-40 holds-example human long-201 random-20 symbols uuid
bearer-bare: hex-40 holds-example human long-201 random-20 symbols uuid
bearer-header: holds-example human symbols
before-command: hex-40 holds-example human long-201 random-20 uuid
comment-behind: hex-40 holds-example human long-201 random-20 symbols uuid
compose-list: holds-example human long-201 symbols
cookie: hex-40 holds-example human long-201 random-20 uuid
docker-run: hex-40 holds-example long-201 random-20 uuid
dockerfile-blank: hex-40 holds-example human long-201 random-20 symbols uuid
dockerfile-equals: hex-40 holds-example human long-201 random-20 symbols uuid
entity: hex-40 holds-example human long-201 random-20 symbols uuid
env: holds-example human long-201 symbols
env-lower: hex-40 holds-example human long-201 random-20 symbols uuid
env-quoted: holds-example long-201 symbols
environ-default: hex-40 holds-example human long-201 random-20 symbols uuid
export-and-more: hex-40 holds-example long-201 random-20 uuid
flag-blank: hex-40 holds-example long-201 random-20 uuid
flag-equals: hex-40 holds-example long-201 random-20 uuid
getenv-default: hex-40 holds-example human long-201 random-20 symbols uuid
go-field: holds-example human long-201 symbols
in-backticks: bearer-4500 url-of-email url-slash url-token
in-code: bearer-4500 url-of-email url-slash url-token
in-comment: bearer-4500 url-of-email url-slash url-token
in-json-text: bearer-4500 url-of-email url-slash url-token
in-log: bearer-4500 url-of-email url-slash url-token
in-sentence: bearer-4500 url-of-email url-slash url-token
ini: hex-40 holds-example long-201 random-20 symbols uuid
javascript-object: holds-example long-201 symbols
jdbc: hex-40 holds-example human long-201 random-20 uuid
js-env-default: hex-40 holds-example human long-201 random-20 symbols uuid
json-content: hex-40 holds-example human long-201 random-20 symbols uuid
json-envelope: holds-example human long-201 symbols
json-escape: holds-example long-201 symbols
json-field: holds-example long-201 symbols
json-tool-input: holds-example human long-201 symbols
key-behind-arrow: private-key
key-behind-blame: private-key
key-behind-journald: private-key
key-behind-service: private-key
key-behind-time: private-key
key-middle-of-hunk: private-key
kubernetes: hex-40 holds-example long-201 random-20 symbols uuid
netrc: hex-40 holds-example human long-201 random-20 symbols uuid
percent: hex-40 holds-example long-201 random-20 symbols uuid
percent-look: github-token stripe-key
pgpass: hex-40 holds-example long-201 random-20 uuid
private-token: hex-40 holds-example human long-201 random-20 symbols uuid
properties: hex-40 holds-example human long-201 random-20 symbols uuid
python: holds-example long-201 symbols
python-argument: holds-example long-201 symbols
query-of-url: hex-40 holds-example human long-201 random-20 uuid
saved-scenario: hex-40 holds-example human long-201 random-20 symbols uuid
set-cookie: hex-40 holds-example human long-201 random-20 uuid
string-of-code: hex-40 holds-example human long-201 random-20 uuid
terraform: hex-40 holds-example human long-201 random-20 symbols uuid
two-lines: github-token hex-40 holds-example long-201 random-20 stripe-key symbols uuid
two-strings: github-token hex-40 holds-example human long-201 random-20 stripe-key symbols uuid
two-strings-below: github-token hex-40 holds-example human long-201 random-20 stripe-key symbols uuid
typescript: hex-40 holds-example human long-201 random-20 symbols uuid
url-token-alone: hex-40 holds-example human long-201 random-20 uuid
xml-attribute: hex-40 holds-example human long-201 random-20 symbols uuid
xml-element: hex-40 holds-example human long-201 random-20 symbols uuid
yaml: hex-40 holds-example human long-201 random-20 symbols uuid
yaml-quoted: holds-example long-201 symbols
zero-width-inside: github-token hex-40 holds-example human long-201 random-20 stripe-key symbols uuid
"""
"""Shape: the kinds that leave a text when they stand so."""

NOT_YET_WITH_EXTRA = """
discord-bot: bare in-backticks in-code in-comment in-json-text in-log in-sentence
mailgun: bare in-backticks in-code in-comment in-json-text in-log in-sentence
new-relic: bare in-backticks in-code in-comment in-json-text in-log in-sentence
planetscale: bare in-backticks in-code in-comment in-json-text in-log in-sentence
sentry: bare in-backticks in-code in-comment in-json-text in-log in-sentence
telegram-bot: bare in-backticks in-code in-comment in-json-text in-log in-sentence
"""
"""Kinds that the extra `secrets` is to know as they are, and the shapes in which they leave."""

NOT_YET_IN_PLACES = """
branch: github-token random-20
comment: long-201 random-20 url-slash
commit-body: long-201 random-20 url-slash
commit-subject: github-token long-201 random-20 url-slash
conversation-system: long-201 random-20 url-slash
conversation-tool-input: long-201 random-20 url-slash
conversation-tool-result: long-201 random-20 url-slash
conversation-user: long-201 random-20 url-slash
diff-added: long-201 url-slash
diff-deleted: long-201 url-slash
diff-middle-of-key: private-key
dockerfile: long-201 random-20 url-slash
docstring: long-201 random-20 url-slash
env: long-201 url-slash
envelope-digest: long-201 random-20 url-slash
envelope-target: long-201 random-20 url-slash
file-name: github-token random-20
folder-name: github-token random-20
go: long-201 url-slash
java: long-201 url-slash
json: long-201 url-slash
linter-file: long-201 url-slash
log: long-201 url-slash
log-behind-service: long-201 random-20 url-slash
missing-log: github-token
missing-path: github-token random-20
missing-revision: github-token
notebook: long-201 url-slash
python: long-201 url-slash
readme: long-201 random-20 url-slash
rules-file: long-201 random-20 url-slash
saved-query: long-201 url-slash
shell: long-201 random-20 url-slash
skill-file: long-201 random-20 url-slash
terraform: long-201 random-20 url-slash
typed-only: github-token random-20
typed-pin: github-token long-201 random-20 url-slash
typed-query: long-201 url-slash
typescript: long-201 random-20 url-slash
yaml: long-201 random-20 url-slash
"""
"""Place: the kinds that leave a program, or are written, when they stand there."""


def rows(table: str) -> dict[str, set[str]]:
    """A table as its rows: name, and what is behind it."""
    return {name: set(said.split()) for name, _, said in (line.partition(":") for line in table.split("\n") if line)}


def assert_rows(leaks: Iterable[tuple[str, str]], table: str) -> None:
    """What leaves is exactly what a table holds."""
    found: dict[str, set[str]] = {}
    for name, said in leaks:
        found.setdefault(name, set()).add(said)
    known = rows(table)
    said = "\n".join(f"{name}: {' '.join(sorted(found[name]))}" for name in sorted(found))
    new = {name: more for name in found if (more := found[name] - known.get(name, set()))}
    mended = {name: fewer for name in known if (fewer := known[name] - found.get(name, set()))}
    assert not new and not mended, f"leaves: {new}\nleaves no longer: {mended}\nthe table is now\n{said}"


def left_in_texts(kinds: Iterable[Kind], shapes: Iterable[Shape], scanning: Scanning) -> set[tuple[str, str]]:
    """(shape, kind) where a piece of a credential stays in a text."""
    leaks = set()
    for shape in shapes:
        for kind in kinds:
            credential = kind.make(Random(f"{kind.name} {shape.name}"))
            if kind.form in shape.forms and shape.fits(credential):
                text, secrets = shape.written(credential, kind.text(credential))
                if left(Redactor(scanning).text(text, shape.path), secrets):
                    leaks.add((shape.name, kind.name))
    return leaks


def test_no_credential_leaves_a_text() -> None:
    kinds = [kind for kind in planted.KINDS if kind.name in KINDS]
    assert_rows(left_in_texts(kinds, SHAPES, Scanning(full=False)), NOT_YET_IN_SHAPES)


@pytest.mark.skipif(not installed_version(), reason="the extra secrets is not installed")
def test_no_credential_of_a_provider_leaves_a_text(tmp_path: Path) -> None:
    kinds = [kind for kind in planted.KINDS if kind.form == "look" and kind.name not in MAKERS]
    bare = [shape for shape in SHAPES if shape.group == 0]
    leaks = left_in_texts(kinds, bare, Scanning(rules_folder=str(tmp_path)))
    assert_rows(((kind, shape) for shape, kind in leaks), NOT_YET_WITH_EXTRA)


def test_no_credential_leaves_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mcp = pytest.importorskip("mcp")
    from support.agent_servers import server

    cache, config = tmp_path / "cache", tmp_path / "config"
    config.mkdir()
    (config / "secateur.toml").write_text('[redaction]\nscanner = "rules"\n')
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(cache))
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(config))
    plants = Plants(22)
    made = repository(tmp_path, [kind for kind in planted.KINDS if kind.name in IN_PROGRAMS], PLACES, plants)
    monkeypatch.chdir(made.out)
    run_calls(made, plants, CALLS)
    run_typed(made, plants)

    async def ask_and_inspect() -> None:
        async with mcp.Client(server(made.root)) as client:
            await ask_server(client, made, plants)
        queries = [item for place, item in made.typed if place.name == "saved-query"]
        await inspect(made, plants, queries[:1], os.environ)

    asyncio.run(ask_and_inspect())
    for name, folder in (("cache", cache), ("config", config), ("out", made.out)):
        plants.look_in(folder, name)
    assert {place for _, place in plants.planted} == {place.name for place in PLACES}
    assert_rows(((place, kind) for kind, place, _ in plants.leaks), NOT_YET_IN_PLACES)
