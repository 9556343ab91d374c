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
from secateur.redaction.scanning import find_version
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
bearer-bare: human symbols
bearer-header: human symbols
cookie: human uuid
set-cookie: human uuid
two-strings-below: hex-40 holds-example human long-201 random-20 symbols uuid
url-token-alone: human
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
file-name: github-token random-20
folder-name: github-token random-20
"""
"""Place: the kinds that leave a program, or are written, when they stand there: the index has to keep the names of
files as they are, in the user's own cache folder."""


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


@pytest.mark.skipif(not find_version(), reason="the extra secrets is not installed")
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
