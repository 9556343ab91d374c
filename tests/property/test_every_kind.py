"""What holds of every kind of context: each input stands in the ledger once, its figures are those of a recount, its
sums are exact, and the JSON holds the same ledger."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from secateur import Environment, Settings, count_tokens
from secateur.config import with_values
from secateur.errors import BudgetExceeded
from secateur.kinds import registry
from secateur.ledger import WRAPPER
from support.envelopes import asset_paths, envelope, files


@dataclass(frozen=True)
class Given:
    """What one example gives a kind, and what the ledger has to make of it."""

    inputs: dict[str, Any]
    changed: dict[str, Any]  # settings
    parts: set[str]  # the inputs
    part_of: Callable[[str], str]  # the input that an entry is about, told by its id
    before: int  # tokens of what goes in


@dataclass(frozen=True)
class Case:
    """How a kind is tried."""

    draw: Callable[[st.DataObject, Path], Given]
    recount: Callable[[dict[str, Any]], int]  # tokens of what the JSON says goes out


LINES = st.sampled_from(["def refund(order):", "    return order.total", "", "# 退款", "class Cart:", "x = 1", "```"])


def _draw_files(data: st.DataObject, folder: Path) -> Given:
    texts = data.draw(st.lists(st.lists(LINES, max_size=12).map("\n".join), min_size=1, max_size=6))
    names = [str(folder / f"{number}.py") for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        Path(name).write_text(text, "utf-8")
    changed = {
        "context_prune.strategy": data.draw(st.sampled_from(["score", "extract", "delete"])),
        "context_prune.max_tokens": data.draw(st.integers(0, 150)),
    }
    inputs = {"path": names, "query": "refund total of an order", "conversation": ""}
    return Given(inputs, changed, set(names), str, sum(map(count_tokens, texts)))


def _json_tokens(value: Any) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False))


def _draw_envelope(data: st.DataObject, folder: Path) -> Given:
    paths, number, size = (data.draw(st.integers(*ends)) for ends in ((0, 4000), (1, 6), (20, 900)))
    value = envelope({"references": {"asset_paths": asset_paths(paths)}, "files": files(number, size)})
    path = folder / "envelope.json"
    path.write_text(json.dumps(value), "utf-8")
    changed = {"context_budget.tokens": data.draw(st.integers(200, 3000))}
    return Given(
        {"path": str(path), "model": "gpt-4o"},
        changed,
        set(value),
        lambda name: name.partition(".")[0].partition("[")[0],
        _json_tokens(value),
    )


CASES = {
    "files": Case(_draw_files, lambda body: sum(count_tokens(file["source_code"]) for file in body["files"])),
    "envelope": Case(_draw_envelope, lambda body: _json_tokens(body["trimmedEnvelope"])),
}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_the_ledger_is_right(name: str, data: st.DataObject) -> None:
    kind, case = registry.kind(name), CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        told = case.draw(data, Path(folder))
        chosen = with_values(Settings(), told.changed)
        material = kind.read(told.inputs, chosen, Environment())
        try:
            outcome = kind.answer(material, told.inputs, chosen)
        except BudgetExceeded:
            assume(False)
    ledger, body = outcome.ledger, json.loads(kind.render(outcome, "json"))

    ids = [entry.id for entry in ledger.entries]
    assert len(set(ids)) == len(ids) and ids[-1] == WRAPPER
    assert {told.part_of(one) for one in ids[:-1]} == told.parts
    assert (ledger.kind, ledger.budget) == (name, kind.budget.value(chosen))
    assert (ledger.before, ledger.after) == (told.before, case.recount(body))
    assert ledger.before == sum(entry.before for entry in ledger.entries)
    assert ledger.after == sum(entry.after for entry in ledger.entries) <= ledger.budget
    assert body["ledger"] == ledger.to_dict()
    report = kind.report(outcome)
    assert (report.before, report.after, report.budget) == (ledger.before, ledger.after, ledger.budget)
    assert [kind.because(outcome, number) for number in range(len(ids))].count("") == 0
