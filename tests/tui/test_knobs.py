import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.knobs import Knob, decimal
from secateur.kinds.search import knobs
from secateur.settings import Settings, lookup, with_values
from secateur.settings import keys as setting_keys

RELEVANCE = knobs.WEIGHTS[0]


def test_a_weight_moves_by_a_twentieth_and_finely_by_a_hundredth() -> None:
    settings = Settings()
    assert RELEVANCE.value(RELEVANCE.turned(settings, 1)) == 0.45
    assert RELEVANCE.value(RELEVANCE.turned(settings, -1, fine=True)) == 0.39


def test_a_knob_stops_at_the_ends_of_its_range_and_then_changes_nothing() -> None:
    settings = RELEVANCE.put(Settings(), 0.02)
    assert RELEVANCE.value(RELEVANCE.turned(settings, -1)) == 0.0
    muted = RELEVANCE.put(settings, 0.0)
    assert RELEVANCE.turned(muted, -1) is muted
    deep = knobs.DEPTH.put(Settings(), 4)
    assert knobs.DEPTH.turned(deep, 1) is deep


@given(st.floats(-1, 12, allow_nan=False))
def test_a_click_near_a_step_takes_the_step_within_the_range(value: float) -> None:
    taken = RELEVANCE.value(RELEVANCE.near(Settings(), value))
    assert isinstance(taken, float) and 0 <= taken <= 10
    assert abs(taken - min(10, max(0, value))) <= 0.025 + 1e-9 and round(taken * 20) == pytest.approx(taken * 20)


def test_strategies_go_round() -> None:
    settings = Settings()
    seen = []
    for _ in knobs.STRATEGY.choices:
        seen.append(knobs.STRATEGY.value(settings))
        settings = knobs.STRATEGY.turned(settings, 1)
    assert sorted(map(str, seen)) == sorted(knobs.STRATEGY.choices)
    assert settings == Settings()


@pytest.mark.parametrize(
    "knob", knobs.knobs_of(with_values(Settings(), {"preference.enabled": True})), ids=lambda knob: knob.label
)
def test_every_knob_moves_its_setting_and_nothing_else(knob: Knob) -> None:
    before = Settings()
    after = knob.turned(before, 1)
    assert {name for name in setting_keys() if lookup(before, name) != lookup(after, name)} == {knob.key}


def test_preference_is_a_knob_only_where_it_is_on() -> None:
    assert knobs.PREFERENCE not in knobs.knobs_of(Settings())
    assert knobs.PREFERENCE in knobs.knobs_of(with_values(Settings(), {"preference.enabled": True}))


@given(st.integers(0, 200_000))
def test_budget_steps_land_on_round_numbers_and_come_back(budget: int) -> None:
    settings = Settings(budget=budget)
    up = knobs.BUDGET.turned(settings, 1)
    assert up.effective_budget > budget
    assert up.effective_budget % 50 == 0
    again = knobs.BUDGET.turned(up, 1)
    assert knobs.BUDGET.turned(again, -1).effective_budget == up.effective_budget


def test_a_budget_never_goes_below_zero() -> None:
    settings = Settings(budget=0)
    assert knobs.BUDGET.turned(settings, -1) is settings
    assert knobs.BUDGET.turned(Settings(budget=30), -1).effective_budget == 0


@pytest.mark.parametrize(("value", "text"), [(0.4, "0.40"), (0.333, "0.333"), (1 / 3, "0.3333"), (10.0, "10.00")])
def test_decimals_are_as_few_as_tell_the_value(value: float, text: str) -> None:
    assert decimal(value) == text


def test_a_budget_that_was_never_set_is_the_one_in_force() -> None:
    assert knobs.BUDGET.text(Settings()) == "8,000"
    assert knobs.BUDGET.text(with_values(Settings(), {"budget": 12_500})) == "12,500"
