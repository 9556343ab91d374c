"""`--on ADDRESS`: wrong calls, and what goes to workers says what one process says, also where they die."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from secateur.evaluation.cases import read_cases
from secateur.evaluation.evaluation import MeasuredCase, plan_of
from secateur.evaluation.jobs import measured_by
from secateur.evaluation.measuring import Choice
from secateur.evaluation.mining import mine, opened_history
from secateur.executors.addresses import parse_address
from secateur.executors.dask_cluster import DaskCluster, connected
from secateur.executors.executor import Task
from secateur.scenarios.scenario import dump_scenario
from secateur.settings import Settings
from secateur.sources import samples
from support.cli import secateur
from support.clusters import cluster
from support.repos import write
from support.systems import posix
from support.tasks import process_of


@pytest.mark.parametrize("command", [("evaluate",), ("check",), ("tune",)])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "tcp://192.0.2.1:8786"), "is not encrypted, and leads beyond this machine"),
        (("--on", "processes:0"), "--on processes:0 is not allowed"),
        (("--on", "8786"), "--on 8786 is no address of a cluster"),
        (("--on", "tcp://127.0.0.1:1", "--jobs", 2), "--jobs does not go with --on"),
    ],
)
def test_wrong_addresses_are_refused(
    tmp_path: Path, command: tuple[str, ...], words: tuple[Any, ...], said: str
) -> None:
    ran = secateur(*command, mined(tmp_path), *words)
    assert (ran.code, said in ran.err) == (2, True), ran.err


def mined(tmp_path: Path) -> Path:
    """Judged cases of a small repository."""
    root = samples.materialise("orders", tmp_path)
    for number, case in enumerate(mine(opened_history(root, Settings()), 6).cases):
        write(root, {f"cases/{number}.scenario.toml": dump_scenario(case.scenario("."))})
    return root / "cases"


def kill_some(on: DaskCluster) -> None:
    """Kills two of three workers."""
    pids = {outcome.got() for _, outcome in on.run([Task(process_of, 0, str(number)) for number in range(30)])}
    for pid in sorted(pids)[:2]:
        os.kill(pid, signal.SIGKILL)


@posix
def test_commands_answer_the_same_whatever_workers_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    cases = mined(tmp_path)
    commands = (
        ("evaluate", cases, "--budget", 1000, "--part", "all", "--format", "json"),
        ("check", cases, "--format", "json"),
    )
    alone = [secateur(*command) for command in commands]
    for command, one in zip(commands, alone, strict=True):
        ran = secateur(*command, "--on", "processes:2")
        assert (ran.code, ran.out, ran.err) == (one.code, one.out, one.err)
    with cluster(tmp_path / "three", 3, {"SECATEUR_CACHE_DIR": str(tmp_path / "other")}) as three:
        for command, one in zip(commands, alone, strict=True):
            ran = secateur(*command, "--on", three.address)
            assert (ran.code, ran.out, ran.err) == (one.code, one.out, one.err)
        plan, found = plan_of([Choice("spec")], [1000]), read_cases([cases])[0]
        with closing(connected(parse_address(three.address))) as on:
            coming = measured_by(on, found, plan, os.environ)
            measured = [next(coming)]
            kill_some(on)
            measured += coming
        expected = {one.case.name: one.figures for one in measured_by(1, found, plan, os.environ)}  # type: ignore[union-attr]
        assert {one.case.name: one.figures for one in measured if isinstance(one, MeasuredCase)} == expected
