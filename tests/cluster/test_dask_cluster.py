"""A cluster answers as one process does, whatever dies of it; what is not safe or not alike is refused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import RepositoryError, SecateurError, UsageError
from secateur.executors import dask_cluster
from secateur.executors.dask_cluster import DaskCluster, connect
from secateur.executors.executor import TaskOutcome
from support import tasks as work
from support.clusters import certificates, cluster
from support.processes import environment, run_process


def outcomes(
    on: DaskCluster, function: Callable[[Any], Any], items: Sequence[Any], homes: Sequence[str] = ()
) -> list[TaskOutcome[Any]]:
    found = list(on.map(function, items, homes))
    assert sorted(number for number, _ in found) == list(range(len(items)))
    return [outcome for _, outcome in sorted(found, key=lambda pair: pair[0])]


def refused(address: str) -> SecateurError:
    with pytest.raises(SecateurError) as raised:
        connect(address)
    return raised.value


def test_tasks_have_outcomes_whatever_workers_die(tmp_path: Path) -> None:
    log, marker = tmp_path / "log", tmp_path / "marker"
    log.write_text("")
    marker.write_text("xx")
    with cluster(tmp_path / "three", 3) as three:
        with closing(connect(three.address)) as on:
            assert on.workers == 3
            numbers = range(60)
            homes = [f"home {number % 7}" for number in numbers]
            assert [one.value for one in outcomes(on, work.doubled, numbers, homes)] == [2 * n for n in numbers]
            assert outcomes(on, work.doubled, []) == []

            said, failed, unsendable, unpicklable = outcomes(
                on,
                work.call,
                [(work.refused, "x"), (work.failing, 0), (work.unsendable, 0), (work.doubled, lambda: None)],
            )
            assert isinstance(said.error, RepositoryError)
            assert said.error.to_dict() == {"code": "NOWHERE", "message": "no such thing: x", "hint": "look elsewhere"}
            assert [one.error.code for one in (failed, unsendable, unpicklable) if one.error] == ["UNEXPECTED"] * 3

            items = [(str(log), f"{n}\n") for n in range(8)]
            before = [one.value for one in outcomes(on, work.noted, items, ["here"] * 8)]
            assert before[0] == ""
            assert all(str(one).startswith("0\n") for one in before[1:]), "the others wait for the first of a home"

            once = [(work.dying, str(marker)), (work.doubled, 1)]
            assert [one.value for one in outcomes(on, work.call, once, ["home"] * 2)] == ["done", 2]

            pids = {one.value for one in outcomes(on, work.process_of, range(30))}
            running = on.map(work.doubled, range(300))
            found = dict([next(running)])
            for pid in sorted(pids)[:2]:
                os.kill(pid, signal.SIGKILL)
            found |= dict(running)
            assert {number: one.value for number, one in found.items()} == {n: 2 * n for n in range(300)}

            marker.write_text("")
            ended, other = outcomes(on, work.call, [(work.always_dying, 0), (work.doubled, 1)], ["home"] * 2)
            assert ended.error is not None
            assert ended.error.code == "PROCESS_ENDED"
            assert other.value == 2, "it waits for the first of its home, and does not fail with it"
        log.write_text("")
        for _ in range(2):  # what was opened for one connection is closed with it
            with closing(connect(three.address)) as on:
                assert outcomes(on, work.opening, [(str(log), "a")])[0].error is None
            assert "closed by" in log.read_text()


def test_a_scheduler_that_dies_ends_the_run_with_a_reason(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with cluster(tmp_path / "one", 1) as one, closing(connect(one.address)) as on:
        running = on.map(work.call, [(work.doubled, 1), (work.stuck, str(marker))], "aa")
        assert next(running) == (0, TaskOutcome(2))
        os.killpg(one.scheduler.pid, signal.SIGKILL)
        with pytest.raises(SecateurError, match="was lost: the connection to its scheduler") as raised:
            next(running)
        assert raised.value.code == "CLUSTER_LOST"


def test_workers_that_are_not_alike_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path / "two", 1, threads=2) as two:
        error = refused(two.address)
    assert (error.code, "has 2 threads" in error.message) == ("CLUSTER_WORKER", True)
    other = tmp_path / "path"
    (other / "numpy-1.0.0.dist-info").mkdir(parents=True)
    path = os.pathsep.join((str(other), *filter(None, sys.path)))
    with cluster(tmp_path / "old", 1, {"PYTHONPATH": path}) as old:
        error = refused(old.address)
    assert error.code == "CLUSTER_WORKER"
    assert "it has numpy 1.0.0" in error.message
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 3)
    with cluster(tmp_path / "none", 0) as none:
        assert refused(none.address).code == "NO_WORKERS"
    assert refused(none.address).code == "CLUSTER_UNREACHABLE"


def test_a_worker_that_joins_later_is_looked_at_too(tmp_path: Path) -> None:
    with cluster(tmp_path / "one", 1) as one, closing(connect(one.address)) as on:
        words = ["--nthreads", "2", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(tmp_path)]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", one.address, *words]
        none = subprocess.DEVNULL
        with run_process(
            command, stdin=none, stdout=none, stderr=none, env=environment(), start_new_session=True
        ) as it:
            try:
                on.client.wait_for_workers(2, timeout=60)
                while len(on.live()) < 2:
                    time.sleep(0.01)
                with pytest.raises(SecateurError, match="has 2 threads"):
                    outcomes(on, work.doubled, range(9))
            finally:
                os.killpg(it.pid, signal.SIGKILL)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl makes certificates here")
def test_a_cluster_with_certificates_takes_only_who_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, others = certificates(tmp_path / "ours"), certificates(tmp_path / "others")
    with cluster(tmp_path / "safe", 1, ours, tls=True) as safe:
        assert safe.address.startswith("tls://127.0.0.1:")
        with pytest.raises(UsageError, match=r"TLS__CA_FILE: not set; .*CLIENT__CERT: .*CLIENT__KEY: not set"):
            connect(safe.address)
        use(monkeypatch, ours)
        with closing(connect(safe.address)) as on:
            assert outcomes(on, work.doubled, [4]) == [TaskOutcome(8)]
        assert refused(safe.address.replace("tls", "tcp")).code == "CLUSTER_UNREACHABLE"
        use(monkeypatch, others)
        error = refused(safe.address)
        assert (error.code, "certificate" in error.message) == ("CLUSTER_UNREACHABLE", True)
        use(monkeypatch, ours | {"DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": str(tmp_path / "no")})
        with pytest.raises(UsageError, match="CLIENT__KEY: cannot read"):
            connect(safe.address)


def use(monkeypatch: pytest.MonkeyPatch, names: dict[str, str]) -> None:
    import dask.config

    known, named = dask.config.config["distributed"]["comm"], dask.config.collect(paths=[], env=names)
    monkeypatch.setitem(known, "tls", dask.config.merge(known["tls"], named["distributed"]["comm"]["tls"]))
