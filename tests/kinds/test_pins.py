"""A pinned entry goes out whole before all others, within the budget; what names nothing is warned about."""

from random import Random

import numpy as np
import pytest
from secateur import prune
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.decision_report import report_of
from secateur.kinds.run import command_line_of, report_page, trials_of
from secateur.model import Reason, State
from secateur.render.proofs import cost_words, token_words
from secateur.settings import Settings, with_values
from secateur.what_if.explanation import explain, explain_one
from secateur.what_if.trials import BUDGET, HOLD, Trials, Tried
from secateur_tui.state.proving import ProvenHint, Proving
from support.credentials import MAKERS

LOG = "\n".join(
    f"ERROR: cannot open settings_{'abcdefghijklmn'[number // 50]}.toml\n  in load\n  in main"
    if number % 50 == 25
    else f"step {number}: compiled module_{number} in {number % 7}.{number % 10} s"
    for number in range(700)
)


def decide(name, inputs, **values):
    budget = {"files": "context_prune.max_tokens", "log": "log.max_tokens"}[name]
    return prune(name, {budget: values.pop("tokens"), **values}, **inputs)


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "build.log").write_text(LOG)
    for number in range(8):
        body = "\n".join(f"def part_{number}_{index}():\n    return {index} * {number}" for index in range(12))
        (tmp_path / f"file_{number}.py").write_text(f'"""Rounds totals, {number}."""\n{body}\n')
    return {
        "files": {"path": [str(tmp_path)], "query": "where are totals rounded?"},
        "log": {"path": str(tmp_path / "build.log")},
    }


CASES = [("files", {"context_prune.strategy": name}) for name in ("score", "extract", "delete")] + [("log", {})]


@pytest.mark.parametrize(("name", "values"), CASES)
def test_every_dropped_or_shortened_entry_goes_out_whole_once_it_is_pinned(name, values, inputs):
    before = decide(name, inputs[name], tokens=1500, **values)
    entries = [entry for entry in before.ledger.entries if entry.state is not State.KEPT and 0 < entry.before < 1400]
    assert entries
    for entry in entries:
        pinned = decide(name, inputs[name], tokens=1500, pins=(entry.id,), **values)
        assert pinned.ledger.after <= 1500
        same = pinned.ledger.entries[pinned.ledger.number_of[entry.id]]
        assert (same.state, same.reason) == (State.KEPT, Reason.PINNED), entry.id


@pytest.mark.parametrize(("name", "values"), CASES)
def test_a_pin_that_names_nothing_warns_and_changes_nothing(name, values, inputs):
    before, after = (decide(name, inputs[name], tokens=800, pins=pins, **values) for pins in ((), ("9999999",)))
    assert "unknown_symbol" in {notice.code for notice in after.notices} - {notice.code for notice in before.notices}
    assert before.ledger.shape() == after.ledger.shape()


def test_a_pinned_file_that_is_larger_than_the_budget_says_so(inputs):
    entry = decide("files", inputs["files"], tokens=80).ledger.entries[0]
    after = decide("files", inputs["files"], tokens=80, pins=(entry.id,))
    same = after.ledger.entries[after.ledger.number_of[entry.id]]
    assert (same.state, same.reason) == (State.DROPPED, Reason.LARGER_THAN_BUDGET)


def test_of_pinned_lines_that_do_not_fit_the_first_and_the_last_go_out(inputs):
    after = decide("log", inputs["log"], tokens=300, pins=("100-600",))
    entries = [entry for entry in after.ledger.entries if entry.state is State.SHORTENED]
    assert [entry.reason for entry in entries if int(entry.id.split("-")[0]) >= 100]
    assert after.ledger.after <= 300 and "step 95: " in after.payload.text


@pytest.mark.parametrize("name", ["files", "log"])
def test_holding_an_entry_pins_it_and_the_copied_command_line_says_so(name, inputs):
    kind, outcome = registry.get_kind(name), decide(name, inputs[name], tokens=800)
    number = next(i for i, entry in enumerate(outcome.ledger.entries) if entry.state is State.DROPPED)
    id_ = outcome.ledger.entries[number].id
    settings = kind.hold(outcome, number, outcome.settings)
    assert settings.pins == (id_,) and kind.hold(outcome, number, settings) == outcome.settings
    line = command_line_of(kind, kind.blank_inputs() | inputs[name], settings, Settings())
    assert f"--pin {id_}" in line
    wrapper = len(outcome.ledger.entries) - 1
    assert kind.hold(outcome, wrapper, settings) == "only an item of the list can be pinned"


