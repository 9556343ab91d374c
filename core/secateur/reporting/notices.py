"""What every format says beside the items: the selection's warnings, and for an empty answer which kind of empty it is."""

from __future__ import annotations

from secateur.model import Notice, Reason, Selection

NOTHING_MATCHED = Notice("nothing_matched", "Nothing that is indexed matches the query.")
_NOTHING_LEFT = {
    Reason.EXCLUDED: Notice("all_excluded", "Every candidate is excluded."),
    Reason.BEYOND_DEPTH: Notice("all_beyond_depth", "Every candidate is further from the anchors than max_depth."),
    Reason.NO_SIGNAL: Notice("no_signal", "Every candidate has priority 0 under these weights."),
}


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """The selection's warnings, once each; for an empty answer that none of them explains, the explanation as well."""
    notices = tuple(dict.fromkeys(selection.warnings))
    if selection.kept_rows or notices:
        return notices
    if not len(selection):
        return (NOTHING_MATCHED,)
    reasons = {Reason(int(reason)) for reason in selection.reason}
    return tuple(notice for reason, notice in _NOTHING_LEFT.items() if reason in reasons)
