"""Several repositories asked as one: `--workspace`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.knobs import FilePlace
from secateur.kinds.run import answer_of, location_of
from secateur.settings import Settings
from support.cli import secateur
from support.repos import SHOP, committed, git, write

TILL = {
    "till/drawer.py": (
        "def open_drawer(order):\n    '''Open the drawer for a refund.'''\n    return count_coins(order)\n\n\n"
        "def count_coins(order):\n    return len(order)\n"
    ),
    "till/tests/test_drawer.py": "def test_coins():\n    assert count_coins([]) == 0\n",
    "README.md": "# Till\n\nWhere a refund is paid out.\n",
}
QUERY = "where is a refund paid out in coins?"
BOTH = 'repositories = ["shop", "till"]\n'
JSON = ("--format", "json", "--no-cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two repositories and the workspace that names them."""
    write(tmp_path / "shop", SHOP)
    write(tmp_path / "till", TILL)
    (tmp_path / "workspace.toml").write_text(BOTH)
    return tmp_path


def asked(folder: Path, *words: object) -> Any:
    ran = secateur("search", QUERY, "--workspace", folder / "workspace.toml", *JSON, *words)
    assert ran.code == 0, ran.err
    return ran.json


def test_one_budget_and_one_ledger_for_items_of_all_repositories(folder: Path) -> None:
    answer = asked(folder, "--budget", 400)
    names = {item["file_path"].partition("/")[0] for item in answer["candidates"]}
    assert names == {"shop", "till"}
    assert answer["token_count"] <= answer["budget"] == 400
    assert answer["ledger"]["after"] == answer["token_count"]
    assert {entry["id"].partition("/")[0] for entry in answer["ledger"]["entries"]} >= {"shop", "till"}
    assert "till/till/drawer.py::open_drawer" in {item["symbol_id"] for item in answer["candidates"]}
    assert asked(folder, "--budget", 400) == answer


@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_the_answer_is_that_of_one_folder_with_the_same_files(folder: Path, profile: str) -> None:
    """Vectors are off: the text that a fragment is embedded with begins with its path."""
    words = (*JSON, "--profile", profile, "--set", "embedding.model=none", "--dropped", "all")
    one = write(folder / "all", {f"shop/{path}": text for path, text in SHOP.items()})
    write(one, {f"till/{path}": text for path, text in TILL.items()})
    whole = secateur("search", QUERY, one, *words)
    parts = secateur("search", QUERY, "--workspace", folder / "workspace.toml", *words)
    assert whole.code == parts.code == 0
    assert parts.out == whole.out
    assert len(parts.json["candidates"]) + len(parts.json["dropped"]) > 5


def test_explained_answers_and_packs_are_given_too(folder: Path) -> None:
    answer = asked(folder, "--explain")
    assert {item["file_path"].partition("/")[0] for item in answer["candidates"]} == {"shop", "till"}
    assert all("what_if" in item for item in answer["candidates"])
    pack = secateur("search", QUERY, "--workspace", folder / "workspace.toml", "--format", "markdown")
    assert pack.code == 0
    assert "till/till/drawer.py" in pack.out
    assert "def open_drawer" in pack.out


def test_nothing_is_indexed_twice(folder: Path) -> None:
    built = secateur("index", "--workspace", folder / "workspace.toml", "--format", "json").json
    assert built["files"] == len(SHOP) + len(TILL)
    assert built["read"] == built["files"]
    alone = secateur("index", folder / "till", "--format", "json").json
    assert (alone["read"], alone["reused"]) == (0, len(TILL))
    assert built["bytes_on_disk"] > alone["bytes_on_disk"] > 0
    status = secateur("status", "--workspace", folder / "workspace.toml", "--check")
    assert (status.code, status.out.strip()) == (0, "fresh")


def test_an_edit_of_one_repository_is_seen(folder: Path) -> None:
    before = asked(folder)
    (folder / "till/till/drawer.py").write_text("def pay_out_coins(refund):\n    return refund\n")
    changed = secateur("status", "--workspace", folder / "workspace.toml", "--check", "--format", "json")
    assert (changed.code, changed.json["changed"]) == (4, ["till/till/drawer.py"])
    after = asked(folder)
    assert after != before
    assert "till/till/drawer.py::pay_out_coins" in {item["symbol_id"] for item in after["candidates"]}


