"""What a query found is kept: whoever asks again, in Python too, runs neither the vector search nor the walk through
calls (SC-GRAG-005)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from secateur import Engine, Settings
from secateur.model import Pool
from secateur.settings import with_values
from support.repos import QUERY, SHOP, write


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", SHOP)


def same(one: Pool, other: Pool) -> bool:
    """Whether two pools are equal, to the bit and the type."""
    for name in Pool.__struct_fields__:
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, np.ndarray):
            if a.dtype != b.dtype or not np.array_equal(a, b):
                return False
        elif name == "parts":
            if (
                a.keys() != b.keys()
                or any(not np.array_equal(a[s][p], b[s][p]) for s in a for p in a[s])
                or any(a[s].keys() != b[s].keys() for s in a)
            ):
                return False
        elif a != b:
            return False
    return True


@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_the_same_question_finds_nothing_anew(shop: Path, tmp_path: Path, profile: str) -> None:
    settings = (
        Settings()
        if profile == "spec"
        else with_values(Settings(), {"relevance.pool": "all", "smart_pruning.signature_share": 0.1})
    )
    with Engine.open(shop, settings, cache_dir=tmp_path / "cache") as engine:
        first = engine.search(QUERY)
        assert engine.retrievals == 1
        assert engine.search(QUERY).pool is first.pool
        assert engine.retrieve(QUERY) is first.pool
        assert engine.retrievals == 1
        fresh = engine.retrieve(QUERY, use_cache=False)
        assert engine.retrievals == 2
        assert same(fresh, first.pool)


@pytest.mark.parametrize(
    ("change", "retrievals"),
    [
        ({"smart_pruning.priority_weights.hotspot": 0.9}, 1),
        ({"smart_pruning.strategy": "density"}, 1),
        ({"budget": 100}, 1),
        ({"graph_rag.max_depth": 1}, 2),
        ({"relevance.lexical": 1.0}, 2),
        ({"graph_rag.anchors": "embedding"}, 2),
        ({"pins": ["shop/api.py::post_refund"]}, 2),
        ({"tokens.counter": "chars4"}, 2),
    ],
)
def test_only_what_finding_reads_makes_it_find_again(
    shop: Path, tmp_path: Path, change: dict[str, Any], retrievals: int
) -> None:
    with Engine.open(shop, cache_dir=tmp_path / "cache") as engine:
        engine.search(QUERY)
        engine.search(QUERY, with_values(Settings(), change))
        assert engine.retrievals == retrievals


def test_an_edit_another_format_and_the_end_of_its_time_find_again(shop: Path, tmp_path: Path) -> None:
    now = [1_750_000_000.0]
    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    with Engine.open(shop, cache_dir=tmp_path / "cache", clock=clock) as engine:
        steps: list[Callable[[], object]] = [
            lambda: None,
            lambda: (shop / "shop/money.py").write_text("def round_total(amount):\n    return amount\n"),
            lambda: now.__setitem__(0, now[0] + 300),
        ]
        for number, step in enumerate(steps, 1):
            step()
            engine.search(QUERY)
            assert engine.retrievals == number
        engine.search(QUERY, format="xml")
        assert engine.retrievals == len(steps) + 1
