"""The benches by name."""

from __future__ import annotations

from typing import NamedTuple


class BenchTitle(NamedTuple):
    """A bench in the title line of the present screen."""

    key: str  # as printed; "" for none
    title: str
    open: bool
