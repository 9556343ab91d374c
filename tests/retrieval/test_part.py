"""Answers from a part of a repository: only what goes out is limited; words, calls and their walk are those of all."""

from __future__ import annotations

import numpy as np
import pytest
from secateur import Engine, Settings
from secateur.errors import UsageError
from secateur.model import Reason, Selection, State
from secateur.settings import with_values
from support.memory_source import MemorySource

FILES = {
    "web/pay.py": "from billing.tax import tax_of\n\n\ndef pay_refund_total(order):\n    return tax_of(order)\n",
    "billing/tax.py": (
        "from ledger.book import book_entry\n\n\ndef tax_of(order):\n    return book_entry(order)\n\n\n"
        "def refund_total(order):\n    return order.total\n"
    ),
    "ledger/book.py": "def book_entry(order):\n    return order\n\n\ndef refund_total_entry(order):\n    return 1\n",
}
QUERY = "refund total"


def answer(profile: str, **changes: object) -> Selection:
    base = with_values(Settings(), {"profile": profile, "embedding.model": "none"})
    settings = with_values(base, {name.replace("__", "."): value for name, value in changes.items()})
    with Engine.of(MemorySource(FILES), settings) as engine:
        return engine.search(QUERY, settings)


def of(selection: Selection, state: State) -> set[str]:
    return {selection.pool.symbol_id[row] for row in np.flatnonzero(selection.state == state)}


@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_only_the_part_goes_out_and_the_rest_is_dropped_with_a_reason(profile: str) -> None:
    everything, part = answer(profile), answer(profile, graph_rag__only=("billing",))
    assert of(everything, State.KEPT) > of(part, State.KEPT) > set()
    assert {symbol.partition("/")[0] for symbol in of(part, State.KEPT)} == {"billing"}
    outside = {row for row, path in enumerate(part.pool.path) if not path.startswith("billing/")}
    assert {int(row) for row in np.flatnonzero(part.reason == Reason.ELSEWHERE)} == outside
    assert set(everything.pool.symbol_id) <= set(part.pool.symbol_id)
    said = [notice.message for notice in part.warnings if notice.code == "only"]
    assert said == [f"Answered only from billing (--only). {len(outside):,} candidates elsewhere are left out."]


def test_calls_from_the_rest_lead_into_the_part() -> None:
    part = answer("spec", graph_rag__only=("billing",))
    tax = part.pool.row_of["billing/tax.py::tax_of"]  # no word of the query is in it: its caller elsewhere has them
    assert part.state[tax] == State.KEPT
    assert part.pool.symbol_id[part.pool.predecessor[tax]] == "web/pay.py::pay_refund_total"


def test_signals_are_those_of_the_whole_repository() -> None:
    everything, part = answer("recommended"), answer("recommended", graph_rag__only=("billing",))
    for row, symbol in enumerate(part.pool.symbol_id):
        there = everything.pool.row_of.get(symbol)
        if there is not None:
            assert part.pool.relevance[row] == everything.pool.relevance[there], symbol


def test_the_part_has_anchors_of_its_own_however_much_better_the_rest_is() -> None:
    many = {f"web/m{number}.py": f"def refund_total_{number}():\n    return 1\n" for number in range(40)}
    settings = with_values(Settings(), {"embedding.model": "none", "graph_rag.only": ("docs",)})
    source = MemorySource(many | {"docs/notes.md": "# Notes\n\nOf the total nothing more is said here at all.\n"})
    with Engine.of(source, settings) as engine:
        selection = engine.search("refund total", settings)
    assert {selection.pool.path[row] for row in selection.kept_rows} == {"docs/notes.md"}


def test_a_part_without_a_candidate_says_so() -> None:
    part = answer("spec", graph_rag__only=("nowhere",))
    assert of(part, State.KEPT) == set()
    assert any("No candidate is there." in notice.message for notice in part.warnings)
    assert any(notice.code == "nothing_eligible" for notice in part.warnings)


def test_a_wrong_glob_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="--only"):
        answer("spec", graph_rag__only=("../x",))
