import asyncio
import gc
import threading

import pytest
from secateur_tui.background import MANY, Courtesy, EngineThread, reduce_collections, suspend_collection


async def test_calls_run_one_after_another_on_one_thread() -> None:
    thread = EngineThread()
    names = await asyncio.gather(*(thread.run(lambda: threading.current_thread().name) for _ in range(3)))
    assert set(names) == {"secateur-engine"}
    thread.close()


async def test_a_call_nobody_waits_for_any_more_never_runs() -> None:
    thread = EngineThread()
    gate, ran = threading.Event(), []
    first = asyncio.ensure_future(thread.run(gate.wait))
    second = asyncio.ensure_future(thread.run(lambda: ran.append(1)))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    gate.set()
    await first
    await thread.run(lambda: None)
    assert ran == []
    thread.close()


async def test_errors_reach_whoever_waits() -> None:
    thread = EngineThread()
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0)
    assert await thread.run(lambda: 2) == 2
    thread.close()


async def test_closing_ends_the_thread() -> None:
    thread = EngineThread()
    assert await thread.run(lambda: 1) == 1
    thread.close()
    thread._thread.join(timeout=5)
    assert not thread._thread.is_alive()


async def test_whether_it_has_ended_is_known_and_nobody_waits_longer_than_agreed() -> None:
    thread = EngineThread()
    entered, gate = threading.Event(), threading.Event()

    def job() -> None:
        entered.set()
        gate.wait(10)

    waiting = asyncio.ensure_future(thread.run(job))
    while not entered.is_set():
        await asyncio.sleep(0)
    thread.close()
    assert not thread.wait_for_end(0.0)
    gate.set()
    await waiting
    assert thread.wait_for_end(10.0)


def test_what_a_job_makes_in_great_numbers_is_not_looked_through_for_garbage() -> None:
    frozen = gc.get_freeze_count()
    with suspend_collection():
        assert not gc.isenabled()
        few = [[] for _ in range(100)]
    assert gc.isenabled() and gc.get_freeze_count() == frozen
    with suspend_collection():
        many = [[] for _ in range(2 * MANY)]
    assert gc.isenabled() and gc.get_freeze_count() >= frozen + len(many) > len(few)
    gc.unfreeze()
    with pytest.raises(ZeroDivisionError), suspend_collection():
        _ = 1 / 0
    assert gc.isenabled()


async def test_work_that_nobody_waits_for_stands_back_while_keys_arrive() -> None:
    courtesy, thread, went = Courtesy(), EngineThread(), list[str]()
    courtesy.give_way(1e6)  # a key, and no rest after it
    waiting = asyncio.ensure_future(thread.run(lambda: (courtesy.wait(lambda: False), went.append("on"))))
    await asyncio.sleep(0)
    assert not went
    courtesy.give_way(0)  # the rest is over
    await waiting
    assert went == ["on"]
    courtesy.give_way(1e6)
    await thread.run(lambda: courtesy.wait(lambda: True))  # unwanted: it does not wait
    thread.close()


def test_a_session_collects_garbage_more_rarely_and_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with reduce_collections():
        assert gc.get_threshold()[0] > before[0][0] and gc.get_freeze_count() > before[1]
    assert gc.get_threshold() == before[0]