def test_lines_of_a_log_are_pinned_by_any_numbers(inputs):
    budget = {"tokens": 300}
    kept = decide("log", inputs["log"], pins=("200-204", "26-28"), **budget)
    text = kept.payload.text
    assert "step 191: " in text and "step 195: " in text and "  in load" in text
    assert kept.ledger.entries[kept.ledger.number_of["200-204"]].reason is Reason.PINNED

    unknown = decide("log", inputs["log"], pins=("900-901", "9-3", "x"), **budget)
    assert [notice.code for notice in unknown.notices] == ["unknown_symbol"]


def test_of_a_pinned_file_that_is_too_large_the_best_pieces_go_out_first(inputs, tmp_path):
    body = "\n".join(f"def other_{index}():\n    return open('{index}')\n" for index in range(400))
    (tmp_path / "large.py").write_text(body)
    extract = {"context_prune.strategy": "extract"}
    id_ = "large.py"
    before, after = (decide("files", inputs["files"], tokens=900, pins=pins, **extract) for pins in ((), (id_,)))
    states = [outcome.ledger.entries[outcome.ledger.number_of[id_]].state for outcome in (before, after)]
    assert states == [State.DROPPED, State.SHORTENED] and after.ledger.after <= 900


def test_the_lever_of_a_file_larger_than_the_budget_is_a_pin_with_the_strategy_that_cuts_it(inputs, tmp_path):
    (tmp_path / "large.py").write_text("\n".join(f"def other_{i}():\n    return open('{i}')\n" for i in range(400)))
    kind, files = registry.get_kind("files"), registry.get_kind("files").blank_inputs() | inputs["files"]
    settings = with_values(Settings(), {"context_prune.max_tokens": 900})
    material = kind.read(files, settings, Environment(ahead=True))
    trials = trials_of(kind, material, files, settings, kind.decide(material, files, settings))
    id_ = "large.py"
    levers, _ = explain_one(trials, trials.ids.index(id_))
    assert next(lever.typed for lever in levers) == f"--pin {id_} --strategy extract"
    assert levers[0].state is State.SHORTENED and not levers[0].over


def trials_for(name, inputs, **values):
    """The trials of a decision, with as many runs as they take."""
    kind = registry.get_kind(name)
    settings = with_values(Settings(), values)
    inputs = kind.blank_inputs() | inputs
    material = kind.read(inputs, settings, Environment())
    trials = trials_of(kind, material, inputs, settings, kind.decide(material, inputs, settings))
    trials.most = 100_000
    return trials


