"""A small repository with a scenario, in the folder where pytest runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.cli import secateur
from support.pytest_runs import CONFIGURATION, MONEY, ON_CI, QUERY, Runs, install_plugin, words_of


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository: `shop/money.py`, and `tests/refunds.scenario.toml` that passes."""
    install_plugin(tmp_path_factory.mktemp("site"), monkeypatch)
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in (*ON_CI, *(name for name in os.environ if name.startswith("PYTEST_"))):
        monkeypatch.delenv(name, raising=False)  # on CI failures come twice
    (folder / "shop").mkdir()
    (folder / "tests").mkdir()
    (folder / "shop" / "money.py").write_text(MONEY, "utf-8")
    (folder / "pytest.ini").write_text(CONFIGURATION, "utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    saved = secateur("search", QUERY, "shop", "--save", "tests/refunds.scenario.toml", "--exact")
    assert saved.code == 0, saved.err
    return folder


@pytest.fixture
def run(shop: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Pytest in this process: what the run imported is forgotten after it."""
    monkeypatch.chdir(shop)  # pytester has gone to a folder of its own

    def run_here(*words: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*words_of(words, plugins))

    return run_here
