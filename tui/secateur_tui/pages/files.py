"""Files and a query: what of each goes out under a number of tokens: whole, in snippets, or not at
all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from secateur.kinds.base import Outcome
from secateur.kinds.files.kind import ReadFiles
from secateur.kinds.files.pruned_files import PrunedFiles
from secateur.kinds.files.sourcecode import SCORES
from secateur.settings import Settings
from secateur.terminal import clip_left, visible

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.styled_text import Line, Span, bar, fit, line, wrapped

_SCORE_CELLS, _BAR_CELLS = 5, 10
_WITH_BAR = 40
"""Cells from which there is room for the score as a bar."""
_MOST_PIECES = 40
"""Pieces of a file that Why lists."""


class FilesPage(KindPage[ReadFiles, PrunedFiles]):
    """The look of the Files bench."""

    def drawn(self, settings: Settings, outcome: Outcome[PrunedFiles]) -> LedgerAnswer[Outcome[PrunedFiles]]:
        """The best files are listed first."""
        answer, decisions = super().drawn(settings, outcome), outcome.payload.decisions
        return replace(answer, order=sorted(range(len(decisions)), key=lambda number: -decisions[number].score))

    def paths(self, answer: LedgerAnswer[Outcome[PrunedFiles]]) -> Sequence[str]:
        return answer.ids

    def tail_title(self, answer: LedgerAnswer[Outcome[PrunedFiles]]) -> str:
        return "score file"

    def tail(self, answer: LedgerAnswer[Outcome[PrunedFiles]], item: int, cells: int) -> Line:
        decision = answer.result.payload.decisions[item]
        score = f"{decision.score:>{_SCORE_CELLS}.1f} " if decision.judge else f"{'–':>{_SCORE_CELLS}} "
        drawn = bar([(decision.score, "█", "relevance")], SCORES, _BAR_CELLS) if cells >= _WITH_BAR else ()
        room = cells - len(score) - (_BAR_CELLS + 1 if drawn else 0)
        name = fit(clip_left(visible(decision.module_name), room), room) if room > 0 else ""
        return (Span(score), *drawn, Span(" " if drawn else ""), Span(name))

    def facts(self, answer: LedgerAnswer[Outcome[PrunedFiles]], item: int, cells: int) -> list[Line]:
        decision = answer.result.payload.decisions[item]
        lines = wrapped(f"score {decision.score:.1f} of {SCORES}", cells) if decision.judge else []
        if decision.ranges:
            ranges = ", ".join(f"{first}-{last}" for first, last in decision.ranges)
            lines += wrapped(f"lines {ranges}", cells, "shortened")
        for piece in decision.tried[:_MOST_PIECES]:
            mark = Span("● ", "kept") if piece.kept else Span("○ ", "dropped")
            lines.append(line(mark, f"{piece.score:>4.1f} {piece.start}-{piece.end} {piece.refused or 'goes out'}"))
            lines += wrapped(visible(piece.name), cells, "faint", indent="    ")
        more = len(decision.tried) - _MOST_PIECES
        return [*lines, line(Span(f"and {more:,} more pieces", "faint"))] if more > 0 else lines
