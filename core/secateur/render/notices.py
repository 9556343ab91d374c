"""Notices that every format shows besides the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.model import Notice, Selection

LONGEST_NAME = 200
"""Most characters of a name in a sentence."""

BESIDE_PACKS = frozenset({"not_scanned"})
"""Codes of notices that are not in packs: they concern the machine, and would take tokens from the answer."""

NO_MATCH = Notice("no_match", "Nothing that is indexed matches the query.")


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """Returns the selection's warnings, once each. They explain why an empty answer is empty; an empty pool without a
    warning gets one here."""
    notices = tuple(dict.fromkeys(selection.warnings))
    return notices if packed_notices(notices) or len(selection) else (NO_MATCH, *notices)


def packed_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Returns the notices that are part of a pack."""
    return [notice for notice in notices if notice.code not in BESIDE_PACKS]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Formats the first of many names for a sentence."""
    return ", ".join(name[:LONGEST_NAME] for name in names[:most]) + (
        f" and {len(names) - most:,} more" if len(names) > most else ""
    )
