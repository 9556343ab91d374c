"""What a recorder writes of observations: events that were meant, on disk at once, and paths that others have too."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import SecateurError, UsageError
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.settings import Settings, with_profile, with_values
from secateur.sources import samples
from secateur_lab.replays.recorder import Observation, Recorder
from secateur_lab.replays.recording import read_recording
from secateur_lab.replays.replaying import replay
from secateur_lab.scenarios.running import Session, session

LOG = registry.get_kind("log")
TEXT = "one\ntwo\nERROR three\n" + "four\n" * 40


@pytest.fixture
def opened() -> Iterator[Session]:
    with session(os.environ) as opened:
        yield opened


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def seen(folder: Path, values: dict[str, Any] | None = None, **changes: Any) -> Observation:
    """The Log bench on `a.log` of a folder."""
    settings = with_values(Settings(), {"log.max_tokens": 30} | (values or {}))
    inputs = LOG.blank_inputs() | {"path": str(folder / "a.log")}
    outcome = LOG.decide(LOG.read(inputs, settings, Environment()), inputs, settings)
    made = Observation(LOG, inputs, settings, outcome.ledger, "", False, "why", lambda _: None)
    return replace(made, **changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "a.log").write_text(TEXT)
    return root


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_event_is_on_disk_at_once_with_the_time_since_the_start(folder: Path, opened: Session):
    path, clock = folder / "a.replay.jsonl", Clock()
    recorder = Recorder(path, opened, clock)
    clock.now += 2
    recorder.observe(seen(folder))
    told = lines(path)
    assert told[1] == {
        "at": 2,
        "do": "open",
        "kind": "log",
        "input": {"path": "a.log"},
        "settings": {"log.max_tokens": 30},
    }
    clock.now += 1.234
    recorder.observe(seen(folder, {"log.max_tokens": 60}))
    assert [(line["at"], line["do"]) for line in lines(path)[3:]] == [(3.23, "set"), (3.23, "decided")]
    assert [step.differs for step in replay(read_recording(path), opened)] == [""] * 4  # it is not even closed
    recorder.close()


def test_the_same_again_is_no_event_and_what_comes_back_is_an_undo(folder: Path, opened: Session):
    path = folder / "a.replay.jsonl"
    recorder = Recorder(path, opened, Clock())
    for tokens in (30, 30, 60, 90, 60, 90, 30):
        recorder.observe(seen(folder, {"log.max_tokens": tokens}))
    recorder.observe(seen(folder, {"log.max_tokens": 30}, pinned=True))
    recorder.observe(seen(folder, {"log.max_tokens": 30}, pinned=True, page="diff"))
    recorder.close()
    done = [line["do"] for line in lines(path)[1:] if line["do"] != "decided"]
    assert done == ["open", "set", "set", "undo", "redo", "set", "baseline", "page"]


def test_a_profile_and_what_was_turned_since_are_two_events(folder: Path, opened: Session):
    path = folder / "a.replay.jsonl"
    recorder = Recorder(path, opened, Clock())
    first = seen(folder)
    recorder.observe(first)
    chosen = with_values(with_profile(first.settings, "recommended"), {"log.max_tokens": 3})
    recorder.observe(replace(first, settings=chosen))
    recorder.observe(replace(first, settings=first.settings))
    recorder.close()
    told = [line for line in lines(path)[1:] if line["do"] not in ("decided", "open")]
    assert [line["do"] for line in told] == ["profile", "set", "profile", "set"]
    assert told[1]["values"] == {"log.max_tokens": 3}


def test_the_cursor_is_written_where_it_rested(folder: Path, opened: Session):
    path, clock = folder / "a.replay.jsonl", Clock()
    recorder = Recorder(path, opened, clock)
    recorder.observe(seen(folder))
    for entry, seconds in (("1-2", 0.2), ("3", 2.0), ("4-43", 0.1)):
        recorder.look(entry)
        clock.now += seconds
    recorder.look("3")
    clock.now += 0.3
    recorder.observe(seen(folder, {"log.max_tokens": 60}))  # what follows is about it
    recorder.close()
    told = [(line["at"], line["id"]) for line in lines(path) if line.get("do") == "cursor"]
    assert told == [(0.2, "3"), (2.3, "3")]


def test_a_file_from_outside_is_copied_beside_the_recording(folder: Path, opened: Session, tmp_path: Path):
    path = folder / "a.replay.jsonl"
    (tmp_path / "a.log").write_text(TEXT)
    recorder = Recorder(path, opened, Clock())
    recorder.observe(seen(tmp_path))
    recorder.close()
    assert lines(path)[1]["input"] == {"path": "a.replay.inputs/a.log"}
    assert (folder / "a.replay.inputs" / "a.log").read_text() == TEXT
    assert [step.differs for step in replay(read_recording(path), opened)] == ["", ""]


def test_a_folder_outside_ends_the_recording_with_a_reason(folder: Path, opened: Session, tmp_path: Path):
    recorder = Recorder(folder / "a.replay.jsonl", opened, Clock())
    search = registry.get_kind("search")
    inputs = search.blank_inputs() | {"query": "x", "path": str(tmp_path)}
    with pytest.raises(UsageError, match="which holds the recording"):
        recorder.observe(replace(seen(folder), kind=search, inputs=inputs))
    recorder.close()
    assert not (folder / "a.replay.jsonl").exists(), "nothing was recorded"


def test_a_file_that_took_the_name_of_an_empty_recording_stays(folder: Path, opened: Session):
    recorder = Recorder(folder / "a.replay.jsonl", opened, Clock())
    (folder / "other").write_text("mine")
    (folder / "other").replace(folder / "a.replay.jsonl")
    recorder.close()
    assert (folder / "a.replay.jsonl").read_text() == "mine"


def test_a_sample_is_named_and_not_the_place_where_it_was_unpacked(folder: Path, opened: Session):
    root = samples.materialise("orders", Environment().cache)
    path = folder / "a.replay.jsonl"
    recorder = Recorder(path, opened, Clock())
    search = registry.get_kind("search")
    inputs = search.blank_inputs() | {"query": "refund", "path": str(root / "orders")}
    recorder.observe(replace(seen(folder), kind=search, inputs=inputs, settings=Settings(), ledger=None))
    recorder.close()
    assert lines(path)[1]["input"] == {"query": "refund", "path": "sample:orders/orders"}


@pytest.mark.parametrize(
    ("name", "said"), [("a.jsonl", "is not the name of a recording"), ("there.replay.jsonl", "already exists")]
)
def test_a_name_that_cannot_be_is_said_before_anything_opens(folder: Path, opened: Session, name: str, said: str):
    (folder / "there.replay.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=said):
        Recorder(folder / name, opened, Clock())
    assert (folder / "there.replay.jsonl").read_text() == "mine"


def test_a_folder_that_is_not_there_is_said(folder: Path, opened: Session):
    with pytest.raises(SecateurError) as raised:
        Recorder(folder / "none" / "a.replay.jsonl", opened, Clock())
    assert raised.value.code == "OUTPUT"


def test_a_caption_belongs_to_what_was_shown_and_can_be_changed(folder: Path, opened: Session) -> None:
    clock, path = Clock(), folder / "a.replay.jsonl"
    recorder = Recorder(path, opened, clock)
    recorder.observe(seen(folder))
    clock.now += 30
    recorder.set_caption("the eror")
    assert recorder.caption == "the eror"
    clock.now += 20
    recorder.set_caption("the error")
    recorder.look("3")
    clock.now += 1
    recorder.set_caption("it is kept")
    clock.now += 9
    recorder.observe(seen(folder, {"log.max_tokens": 20}))
    assert recorder.caption == ""
    recorder.set_caption("never mind")
    recorder.set_caption("")
    recorder.close()
    told = [(line["at"], line["do"], line.get("text")) for line in lines(path)[1:] if line["do"] != "decided"]
    assert told == [
        (0, "open", None),
        (0, "caption", "the error"),
        (50, "cursor", None),
        (50, "caption", "it is kept"),
        (60, "set", None),
    ]
    assert read_recording(path).events
