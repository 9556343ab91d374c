"""Notices that every format gives beside the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.model import Notice, Selection

LONGEST_NAME = 200
"""Characters of a name in a sentence."""

BESIDE_PACKS = frozenset({"not_scanned"})
"""Codes of what a pack does not say: it is about the machine, and would take the room of what was asked for."""

NO_MATCH = Notice("no_match", "Nothing that is indexed matches the query.")


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """The selection's warnings, once each. They say which kind of empty an empty answer is; a pool that came empty
    without a word gets one here."""
    notices = tuple(dict.fromkeys(selection.warnings))
    return notices if packed_notices(notices) or len(selection) else (NO_MATCH, *notices)


def packed_notices(notices: Iterable[Notice]) -> list[Notice]:
    """The notices that a pack says."""
    return [notice for notice in notices if notice.code not in BESIDE_PACKS]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names of many, for a sentence."""
    return ", ".join(name[:LONGEST_NAME] for name in names[:most]) + (
        f" and {len(names) - most:,} more" if len(names) > most else ""
    )
