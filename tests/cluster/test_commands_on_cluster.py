"""What goes to the workers of a cluster says what one process says, also where they die."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from secateur.directories import cache_dir
from secateur.executors.dask_cluster import DaskCluster, connect
from secateur.index.member_workers import index_members
from secateur.index.store.folder import FILE_NAME, folder_of
from secateur.index.workspace_index import WorkspaceOpener
from secateur.settings import Settings
from secateur_lab.evaluation.cases import read_cases
from secateur_lab.evaluation.measuring import Choice, MeasuredCase, make_plan, measure_with
from support.cli import secateur
from support.clusters import cluster
from support.mined import mined_cases
from support.repos import SHOP, committed
from support.tasks import process_of


def kill_some(on: DaskCluster) -> None:
    """Kills two of three workers."""
    pids = {outcome.got() for _, outcome in on.map(process_of, range(30))}
    for pid in sorted(pids)[:2]:
        os.kill(pid, signal.SIGKILL)


def test_records_come_back_from_workers_with_caches_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("shop", "till"):
        committed(tmp_path / name, SHOP)
    (tmp_path / "workspace.toml").write_text('repositories = ["shop", {path = "till", rev = "HEAD"}, "gone"]\n')
    opener = WorkspaceOpener(tmp_path / "workspace.toml", Settings().index)
    with (
        cluster(tmp_path / "two", 2, {"SECATEUR_CACHE_DIR": str(tmp_path / "other")}) as two,
        closing(connect(two.address)) as on,
    ):
        for _ in range(2):
            index_members(opener, Settings(), on)
            assert [len(recorded(tmp_path / name)) for name in ("shop", "till")] == [len(SHOP)] * 2


def recorded(root: Path) -> set[tuple[bytes, str]]:
    """The paths and versions of the records in our cache."""
    with closing(sqlite3.connect(folder_of(cache_dir(os.environ), root) / FILE_NAME)) as db:
        return {(path, version) for path, version in db.execute("SELECT path, fingerprint FROM record")}


def test_commands_answer_the_same_whatever_workers_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    cases = mined_cases(tmp_path)
    commands = (
        ("evaluate", cases, "--budget", 1000, "--part", "all", "--format", "json"),
        ("check", cases, "--format", "json"),
    )
    alone = [secateur(*command) for command in commands]
    with cluster(tmp_path / "three", 3, {"SECATEUR_CACHE_DIR": str(tmp_path / "other")}) as three:
        for command, one in zip(commands, alone, strict=True):
            ran = secateur(*command, "--on", three.address)
            assert (ran.code, ran.out, ran.err) == (one.code, one.out, one.err)
        plan, found = make_plan([Choice("spec")], [1000]), read_cases([cases])[0]
        with closing(connect(three.address)) as on:
            coming = measure_with(on, found, plan, os.environ)
            measured = [next(coming)]
            kill_some(on)
            measured += coming
        expected = {one.case.name: one.figures for one in measure_with(1, found, plan, os.environ)}  # type: ignore[union-attr]
        assert {one.case.name: one.figures for one in measured if isinstance(one, MeasuredCase)} == expected