def test_the_nearest_budget_of_an_entry_is_the_same_whatever_else_is_asked(tmp_path):
    lines = [
        f"ERROR: cannot open settings_{'abcdefghijklmn'[number // 8]}{'x' * (number * 7 % 41)}.toml\n  in load"
        if number % 8 == 5
        else f"step {number}: compiled module_{'abcdefghijklm'[number % 13] * (number % 7)} in {number % 7} s"
        for number in range(48)
    ]
    (tmp_path / "steps.log").write_text("\n".join(lines))
    given = {"path": str(tmp_path / "steps.log")}, {"log.max_tokens": 150}
    together = explain(trials_for("log", given[0], **given[1]))
    inspector = Proving(trials_for("log", given[0], **given[1]))
    asked = [item for item, levers in together.levers.items() if any(lever.name == BUDGET for lever in levers)]
    for item in asked[:: len(asked) // 2]:
        alone, _ = explain_one(trials_for("log", given[0], **given[1]), item)
        assert alone == together.levers[item]
        proofs = inspector.proofs(item, curve=False)
        assert {proof.lever for proof in proofs if isinstance(proof, ProvenHint)} == {*alone}


def test_an_entry_whose_pin_pushes_others_out_is_also_pinned_with_room_for_it(inputs):
    trials, found = trials_for("log", inputs["log"], **{"log.max_tokens": 900}), 0
    for item in np.flatnonzero(~trials.now.whole & ~trials.fixed)[::36].tolist():
        levers, _ = explain_one(trials, item)
        whole = [lever for lever in levers if lever.state is State.KEPT and not lever.far]
        assert not whole or whole[0].others.dearer <= 1
        found += any(lever.typed.startswith("--pin ") and " --max-tokens " in lever.typed for lever in whole)
    assert found


class Parts(Trials):
    """Three items. Holding the last one pushes the others out; a larger budget keeps a part of it beside them."""

    ids, budget, low, enough, knobs = ("a", "b", "c"), 100, 0, 400, ()

    def __init__(self):
        self.now, self.fixed = self.decide(BUDGET, 100), np.zeros(3, dtype=np.bool_)

    def decide(self, name, value, progress=None):  # noqa: ARG002
        others, last = State.KEPT, State.DROPPED
        if name == HOLD:
            others, last = State.DROPPED, State.KEPT
        elif name == BUDGET and value > 100:
            last = State.SHORTENED
        left = {State.KEPT: 100, State.SHORTENED: 30 if value >= 150 else 3}.get(last, 0)
        states = np.array([others, others, last], dtype=np.int8)
        return Tried(states, 100, left=np.array([100, 100, left]))

    def portion(self, item, decided):
        return int(decided.left[item]), 100


def test_what_keeps_a_part_stands_beside_what_keeps_all_where_it_costs_fewer_items_and_is_more_than_a_few_words():
    trials = Parts()
    whole, partly = explain_one(trials, 2)[0]
    assert (whole.typed, whole.others.loses) == ("--hold 2", (0, 1))
    assert (partly.value, partly.others.dearer, partly.portion) == (150, 0, (30, 100))
    assert cost_words(trials, partly) == "in part (30 of 100 tokens), as many tokens as now"


class Grows(Trials):
    """One item larger than any budget, of which as much goes out as there is room for."""

    ids, budget, low, enough, knobs = ("one",), 100, 0, 10_000, ()

    def __init__(self):
        self.now, self.fixed = self.decide(BUDGET, 100), np.zeros(1, dtype=np.bool_)

    def decide(self, name, value, progress=None):  # noqa: ARG002
        left = max(0, int(value) - 100) if name == BUDGET else 0
        state = State.KEPT if left >= 9_000 else State.SHORTENED if left else State.DROPPED
        return Tried(np.array([state], dtype=np.int8), int(value), left=np.array([left]))

    def portion(self, item, decided):
        return int(decided.left[item]), 9_000


def test_of_what_nothing_near_keeps_whole_the_nearest_budget_for_a_part_worth_it_is_listed():
    trials = Grows()
    levers, _ = explain_one(trials, 0)
    assert [(lever.value, lever.portion[0]) for lever in levers] == [(110, 10), (9_100, 9_000)]


class GrowsInSteps(Grows):
    """The same, of which something goes out only if it is held with room: 40 tokens, or 70 with more room."""

    def decide(self, name, value, progress=None):  # noqa: ARG002
        budget = int(name.removeprefix(HOLD) or 100) if name.startswith(HOLD) else int(value)
        left = 0 if name == BUDGET or budget < 133 else 40 if budget < 167 else 70
        return Tried(
            np.array([State.SHORTENED if left else State.DROPPED], dtype=np.int8), budget, left=np.array([left])
        )


def test_a_part_that_only_a_pin_with_room_keeps_has_the_least_room():
    levers, _ = explain_one(GrowsInSteps(), 0)
    assert [(lever.room, lever.portion[0]) for lever in levers] == [(33, 40)]


class Islands(Parts):
    """Holding the last of three items drops the others, unless the budget is one of three or at least 1,241."""

    budget, enough, knobs = 1_000, 4_000, ()

    def decide(self, name, value, progress=None):  # noqa: ARG002
        budget = int(name.removeprefix(HOLD) or 1_000) if name.startswith(HOLD) else int(value)
        held, spared = name.startswith(HOLD), budget >= 1_241 or 1_217 <= budget < 1_220
        others = State.DROPPED if held and not spared else State.KEPT
        left = np.array([100 * (others is State.KEPT)] * 2 + [100 * held])
        return Tried(np.array([others, others, State.KEPT if held else State.DROPPED], dtype=np.int8), 900, left=left)


def test_the_room_that_spares_the_others_is_the_least_that_halving_the_distance_finds():
    assert [(lever.room, lever.others.dearer) for lever in explain_one(Islands(), 2)[0]] == [(241, 0), (0, 2)]


def test_a_shortened_file_has_a_lever_by_which_more_of_it_goes_out(inputs):
    grown = 0
    for tokens in (180,):
        trials = trials_for(
            "files", inputs["files"], **{"context_prune.max_tokens": tokens, "context_prune.strategy": "extract"}
        )
        for item in np.flatnonzero(trials.now.state == State.SHORTENED).tolist():
            levers, _ = explain_one(trials, item)
            for lever in levers:
                again = trials.decide(lever.name, lever.value)
                assert again.whole[item] or (lever.grows and again.left[item] > trials.now.left[item])
                grown += lever.grows
                assert again.whole[item] or cost_words(trials, lever).startswith("more of it, not all")
    assert grown


class Items(Trials):
    """One item that goes out whole from 120 to 179 tokens, and from 300 on."""

    ids, budget, low, enough, knobs = ("one",), 100, 0, 400, ()

    def __init__(self):
        self.now, self.fixed = self._decided(self.budget), np.zeros(1, dtype=np.bool_)

    def decide(self, name, value, progress=None):  # noqa: ARG002
        return self._decided(value) if name == BUDGET else None

    def _decided(self, budget):
        state = State.KEPT if 120 <= budget < 180 or budget >= 300 else State.DROPPED
        return Tried(np.array([state], dtype=np.int8), int(budget))


def test_a_lever_says_at_which_larger_budget_it_no_longer_keeps_the_entry():
    trials = Items()
    (lever,), _ = explain_one(trials, 0)
    assert (lever.value, lever.again) == (120, 180)
    assert token_words(trials, lever) == "20 tokens more, no longer whole at 180"
    shape = explain(trials, [0]).what_if(0).levers[0]
    assert shape.again == 180


def test_a_pin_with_its_room_leaves_the_shares_of_the_others_as_they_are(tmp_path):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    others = [
        f"worker {first} reads table {second} of {third}" for first in words for second in words for third in words
    ]
    lines = others[:]
    for error in ("KeyError: 'a'", "ValueError: no number", "OSError: no disk"):
        stack = [f"  at step {step} of the way to {error[:3]}, frame {step * 7}" for step in range(200)]
        lines += ["Traceback (most recent call last):", *stack, error, *others[:20]]
    path = tmp_path / "build.log"
    path.write_text("\n".join(lines))

    def decided(budget, **pins):
        values = {"log.max_tokens": budget, **pins}
        return {entry.id: entry.after for entry in prune("log", values, path=str(path)).ledger.entries}

    alone = decided(1_000)
    room = decided(4_000, pins=["301-400"])["301-400"] + 5  # and a mark
    beside = decided(1_000 + room, pins=["301-400"])
    blocks = [id_ for id_ in alone if alone[id_] > 100]
    assert len(blocks) >= 2
    assert all(abs(beside[id_] - alone[id_]) <= 20 for id_ in blocks), "about a line"


@pytest.mark.parametrize("name", ["search", "files", "log"])
def test_the_head_of_every_report_ends_with_the_pins_and_then_the_credentials(name, tmp_path, monkeypatch):
    key = MAKERS["aws-access-key"](Random(7))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "upload.py").write_text(f'def upload():\n    key = "{key}"\n    return key\n')
    given, pin = {
        "search": ({"query": "upload", "path": "."}, "upload.py::upload"),
        "files": ({"query": "upload", "path": ["upload.py"]}, "upload.py"),
        "log": ({"path": "upload.py"}, "1-3"),
    }[name]
    outcome = prune(name, {"pins": (pin,)}, **given, environment=Environment(environ={"XDG_CACHE_HOME": str(tmp_path)}))
    kind = registry.get_kind(name)
    (pinned, named), (secrets, told) = report_page(kind, outcome).head[-2:]
    assert (pinned, named) == ("pinned", f"● {pin} goes out whole")
    assert secrets == "secrets"
    assert told.endswith("aws-access-key in line 2" if name == "log" else "aws-access-key in upload.py:2")
    assert report_of(kind, outcome, given, "").figures[-2:] == [(pinned, named), (secrets, told)]
