"""`secateur inspect` without a terminal prints what the headless commands print, so that a pipe or a CI job is never
stuck."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.kinds.base import fields_of
from support.cli import secateur
from support.envelopes import envelope
from support.repos import QUERY, SHOP, write


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("inspect") / "shop", SHOP)


def test_with_a_query_it_is_the_search(shop: Path) -> None:
    ran = secateur("inspect", shop, "--query", QUERY)
    assert ran.code == 0
    assert ran.out == secateur("search", QUERY, shop).out
    assert "no terminal here" in ran.err
    for form in ("json", "markdown", "xml"):
        assert (
            secateur("inspect", shop, "--query", QUERY, "--format", form).out
            == secateur("search", QUERY, shop, "--format", form).out
        )


def test_flags_reach_the_search(shop: Path) -> None:
    words = (
        "--budget",
        60,
        "--profile",
        "recommended",
        "--set",
        "graph_rag.max_depth=1",
        "--counter",
        "chars4",
        "--quiet",
    )
    ran = secateur("inspect", shop, "--query", QUERY, *words)
    assert ran.out == secateur("search", QUERY, shop, *words).out
    assert ran.err == ""
    assert "of 60 tokens (chars4" in ran.out


def test_without_a_query_it_is_the_status(shop: Path) -> None:
    secateur("index", shop)
    assert secateur("inspect", shop).out == secateur("status", shop).out


def test_mistakes_are_reported_like_everywhere(shop: Path, tmp_path: Path) -> None:
    assert secateur("inspect", tmp_path / "nowhere").code == 1
    assert secateur("inspect", shop, "--budget", -5).code == 2
    assert secateur("inspect", shop, "--bench", "kitchen").code == 2
    assert secateur("inspect", shop, "--set", "ui.theem=x").code == 2


@pytest.mark.parametrize("terminal", [False, True])
def test_a_bench_that_does_not_exist_is_said(shop: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    monkeypatch.setattr("secateur.cli.inspect.on_terminal", lambda _: terminal)
    ran = secateur("inspect", shop, "--query", QUERY, "--bench", "kitchen")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err == "error: there is no bench kitchen\nhint: benches: search, files, conversation, envelope, diff, log\n"
    )
    assert secateur("inspect", shop, "--bench", "kitchen", "--format", "json").json["error"]["code"] == "USAGE"


def test_a_diff_is_opened_as_one_and_printed_as_chunk_prints_it(shop: Path, tmp_path: Path) -> None:
    text = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    for name in ("pull.diff", "pull"):
        (tmp_path / name).write_text(text)
        headless = secateur("inspect", tmp_path / name, "--budget", 900)
        assert headless.out == secateur("chunk", "--diff", tmp_path / name, "--max-tokens", 900).out
        assert "src/a.py" in headless.out
    asked = ("--base", "HEAD", "--head", "HEAD", "--format", "markdown")
    assert secateur("inspect", shop, "--bench", "diff", *asked).out == secateur("chunk", shop, *asked).out
    assert secateur("inspect", shop, "--base", "HEAD").err.startswith("error: --base is ignored by the bench search\n")


def test_the_benches_are_those_of_the_inspector() -> None:
    from secateur_tui.actions import ACTIONS, BENCH

    benches = {action.id.removeprefix(BENCH): action.keys for action in ACTIONS if action.id.startswith(BENCH)}
    assert list(registry.kinds()) == list(benches)
    assert len(set(benches.values())) == len(benches)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    turns = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": "There. " * 50},
        {"role": "user", "content": "And?"},
    ]
    (tmp_path / "talk.json").write_text(json.dumps(turns))
    (tmp_path / "envelope.json").write_text(json.dumps(envelope(digest={"notes": "Nothing depends on it. " * 200})))
    (tmp_path / "a.py").write_text("def add(a, b):\n    return a + b\n")
    return tmp_path


@pytest.mark.parametrize(
    ("inspected", "headless"),
    [
        ("talk.json", "conversation talk.json"),
        ("talk.json --budget 20 --format json", "conversation talk.json --safe-zone 20 --format json"),
        ("talk.json --set conversation_prune.strategy=truncate", "conversation talk.json --strategy truncate"),
        ("envelope.json --model gpt-4", "envelope envelope.json --model gpt-4 --format text"),
        (
            "envelope.json --model gpt-4 --budget 400 --format json",
            "envelope envelope.json --model gpt-4 --context-budget 400",
        ),
        ("a.py --query add", "files a.py --query add"),
        ("--bench files . --query add --budget 9", "files . --query add --max-tokens 9"),
        ("talk.json --bench files --query add", "files talk.json --query add"),
    ],
)
@pytest.mark.usefixtures("given")
def test_a_file_gets_the_report_of_the_command_for_what_it_is(inspected: str, headless: str) -> None:
    ran, wanted = secateur("inspect", *inspected.split()), secateur(*headless.split())
    assert (ran.code, ran.out) == (wanted.code, wanted.out) and wanted.code == 0, ran.err
    assert "no terminal here" in ran.err


@pytest.mark.usefixtures("given")
def test_what_a_bench_cannot_use_is_refused() -> None:
    for words, said in (
        ("talk.json --query refund", "--query is ignored by the bench conversation"),
        ("envelope.json --rev HEAD", "--rev is ignored by the bench envelope"),
        (". --model gpt-4", "--model is ignored by the bench search"),
        ("talk.json --format xml", "not as xml"),
    ):
        ran = secateur("inspect", *words.split())
        assert ran.code == 2 and said in ran.err, words


@pytest.mark.usefixtures("given")
def test_budget_errors_keep_their_exit_code() -> None:
    ran = secateur("inspect", "envelope.json", "--model", "gpt-4", "--budget", "20")
    assert ran.code == 3 and "target_snapshot" in ran.err
    assert secateur("inspect", "envelope.json").code == 1, "no model, no budget"


def test_the_inspector_is_found_through_its_entry_point() -> None:
    (found,) = entry_points(group="secateur.inspector")
    assert callable(found.load())


def test_the_engine_alone_loads_no_screen() -> None:
    program = (
        f"import sys\nfrom secateur.cli.main import main\ncode = main(['search', {QUERY!r}, '.', '--no-cache',"
        " '--quiet'])\nsys.exit(code or sorted({name.partition('.')[0] for name in sys.modules} & {'textual',"
        " 'rich', 'networkx', 'secateur_tui'}) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, env=os.environ, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_help_and_version_load_almost_nothing() -> None:
    program = (
        "import sys\nfrom secateur.cli.main import main\ntry: main(['--help'])\nexcept SystemExit:"
        " pass\nprint(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'tiktoken', 'textual',"
        " 'tree_sitter', 'sqlite3'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What an inspector of another distribution is given at a terminal."""
    calls: list[dict[str, Any]] = []
    found = SimpleNamespace(load=lambda: lambda path, **given: calls.append({"path": str(path), **given}))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [found] if group else [])
    monkeypatch.setattr("secateur.cli.inspect.on_terminal", lambda _: True)
    return calls


