"""Questions that a repository itself suggests: each is answered, and its answer is cut."""

import os
import shlex
import subprocess
import sys

import pytest
from secateur.engine import Engine
from secateur.example_queries import FEWEST_DROPPED, example_queries, first_sentence
from secateur.settings import Settings
from support.cli import secateur
from support.repos import SHOP, git, write


@pytest.mark.parametrize("sample", ["orders", "boards", "courier"])
def test_every_suggestion_is_answered_and_cut(sample):
    examples = secateur("status", f"sample:{sample}", "--examples", "--format", "json").json["examples"]
    assert len(examples) == 4 and len({one["drawn_from"] for one in examples}) > 1
    for one in examples:
        words = ("search", one["query"], f"sample:{sample}", "--budget", one["budget"], "--format", "json")
        report = secateur(*words, "--dropped", "all").json
        assert (len(report["candidates"]), len(report["dropped"])) == (one["kept"], one["dropped"])
        assert one["kept"] >= 2 and one["dropped"] >= FEWEST_DROPPED
        assert not {warning["code"] for warning in report["warnings"]} & {"low_relevance", "no_match"}


def test_the_command_lines_that_are_printed_run():
    out = secateur("status", "sample:orders", "--examples").out
    lines = [line for line in out.splitlines() if line.startswith("secateur search")]
    assert len(lines) == 4
    ran = secateur(*shlex.split(lines[0])[1:])
    assert ran.code == 0 and "○ dropped 0" not in ran.out


def test_the_same_repository_suggests_the_same_under_any_hash_seed():
    code = "import sys; from secateur.cli.main import main; main(['status', 'sample:orders', '--examples'])"
    words = [sys.executable, "-c", code]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    one, two = [subprocess.run(words, env=environ, capture_output=True, check=True).stdout for environ in seeds]
    assert one == two


def test_a_repository_with_nothing_to_suggest_says_so(tmp_path):
    write(tmp_path, {"a.txt": "one\n"})
    assert "no question was found" in secateur("status", tmp_path, "--examples").out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert secateur("status", empty, "--examples", "--format", "json").json["examples"] == []


def test_releases_and_escape_sequences_suggest_nothing_a_terminal_obeys(tmp_path):
    shop = write(tmp_path / "shop", SHOP)
    git(shop, "init", "-q")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Release 1.2.3", time=1_760_000_000)
    git(shop, "commit", "-q", "--allow-empty", "-m", "Round the refund total \x1b[31mhalf to even", time=1_760_000_001)
    with Engine.open(shop) as engine:
        queries = [one.query for one in example_queries(engine, Settings(budget=110))]
    assert queries and not any("1.2.3" in one or "\x1b" in one for one in queries)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ('def f():\n    """Rounds a *total* half to even. Then more."""\n', "Rounds a total half to even"),
        ("def f():\n    '''Rounds\n    a total\n\n    More.'''\n", "Rounds a total"),
        ("// Total returns the `sum` of all lines.\n// More.\nfunc Total() {}", "Total returns the sum of all lines"),
        ("/** Adds a line to the cart. */\nvoid add() {}", "Adds a line to the cart"),
        ("# Adds a line, e.g. a gift\ndef add", "Adds a line, e.g"),
        ("// 处理一次扫描。\nfunc Scan() {}", "处理一次扫描"),
        ('def f():\n    """Too short."""\n', ""),
        ("def f():\n    return 1\n", ""),
        ('"""' + "long " * 50 + '"""', ""),
    ],
)
def test_the_first_sentence_of_a_docstring_or_a_leading_comment(code, sentence):
    assert first_sentence(code) == sentence
