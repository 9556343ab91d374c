"""Sessions of the inspector: recent queries, the last knobs, and what a session that was cut off had tuned."""

import json
import subprocess
import sys

import pytest
from secateur.remembered.inspector_session import (
    FILE_NAME,
    LONGEST_QUERY,
    MOST_QUERIES,
    MOST_UNFINISHED,
    RememberedSession,
    SessionStore,
    changes,
    with_changes,
)
from secateur.remembered.store import MAX_BYTES
from secateur.settings import Settings, with_profile, with_values
from support.systems import posix

TUNED = {"budget": 900, "graph_rag.top_k": 12}


@pytest.fixture
def store(tmp_path):
    return SessionStore(tmp_path / "own", tmp_path / "repository", on=True)


def file_of(tmp_path):
    (path,) = (tmp_path / "own").rglob(FILE_NAME)
    return path


def cut_off(store, token, values, bench="search"):
    """A session whose process died: nothing after `tuned` ran."""
    with pytest.raises(RuntimeError), store.opened(token) as session:
        session.tuned(bench, {"query": "why?"}, values)
        raise RuntimeError


def test_queries_are_the_latest_first_each_once_and_bounded(store):
    with store.opened() as session:
        for number in range(MOST_QUERIES + 5):
            session.asked(f"q{number}")
        session.asked("q10")
        session.asked("  ")
        session.asked("x" * (LONGEST_QUERY + 1))
    queries = store.read().queries
    assert queries[:2] == ("q10", "q24") and len(queries) == len(set(queries)) == MOST_QUERIES


def test_a_session_that_ended_leaves_its_knobs_and_offers_nothing(store, tmp_path):
    with store.opened() as session:
        session.tuned("search", {}, {"budget": 1})
        session.tuned("log", {}, TUNED)
    found = store.read()
    assert (found.bench, found.values, found.unfinished) == ("log", TUNED, ())
    assert [path.name for path in file_of(tmp_path).parent.iterdir()] == [FILE_NAME]


def test_what_a_session_that_was_cut_off_had_tuned_is_offered_until_it_is_forgotten(store):
    cut_off(store, "aa", TUNED)
    (one,) = store.read().unfinished
    assert (one.bench, one.inputs, one.values) == ("search", {"query": "why?"}, TUNED)
    store.forget(one)
    assert store.read().unfinished == ()


def test_a_session_that_runs_is_not_offered_to_another(store):
    with store.opened() as session:
        session.tuned("search", {}, TUNED)
        assert store.read().unfinished == ()


@posix
def test_a_killed_process_leaves_what_it_tuned(tmp_path, store):
    code = """
import os, signal, sys
from pathlib import Path
from secateur.remembered.inspector_session import SessionStore
with SessionStore(Path(sys.argv[1]), Path(sys.argv[2]), on=True).opened() as session:
    session.tuned("search", {}, {"budget": 900})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "own"), str(tmp_path / "repository")], check=False
    )
    assert done.returncode == -9
    assert [one.values for one in store.read().unfinished] == [{"budget": 900}]


def test_of_many_that_were_cut_off_the_latest_are_kept(store):
    for number in range(MOST_UNFINISHED + 3):
        cut_off(store, f"t{number}", {"budget": number})
    assert [one.values["budget"] for one in store.read().unfinished] == [7, 6, 5, 4, 3]


def test_one_that_tuned_nothing_is_not_offered(store):
    cut_off(store, "aa", {})
    assert store.read().unfinished == ()


def test_switched_off_it_reads_and_writes_nothing(store, tmp_path):
    cut_off(store, "aa", TUNED)
    before = file_of(tmp_path).read_bytes()
    off = SessionStore(tmp_path / "own", tmp_path / "repository", on=False)
    with off.opened() as session:
        session.asked("x")
        session.tuned("search", {}, TUNED)
    assert off.read() == RememberedSession() and not off.first_time("x")
    assert file_of(tmp_path).read_bytes() == before


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b"{" + b" " * MAX_BYTES + b"}", b"[" * 90_000])
def test_a_broken_file_costs_itself(store, tmp_path, data):
    with store.opened() as session:
        session.asked("x")
    file_of(tmp_path).write_bytes(data)
    assert store.read() == RememberedSession() and store.problem
    with store.opened() as session:
        session.asked("y")
    assert store.read().queries == ("y",)


@pytest.mark.parametrize(
    "fields",
    [
        {"queries": 3, "bench": 4, "values": [], "unfinished": []},
        {"queries": [1, None, "x", "x"], "unfinished": {"a/../b": {"bench": "search", "values": {"budget": 1}}}},
        {"unfinished": {"a": None, "b": {"bench": 1}, "c": {"bench": "x", "values": {}, "inputs": {"q": [1]}}}},
    ],
)
def test_fields_that_are_none_of_ours_cost_themselves(store, tmp_path, fields):
    with store.opened() as session:
        session.asked("y")
    file_of(tmp_path).write_text(json.dumps({"version": 1, **fields}))
    found = store.read()
    assert found.unfinished == () and set(found.queries) <= {"x"} and found.values == {}


def test_a_folder_that_cannot_be_written_ends_no_session(tmp_path):
    (tmp_path / "own").write_text("")
    store = SessionStore(tmp_path / "own", tmp_path, on=True)
    with store.opened() as session:
        session.asked("x")
        session.tuned("search", {}, TUNED)
    assert "cannot write" in store.problem and store.read().queries == ()
    assert not store.first_time("x")


def test_the_first_time_is_once_for_each_repository(store, tmp_path):
    assert store.first_time("a") and store.first_time("b")
    assert not store.first_time("a")
    assert SessionStore(tmp_path / "own", tmp_path / "other", on=True).first_time("a")


def test_changes_are_what_was_tuned_and_are_put_back_where_they_still_count():
    opened = with_profile(Settings(), "recommended")
    tuned = with_values(opened, {"budget": 900, "pins": ["a::b"], "boosts": {"c::d": 2.0}, "relevance.name": 1.0})
    values = json.loads(json.dumps(changes(opened, tuned)))
    assert set(values) == {"budget", "pins", "boosts", "relevance.name"}
    assert with_changes(opened, values) == tuned
    wrong = {"gone.key": 1, "graph_rag.top_k": 9999, "llm.base_url": "http://x", "relevance.name": []}
    assert with_changes(opened, wrong) == opened
