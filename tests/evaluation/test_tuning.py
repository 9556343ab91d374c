"""Fitting: the right weight is found where one is right, nothing is turned where none is, and figures say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from secateur.engine import Engine
from secateur.kinds import registry
from secateur.kinds.search.knobs import rehearsal_of, tunable
from secateur.settings import Settings, load, lookup, with_profile, with_values
from secateur_lab.evaluation.cases import JudgedCase, select_set
from secateur_lab.evaluation.measuring import Figures, MeasuredCase, mean_of
from secateur_lab.evaluation.tuned_profile import (
    FITTED,
    START,
    Fit,
    Fitter,
    RehearsedCase,
    Tuned,
    folds,
    profile_text,
    profile_values,
)
from secateur_lab.evaluation.tuning_run import CaseSplit
from secateur_lab.scenarios.running import deciding_keys
from secateur_lab.scenarios.scenario import Scenario
from support.pools import Row, pool_of
from support.repos import QUERY, SHOP, write

SEARCH = registry.get_kind("search")
RECOMMENDED = with_profile(Settings(), "recommended")


def synthetic(cases: int, *, told_by_hotspot: bool, seed: int = 3) -> list[RehearsedCase]:
    """Cases of 40 candidates, of which one is judged and ten have room: the one that changes most, or any."""
    random, made = np.random.RandomState(seed), []
    for number in range(cases):
        gold = int(random.randint(40))
        rows = [
            Row(
                f"F{row}",
                relevance=round(0.4 + 0.3 * float(random.rand()), 4),
                hotspot=1.0 if row == gold and told_by_hotspot else round(float(random.rand()) / 2, 4),
                distance=0,
            )
            for row in range(40)
        ]
        pool, judged = pool_of(rows), {rows[gold].symbol: 3}
        made.append(RehearsedCase(f"{number:03}", "shop", judged, rehearsal_of(pool)))
    return made


def fitted(cases: list[RehearsedCase]) -> Fit:
    start = with_values(
        Settings(),
        {f"smart_pruning.priority_weights.{name}": value for name, value in (("relevance", 1.0), ("hotspot", 0.0))},
    )
    return Fitter(SEARCH, start, cases, (1_000,)).fit()


def test_the_weight_that_tells_what_is_judged_is_turned_up() -> None:
    fit = fitted(synthetic(24, told_by_hotspot=True))
    assert fit.values["smart_pruning.priority_weights.hotspot"] >= 0.3
    assert fit.cross_validated.low is not None
    assert fit.cross_validated.low > 0.3
    assert len(fit.values) <= 2, "what brings nothing is not turned"


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_tells_it_no_gain_is_claimed(seed: int) -> None:
    fit = fitted(synthetic(24, told_by_hotspot=False, seed=seed))
    assert not fit.found or (fit.cross_validated.low is not None and fit.cross_validated.low <= 0)


def test_the_same_cases_give_the_same_fit() -> None:
    assert fitted(synthetic(12, told_by_hotspot=True)) == fitted(synthetic(12, told_by_hotspot=True))


def test_folds_hold_neighbours_and_none_is_empty() -> None:
    assert folds(10).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    assert folds(2).tolist() == [0, 1]
    assert folds(0).tolist() == []


# --- rehearsals -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(orders: Path) -> Iterator[Engine]:
    with Engine.open(orders, RECOMMENDED) as opened:
        yield opened


def test_a_rehearsal_is_the_decision_of_the_engine(engine: Engine) -> None:
    ranked = rehearsal_of(engine.retrieve(QUERY))
    other = {"smart_pruning.priority_weights.hotspot": 0.3, "smart_pruning.strategy": "density", "budget": 2_000}
    for settings in (RECOMMENDED, with_values(RECOMMENDED, other)):
        selection = engine.select(engine.retrieve(QUERY, settings), settings)
        leaving = {selection.pool.symbol_id[row] for row in selection.kept_rows}
        assert {symbol for symbol, _ in ranked(settings)} == leaving


def test_every_tunable_setting_has_its_present_value_among_those_that_are_tried() -> None:
    for settings in (
        Settings(),
        RECOMMENDED,
        with_values(RECOMMENDED, {"smart_pruning.priority_weights.hotspot": 1.2345}),
    ):
        for key, values in tunable(settings).items():
            assert lookup(settings, key) in values
            for value in values:
                with_values(settings, {key: value})


# --- the profile ------------------------------------------------------------------------------------------------------


def case(name: str, part: str = "") -> JudgedCase:
    scenario = Scenario(1, "search", part=part, input={"query": f"query {name}"}, judged={"a": 1})  # type: ignore[arg-type]
    return JudgedCase(Path(name), name, "shop", Path("/nowhere"), scenario)


def tuned(gains: list[float], values: dict[str, float], *, training: int = 30, interrupted: bool = False) -> Tuned:
    """Held-out cases that gain this much recall, from 0.4."""

    def figures(recall: float) -> Figures:
        return Figures(recall, 0.1, 0.2, 1, 1, 1)

    budgets = (4_000, 8_000)
    held_out = [
        MeasuredCase(
            case(str(number)),
            {(START, b): figures(0.4) for b in budgets} | {(FITTED, b): figures(0.4 + gain) for b in budgets},
        )
        for number, gain in enumerate(gains)
    ]
    fit = Fit(values, mean_of([0.1, 0.2, 0.1]), 0.01, 99)
    where = ["shop"] * (training + len(gains))
    start = structs.replace(RECOMMENDED, budget=-1)
    return Tuned("recommended", "ours", fit, start, training, held_out, where, budgets, 0, interrupted)


TURNED = {"relevance.history": 1.3, "smart_pruning.priority_weights.hotspot": 0.095}


def test_only_a_gain_whose_interval_is_above_nought_is_proven() -> None:
    assert tuned([0.1, 0.2, 0.15] * 5, TURNED).proven
    for worse in (
        tuned([0.3, -0.3, 0.1] * 5, TURNED),
        tuned([-0.1, -0.2] * 6, TURNED),
        tuned([0.1] * 5, TURNED),
        tuned([0.1] * 15, TURNED, training=5),
        tuned([0.1] * 15, TURNED, interrupted=True),
        tuned([], {}),
    ):
        assert not worse.proven
    assert "no gain beyond noise" in tuned([0.3, -0.3, 0.1] * 5, TURNED).verdict
    assert "worse" in tuned([-0.1, -0.2] * 6, TURNED).verdict
    assert "no gain beyond noise" in tuned([0.0] * 15, {}).verdict
    assert "too few" in tuned([0.1] * 5, TURNED).verdict


def test_the_file_is_the_profile_with_its_evidence(tmp_path: Path) -> None:
    text = profile_text(SEARCH, tuned([0.1, 0.2, 0.15] * 5, TURNED))
    assert "gain +0.150 [" in text
    assert "training: 30\n" in text
    assert "history = 1.3  # was 2.6" in text
    assert "/" not in text.replace("see https://", "")
    write(tmp_path, {"ours.toml": text})
    loaded = load(None, config_file=tmp_path / "ours.toml", profile="ours")
    assert not loaded.notices
    wanted = with_values(RECOMMENDED, TURNED)
    assert {key: lookup(loaded.settings, key) for key in deciding_keys(SEARCH)} == {
        key: lookup(wanted, key) for key in deciding_keys(SEARCH)
    }


def test_the_profile_can_be_pasted_into_the_file_of_a_repository(tmp_path: Path) -> None:
    text = profile_text(SEARCH, tuned([0.1, 0.2, 0.15] * 5, TURNED))
    write(tmp_path, {**SHOP, "secateur.toml": "profile = 'ours'\n" + text})
    settings = load(tmp_path).settings
    for key in tunable(RECOMMENDED):
        assert lookup(settings, key) == TURNED.get(key, lookup(RECOMMENDED, key))


def test_a_profile_that_started_elsewhere_says_all_that_was_in_force() -> None:
    start = with_values(Settings(), {"graph_rag.top_k": 20, "index.max_file_kb": 100, "budget": 900})
    values = profile_values(SEARCH, replace(tuned([0.1] * 12, TURNED), start=start))
    assert values["graph_rag.top_k"] == 20
    assert not {"budget", "index.max_file_kb"} & set(values)


def test_cases_without_a_part_are_always_dealt_alike() -> None:
    split, again = CaseSplit(), CaseSplit()
    cases = [case(str(number)) for number in range(50)]
    for one in cases:
        split.add(one)
    for one in reversed(cases[:20]):
        again.add(one)
    assert {one.name for one in again.training} <= {one.name for one in split.training}
    assert 20 <= len(split.training) <= 40
    assert not {one.name for one in split.training} & {one.name for one in split.held_out}
    split.add(case("x", "held_out"))
    assert select_set(split.held_out, "held_out")[-1].name == "x"
