"""Credentials that were taken out of the entries of any kind: in the ledger, and in the report for people.

A kind whose reading goes through `Environment.redactor` keeps that in its material as `redactor`; the rest is here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from secateur.kinds.base import Kind
from secateur.kinds.outcomes import Outcome
from secateur.kinds.protocols import Finds
from secateur.model import Entry, Ledger, State
from secateur.redaction import Redactor
from secateur.render.page import Page, add_redactions


def with_redactions(kind: Kind[Any, Any], material: Any, outcome: Outcome[Any]) -> Outcome[Any]:
    """The outcome whose entries name the credentials that were taken out of them."""
    redactor: Redactor | None = getattr(material, "redactor", None)
    if redactor is None or not (redactor.found_any or redactor.notices):
        return outcome

    def make_ledger() -> Ledger:
        taken = (
            redactor.within(kind.texts(outcome, number)[0], kind.describe(outcome, number).line)
            for number, _ in enumerate(outcome.ledger.entries)
        )
        return outcome.ledger.redacted(taken)

    return replace(outcome, make_ledger=make_ledger, notices=(*outcome.notices, *redactor.notices))


def redacted_page(kind: Kind[Any, Any], outcome: Outcome[Any], page: Page) -> Page:
    """The report with a line on the credentials that were taken out; the same where there are none."""
    entries = outcome.ledger.entries if not isinstance(kind, Finds) else ()
    pairs = [
        (entry.state is not State.DROPPED, f"{one.rule} in {_place(entry, one.line)}")
        for entry in entries
        for one in entry.redactions
    ]
    return add_redactions(page, pairs)


def _place(entry: Entry, line: int) -> str:
    """The place of a credential: of an entry that is named by lines the line alone."""
    return f"line {line:,}" if entry.id.replace("-", "").isdigit() else f"{entry.id}:{line}"
