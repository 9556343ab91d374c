"""Snippets that whole files displaced: deciding again without them proves which would go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from secateur.kinds.files.local_relevance import best
from secateur.kinds.files.sourcecode import FileDecision, MeasuredFiles
from secateur.kinds.files.strategies import decide
from secateur.model import Notice, Reason
from secateur.render.notices import listed
from secateur.settings import ContextPrune
from secateur.tokens import Counter


def with_displaced(
    decisions: Sequence[FileDecision],
    measured: MeasuredFiles,
    rules: ContextPrune,
    counter: Counter,
) -> tuple[list[FileDecision], list[Notice]]:
    """The decisions, with the lines that `full_file_share = 0` lets out; and a word if the best match is among them."""
    if rules.strategy != "extract" or all(decision.reason is not Reason.WHOLE for decision in decisions):
        return list(decisions), []
    without = decide(measured, replace(rules, full_file_share=0.0), counter)
    told = [_told(decision, again) for decision, again in zip(decisions, without, strict=True)]
    top = max(best(file.pieces) for file in measured.files)
    notices = []
    for decision in told:
        pieces = measured.files[decision.number].pieces
        if decision.displaced and any(
            piece.start == decision.displaced[0] and piece.relevance == top for piece in pieces
        ):
            first, last = decision.displaced
            where = f"lines {first}-{last} of {listed([decision.module_name])}"
            said = f"Whole files went first; {where}, the best match, found no room."
            notices.append(Notice("whole_files_first", f"{said} With context_prune.full_file_share = 0 they go out."))
    return told, notices[:1]


def _told(decision: FileDecision, again: FileDecision) -> FileDecision:
    refused = next((piece for piece in decision.tried if not piece.kept), None)
    if refused is None or again.text is None:
        return decision
    goes_out = not again.ranges or any(start <= refused.start and refused.end <= end for start, end in again.ranges)
    return replace(decision, displaced=(refused.start, refused.end)) if goes_out else decision
