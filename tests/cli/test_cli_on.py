"""`--on ADDRESS`: wrong calls, and processes that answer as one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.cli import secateur
from support.mined import mined_cases
from support.repos import SHOP, write


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged cases, to read only."""
    return mined_cases(tmp_path_factory.mktemp("mined"))


@pytest.mark.parametrize("command", [("evaluate",), ("check",), ("tune",)])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "tcp://192.0.2.1:8786"), "is not encrypted, and leads beyond this machine"),
        (("--on", "processes:0"), "--on processes:0 is not allowed"),
        (("--on", "8786"), "--on 8786 is not the address of a cluster"),
        (("--on", "tcp://127.0.0.1:1", "--jobs", 2), "--jobs does not go with --on"),
    ],
)
def test_wrong_addresses_are_refused(cases: Path, command: tuple[str, ...], words: tuple[Any, ...], said: str) -> None:
    ran = secateur(*command, cases, *words)
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_processes_named_by_address_answer_the_same(cases: Path) -> None:
    command = ("check", cases, "--format", "json")
    alone, ran = secateur(*command), secateur(*command, "--on", "processes:2")
    assert (ran.code, ran.out, ran.err) == (alone.code, alone.out, alone.err)


def test_repositories_of_a_workspace_are_indexed_by_processes(tmp_path: Path) -> None:
    for name in ("shop", "till"):
        write(tmp_path / name, {**SHOP, f"{name}.py": "def pay(refund):\n    return refund\n"})
    (tmp_path / "workspace.toml").write_text('repositories = ["shop", "till", "gone"]\n')
    words = ("--workspace", tmp_path / "workspace.toml", "--format", "json")
    failed = secateur("index", *words, "--on", "processes:2")
    assert (failed.code, "repository gone" in failed.err) == (1, True), failed.err
    (tmp_path / "workspace.toml").write_text('repositories = ["shop", "till"]\n')
    built = secateur("index", *words, "--on", "processes:2").json
    assert (built["read"], built["reused"]) == (0, 2 * len(SHOP) + 2)
    assert built["snapshot"] == secateur("index", *words).json["snapshot"]
