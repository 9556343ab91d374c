"""The entries of a ledger by the names that recordings and scenarios have for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from secateur.kinds import registry
from secateur.kinds.base import Outcome
from secateur.scenarios.running import decided_of


@lru_cache(maxsize=2)
def entry_ids(outcome: Outcome[Any]) -> Mapping[int, str]:
    """Returns the names of the entries by their numbers in the ledger."""
    return {one.number: one.id for one in decided_of(registry.kind(outcome.kind), outcome).listed}


def entry_number_of(outcome: Outcome[Any], entry: str) -> int | None:
    """Returns the number of the entry of a name; None where there is none."""
    return next((number for number, name in entry_ids(outcome).items() if name == entry), None)