def test_a_repository_is_read_at_its_revision_and_under_its_name(folder: Path) -> None:
    repository = committed(folder / "till", {**TILL, "old.py": "def coins_of_old(refund):\n    return refund\n"})
    (repository / "old.py").unlink()
    named = '{path = "till", rev = "HEAD", name = "then"}'
    (folder / "workspace.toml").write_text(f'repositories = ["till", {named}]\n')
    found = {item["symbol_id"] for item in asked(folder, "--budget", 4000)["candidates"]}
    assert "then/old.py::coins_of_old" in found
    assert "till/till/drawer.py::open_drawer" in found
    assert not any(symbol.startswith("till/old.py") for symbol in found)


def test_a_pattern_names_folders_and_a_pin_takes_the_repository_s_name(folder: Path) -> None:
    (folder / "workspace.toml").write_text('repositories = ["*"]\n')
    answer = asked(folder, "--pin", "shop/shop/money.py::round_total", "--budget", 300)
    kept = {item["symbol_id"]: item["decision"]["reason"] for item in answer["candidates"]}
    assert kept["shop/shop/money.py::round_total"] == "pinned"
    assert "unknown_symbol" not in {warning["code"] for warning in answer["warnings"]}


def test_answers_are_drawn_from_the_part_of_a_repository_that_is_named(folder: Path) -> None:
    (folder / "workspace.toml").write_text('repositories = ["shop", {path = "till", only = ["till/tests/**"]}]\n')
    found = {item["file_path"] for item in asked(folder, "--budget", 4000)["candidates"]}
    assert {path for path in found if path.startswith("till/")} == {"till/till/tests/test_drawer.py"}
    assert any(path.startswith("shop/") for path in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("repositories = [", "toml.io"),
        ("repositories = []", "names no repositories"),
        ("repository = ['shop']", "unknown key repository"),
        ("repositories = [3]", "repository 1"),
        ("repositories = [{path = 'shop', branch = 'x'}]", "unknown key branch"),
        ("repositories = [{rev = 'x'}]", "needs a path"),
        ("repositories = [{path = 'shop', only = 'x'}]", "only a list of texts"),
        ("repositories = ['shop', '../{here}/shop']", "both called shop"),
        ("repositories = ['no/*']", "matches no folder"),
        ("repositories = [{path = 'shop', name = 'a/b'}]", "is not a valid name"),
        ('repositories = ["a\\u0000b"]', "must be texts"),
        ('repositories = ["ext::sh"]', "would start a program"),
        ("#" * (2**20 + 1), "too large"),
        ("repositories = " + "[" * 50_000, "toml.io"),
    ],
)
def test_what_a_file_gets_wrong_is_said(folder: Path, text: str, said: str) -> None:
    (folder / "workspace.toml").write_text(text.replace("{here}", folder.name))
    ran = secateur("search", QUERY, "--workspace", folder / "workspace.toml")
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_repository_that_is_not_there_is_named(folder: Path) -> None:
    (folder / "workspace.toml").write_text('repositories = ["shop", "gone"]\n')
    ran = secateur("search", QUERY, "--workspace", folder / "workspace.toml")
    assert ran.code == 1
    assert "workspace.toml: repository gone: no such folder" in ran.err
    (folder / "workspace.toml").write_text('repositories = [{path = "till", rev = "v9"}]\n')
    ran = secateur("search", QUERY, "--workspace", folder / "workspace.toml")
    assert ran.code == 1
    assert "workspace.toml: repository till: cannot read revision 'v9'" in ran.err


def test_a_folder_with_a_workspace_is_a_folder(folder: Path) -> None:
    (folder / "workspace.toml").write_text('repositories = ["https://127.0.0.1:9/one.git"]\n')
    ran = secateur("search", QUERY, folder, *JSON)
    assert ran.code == 0
    assert {item["file_path"].partition("/")[0] for item in ran.json["candidates"]} >= {"shop", "till"}


