"""What the tests of the benchmarks share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """A benchmark's plain name, such as `words`, is no module to anybody else."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if (path := getattr(sys.modules[name], "__file__", None)) and Path(path).parent == BENCHMARKS:
            del sys.modules[name]
