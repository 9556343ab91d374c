"""A workspace on a cluster: indexed and searched with the same bytes as here, while its workers are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from secateur.engine import Engine
from secateur.executors.dask_cluster import DaskCluster, connect, parse_address
from secateur.executors.executor import Task, TaskOutcome
from secateur.index.opening import on_workers, opener_of
from secateur.settings import Settings, with_profile
from support.cli import secateur
from support.clusters import cluster
from support.engine_answers import answered
from support.repos import SHOP, committed
from support.systems import posix
from support.tasks import process_of

pytestmark = posix

T = TypeVar("T")

QUERIES = ("where is the refund total rounded?", "round_total", "who calls refund_total?")


class DeadlyCluster:
    """A cluster, one worker of which is killed at each of these outcomes, counted from the first."""

    def __init__(self, on: DaskCluster, at: Sequence[int]) -> None:
        self._on, self._at, self._count = on, set(at), 0
        self.killed = 0

    @property
    def workers(self) -> int:
        return self._on.workers

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        with closing(self._on.run(tasks)) as outcomes:
            for outcome in outcomes:
                yield outcome
                self._count += 1
                if self._count in self._at:
                    self._kill()

    def close(self) -> None:
        self._on.close()

    def _kill(self) -> None:
        found = [one.got() for _, one in self._on.run([Task(process_of, 0, str(number)) for number in range(9)])]
        os.kill(min(found), signal.SIGKILL)
        self.killed += 1


def test_workers_die_while_a_workspace_is_indexed_and_searched(tmp_path: Path) -> None:
    names = [f"shop{number}" for number in range(12)]
    for number, name in enumerate(names):
        more = {f"more{number}.py": f"def refund_{number}(total):\n    return round(total)\n"}
        committed(tmp_path / name, SHOP | more)
    file, settings = tmp_path / "workspace.toml", with_profile(Settings(), "recommended")
    file.write_text(f"repositories = {[{'path': name, 'rev': 'HEAD'} for name in names]}".replace("':", "' ="))
    with Engine.open(file, settings) as engine:
        expected = [answered(engine, query, "json", use_cache=False).text for query in QUERIES]
    with cluster(tmp_path / "three", 3) as three:
        with closing(DeadlyCluster(connect(parse_address(three.address)), [3, 8, 40, 75])) as on:
            opener = on_workers(opener_of(file, None, settings.index), settings, on, str(tmp_path / "store"))
            with Engine(opener, settings, cache_dir=tmp_path / "cache", config_dir=None) as engine:
                assert [answered(engine, query, "json", use_cache=False).text for query in QUERIES] == expected
            assert on.killed == 4
        words = ("--workspace", file, "--on", three.address, "--store", tmp_path / "store")
        ran = secateur("index", *words, "--format", "json")
        assert (ran.code, ran.json["fragments"]) == (0, engine.status().fragments)
        ran = secateur("search", QUERIES[0], *words, "--profile", "recommended", "--format", "json", "--no-cache")
        assert ran.out == expected[0]
