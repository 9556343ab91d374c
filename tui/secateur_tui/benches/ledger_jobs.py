"""The slow calls of a bench over a ledger, as its engine's thread makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from secateur.errors import SecateurError
from secateur.progress import Progress
from secateur.settings import Settings

from secateur_tui.background import uncollected
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.ledger_state import LedgerRequest, compared
from secateur_tui.state.subject import Subject


def read(subject: Subject[Any, Any], inputs: Mapping[str, str], settings: Settings, progress: Progress) -> Any:
    with uncollected():
        return subject.read(inputs, settings, progress)


def decided(
    subject: Subject[Any, Any],
    material: Any,
    asked: LedgerRequest,
    baseline: LedgerAnswer[Any] | None,
    progress: Progress,
) -> LedgerAnswer[Any] | SecateurError:
    """Returns the answer, ready to be drawn and compared, or the error that stands in its place."""
    try:
        with uncollected():
            answer = subject.decide(material, dict(asked.inputs), asked.settings, progress).prepared()
            if baseline is not None:
                compared(baseline, answer).prepared()
            return answer
    except SecateurError as error:
        return error
