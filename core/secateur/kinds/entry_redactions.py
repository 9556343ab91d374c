"""Shows the credentials removed from entries of any kind, in the ledger and in the report for people.

A kind that reads through `Environment.redactor` keeps it in its material as `redactor`; the rest is done here.
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


def add_redacted_ledger(kind: Kind[Any, Any], material: Any, outcome: Outcome[Any]) -> Outcome[Any]:
    """Adds the credentials that were removed from the entries to their ledger."""
    redactor: Redactor | None = getattr(material, "redactor", None)
    if redactor is None or not (redactor.found_any or redactor.notices):
        return outcome

    def make_ledger() -> Ledger:
        taken = (
            redactor.within(kind.texts(outcome, index)[0], kind.describe(outcome, index).line)
            for index, _ in enumerate(outcome.ledger.entries)
        )
        return outcome.ledger.redacted(taken)

    return replace(outcome, make_ledger=make_ledger, notices=(*outcome.notices, *redactor.notices))


def add_redaction_rows(kind: Kind[Any, Any], outcome: Outcome[Any], page: Page) -> Page:
    """Adds a line on removed credentials to the report, if there are any."""
    entries = outcome.ledger.entries if not isinstance(kind, Finds) else ()
    pairs = [
        (entry.state is not State.DROPPED, f"{redaction.rule} in {_locate(entry, redaction.line)}")
        for entry in entries
        for redaction in entry.redactions
    ]
    return add_redactions(page, pairs)


def _locate(entry: Entry, line: int) -> str:
    """The location of a credential: the line, after the id unless the entry is named by lines."""
    return f"line {line:,}" if entry.id.replace("-", "").isdigit() else f"{entry.id}:{line}"