@pytest.mark.parametrize(
    ("words", "bench", "path", "inputs"),
    [
        (". --query add --rev HEAD", "search", ".", {"query": "add", "rev": "HEAD"}),
        ("*.py --bench files --query add", "files", "*.py", {"query": "add"}),
        ("talk.json", "conversation", "talk.json", {}),
        ("envelope.json --model gpt-4", "envelope", "envelope.json", {"model": "gpt-4"}),
        (". --bench diff --base main", "diff", ".", {"base": "main"}),
    ],
)
@pytest.mark.usefixtures("given")
def test_an_inspector_is_given_what_was_typed(
    handed: list[dict[str, Any]], words: str, bench: str, path: str, inputs: dict[str, str]
) -> None:
    assert secateur("inspect", *words.split()).code == 0
    (given,) = handed
    assert (given["bench"], given["path"]) == (bench, path)
    assert {name: text for name, text in given["inputs"].items() if text} == inputs


def test_only_the_bench_of_a_diff_takes_the_settings_of_chunks_from_a_folder(
    handed: list[dict[str, Any]], given: Path
) -> None:
    (given / "secateur.toml").write_text('[graph_rag]\ntop_k = 7\n[chunking]\nignore = ["*.md"]\n')
    (given / "pull.diff").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    for words in (["."], ["pull.diff"]):
        assert secateur("inspect", *words).code == 0
    folder, diff = (call["settings"] for call in handed)
    assert folder.graph_rag.top_k == diff.graph_rag.top_k == 7
    assert (list(folder.chunking.ignore), list(diff.chunking.ignore)) == ([], ["*.md"])


def test_what_a_start_knows_of_a_kind_of_ours_is_what_the_kind_declares() -> None:
    for name, bench in registry.benches().items():
        kind = registry.get_kind(name)
        assert bench == registry.Declared(
            kind.wording.title,
            kind.wording.about,
            {one.name: one.metavar for one in fields_of(kind.inputs)},
            name == "search",
            ("chunking",) if name == "diff" else (),
        )
