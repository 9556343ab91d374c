"""What a user overrules by a key, headless: pins, exclusions, factors, where an entry stands, typed values of knobs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import ConfigError
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.knobs import BOOSTS, Knob, ProfileKnob, Steer, further_knobs, next_factor, steered, typed
from secateur.kinds.run import answer_of, location_of
from secateur.model import State
from secateur.settings import Settings, with_values
from support.repos import committed, git

LINES = "".join(f"line {number}\n" for number in range(1, 41))


def test_pinning_and_excluding_are_taken_back_by_the_same_key_and_exclude_each_other():
    start = Settings()
    pinned = steered(start, "a::b", Steer.PIN)
    assert pinned.pins == ("a::b",) and steered(pinned, "a::b", Steer.PIN) == start
    excluded = steered(pinned, "a::b", Steer.EXCLUDE)
    assert (excluded.pins, excluded.excludes) == ((), ("a::b",))
    assert steered(excluded, "a::b", Steer.EXCLUDE) == start


def test_factors_go_step_by_step_and_one_is_none():
    up = steered(Settings(), "a::b", Steer.BOOST)
    assert up.boosts == {"a::b": 1.25}
    assert steered(up, "a::b", Steer.DAMP).boosts == {}
    for _ in range(20):
        up = steered(up, "a::b", Steer.BOOST)
    assert up.boosts == {"a::b": BOOSTS[-1]} and next_factor(40.0, 1) == 40.0 and next_factor(0.7, 1) == 0.75


def decided(name, inputs, settings=None, folder=None):
    kind = registry.get_kind(name)
    given_, settings, there = kind.blank_inputs() | inputs, settings or Settings(), Environment(folder=folder)
    material = kind.read(given_, settings, there)
    outcome = answer_of(kind, material, given_, settings)
    return kind, given_, outcome, there


def number_of(outcome, id):
    return next(number for number, entry in enumerate(outcome.ledger.entries) if entry.id == id)


def test_a_search_keeps_what_is_pinned_and_drops_what_is_excluded():
    inputs = {"query": "where is the refund total rounded?", "path": "sample:orders"}
    kind, given_, outcome, there = decided("search", inputs, Settings(budget=600))
    dropped = next(number for number, entry in enumerate(outcome.ledger.entries) if entry.state is State.DROPPED)
    symbol = outcome.ledger.entries[dropped].id
    pinned = kind.steer(outcome, dropped, outcome.settings, Steer.PIN)
    assert pinned == kind.hold(outcome, dropped, outcome.settings)
    again = kind.decide(outcome.payload and kind.read(given_, pinned, there), given_, pinned)
    assert again.ledger.entries[number_of(again, symbol)].state is State.KEPT
    excluded = kind.steer(again, number_of(again, symbol), pinned, Steer.EXCLUDE)
    last = kind.decide(kind.read(given_, excluded, there), given_, excluded)
    entry = last.ledger.entries[number_of(last, symbol)]
    assert entry.state is State.DROPPED and entry.reason.label == "excluded"
    assert "only candidates can be boosted" in kind.steer(outcome, len(outcome.ledger.entries) - 1, pinned, Steer.BOOST)


def test_entries_of_every_kind_know_where_they_stand(tmp_path):
    repository = committed(tmp_path / "r", {"a.py": LINES, "b.log": LINES + "ERROR: it broke\n"})
    (repository / "a.py").write_text(LINES.replace("line 20\n", "line twenty\n"))
    git(repository, "commit", "-qam", "Change a line")
    kind, given_, outcome, there = decided("diff", {"path": "r", "base": "HEAD~1"}, folder=tmp_path)
    place = location_of(kind, outcome, number_of(outcome, "a.py"), given_, there)
    assert place.path == repository / "a.py" and 15 <= place.line <= 20
    assert location_of(kind, outcome, 99, given_, there) is None
    kind, given_, outcome, there = decided("log", {"path": "r/b.log"}, folder=tmp_path)
    (error,) = [
        number
        for number, entry in enumerate(outcome.ledger.entries)
        if entry.reason.label in ("first_failure", "error", "distinct_error") or entry.id.startswith("41")
    ][:1]
    place = location_of(kind, outcome, error, given_, there)
    assert place.path == repository / "b.log" and place.line > 1
    (tmp_path / "s.jsonl").write_text(Path("docs/examples/session.jsonl").read_text())
    kind, given_, outcome, there = decided("conversation", {"path": "s.jsonl"}, folder=tmp_path)
    lines = [location_of(kind, outcome, number, given_, there).line for number in range(6)]
    assert lines == sorted(lines) and lines[-1] > 1
    kind, given_, outcome, there = decided("files", {"path": ["r/a.py"], "query": "line"}, folder=tmp_path)
    assert location_of(kind, outcome, 0, given_, there).path == repository / "a.py"
    kind, given_, outcome, there = decided("search", {"query": "line", "path": "r"}, folder=tmp_path)
    assert location_of(kind, outcome, 0, given_, there).path.parent == repository


def test_standard_input_stands_nowhere(tmp_path):
    kind = registry.get_kind("log")
    there = Environment(folder=tmp_path, stdin=lambda most: LINES.encode()[:most])
    given_ = kind.blank_inputs() | {"path": "-"}
    outcome = answer_of(kind, kind.read(given_, Settings(), there), given_, Settings())
    assert location_of(kind, outcome, 0, given_, there) is None


# --- typed values of knobs --------------------------------------------------------------------------------------------

BUDGET = Knob("budget", "budget")
WEIGHT = Knob("smart_pruning.priority_weights.relevance", "relevance")


@pytest.mark.parametrize(
    ("knob", "text", "value"),
    [
        (BUDGET, "4,107", 4107),
        (BUDGET, " 4k ", 4000),
        (BUDGET, "1.5k", 1500),
        (BUDGET, "4_000", 4000),
        (BUDGET, "+7", 1007),
        (BUDGET, "-993", 7),
        (BUDGET, "0", 0),
        (WEIGHT, ".35", 0.35),
        (WEIGHT, "+0.05", 0.45),
        (Knob("smart_pruning.strategy", "strategy"), "density", "density"),
        (Knob("chunking.signatures", "signatures"), "off", False),
        (ProfileKnob(), "recommended", "recommended"),
    ],
)
def test_a_value_can_be_typed(knob, text, value):
    assert knob.value(typed(knob, text, with_values(Settings(), {"budget": 1000}))) == value


@pytest.mark.parametrize(
    ("knob", "text"),
    [
        (BUDGET, ""),
        (BUDGET, "many"),
        (BUDGET, "1.5"),
        (BUDGET, "-5000"),
        (BUDGET, "4e3"),
        (BUDGET, "9" * 400),
        (WEIGHT, "11"),
        (WEIGHT, "nan"),
        (Knob("smart_pruning.strategy", "strategy"), "densty"),
        (Knob("chunking.signatures", "signatures"), "maybe"),
        (ProfileKnob(), "theirs"),
    ],
)
def test_a_typed_value_that_is_none_is_an_error_with_a_hint(knob, text):
    with pytest.raises(ConfigError) as caught:
        typed(knob, text, with_values(Settings(), {"budget": 1000}))
    assert caught.value.hint


@given(st.text(max_size=12))
def test_whatever_is_typed_is_a_value_or_an_error(text):
    try:
        settings = typed(BUDGET, text, Settings(budget=1000))
    except ConfigError:
        return
    assert settings.budget >= 0


def test_every_further_knob_of_every_kind_turns_and_comes_back():
    for kind in registry.kinds().values():
        knobs = further_knobs(kind.knobs, kind.deciding_keys)
        assert len({knob.key for knob in (*knobs, *kind.knobs)}) == len(knobs) + len(kind.knobs)
        for knob in knobs:
            up, down = (knob.turned(Settings(), direction) for direction in (1, -1))
            assert up != Settings() or down != Settings(), knob.key
            assert knob.put(up, knob.value(Settings())) == Settings(), knob.key
    labels = [knob.label for knob in further_knobs((), registry.get_kind("search").deciding_keys)]
    assert {"profile", "counter", "lexical", "history", "−test"} <= set(labels)
