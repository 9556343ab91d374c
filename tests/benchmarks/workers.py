"""The cost of a search on workers: tasks, bytes between processes, processor time of the workers and of who asks.

    python tests/benchmarks/workers.py --workspace FILE [--cache DIR] [--workers 8] [--questions 40] [--part 20000]

The workers are run one after another in this process, each as a process of its own would: tasks and results are
pickled. So bytes and processor times are those of as many machines, whatever this one has. Prints Markdown, and how
much of what is selected is selected in one process too. Queries are those of `data/word_queries.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace
from secateur.engine import Engine
from secateur.executors.executor import Task, TaskOutcome
from secateur.executors.pool_worker import answer_task
from secateur.index.elsewhere import parts
from secateur.index.opening import on_workers, opener_of
from secateur.model import Pool
from secateur.selection import select
from secateur.settings import Settings, with_profile
from support.engine_answers import answered

T = TypeVar("T")

QUERIES = Path(__file__).parent / "data" / "word_queries.jsonl"


@dataclass
class MeasuredExecutor:
    """Runs tasks in this process, and counts what they cost."""

    workers: int
    runs: int = 0
    sent: int = 0
    received: int = 0
    worked: float = 0.0  # seconds of the processor in workers
    slowest: float = 0.0  # of the slowest worker in each run, summed: what is waited for where all work at once
    by_function: dict[str, float] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        if not tasks:
            return
        self.runs += 1
        slowest = 0.0
        for number, task in enumerate(tasks):
            message = pickle.dumps((task.function, task.argument))
            begun = time.process_time()
            reply = answer_task(message)
            spent = time.process_time() - begun
            name = task.function.__name__
            self.by_function[name] = self.by_function.get(name, 0.0) + spent
            self.worked += spent
            self.sent += len(message)
            self.received += len(reply)
            slowest = max(slowest, spent)
            outcome: Any = pickle.loads(reply)
            yield number, outcome
        self.slowest += slowest

    def close(self) -> None:
        pass


def main() -> int:
    """Ask, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="cache folder, where it is indexed already")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--part", type=int, default=parts.LARGEST_PART, help="fragments of a part")
    options = parser.parse_args()
    parts.LARGEST_PART = options.part
    if options.cache:
        os.environ["SECATEUR_CACHE_DIR"] = str(options.cache)
    asked = [json.loads(line)["query"] for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    queries = asked[:: max(1, len(asked) // options.questions)][: options.questions]
    print("| | runs | sent | received | workers, processor | slowest worker | who asks, processor |")
    print("|---|---|---|---|---|---|---|")
    for profile in ("spec", "recommended"):
        measure(options.workspace, with_profile(Settings(), profile), queries, options.workers)
    print(f"\nmemory of all together {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000:,} MB")
    return 0


def measure(file: Path, settings: Settings, queries: list[str], workers: int) -> None:
    """Print a row of the medians over the queries, and one of the worst twentieth."""
    executor = MeasuredExecutor(workers)
    opener = on_workers(opener_of(file, None, settings.index), settings, executor, "")
    with Engine(opener, settings, cache_dir=None, config_dir=None) as engine, Engine.open(file, settings) as here:
        begun = time.process_time()
        status = engine.refresh()
        told = f"opened in {time.process_time() - begun:.2f} s, {executor.worked:.2f} s of it in workers"
        print(
            f"| {settings.profile}: {status.fragments:,} fragments, {len(engine._index.parts.places)} parts; {told} |"
        )
        answered(engine, queries[0], "json", use_cache=False)
        rows, shared = [], []
        for query in queries:
            before = MeasuredExecutor(0, executor.runs, executor.sent, executor.received, executor.worked)
            before.slowest, begun = executor.slowest, time.process_time()
            pool = engine.retrieve(query, use_cache=False, refresh=False)
            engine.select(pool)
            spent = time.process_time() - begun
            alone = here.retrieve(query, use_cache=False, refresh=bool(not shared))
            shared += [overlap(pool, alone, replace(settings, budget=budget)) for budget in (4000, 8000, 16000)]
            worked = executor.worked - before.worked
            rows.append(
                (
                    executor.runs - before.runs,
                    (executor.sent - before.sent) / 1e6,
                    (executor.received - before.received) / 1e6,
                    worked,
                    executor.slowest - before.slowest,
                    spent - worked,
                )
            )
    print(f"selected alike: {sum(shared) / len(shared):.4f}, at least {min(shared):.4f}")
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        columns = [sorted(column)[int(share * (len(column) - 1))] for column in zip(*rows, strict=True)]
        cells = f"{columns[0]} | {columns[1]:.2f} MB | {columns[2]:.2f} MB | {columns[3]:.3f} s | {columns[4]:.3f} s"
        print(f"| {settings.profile}, {name} | {cells} | {columns[5]:.3f} s |", flush=True)


def overlap(pool: Pool, other: Pool, settings: Settings) -> float:
    """The share of what is selected from either that is selected from both."""
    one, two = ({pool.symbol_id[row] for row in select(pool, settings).kept_rows} for pool in (pool, other))
    return len(one & two) / max(1, len(one | two))


if __name__ == "__main__":
    raise SystemExit(main())
