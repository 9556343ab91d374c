"""Calls that take long: progress, cancellation, floods."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import mcp
import pytest
from secateur.errors import SecateurError, UsageError
from secateur.progress import Progress
from secateur_agents.mcp import server as mcp_server
from secateur_agents.mcp.server import MOST_WAITING, THREADS, CallQueue
from support.agent_servers import facts, server, text
from support.repos import QUERY, SHOP, write

SECONDS = 60
"""A test that waits for so long has failed."""


class Work:
    """Work that goes on, reporting, until it is ended or released."""

    def __init__(self) -> None:
        self.begun, self.released, self.ended = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> str:
        self.begun.set()
        try:
            done = 0
            while not self.released.wait(0.001):
                done += 1
                progress("working", done, 1_000_000)
            return "done"
        finally:
            self.ended.set()


async def begun(work: Work) -> None:
    assert await anyio.to_thread.run_sync(work.begun.wait, SECONDS)


async def test_a_cancelled_call_ends_and_leaves_no_thread_at_work() -> None:
    queue, work = CallQueue(), Work()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(queue.run, work, "a")
            await begun(work)
            group.cancel_scope.cancel()
        assert work.ended.is_set()  # before the cancelled call is left
        assert not work.released.is_set()
        assert await queue.run(lambda _: 7, "a") == 7


async def test_a_call_that_takes_too_long_is_an_error_and_the_next_one_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = CallQueue()
    with monkeypatch.context() as short, anyio.fail_after(SECONDS):
        short.setattr(mcp_server, "CALL_SECONDS", 0.01)
        with pytest.raises(SecateurError, match="ended after") as ended:
            await queue.run(Work(), "a")
    assert ended.value.code == "CALL_TIMEOUT"
    assert await queue.run(lambda _: 7, "a") == 7


async def test_work_that_never_reports_keeps_its_root_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "ENDING_SECONDS", 0)
    queue, stuck, second = CallQueue(), Work(), Work()

    def never_reports(_: Progress) -> str:
        return stuck(lambda *_: None)

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(queue.run, never_reports, "a")
            await begun(stuck)
            group.cancel_scope.cancel()
        assert not stuck.ended.is_set()
        async with anyio.create_task_group() as group:
            group.start_soon(queue.run, second, "a")
            assert await queue.run(lambda _: "b", "b") == "b"
            assert not second.begun.is_set()
            stuck.released.set()
            await begun(second)
            second.released.set()


async def test_work_that_may_wait_runs_between_calls_and_ends_when_one_comes() -> None:
    queue, rest, later = CallQueue(), Work(), Work()
    works = iter((rest, later))
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(queue.use_idle_time, lambda progress: next(works)(progress))
            assert await queue.run(lambda _: 1, "a") == 1
            await begun(rest)
            assert await queue.run(lambda _: rest.ended.wait(SECONDS), "a")
            assert not rest.released.is_set()
            await begun(later)
            group.cancel_scope.cancel()
        assert later.ended.is_set()


async def test_calls_of_one_root_take_turns_and_others_need_not_wait() -> None:
    queue, first, second = CallQueue(), Work(), Work()
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(queue.run, first, "a")
            await begun(first)
            group.start_soon(queue.run, second, "a")
            assert await queue.run(lambda _: "b", "b") == "b"
            assert not second.begun.is_set()
            first.released.set()
            await begun(second)
            second.released.set()


async def test_a_flood_is_refused_and_what_waits_is_cancelled_without_beginning() -> None:
    queue, works = CallQueue(), [Work() for _ in range(THREADS + MOST_WAITING)]
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            for number, work in enumerate(works):
                group.start_soon(queue.run, work, number)
            for work in works[:THREADS]:
                await begun(work)
            with pytest.raises(SecateurError) as busy:
                await queue.run(lambda _: 0, "another")
            assert busy.value.code == "BUSY"
            group.cancel_scope.cancel()
        assert sum(work.begun.is_set() for work in works) == THREADS
        assert await queue.run(lambda _: 7, "another") == 7


async def test_errors_of_the_work_are_those_of_the_call() -> None:
    def fail(_: Progress) -> None:
        raise UsageError("no")

    with pytest.raises(UsageError):
        await CallQueue().run(fail, "a")


async def test_progress_only_grows_though_phases_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "REPORT_SECONDS", 0.001)
    told: list[tuple[float, str]] = []
    turn = threading.Event()

    def work(progress: Progress) -> None:
        for phase, total in (("listing", 0), ("reading", 2), ("linking", 0)):
            for done in range(total + 1):
                turn.clear()
                progress(phase, done, total)
                assert turn.wait(SECONDS)

    async def report(progress: float, words: str) -> None:
        told.append((progress, words))
        turn.set()

    await CallQueue().run(work, "a", report)
    read = [f"reading: {number} of 2" for number in range(3)]
    assert [words for _, words in told] == ["listing", *read, "linking"]
    assert told == sorted(set(told))


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_sees_progress_and_cancels_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    monkeypatch.setattr(mcp_server, "REPORT_SECONDS", 0.001)
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    root = write(
        tmp_path / "many",
        {f"m{n}/f{m}.py": f"def f{n}_{m}(x):\n    return x + {m}\n" * 30 for n in range(10) for m in range(60)},
    )
    seen: list[tuple[float, str | None]] = []
    async with mcp.Client(server(root), mode=era) as client:
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as group:

                async def progress(value: float, _total: float | None, message: str | None) -> None:
                    seen.append((value, message))
                    if "of" in str(message):
                        group.cancel_scope.cancel()

                async def search() -> None:
                    await client.call_tool("search", {"query": "f1_1"}, progress_callback=progress)
                    raise AssertionError("it was not cancelled")

                group.start_soon(search)
            assert seen
            answer = await client.call_tool("search", {"query": "f1_1"})  # goes on from what was kept
            assert facts(answer)["items"]


async def test_many_clients_calls_at_once_are_answered_or_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    answers = []
    async with mcp.Client(server(root)) as client:

        async def search(number: int) -> None:
            answers.append(await client.call_tool("search", {"query": f"{QUERY} {number}"}))

        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(search, number)
        assert len(answers) == 60
        refused = [answer for answer in answers if answer.is_error]
        assert len(answers) - len(refused) >= THREADS + MOST_WAITING
        assert all("call again" in text(answer) for answer in refused)
        assert not (await client.call_tool("search", {"query": QUERY})).is_error
