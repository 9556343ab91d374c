"""Random changes of code, settings and inputs: exactly the scenarios fail that the command line decides otherwise."""

from __future__ import annotations

from pathlib import Path

from support.repos import QUERY
from support.scenario_mutations import Case, Laboratory, differing

CASES = (
    Case("tight", "search", {"query": QUERY, "path": "."}, {"budget": 90}),
    Case("wide", "search", {"query": "refund total", "path": "."}, {"profile": "recommended", "budget": 140}),
    Case("at_commit", "search", {"query": "post refund", "path": ".", "rev": "HEAD"}, {"budget": 100}),
    Case("log", "log", {"path": "inputs/ci.log"}, {"log.max_tokens": 400}),
    Case("talk", "conversation", {"path": "inputs/session.jsonl"}, {"conversation_prune.safe_zone_tokens": 6000}),
    Case("envelope", "envelope", {"path": "inputs/envelope.json", "model": "gpt-4o"}, {"context_budget.tokens": 2500}),
    Case("files", "files", {"path": ["shop/api.py", "README.md"], "query": QUERY}, {"context_prune.max_tokens": 40}),
)


def test_exactly_the_scenarios_fail_whose_decisions_changed(shop: Path) -> None:
    laboratory = Laboratory(shop, CASES, seed=7)
    assert list(laboratory.run(14)) == []
    assert laboratory.changed >= 9
    assert laboratory.unchanged >= 28
    assert set(laboratory.kinds) == {"code", "knob", "own knob", "input"}
    laboratory.oracle.close()


def test_the_oracle_tells_a_miss() -> None:
    before = {"a": ("kept", "fits"), "b": ("dropped", "no_room")}
    assert differing(before, before, found=True) == {}
    assert differing(before, {"b": ("dropped", "no_room")}, found=True) == {"a": (("kept", "fits"), None)}
    assert differing(before, {"a": ("kept", "fits")}, found=True) == {}, "it did not leave, and it does not"
    assert differing(before, {"a": ("kept", "fits")}, found=False) == {"b": (("dropped", "no_room"), None)}
    assert differing(before, {**before, "c": ("kept", "fits")}, found=True) == {"c": (None, ("kept", "fits"))}
