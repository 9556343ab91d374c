"""The first answer about a repository, held against the recommended profile: said once, to a person."""

import os
import subprocess
import sys

import pytest
from secateur.engine import Engine
from secateur.kinds.base import Environment
from secateur.kinds.run import carry_out
from secateur.kinds.search.first_answer import first_answer
from secateur.kinds.search.kind import Search
from secateur.model import State
from secateur.settings import Settings, load, with_profile
from support.cli import secateur

QUERY = "where is the refund total rounded?"


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "own"


@pytest.fixture
def engine(orders):
    with Engine.open(orders) as opened:
        yield opened


def test_it_names_what_only_the_recommended_profile_keeps(engine):
    settings = Settings(budget=1000)
    answer = first_answer(engine, QUERY, settings)
    here, there = engine.search(QUERY, settings), engine.search(QUERY, with_profile(settings, "recommended"))
    mine = {here.pool.symbol_id[row] for row in here.kept_rows}
    theirs = [there.pool.symbol_id[row] for row in there.kept_rows]
    whole = {there.pool.symbol_id[row] for row in there.kept_rows if there.state[row] == State.KEPT}
    assert list(answer.others) == [one for one in theirs if one in whole - mine] and answer.others
    assert set(theirs) - whole - mine, "one that is only shortened there is not said to be kept"
    assert answer.lost == len(mine - set(theirs))
    assert answer.sentence().startswith(f"recommended keeps {len(answer.others)} others: ")
    assert "nothing was cut" not in answer.sentence()


def test_an_answer_that_keeps_everything_says_so(engine):
    answer = first_answer(engine, QUERY, Settings())
    assert answer.keeps_everything
    assert answer.sentence().startswith("nothing was cut: all 79 candidates fit 8,000 tokens; recommended keeps ")


def test_there_is_nothing_to_say_under_the_recommended_profile_or_without_an_answer(engine):
    assert first_answer(engine, QUERY, with_profile(Settings(), "recommended")) is None
    assert first_answer(engine, "", Settings()) is None


def advice(*, sets=(), profile=None, form="text", advises=True):
    kind = Search()
    loaded = load(None, profile=profile, sets=sets)
    inputs = kind.blank_inputs() | {"query": QUERY, "path": "sample:orders"}
    return carry_out(kind, inputs, loaded, Environment(form=form, advises=advises)).advice


def test_it_is_said_once_for_a_repository(own):
    first = advice()
    assert "recommended keeps" in first[0] and "secateur config --adopt recommended" in first[1]
    assert advice() == ()
    assert [path.name for path in own.rglob("*.*")] == ["said.json"]


@pytest.mark.parametrize(
    "words",
    [
        {"profile": "spec"},
        {"profile": "recommended"},
        {"advises": False},
    ],
)
def test_it_is_not_said_where_a_profile_was_chosen_or_it_is_switched_off(own, words):
    assert advice(**words) == () and not own.exists()
    assert advice() != ()  # and that is not counted as the one time


def test_nobody_is_told_without_a_terminal(own):
    assert "note:" not in secateur("search", QUERY, "sample:orders").err
    assert not own.exists()


@pytest.mark.parametrize(
    ("words", "environ", "told"),
    [((), {}, True), (("--quiet",), {}, False), (("--format", "json"), {}, False), ((), {"CI": "true"}, False)],
)
def test_on_a_terminal_it_comes_below_the_answer(words, environ, told):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "secateur.cli.main", "search", QUERY, "sample:orders", "--budget", "1000", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, **environ}, check=True)
    os.write(theirs, b"end")
    said = b""
    while not said.endswith(b"end"):
        said += os.read(ours, 65536)
    os.close(ours)
    os.close(theirs)
    assert done.stdout and (b"note: recommended keeps" in said) == told


def test_one_candidate_that_fits_is_not_said_to_be_several(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    with Engine.open(tmp_path) as one:
        answer = first_answer(one, "f", Settings(budget=500))
    assert answer.sentence() == "nothing was cut: the only candidate fits 500 tokens; a smaller budget cuts"
