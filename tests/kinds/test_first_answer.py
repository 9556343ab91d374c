"""The first answer about a repository, held against the recommended profile."""

import pytest
from secateur.engine import Engine
from secateur.kinds.search.first_answer import first_answer
from secateur.model import State
from secateur.settings import Settings, with_profile

QUERY = "where is the refund total rounded?"


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
    assert answer.sentence().startswith(f"recommended keeps {len(answer.others)} others: ")
    assert "nothing was cut" not in answer.sentence()


def test_an_answer_that_keeps_everything_says_so(engine):
    answer = first_answer(engine, QUERY, Settings())
    assert answer.keeps_everything
    assert answer.sentence().startswith("nothing was cut: all 79 candidates fit 8,000 tokens; recommended keeps ")


def test_there_is_nothing_to_say_under_the_recommended_profile_or_without_an_answer(engine):
    assert first_answer(engine, QUERY, with_profile(Settings(), "recommended")) is None
    assert first_answer(engine, "", Settings()) is None


def test_one_candidate_that_fits_is_not_said_to_be_several(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    with Engine.open(tmp_path) as one:
        answer = first_answer(one, "f", Settings(budget=500))
    assert answer.sentence() == "nothing was cut: the only candidate fits 500 tokens; a smaller budget cuts"
