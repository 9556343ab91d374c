"""Files and a query: what of each goes out under a number of tokens: whole, in snippets, or not at
all."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from secateur.errors import UsageError
from secateur.kinds.base import Outcome
from secateur.kinds.files.kind import ReadFiles
from secateur.kinds.files.sourcecode import SCORES, PrunedFiles
from secateur.render.page import count_noun
from secateur.settings import Settings
from secateur.terminal import visible

from secateur_tui.pages.kind_page import KindPage, Scene
from secateur_tui.short_names import NAME, ListColumn
from secateur_tui.state.answer import ShownAnswer, ledger_answer
from secateur_tui.styled_text import Line, Span, line, stack_bar, wrap_words
from secateur_tui.widgets.listing import ItemListing

_SCORE_CELLS, _NAME_CELLS, _BAR_CELLS = 6, 20, 8
_MOST_PIECES = 40  # pieces of a file that the page Why lists


class FilesListing(ItemListing):
    """Lists files, the best first, each with its score."""

    titles: ClassVar[tuple[str, str]] = ("file", "folder")
    spends_in_order: ClassVar[bool] = True
    ordered_by: ClassVar[str] = "score"

    def list_columns(self) -> Sequence[ListColumn]:
        return [
            replace(column, wants=min(column.wants, _NAME_CELLS)) if column.id == NAME else column
            for column in super().list_columns()
        ]

    def own_columns(self) -> Sequence[ListColumn]:
        return (ListColumn("bar", "", _BAR_CELLS, _BAR_CELLS, 4), ListColumn.fixed("score", "score", _SCORE_CELLS, 5))

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        if column.id not in ("bar", "score"):
            return super().cell(item, column, cells)
        decision = self.answer.outcome.payload.decisions[item]
        if column.id == "bar":
            return stack_bar([(decision.score, "█", "relevance")], SCORES, cells)
        return line(f"{decision.score:.1f}" if decision.judge else "–")


class FilesPage(KindPage[ReadFiles, PrunedFiles]):
    """The look of the Files bench."""

    listing_type = FilesListing

    def make_answer(self, settings: Settings, outcome: Outcome[PrunedFiles]) -> ShownAnswer[PrunedFiles]:
        """Returns the answer with the best files first."""
        decisions = outcome.payload.decisions
        order = sorted(range(len(decisions)), key=lambda index: -decisions[index].score)
        return ledger_answer(settings, outcome, order, paths=True)

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        if not isinstance(scene.jobs.error or scene.state.refusal, UsageError) or scene.state.inputs["query"]:
            return super().draw_blank(scene, cells)
        words = "Say what the files are for: each is scored by how well it answers."
        hint = f"{scene.keys.first_key('query')} goes to the field for it; Enter reads them."
        lines = [*wrap_words(words, cells, "bold"), (), *wrap_words(hint, cells, "faint"), ()]
        return [*lines, *super().draw_blank(scene, cells)]

    def facts(self, answer: ShownAnswer[PrunedFiles], item: int, cells: int) -> list[Line]:
        decision = answer.outcome.payload.decisions[item]
        lines = wrap_words(f"score {decision.score:.1f} of {SCORES}", cells) if decision.judge else []
        if decision.ranges:
            ranges = ", ".join(f"{first}-{last}" for first, last in decision.ranges)
            lines += wrap_words(f"lines {ranges}", cells, "shortened")
        for piece in decision.tried[:_MOST_PIECES]:
            mark = Span("● ", "kept") if piece.kept else Span("○ ", "dropped")
            lines.append(line(mark, f"{piece.score:>4.1f} {piece.start}-{piece.end} {piece.refused or 'is sent'}"))
            lines += wrap_words(visible(piece.name), cells, "faint", indent="    ")
        more = len(decision.tried) - _MOST_PIECES
        return [*lines, line(Span(f"and {count_noun(more, 'more piece')}", "faint"))] if more > 0 else lines
