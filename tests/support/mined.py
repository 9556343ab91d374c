"""Judged cases of a sample, as files."""

from __future__ import annotations

from pathlib import Path

from secateur.history import RepositoryHistory
from secateur.settings import Settings
from secateur.sources import samples
from secateur_lab.evaluation.cases import mine
from secateur_lab.scenarios.scenario import dump_scenario
from support.repos import write


def mined_cases(tmp_path: Path) -> Path:
    """Judged cases of a small repository."""
    root = samples.materialise("orders", tmp_path)
    for number, case in enumerate(mine(RepositoryHistory.open(root, Settings()), 6).cases):
        write(root, {f"cases/{number}.scenario.toml": dump_scenario(case.scenario("."))})
    return root / "cases"
