"""Measuring: an index that goes through commits says what fresh ones say; every kind; cases that cannot be measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.history import RepositoryHistory
from secateur.model import State
from secateur.settings import Settings, with_profile
from secateur.sources import samples
from secateur_lab.evaluation.cases import JudgedCase, mine, read_case, read_cases, select_set
from secateur_lab.evaluation.measuring import Choice, figures, figures_of, make_plan, measure_with, open_measurer
from secateur_lab.scenarios.scenario import dump_scenario
from support.repos import QUERY, SHOP, committed, write

SCENARIO = """scenario = 1
kind = "search"
[input]
query = "{query}"
path = "."
[judged]
{judged}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))


def shop(tmp_path: Path, judged: str = '"shop/refund.py::refund_total" = 3') -> JudgedCase:
    root = committed(tmp_path / "shop", SHOP)
    text = SCENARIO.format(query=QUERY, judged=judged)
    case = read_case(write(root, {"cases/one.scenario.toml": text}) / "cases/one.scenario.toml")
    assert case is not None
    return case


def mined_orders(tmp_path: Path, most: int = 5) -> list[JudgedCase]:
    root = samples.materialise("orders", tmp_path)
    for number, case in enumerate(mine(RepositoryHistory.open(root, Settings()), most).cases):
        write(root, {f"cases/{number}.scenario.toml": dump_scenario(case.scenario("."))})
    cases, wrong = read_cases([root / "cases"])
    assert len(cases) == most
    assert not wrong
    return cases


def test_one_index_that_goes_through_commits_measures_what_fresh_ones_do(tmp_path: Path) -> None:
    cases = mined_orders(tmp_path, 3)
    settings = replace(with_profile(Settings(), "recommended"), budget=2_000)
    with open_measurer(os.environ) as opened:
        for case in [*cases, *reversed(cases)]:
            found = opened.measure(case, settings)
            with Engine.open(
                case.root, settings, rev=case.scenario.input["rev"], cache_dir=tmp_path / "fresh" / case.path.name
            ) as engine:
                selection = engine.select(engine.retrieve(case.scenario.input["query"], use_cache=False))
            whole = [selection.pool.symbol_id[row] for row in selection.kept_rows if selection.state[row] == State.KEPT]
            assert found == figures(whole, case.judged)


def test_a_case_of_the_working_tree_is_measured(tmp_path: Path) -> None:
    case = shop(tmp_path)
    with open_measurer(os.environ) as opened:
        found = opened.measure(case, opened.settings(case, Choice("recommended")))
        assert (found.recall, found.found, found.judged) == (1.0, 1, 1)
        none = opened.measure(case, replace(opened.settings(case, Choice("recommended")), budget=0))
        assert (none.recall, none.precision, none.ndcg) == (0.0, 0.0, 0.0)


def test_a_judged_id_that_is_not_there_costs_the_case_and_is_named(tmp_path: Path) -> None:
    case = shop(tmp_path, '"shop/refund.py::refund_totals" = 3\n"shop/money.py::round_total" = 1')
    with (
        open_measurer(os.environ) as opened,
        pytest.raises(SecateurError, match=r"called shop/refund\.py::refund_totals"),
    ):
        opened.measure(case, opened.settings(case, Choice()))


def test_what_is_judged_nought_need_not_be_there(tmp_path: Path) -> None:
    case = shop(tmp_path, '"shop/refund.py::refund_total" = 2\n"shop/gone.py::old" = 0')
    with open_measurer(os.environ) as opened:
        assert opened.measure(case, opened.settings(case, Choice())).judged == 1


def test_settings_of_the_case_count_only_where_they_say_what_there_is(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    text = SCENARIO.format(query=QUERY, judged='"shop/money.py::round_total" = 3')
    text += '[settings]\nbudget = 1\nexcludes = ["shop/money.py::round_total"]\nindex.ignore = ["shop/refund.py"]\n'
    case = read_case(write(root, {"one.scenario.toml": text}) / "one.scenario.toml")
    assert case is not None
    with open_measurer(os.environ) as opened:
        settings = opened.settings(case, Choice("recommended"))
        assert (settings.budget, settings.excludes, settings.index.ignore) == (
            Settings().budget,
            (),
            ("shop/refund.py",),
        )
        assert opened.measure(case, settings).recall == 1


def test_a_case_of_another_kind_is_measured_by_its_ledger(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    text = (
        'scenario = 1\nkind = "files"\n[input]\nquery = "refund total rounded"\npath = ["shop/*.py"]\n'
        '[judged]\n"shop/refund.py" = 3\n"shop/api.py" = 0\n'
    )
    case = read_case(write(root, {"one.scenario.toml": text}) / "one.scenario.toml")
    assert case is not None
    with open_measurer(os.environ) as opened:
        _, outcome = opened.outcome(case, opened.settings(case, Choice()))
        states = {entry.id: entry.state.label for entry in outcome.ledger.entries}
        found = figures_of(outcome, case.judged)
    assert found is not None
    assert found.recall == (states["shop/refund.py"] == "kept")
    assert figures_of(outcome, {"shop/refund.py": 0}) is None


def test_processes_measure_what_one_does(tmp_path: Path) -> None:
    cases = mined_orders(tmp_path, 3)
    plan = make_plan([Choice("spec"), Choice("recommended")], [1000])
    alone = {one.case.name: one.figures for one in measure_with(1, cases, plan, os.environ)}  # type: ignore[union-attr]
    several = {one.case.name: one.figures for one in measure_with(2, cases, plan, dict(os.environ))}  # type: ignore[union-attr]
    assert several == alone


def test_parts_are_kept_apart(tmp_path: Path) -> None:
    cases = mined_orders(tmp_path)
    assert [case.part for case in cases] == ["training"] * 3 + ["held_out"] * 2
    own = shop(tmp_path)
    assert select_set([*cases, own], "held_out") == [*cases[3:], own]
    assert select_set([*cases, own], "training") == [*cases[:3], own]
    assert select_set([*cases, own], "all") == [*cases, own]


def test_repositories_are_named_from_the_folder_that_is_given(tmp_path: Path) -> None:
    text = SCENARIO.format(query=QUERY, judged='"a.py::f" = 1')
    for name in ("one/repo", "other/repo"):
        committed(tmp_path / "all" / name, {"a.py": "def f(): ...\n", "cases/x.scenario.toml": text})
    sample = text.replace('path = "."', 'path = "sample:orders"')
    write(tmp_path / "all", {"s.scenario.toml": sample, "plain.scenario.toml": text.partition("[judged]")[0]})
    cases, _ = read_cases([tmp_path / "all"])
    assert [(case.name, case.repository) for case in cases] == [
        ("s.scenario.toml", "sample:orders"),
        ("one/repo/cases/x.scenario.toml", "one/repo"),
        ("other/repo/cases/x.scenario.toml", "other/repo"),
    ]
