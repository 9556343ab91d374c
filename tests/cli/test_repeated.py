"""A call that is made again is answered from what was kept, and only where nothing it rests on has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur import directories
from secateur.cli.repeated import RepeatableCall
from secateur.retrieval.cache import CALLS
from support.cli import Ran, secateur
from support.repos import QUERY, SHOP, committed, git, write

COUNTED = """
import sys
from secateur.cli.main import main
code = main(sys.argv[1:])
heavy = {"numpy", "sqlite3", "tree_sitter", "secateur.engine", "secateur.settings"} & set(sys.modules)
print(code, *sorted(heavy), file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that other tests do not read: one test here changes it."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "secateur.toml").write_text('[redaction]\nscanner = "rules"\n')
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))


def words(root: Path, *further: str) -> list[str]:
    return ["search", QUERY, str(root), "--budget", "400", *further]


def is_repeated(root: Path, *further: str) -> bool:
    """True if the call would be answered without being made."""
    call = RepeatableCall.of(words(root, *further))
    return call is not None and call.repeat_answer() is not None


def asked(root: Path, *further: str) -> Ran:
    ran = secateur(*words(root, *further))
    assert ran.code == 0, ran.err
    return ran


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "shop", SHOP)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "xml"])
def test_the_second_time_nothing_is_loaded_and_the_same_is_printed(shop: Path, form: str) -> None:
    command = [sys.executable, "-c", COUNTED, *words(shop, "--format", form)]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert second.stdout == first.stdout != ""
    assert "secateur.engine" in first.stderr
    assert second.stderr.endswith("0\n") and ("note: decided and counted as XML" in second.stderr) == (form == "xml")


def test_warnings_and_the_exit_code_are_those_of_the_first_time(shop: Path) -> None:
    write(shop, {"secateur.toml": '[llm]\nbase_url = "http://example.org"\n'})
    nothing = ["search", "zebra", str(shop), "--fail-on-low"]
    first, second = secateur(*nothing), secateur(*nothing)
    assert first == second
    assert first.code == 4
    assert "llm.base_url counts only from your own configuration" in first.err
    assert secateur(*nothing, "--quiet").err == secateur(*nothing, "--quiet").err == ""


def edit(root: Path) -> None:
    write(root, {"shop/money.py": "def round_total(amount):\n    return int(amount + 0.4)\n"})


def commit_nothing(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "Nothing", time=1_760_000_000)


def other_weight(root: Path) -> None:
    write(root, {"secateur.toml": "smart_pruning.priority_weights.hotspot = 0.9\n"})


def own_weight(_: Path) -> None:
    (directories.config_dir(os.environ) / "secateur.toml").write_text("smart_pruning.priority_weights.hotspot = 0.9\n")


def forget(_: Path) -> None:
    for path in (directories.cache_dir(os.environ) / "graph-context").glob("*/*.json"):
        path.unlink()


def forge(_: Path) -> None:
    """Somebody else's words in place of those that were kept."""
    for path in (directories.cache_dir(os.environ) / "graph-context").glob("*/*.json"):
        entry = json.loads(path.read_text())
        path.write_text(json.dumps(entry | {"text": entry["text"].replace("refund", "forged")}))


@pytest.mark.parametrize("change", [edit, commit_nothing, other_weight, own_weight, forget, forge])
def test_after_a_change_it_is_asked_anew(shop: Path, change: Callable[[Path], None]) -> None:
    asked(shop)
    assert is_repeated(shop)
    change(shop)
    assert not is_repeated(shop)
    again = asked(shop)
    assert "forged" not in again.out
    assert is_repeated(shop)
    assert asked(shop) == again


def test_an_ignored_file_changes_nothing(shop: Path) -> None:
    write(shop, {".gitignore": "build/\n"})
    asked(shop)
    write(shop, {"build/out.py": "x = 1\n"})
    assert is_repeated(shop)


def test_what_is_installed_is_part_of_the_call(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    asked(shop)
    assert is_repeated(shop)
    (site / "onnxruntime-99.9.dist-info").mkdir()
    assert not is_repeated(shop)


def test_so_is_the_git_that_is_found(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(shop)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not is_repeated(shop)
    assert "git was not found" in asked(shop).out


@pytest.mark.parametrize("word", ["--no-cache", "--verbose", "--save=a.scenario.toml", "--report=a.json"])
def test_calls_that_do_more_than_print_are_made_each_time(shop: Path, word: str) -> None:
    assert RepeatableCall.of(words(shop, word)) is None


def test_a_query_from_standard_input_is_read_each_time(shop: Path) -> None:
    one, other = (secateur("search", "-", shop, stdin=text) for text in (b"refund total", b"post refund"))
    assert one.out != other.out
    assert RepeatableCall.of(["search", "-", str(shop)]) is None


def test_preferences_fade_and_are_looked_up_each_time(shop: Path) -> None:
    asked(shop, "--set", "preference.enabled=true")
    assert not is_repeated(shop, "--set", "preference.enabled=true")


def test_a_commit_is_told_by_what_its_name_means_now(shop: Path) -> None:
    asked(shop, "--rev", "HEAD")
    edit(shop)
    assert is_repeated(shop, "--rev", "HEAD")
    git(shop, "commit", "-q", "-a", "-m", "Round down", time=1_760_000_000)
    assert not is_repeated(shop, "--rev", "HEAD")


def test_removing_an_index_removes_the_calls_that_name_its_answers(shop: Path, tmp_path: Path) -> None:
    other = committed(tmp_path / "other", SHOP)
    asked(shop)
    asked(other)
    folder = directories.cache_dir(os.environ) / CALLS
    before = {path.name for path in folder.glob("*.json")}
    assert secateur("index", shop, "--clear").code == 0
    assert len(before - {path.name for path in folder.glob("*.json")}) == 1
    assert (is_repeated(shop), is_repeated(other)) == (False, True)


def test_a_folder_that_is_gone_is_an_error_as_always(shop: Path) -> None:
    asked(shop)
    shop.rename(shop.with_name("moved"))
    ran = secateur(*words(shop))
    assert (ran.code, ran.out) == (1, "")
    assert "no such folder" in ran.err
