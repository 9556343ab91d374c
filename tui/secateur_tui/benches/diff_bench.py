"""The Diff bench: a bench over a ledger whose rows, bar and pages show chunks and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from secateur.kinds.diff.inputs import is_repository
from secateur.scenarios.opened_scenario import OpenedScenario

from secateur_tui.benches.ledger_bench import LedgerBench
from secateur_tui.state.diff_rows import ChunkMoves, DiffAnswer, chunk_moves
from secateur_tui.state.ledger_answer import LedgerAnswer, LedgerComparison
from secateur_tui.state.ledger_state import LedgerState
from secateur_tui.styled_text import Line, clipped, wrapped
from secateur_tui.subjects.diff import DiffWatch
from secateur_tui.widgets import chunk_list, chunk_pages
from secateur_tui.widgets.ledger_pages import draw_since
from secateur_tui.widgets.title import TitleFacts


class DiffBench(LedgerBench):
    """See the module docstring."""

    CSS_PATH = ["bench.tcss", "items.tcss", "ledger.tcss", "diff.tcss"]  # noqa: RUF012 - Textual declares it

    def __init__(self, state: LedgerState, opened: OpenedScenario | None = None) -> None:
        super().__init__(state, opened)
        self._watch = DiffWatch()

    @property
    def _chunks(self) -> DiffAnswer:
        answer = self.state.answer
        assert isinstance(answer, DiffAnswer)
        return answer

    @property
    def _moves(self) -> ChunkMoves | None:
        return chunk_moves(self.state.comparison) if self.state.comparison is not None else None

    def title_facts(self) -> TitleFacts:
        facts = super().title_facts()
        return replace(facts, count=(len(self._chunks.plan.coverage), "file")) if facts.count is not None else facts

    @property
    def _notes(self) -> Mapping[str, str]:
        if not self.state.path or is_repository(self.state.path):
            return {}
        return {"chunking.context_lines": "  the diff has its own", "chunking.signatures": "  needs a repository"}

    def draw_budget(self, cells: int) -> Sequence[Line]:
        if not isinstance(self.state.answer, DiffAnswer) or self.state.refusal is not None:
            return super().draw_budget(cells)
        return chunk_list.draw_budget(self._chunks, self._moves.then if self._moves is not None else None, cells)

    def _draw_item(self, item: int, cells: int) -> Line:
        entry = self._chunks.rows[item].coverage
        was = self._moves.was(entry.path) if self._moves is not None and entry is not None else ""
        return chunk_list.draw_row(self._chunks, item, cells, was)

    def draw_columns(self, cells: int) -> Line:
        return clipped(chunk_list.draw_header(), cells) if self.state.answer is not None else ()

    def draw_why(self, cells: int) -> Sequence[Line]:
        return (
            chunk_pages.draw_why(self._chunks, self.state.cursor, cells, self.app.keymap.shown("hold"))
            if self.listed
            else []
        )

    def draw_diff(self, cells: int) -> Sequence[Line]:
        if not self.listed:
            return []
        then = self.state.comparison.then if self.state.comparison is not None else None
        if then is not None and self._moves is None:  # recorded decisions name no chunks
            now = self._chunks
            return draw_since(LedgerComparison(then, LedgerAnswer(now.settings, now.ledger, now.result)), cells)
        return chunk_pages.draw_moves(self._chunks, self._moves, self.state.cursor, cells)

    def _draw_preview(self, cells: int) -> Sequence[Line]:
        return chunk_pages.draw_preview(self._chunks, self.state.cursor, cells) if self.listed else []

    def draw_blank(self, cells: int) -> Sequence[Line]:
        state = self.state
        if (
            self.error is None
            and state.path
            and state.answer is not None
            and state.refusal is None
            and not len(state.answer)
        ):
            return wrapped("No file changed.", cells, "bold")
        return super().draw_blank(cells)
