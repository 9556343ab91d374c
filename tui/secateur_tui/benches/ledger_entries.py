"""The entries of a ledger by the names that recordings and scenarios have for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from secateur.kinds import registry
from secateur.kinds.base import Kind, Outcome
from secateur.replays.recorder import Observation
from secateur.scenarios.running import decided_of
from secateur.settings import Settings

from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.ledger_state import LedgerState
from secateur_tui.state.subject import Subject


@lru_cache(maxsize=2)
def entry_ids(outcome: Outcome[Any]) -> Mapping[int, str]:
    """Returns the names of the entries by their numbers in the ledger."""
    return {one.number: one.id for one in decided_of(registry.kind(outcome.kind), outcome).listed}


def entry_number_of(outcome: Outcome[Any], entry: str) -> int | None:
    """Returns the number of the entry of a name; None where there is none."""
    return next((number for number, name in entry_ids(outcome).items() if name == entry), None)


def item_of_entry(subject: Subject[Any, Any], answer: LedgerAnswer[Any], entry: str) -> int | None:
    """Returns the first item of the list that is of an entry; None where none is."""
    number = entry_number_of(answer.result, entry)
    items = range(len(answer)) if number is not None else ()
    return next((item for item in items if subject.entry_number(answer, item) == number), None)


def observed(
    kind: Kind[Any, Any], given: Mapping[str, Any], state: LedgerState, entry: str, page: str
) -> Observation | None:
    """Returns what a recording says of an answer, or of the refusal in its place; None while there is neither."""
    answer, before = state.answer, state.settings
    if answer is None and state.refusal is None:
        return None

    def held(name: str) -> Settings | None:
        number = entry_number_of(answer.result, name) if answer is not None else None
        settings = kind.hold(answer.result, number, before) if answer is not None and number is not None else ""
        return settings if isinstance(settings, Settings) else None

    ledger = answer.result.ledger if answer is not None and state.refusal is None else None
    pinned = ledger is not None and state.baseline is answer
    return Observation(kind, given, before, ledger, entry, pinned, page, held)
