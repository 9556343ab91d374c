"""The report on a decision of any kind has the figures of its ledger: every entry is listed or counted, once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from secateur import Environment, Settings
from secateur.errors import BudgetExceeded
from secateur.kinds import registry
from secateur.kinds.base import Outcome
from secateur.kinds.decision_report import FORMS, PLAIN, command_of, draw_report, report_of
from secateur.kinds.run import answer_of
from secateur.ledger import WRAPPER, State
from secateur.render.report.content import DecisionReport, Sums
from secateur.render.report.looks import segments_of
from secateur.settings import with_values
from support.kind_cases import CASES
from support.reports import Parsed


def is_true(report: DecisionReport, outcome: Outcome[Any]) -> None:
    ledger = outcome.ledger
    wrapper = sum(entry.after for entry in ledger.entries if entry.id == WRAPPER)
    around = sum(entry.before for entry in ledger.entries if entry.id == WRAPPER)
    assert (report.budget, report.before, report.after) == (ledger.budget, ledger.before, ledger.after)
    assert report.wrapper == wrapper
    total = sum(report.counts.values(), Sums())
    assert (total.before + around, total.after + wrapper) == (ledger.before, ledger.after)
    states = [entry.state for entry in ledger.entries if entry.id != WRAPPER]
    assert {state: sums.number for state, sums in report.counts.items()} == {
        state: states.count(state) for state in State
    }
    for item in report.items:
        assert item.reason and item.name
        assert not item.terms or abs(item.score - sum(item.terms.values())) < 1e-9
        assert item.state is not State.DROPPED or item.went is None
    if report.free + wrapper >= 0 and all(item.after >= 0 for item in report.items):
        assert sum(one.tokens for one in segments_of(report)) == max(ledger.budget, ledger.after)


def is_on_the_page(report: DecisionReport, page: str) -> None:
    rows = [attrs for _, attrs in Parsed(page).tags if "data-state" in attrs]
    told = [(row["data-state"], row["data-before"], row["data-after"]) for row in rows]
    assert told == [(item.state.label, str(item.before), str(item.after)) for item in report.items]


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=6)
@given(data=st.data())
def test_a_report_has_the_figures_of_the_ledger(name: str, data: st.DataObject) -> None:
    kind, case = registry.get_kind(name), CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        told = case.draw(data, Path(folder))
        inputs = kind.blank_inputs() | told.inputs
        chosen = with_values(Settings(), told.changed)
        material = kind.read(inputs, chosen, Environment())
        try:
            outcome = answer_of(kind, material, inputs, chosen)
        except BudgetExceeded:
            assume(False)
        command = command_of(kind, outcome, inputs, chosen)
        report, again = (report_of(kind, outcome, inputs, command) for _ in range(2))
        is_true(report, outcome)
        for form in (*(ending.removeprefix(".") for ending in FORMS), PLAIN):
            assert draw_report(kind, outcome, report, form) == draw_report(kind, outcome, again, form)
        is_on_the_page(report, draw_report(kind, outcome, report, "html"))


@settings(max_examples=4)
@given(data=st.data())
def test_a_report_on_a_search_has_the_figures_of_the_ledger(orders: Path, data: st.DataObject) -> None:
    kind = registry.get_kind("search")
    query = data.draw(st.sampled_from(["refund of an order", "Cart.total", "zebra"]))
    changed = {
        "budget": data.draw(st.sampled_from([0, 90, 700, 9000])),
        "smart_pruning.signature_share": data.draw(st.sampled_from([0.0, 0.3])),
    }
    inputs, chosen = (
        {**kind.blank_inputs(), "query": query, "path": str(orders)},
        with_values(Settings(), changed),
    )
    material = kind.read(inputs, chosen, Environment())
    try:
        outcome = answer_of(kind, material, inputs, chosen)
        report = report_of(kind, outcome, inputs, command_of(kind, outcome, inputs, chosen))
        is_true(report, outcome)
        is_on_the_page(report, draw_report(kind, outcome, report, "html"))
    finally:
        kind.release(material)
