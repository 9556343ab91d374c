import pytest
from secateur.selection import select
from secateur.selection.whatif import budget_to_keep, unchanged_range, weight_to_keep, with_weight
from secateur.settings import Settings, with_values
from support.pools import Row, kept, names, pool_of


def settings(**values: object) -> Settings:
    return with_values(Settings(), {name.replace("__", "."): value for name, value in values.items()})


def test_the_budget_that_keeps_a_row_is_exact_and_names_what_it_costs():
    """90 + 20 fit into 120; with 10 more tokens C fits before D has its turn."""
    pool = pool_of(
        [Row("A", tokens=90, relevance=0.9), Row("C", tokens=40, relevance=0.8), Row("D", tokens=20, relevance=0.7)]
    )
    now = settings(budget=120)
    assert kept(select(pool, now)) == ["A", "D"]
    flip = budget_to_keep(pool, now, pool.row_of["c.py::C"])
    assert flip is not None
    assert (flip.budget, names(select(pool, now), flip.lost)) == (130, ["D"])
    assert kept(select(pool, settings(budget=129))) == ["A", "D"]


def test_a_kept_row_needs_no_other_budget():
    pool = pool_of([Row("A", tokens=90)])
    flip = budget_to_keep(pool, settings(budget=120), 0)
    assert flip is not None
    assert (flip.budget, flip.lost) == (120, ())


def test_a_barred_row_is_kept_at_no_budget():
    pool = pool_of([Row("A", tokens=90), Row("B", relevance=0.0, distance=0)])
    now = settings(budget=10, excludes=["a.py::A"])
    assert [budget_to_keep(pool, now, row) for row in range(2)] == [None, None]


def test_pins_that_rank_lower_are_paid_first():
    """Everything ranked before the row costs 50; the pin takes 500 ahead of it."""
    pool = pool_of([Row("A", tokens=50, relevance=0.9), Row("Pin", tokens=500, relevance=0.1)])
    flip = budget_to_keep(pool, settings(budget=520, pins=["pin.py::Pin"]), pool.row_of["a.py::A"])
    assert flip is not None
    assert flip.budget == 550


def test_the_share_of_declarations_is_paid_too():
    pool = pool_of([Row("A", tokens=600, relevance=0.9), Row("B", tokens=300, relevance=0.8, sig=20)])
    now = settings(budget=100, smart_pruning__signature_share=0.5)
    for row in range(2):
        flip = budget_to_keep(pool, now, row)
        assert flip is not None
        assert pool.qualname[row] in kept(select(pool, with_values(now, {"budget": flip.budget})))


def test_the_unchanged_range_reaches_the_limits_where_nothing_ever_changes():
    pool = pool_of([Row("A", relevance=0.9), Row("B", relevance=0.1)])
    for signal in ("relevance", "hotspot", "distance"):
        assert unchanged_range(pool, settings(budget=10_000), signal) == (0.0, 1.0)


def test_a_weight_above_the_limit_is_a_limit_of_its_own():
    pool = pool_of([Row("A")])
    assert unchanged_range(pool, settings(budget=500, smart_pruning__priority_weights__hotspot=2.5), "hotspot") == (
        0.0,
        2.5,
    )


def test_the_unchanged_range_ends_where_the_next_step_changes_a_state():
    """A leads B as long as 0.5 * relevance > 0.5 * 0.3: its weight may fall to 0.31."""
    pool = pool_of([Row("A", relevance=0.9, distance=2), Row("B", relevance=0.4, distance=1)])
    now = settings(budget=100)
    low, high = unchanged_range(pool, now, "relevance")
    assert (low, high) == (0.3, 1.0)  # at 0.3 both have 0.42: the tie goes to the more relevant
    assert kept(select(pool, with_weight(now, "relevance", 0.29))) == ["B"]


@pytest.mark.parametrize(("signal", "weight"), [("relevance", 0.29), ("distance", 0.41)])
def test_the_nearest_weight_that_keeps_a_row(signal, weight):
    pool = pool_of([Row("A", relevance=0.9, distance=2), Row("B", relevance=0.4, distance=1)])
    now = settings(budget=100)
    assert kept(select(pool, now)) == ["A"]
    assert weight_to_keep(pool, now, pool.row_of["b.py::B"], signal) == weight


def test_a_row_that_is_kept_keeps_the_weight_it_has():
    assert (
        weight_to_keep(
            pool_of([Row("A")]), settings(smart_pruning__priority_weights__relevance=0.123456), 0, "relevance"
        )
        == 0.123456
    )


def test_no_weight_keeps_what_does_not_fit_at_all():
    pool = pool_of([Row("A", tokens=500)])
    assert weight_to_keep(pool, settings(budget=100), 0, "relevance") is None


def test_one_weight_changes_and_nothing_else():
    changed = with_weight(settings(budget=77), "hotspot", 0.9)
    assert changed == settings(budget=77, smart_pruning__priority_weights__hotspot=0.9)
