"""Two decisions side by side, of every kind that comes along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Settings
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind
from secateur.kinds.run import answer_of
from secateur.kinds.side_by_side import SideBySide, side_by_side
from secateur.ledger import WRAPPER, Ledger, State
from secateur.settings import with_profile, with_values

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
QUERY = "where is an amount of money rounded"
DELETING = with_values(Settings(), {"context_prune.strategy": "delete"})  # it asks for no query
LOG = "\n".join([f"ok {number}" for number in range(60)] + ["ERROR: disk full", *(f"line {n}" for n in range(9))])


@contextmanager
def read(kind: Kind[Any, Any], inputs: dict[str, Any], cache: Path) -> Iterator[Any]:
    material = kind.read(inputs, DELETING, Environment(environ={"XDG_CACHE_HOME": str(cache)}))
    try:
        yield material
    finally:
        Kind.release(material)


def leaving(ledger: Ledger) -> dict[str, int]:
    named = zip(ledger.ids, ledger.entries, strict=True)
    return {id_: one.after for id_, one in named if one.state is not State.DROPPED and one.id != WRAPPER}


def wrapper(ledger: Ledger) -> int:
    return sum(entry.after for entry in ledger.entries if entry.id == WRAPPER)


def check(sides: SideBySide) -> None:
    """Asserts all that holds of any two decisions."""
    left, right = leaving(sides.left), leaving(sides.right)
    assert {pair.id for pair in sides.only_left} == left.keys() - right.keys()
    assert {pair.id for pair in sides.only_right} == right.keys() - left.keys()
    assert {pair.id for pair in sides.both} == left.keys() & right.keys()
    gained = sum(pair.gained for pair in (*sides.only_left, *sides.only_right, *sides.both))
    assert sides.gained == gained + wrapper(sides.right) - wrapper(sides.left)
    assert sides.equal == (left == right and not sides.moved and not sides.otherwise)


@pytest.mark.parametrize("name", ["files", "conversation", "log"])
@given(budgets=st.tuples(*[st.integers(min_value=0, max_value=3_000)] * 2))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_every_pair_stands_once_and_tokens_add_up(
    name: str, budgets: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    kind, folder = registry.get_kind(name), tmp_path_factory.mktemp("inputs")
    texts = {"a.txt": "alpha " * 200, "b.txt": "beta " * 300, "run.log": LOG}
    for file, text in texts.items():
        (folder / file).write_text(text, "utf-8")
    paths: dict[str, Any] = {
        "files": [str(folder / file) for file in texts],
        "conversation": str(EXAMPLES / "session.jsonl"),
        "log": str(folder / "run.log"),
    }
    inputs = kind.blank_inputs() | {"path": paths[name]}
    with read(kind, inputs, folder) as material:
        left, right = (
            answer_of(kind, material, inputs, with_values(DELETING, {kind.budget.key: budget})) for budget in budgets
        )
        check(side_by_side(left, right))


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kind[Any, Any], dict[str, Any], Any]]:
    kind, cache = registry.get_kind("search"), tmp_path_factory.mktemp("cache")
    inputs = kind.blank_inputs() | {"query": QUERY, "path": "sample:orders"}
    with read(kind, inputs, cache) as material:
        yield kind, inputs, material


def test_two_profiles_of_a_search(searched: tuple[Kind[Any, Any], dict[str, Any], Any]) -> None:
    kind, inputs, material = searched
    cut = with_values(Settings(), {"budget": 900})
    left = answer_of(kind, material, inputs, cut)
    right = answer_of(kind, material, inputs, with_profile(cut, "recommended"))
    sides = side_by_side(left, right)
    check(sides)
    assert sides.only_left
    assert sides.only_right
    for pair in sides.only_right:
        assert pair.right is not None
        assert kind.describe(right, pair.right.number).because
        if pair.left is not None:
            assert left.ledger.entries[pair.left.number].state is State.DROPPED
    mirrored = side_by_side(right, left)
    assert [pair.id for pair in mirrored.only_left] == [pair.id for pair in sides.only_right]
    assert mirrored.gained == -sides.gained


def test_a_decision_beside_itself_is_equal(searched: tuple[Kind[Any, Any], dict[str, Any], Any]) -> None:
    kind, inputs, material = searched
    one = answer_of(kind, material, inputs, with_values(Settings(), {"budget": 900}))
    sides = side_by_side(one, one)
    assert sides.equal
    assert {pair.id for pair in sides.both} == set(leaving(sides.left))
