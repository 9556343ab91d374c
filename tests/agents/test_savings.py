"""What pruning took out: records in a file that several programs write, and their sums."""

from __future__ import annotations

import itertools
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store, savings
from secateur_agents.savings import NAME, SavingsFile, SavingsRecord, summarize
from secateur_agents.store import user_store
from support.cli import secateur

NOON = 1_750_000_000.0


def at(folder: Path) -> SavingsFile:
    return SavingsFile(folder, lambda: NOON)


def test_records_of_several_writers_are_all_there(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(200):
            at(tmp_path).add(SavingsRecord("run", name, whole=number, sent=1))

    threads = [threading.Thread(target=write, args=(f"s{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = at(tmp_path).read()
    assert len(records) == 800 and {record.at for record in records} == {int(NOON)}


def test_only_the_user_may_read_the_file(tmp_path: Path) -> None:
    at(tmp_path).add(SavingsRecord("run"))
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_the_file_is_bounded_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(savings, "MOST_BYTES", 1_000)
    for number in range(200):
        at(tmp_path).add(SavingsRecord("run", "s", whole=number))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2_500
    assert [record.whole for record in at(tmp_path).read()][-1] == 199


def test_damaged_lines_and_a_folder_that_cannot_be_written_cost_themselves(tmp_path: Path) -> None:
    at(tmp_path).add(SavingsRecord("run", "x" * 1_000))
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'\xff\n{"source": "no"}\n[[[[\n{"source": "run", "whole": "9"}\n')
    at(tmp_path).add(SavingsRecord("recall"))
    assert [record.source for record in at(tmp_path).read()] == ["run", "recall"]
    at(tmp_path / "missing" / "inner").add(SavingsRecord("run"))
    at(tmp_path / NAME / "missing").add(SavingsRecord("run"))
    assert [record.source for record in at(tmp_path / "missing" / "inner").read()] == ["run"]
    assert at(tmp_path / NAME / "missing").read() == []


def test_requests_are_priced_with_what_the_cache_holds() -> None:
    records = [
        SavingsRecord("live", "a", whole=1_000, sent=1_000, at=1),
        SavingsRecord("live", "a", whole=2_000, sent=500, whole_cached=1_000, sent_cached=100, cut=True, at=2),
        SavingsRecord("run", "b", whole=300, sent=100, at=3),
    ]
    saved = summarize(records, 1)
    assert [shape.session for shape in saved.sessions] == ["b"] and saved.found == 2
    assert saved.sessions[0].paid_share is None and saved.sessions[0].taken_out == 200
    whole, paid = 1_250 + 100 + 1_250, 1_250 + 10 + 500
    assert saved.total.paid_share == round(paid / whole, 4)
    assert (saved.total.requests, saved.total.cuts, saved.total.outputs, saved.total.taken_out) == (2, 1, 1, 1_700)


def test_live_records_every_request_as_it_was_sent(tmp_path: Path) -> None:
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 11_000}
    live = Live(with_values(Settings(profile="recommended"), values), Store.at(tmp_path))
    history: list[dict[str, Any]] = [{"role": "user", "content": "Look at each." * 2_500}]
    for number in range(12):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "show", "arguments": f'{{"n": {number}}}'}}
        live.step(history)
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"value = {number}\n" * 100},
        ]
    step = live.step(history)
    live.step(history)  # sent once more
    live.recall(next(iter(path.stem for path in tmp_path.iterdir() if path.suffix == ".original")))
    records = Store.at(tmp_path).savings.read()
    assert len({record.session for record in records if record.source == "live"}) == 1
    *requests, again, recall = records
    assert len(requests) == 13 and recall.source == "recall" and sum(record.cut for record in requests) > 0
    assert again.sent == again.sent_cached == requests[-1].sent < again.whole == requests[-1].whole
    for before, record in itertools.pairwise(requests):
        assert record.whole_cached == before.whole
        assert record.sent_cached == before.sent or (record.cut and record.sent_cached < before.sent)
    assert step.changed


def test_the_command_prints_sessions_and_their_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path))
    assert secateur("saved").out == "nothing was pruned with your store yet\n"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "d176370a")
    store = user_store(os.environ, lambda: NOON)
    store.keep({"0123456789ab": "text"})
    store.savings.add(SavingsRecord("run", store.session, whole=39_001, sent=21))
    store.recall("0123456789ab")
    lines = secateur("saved").out.splitlines()
    assert "taken out" in lines[0] and lines[4].startswith("taken out: not what an agent saved")
    assert lines[1].split() == ["2025-06-15", "15:06", "0", "0", "1", "39,001", "38,980", "1", "d176370a"]
    assert lines[2].split() == ["2025-06-15", "15:06", "0", "0", "1", "39,001", "38,980", "1", "all", "1"]
    answer = secateur("saved", "--format", "json")
    assert answer.json["total"]["recalls"] == 1 and answer.json["found"] == 1
    assert json.loads((tmp_path / "originals" / NAME).read_text().splitlines()[0])["sent"] == 21
