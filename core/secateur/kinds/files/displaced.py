"""Snippets that whole files displaced: deciding again without them proves which would go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from secateur.kinds.files.deciding import decide
from secateur.kinds.files.pieces import best
from secateur.kinds.files.sourcecode import Entry, WeighedFiles, Why
from secateur.model import Notice
from secateur.render.notices import listed
from secateur.settings import ContextPrune
from secateur.tokens import Counter


def with_displaced(
    entries: Sequence[Entry],
    weighed: WeighedFiles,
    rules: ContextPrune,
    counter: Counter,
) -> tuple[list[Entry], list[Notice]]:
    """The entries, with the lines that `full_file_share = 0` lets out; and a word if the best match is among them."""
    if rules.strategy != "extract" or all(entry.why is not Why.WHOLE for entry in entries):
        return list(entries), []
    without = decide(weighed, replace(rules, full_file_share=0.0), counter)
    told = [_told(entry, again) for entry, again in zip(entries, without, strict=True)]
    top = max(best(file.pieces) for file in weighed.files)
    notices = []
    for entry in told:
        pieces = weighed.files[entry.number].pieces
        if entry.displaced and any(piece.start == entry.displaced[0] and piece.relevance == top for piece in pieces):
            first, last = entry.displaced
            where = f"lines {first}-{last} of {listed([entry.module_name])}"
            said = f"Whole files went first; {where}, the best match, found no room."
            notices.append(Notice("whole_files_first", f"{said} With context_prune.full_file_share = 0 they go out."))
    return told, notices[:1]


def _told(entry: Entry, again: Entry) -> Entry:
    refused = next((piece for piece in entry.tried if not piece.kept), None)
    if refused is None or again.text is None:
        return entry
    goes_out = not again.ranges or any(start <= refused.start and refused.end <= end for start, end in again.ranges)
    return replace(entry, displaced=(refused.start, refused.end)) if goes_out else entry
