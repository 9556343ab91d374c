"""The notices of a selection, and which of them an answer shows. A pack that holds an item has none: a model reads
it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.model import Notice, Selection

LONGEST_NAME = 200
"""Most characters of a name in a sentence."""

OF_INSTALLATION = frozenset({"not_scanned"})
"""Codes of notices about what is installed: `index` and `status` say them and JSON keeps them. In every answer for
people they would hide the others."""

NO_MATCH = Notice("no_match", "Nothing that is indexed matches the query.")


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """Returns the selection's warnings, once each. They explain why an empty answer is empty; an empty pool without a
    warning gets one here."""
    notices = tuple(dict.fromkeys(selection.warnings))
    return notices if shown_notices(notices) or len(selection) else (NO_MATCH, *notices)


def shown_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Returns the notices that an answer shows to people."""
    return [notice for notice in notices if notice.code not in OF_INSTALLATION]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Formats the first of many names for a sentence."""
    return ", ".join(name[:LONGEST_NAME] for name in names[:most]) + (
        f" and {len(names) - most:,} more" if len(names) > most else ""
    )
