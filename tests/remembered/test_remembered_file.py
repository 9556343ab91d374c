"""What is remembered of a repository: bounded, whole, changed by one process at a time."""

import json
import multiprocessing
import time

import pytest
from secateur.remembered.store import DAY, LEAST, MAX_BYTES, MOST, PreferenceStore, RememberedError, RememberedFile

A, B = "a.py::A", "b.py::B.run"


class Clock:
    now = 1_000_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return PreferenceStore(tmp_path / "own", tmp_path / "repository", clock)


def stored(tmp_path):
    (path,) = (tmp_path / "own").rglob("preferences.json")
    return path


def test_a_preference_halves_in_every_half_life_of_whole_days(store, clock):
    store.add(A, 1.0)
    clock.now += DAY - 1
    assert store.values() == {A: 1.0}
    clock.now += 29 * DAY + 1
    assert store.values() == {A: 0.5}
    clock.now += 30 * DAY
    assert store.values() == {A: 0.25}


def test_adding_again_renews_it_and_a_clock_set_back_adds_nothing(store, clock):
    store.add(A, 0.8)
    clock.now += 30 * DAY
    store.add(B, 0.5)
    assert store.values() == {B: 0.5, A: 0.4}
    store.add(A, 0.8)
    clock.now -= 90 * DAY
    assert store.values() == {A: 0.8, B: 0.5}


def test_what_counts_hardly_anything_is_forgotten_and_leaves_the_file(store, clock, tmp_path):
    store.add(A, 1.0)
    clock.now += 6 * 30 * DAY
    assert store.values()[A] >= LEAST
    clock.now += 30 * DAY
    assert store.values() == {}
    store.add(B, 1.0)
    assert A not in stored(tmp_path).read_text()


def test_removing_forgets_and_another_repository_has_its_own(store, tmp_path, clock):
    store.add(A, 1.0)
    other = PreferenceStore(tmp_path / "own", tmp_path / "other" / "repository", clock)
    assert other.values() == {}
    store.remove(A)
    assert store.values() == {}


def test_of_too_many_the_weakest_go(store):
    file = store._file
    pairs = {f"f{number:05}.py::x": [0.5 + (number % 2) / 4, 1_000_000_000] for number in range(MOST)}
    file.update(lambda fields: fields | {"symbols": pairs})
    store.add(A, 1.0)
    values = store.values()
    assert len(values) == MOST and next(iter(values)) == A
    assert f"f{MOST - 2:05}.py::x" not in values  # the last of the weak ones


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"version": 2, "symbols": {}}',
        b'{"version": 1, "symbols": 3}',
        b"[" * 100_000,
        b"\xff",
        b'{"version": 1, "x": "' + b"a" * MAX_BYTES + b'"}',
    ],
)
def test_a_broken_file_is_said_and_the_next_change_begins_anew(store, tmp_path, data):
    store.add(A, 1.0)
    stored(tmp_path).write_bytes(data)
    with pytest.raises(RememberedError) as caught:
        store.values()
    assert caught.value.hint and str(tmp_path) not in caught.value.why
    store.add(B, 1.0)
    assert store.values() == {B: 1.0}


@pytest.mark.parametrize("pair", [[1.0], [2.0, 0], [0, 0], [1.0, "x"], [True, 0], {}, None, [float("nan"), 0]])
def test_an_entry_that_is_none_costs_itself(store, tmp_path, pair):
    store.add(A, 1.0)
    fields = json.loads(stored(tmp_path).read_text())
    fields["symbols"][B] = pair
    stored(tmp_path).write_text(json.dumps(fields))
    assert store.values() == {A: 1.0}


def test_a_folder_that_cannot_be_written_is_an_error_with_what_to_do(tmp_path, clock):
    (tmp_path / "own").write_text("a file")
    with pytest.raises(RememberedError, match="cannot write") as caught:
        PreferenceStore(tmp_path / "own", tmp_path, clock).add(A, 1.0)
    assert "SECATEUR_CONFIG_DIR" in caught.value.hint


def add_many(own, root, name):
    store = PreferenceStore(own, root, time.time)
    for number in range(25):
        store.add(f"{name}.py::f{number}", 1.0)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=add_many, args=(tmp_path / "own", tmp_path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(PreferenceStore(tmp_path / "own", tmp_path, time.time).values()) == 75
    assert {path.name for path in (tmp_path / "own").rglob("*.*")} == {"preferences.json"}


def test_a_change_that_fails_leaves_the_file_as_it_was(tmp_path):
    file = RememberedFile(tmp_path / "own", tmp_path, "x.json")
    file.update(lambda _: {"a": 1})
    with pytest.raises(RememberedError, match="more than"):
        file.update(lambda fields: fields | {"b": "x" * MAX_BYTES})
    with pytest.raises(ZeroDivisionError):
        file.update(lambda _: {"a": 1 // 0})
    assert file.read() == {"a": 1}
