"""Which shards of a workspace a query without vectors is put to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import pytest
from secateur import Settings
from secateur.index.facts.outline import ShardOutline
from secateur.index.facts.shard import Shard
from secateur.retrieval.asked_shards import asked_shards
from secateur.retrieval.asking import asked_query
from secateur.retrieval.shards import ShardsHere
from secateur.settings import with_profile, with_values
from secateur.settings.search import Penalty
from support.shards import Shards, ToldSource, random_crossing

MEMBERS = {
    "bank": ToldSource({"money.py": "def round_total(x):\n    return x\n"}, [("Round half up", ["money.py"])]),
    "shop": ToldSource({"cart.py": "class Cart:\n    def total(self):\n        return refund\n"}),
    "site": ToldSource({"pages/index.py": "def render():\n    return header\n"}),
    "till": ToldSource({"tests/test_drawer.py": "def test_drawer():\n    pass\n"}),
}

NO_PENALTY: dict[str, object] = {f"relevance.penalty.{one.name}": 0.0 for one in fields(Penalty)}


@pytest.fixture(scope="module")
def shards() -> Iterator[Shards]:
    found = Shards(MEMBERS, with_values(with_profile(Settings(), "recommended"), {"embedding.model": "none"}))
    yield found
    found.close()


def asked(shards: Shards, query: str, changes: Mapping[str, object], some: Sequence[Shard] | None = None) -> list[str]:
    """The names of the shards that a query is put to, of all or of some."""
    here = ShardsHere(some or shards.shards, shards.lines)
    settings = with_values(shards.settings, changes)
    chosen = asked_shards(here, asked_query(query, here, settings)[0], settings)
    assert isinstance(chosen, ShardsHere)
    return [one.name for one in chosen.snapshots if isinstance(one, Shard) and len(one)]  # without what stands in


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("cannot refund", ["shop"]),
        ("rounded down", ["bank"]),
        ("half of it", ["bank"]),  # a word of a commit
        ("the shop sells", ["shop"]),  # the repository's name is a word of its paths
        ("who calls `render`?", ["site"]),
        ("round_total", ["bank", "shop"]),
        ("test_drawer", ["till"]),
        ("Cart.total", ["bank", "shop"]),
    ],
)
def test_those_are_asked_that_hold_a_word_a_name_or_a_file_of_it(shards: Shards, query: str, names: list[str]) -> None:
    assert asked(shards, query, NO_PENALTY) == names


def test_one_is_asked_that_has_a_penalty(shards: Shards) -> None:
    header = {"relevance.penalty.header": 0.5, "relevance.query_kind": "off"}
    assert asked(shards, "cannot refund", NO_PENALTY | header) == ["shop"]  # it holds a class
    assert asked(shards, "empty pages", NO_PENALTY | header) == ["shop", "site"]
    assert asked(shards, "empty pages", NO_PENALTY | {"relevance.penalty.test": 0.5}) == ["site", "till"]


def test_all_are_asked_for_near_names_and_for_nothing(shards: Shards) -> None:
    assert asked(shards, "round_totl", NO_PENALTY) == [*MEMBERS]
    assert asked(shards, "", NO_PENALTY) == [*MEMBERS]
    assert asked(shards, "nothing here", NO_PENALTY) == []


def test_what_is_pinned_or_linked_is_asked(shards: Shards) -> None:
    assert asked(shards, "cannot refund", NO_PENALTY | {"pins": ["till/tests/test_drawer.py::test_drawer"]}) == [
        "shop",
        "till",
    ]
    crossing = random_crossing([len(shard) for shard in shards.shards[:2]], 1)
    facts = replace(shards.facts, crossing=crossing)
    linked = [replace(shard, facts=facts) for shard in shards.shards]
    assert asked(shards, "half of it", NO_PENALTY, linked) == ["bank", "shop"]


def test_an_outline_is_what_was_stored(shards: Shards) -> None:
    outline = shards.shards[1].outline
    stored = ShardOutline.from_arrays(outline.to_arrays())
    assert (stored.kinds, stored.hashes.tolist()) == (outline.kinds, outline.hashes.tolist())
    assert [figures.tolist() for figures in stored.totals] == [figures.tolist() for figures in outline.totals]