@pytest.mark.parametrize("words", [("workspace.toml",), ("--workspace", "workspace.toml")])
def test_inspect_opens_the_search_bench_on_a_workspace(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(folder)
    ran = secateur("inspect", *words, "--query", QUERY, "--plain")
    assert ran.code == 0
    assert ran.out.startswith(f"secateur, Search, {folder.name}: 2 repositories\n")
    assert "open_drawer, till/till/drawer.py:1-3;" in ran.out
    (command,) = [line for line in ran.out.splitlines() if line.startswith("command: secateur search ")]
    shown = secateur("search", QUERY, "--workspace", "workspace.toml", *JSON)
    assert secateur(*shlex.split(command)[2:], *JSON).out == shown.out
    assert "2 repositories" in secateur("inspect", *words, "--plain").out


def test_inspect_takes_one_thing_to_open(folder: Path) -> None:
    ran = secateur("inspect", folder / "shop", "--workspace", folder / "workspace.toml", "--plain")
    assert ran.code == 2
    assert "does not go with a path" in ran.err


def test_a_candidate_stands_in_a_file_of_its_repository(folder: Path) -> None:
    kind, there = registry.get_kind("search"), Environment()
    given = kind.blank_inputs() | {"query": QUERY, "path": str(folder / "workspace.toml")}
    material = kind.read(given, Settings(), there)
    try:
        outcome = answer_of(kind, material, given, Settings(), None)
        ids = [entry.id for entry in outcome.ledger.entries]
        place = location_of(kind, outcome, ids.index("till/till/drawer.py::count_coins"), given, there)
        assert place == FilePlace(folder / "till/till/drawer.py", 6)
    finally:
        kind.release(material)


def test_a_scenario_keeps_what_a_workspace_answered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    asked = (
        "search",
        QUERY,
        "--workspace",
        "workspace.toml",
        "--save",
        "coins.scenario.toml",
        "--exact",
        "--budget",
        "300",
    )
    assert secateur(*asked).code == 0
    assert secateur("check", "coins.scenario.toml").code == 0
    (folder / "till/till/drawer.py").write_text("def close_drawer():\n    return None\n")
    changed = secateur("check", "coins.scenario.toml")
    assert changed.code == 4
    assert "till/till/drawer.py::open_drawer" in changed.out


def test_a_scenario_takes_no_workspace_that_leads_out_of_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "shop")
    asked = ("search", QUERY, "--save", "coins.scenario.toml", "--workspace")
    git(committed(folder / "shop", {}), "status")
    outside = secateur(*asked, "../workspace.toml")
    assert outside.code == 2
    assert "workspace.toml lies outside" in outside.err
    (folder / "shop/workspace.toml").write_text('repositories = ["../till"]\n')
    leading_out = secateur(*asked, "workspace.toml")
    assert leading_out.code == 2
    assert "repository 1: ../till is not a folder that may be read here" in leading_out.err
    assert not (folder / "shop/coins.scenario.toml").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("search", QUERY, "shop", "--workspace", "workspace.toml"), "does not go with a path"),
        (("search", QUERY, "--workspace", "other.toml"), "no workspace: other.toml"),
        (("search", QUERY, "--workspace", "workspace.toml", "--rev", "HEAD"), "no one revision"),
        (("index", "--workspace", "workspace.toml", "--clear"), "does not go with --workspace"),
        (("index", "shop", "--on", "processes:2"), "--on needs a workspace"),
    ],
)
def test_calls_that_cannot_be_meant_are_wrong(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(folder)
    ran = secateur(*words)
    assert ran.code == 2
    assert said in ran.err


def test_a_repository_s_own_rules_of_what_is_read_count(folder: Path) -> None:
    write(folder / "till", {"secateur.toml": '[index]\nignore = ["README.md"]\n'})
    built: Mapping[str, Any] = secateur("index", "--workspace", folder / "workspace.toml", "--format", "json").json
    assert ["till/README.md", "ignored_by_setting"] in built["skipped_paths"]
    assert secateur("index", folder / "till", "--format", "json").json["read"] == 0
    (folder / "till/secateur.toml").write_text("[index]\nignore = 3\n")
    assert any(warning["code"] == "config_ignored" for warning in asked(folder)["warnings"])
