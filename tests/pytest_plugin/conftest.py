"""A small repository with a scenario, in the folder where pytest runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.cli import secateur
from support.pytest_runs import CONFIGURATION, MONEY, QUERY, install_plugin


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository: `shop/money.py`, and `tests/refunds.scenario.toml` that passes."""
    install_plugin(tmp_path_factory.mktemp("site"), monkeypatch)
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (folder / "shop").mkdir()
    (folder / "tests").mkdir()
    (folder / "shop" / "money.py").write_text(MONEY, "utf-8")
    (folder / "pytest.ini").write_text(CONFIGURATION, "utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    saved = secateur("search", QUERY, "shop", "--save", "tests/refunds.scenario.toml")
    assert saved.code == 0, saved.err
    return folder
