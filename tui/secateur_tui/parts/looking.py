"""Looks at the item under the cursor: the pages why, preview and trim diff; the baseline. The page with the text that
leaves leads to its item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.model import State
from secateur.sources.git_log import HistoryCommit
from secateur.terminal import cell_width
from textual.content import Content

from secateur_tui.frame import ZOOMED, Tab
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import ScreenPart
from secateur_tui.state.search_answer import SearchAnswer, query_terms
from secateur_tui.styled_text import Line, describe_error
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.pack_view import PackText, PackView
from secateur_tui.widgets.proof_pages import draw_hints, insert_hints
from secateur_tui.widgets.text_view import ItemText, PreviewText, TextView, draw_preview

_TEXT = "text"

_BORDER = 6
"""Cells of a border beside its title."""


class Looking(ScreenPart):
    """See the module docstring. The text of a candidate is read when the cursor rests on it."""

    _text_of: tuple[Any, int] | None = None
    _text: PreviewText | None = None
    _item: tuple[Any, int, bool] | None = None  # of the text below: answer, item, and whether it is listed
    _item_text: ItemText | None = None

    do_why, do_preview, do_diff = (partialmethod(ScreenPart.open_page, page) for page in ("why", "preview", "diff"))

    def no_ghost(self) -> str:
        return "the answer is partial yet" if self._bench.state.partial else ""

    @property
    def tabs(self) -> Sequence[Tab]:
        return (
            Tab("why", "Why", self._draw_why, self._paint_why),
            Tab(
                "preview",
                "Preview",
                paint=self._paint_preview,
                widget=lambda: TextView(wraps=not isinstance(self._page, SearchPage), id="preview"),
            ),
            Tab("diff", "Diff", lambda cells: self._page.draw_diff(self._bench.scene, cells)),
        )

    def _draw_why(self, cells: int) -> Sequence[Line]:
        scene = self._bench.scene
        lines = self._page.draw_why(scene, cells)
        hints = draw_hints(
            scene.hints,
            scene.trials,
            scene.chosen_hint,
            scene.nothing,
            (scene.keys.first_key("hint"), scene.keys.first_key("next-hint")),
            self._page.kind.knobs,
            proving=scene.proving,
            cells=cells,
        )
        return insert_hints(lines, hints) if lines else lines

    @property
    def _page(self) -> KindPage[Any, Any]:
        return self._bench.kind_page

    def painted(self) -> None:
        """Says above the list how many decisions differ from those of the ghost, and the key that leads to them: a
        pinned item stays where its priority puts it, and what it pushed out may stand far from it."""
        state, items = self._bench.state, self._bench.query_one("#items")
        if self._page.unopened:
            return
        noun = self._page.kind.wording.noun
        comparison = state.comparison if state.listed else None
        counts = comparison.flip_counts if comparison is not None else {}
        changes = " · ".join(
            f"{kept.glyph} {counts[kept]:,} now {kept.label}" for kept in reversed(State) if counts.get(kept)
        )
        key = self._bench.scene.keys.first_key("next-changed")
        variants = [f"{noun} ─ {changes} · {key} goes there", f"{noun} ─ {changes}"] if changes else []
        room = items.size.width - _BORDER
        title = Content(next((words for words in variants if cell_width(words) <= room), noun))
        if items.border_title != title.markup:  # Textual paints a widget whole for the same words, too
            items.border_title = title

    def cursor_moved(self) -> None:
        if not isinstance(self._page, SearchPage):
            for tab in self._bench.tabs:
                for view in self._bench.query(f"#{tab}").results(DrawnView):
                    view.scroll_to(y=0, animate=False, immediate=True)

    def state_taken(self) -> None:
        self._bench.jobs.stop(_TEXT)
        self._text_of, self._text, self._bench.scene.query_lines = None, None, None
        self._item = self._item_text = None

    # --- why, and the preview ---

    def _paint_preview(self) -> None:
        state, before, view = self._bench.state, self._item, self._bench.query_one("#preview", TextView)
        if isinstance(state.answer, SearchAnswer) and len(state.answer):
            self._read_text(state.answer, state.cursor)
            view.show(draw_preview(self._text, state.answer, state.cursor, query_terms(state.answer)))
            return
        if before is None or before[0] is not state.answer or before[1:] != (state.cursor, state.listed):
            self._item = state.answer, state.cursor, state.listed
            self._item_text = self._page.text_of(self._bench.scene)
        view.show(self._item_text)

    def _paint_why(self) -> None:
        answer, row = self._bench.state.answer, self._bench.state.cursor
        if isinstance(answer, SearchAnswer) and len(answer) and self._text_of != (answer.selection.pool, row):
            self._bench.scene.query_lines, self._bench.scene.commits = None, ()
            rest = self._bench.app.pace.rest  # a cursor that runs through a list reads nothing
            self._bench.jobs.after(_TEXT, rest, partial(self._read_text, answer, row))

    def _read_text(self, answer: SearchAnswer, row: int) -> None:
        bench, page, pool = self._bench, self._page, answer.selection.pool
        if self._text_of == (pool, row):  # it is read, or being read
            return
        assert isinstance(page, SearchPage)
        engine = page.engine
        self._text_of, self._text, bench.scene.query_lines, bench.scene.commits = (pool, row), None, None, ()

        def read() -> PreviewText:
            try:
                content = engine.content(pool, row)
            except SecateurError as error:
                content = f"{error.message}\n{error.hint}"
            return PreviewText.of(content, pool.language[row], int(pool.line_start[row]))

        def take(text: PreviewText) -> None:
            if self._text_of == (pool, row):
                self._text, bench.scene.query_lines = text, text.lines_with(query_terms(answer))
                bench.paint_page()
                changes = partial(engine.changes_of, pool, row)
                bench.jobs.work_out("commits", changes, take_commits, thread=bench.app.prover)

        def take_commits(commits: Sequence[HistoryCommit]) -> None:
            if self._text_of == (pool, row):
                bench.scene.commits = commits
                bench.paint_page()

        bench.jobs.work_out("preview", read, take, between=True)

    def do_decimals(self) -> None:
        self._bench.scene.exact = not self._bench.scene.exact
        self._bench.paint_page()

    def do_zoom(self) -> None:
        """Lets the pane with the focus fill the screen, or no longer."""
        bench = self._bench
        zoomed = any(bench.has_class(name) for name in ZOOMED)
        bench.remove_class(*ZOOMED)
        if not zoomed:
            bench.add_class(ZOOMED[bench.in_page])
        bench.call_after_refresh(bench.paint)

    # --- the baseline ---

    def do_ghost(self) -> None:
        self._bench.state.pin_baseline()
        self._bench.paint()


PACK = "pack"


class ShowingPack(ScreenPart):
    """The page with the pack."""

    _of: Any = None  # the answer whose pack was made, or is being made
    _pack: PackText | None = None
    _wrong = ""

    do_pack = partialmethod(ScreenPart.open_page, PACK)

    @property
    def tabs(self) -> Sequence[Tab]:
        return (
            Tab(PACK, "Pack", paint=self._paint, widget=lambda: PackView(self._describe_item, self._state, id=PACK)),
        )

    def _describe_item(self, item: int) -> str:
        state = self._bench.state
        if state.answer is None or not 0 <= item < len(state.answer) or not state.listed:
            return ""
        return self._bench.kind_page.listing(self._bench.scene).describe_item(item)

    def _state(self, item: int) -> State:
        state = self._bench.state
        return state.answer.state_of(item) if state.answer is not None and item < len(state.answer) else State.KEPT

    def _paint(self) -> None:
        state, view = self._bench.state, self._bench.query_one(PackView)
        answer = state.answer if state.listed and self._bench.jobs.error is None else None
        if answer is None:
            view.show_pack(None, 0, waits="there is no answer")
            return
        if self._of is not answer:
            self._of, self._pack, self._wrong = answer, None, ""

            def take(pack: PackText | None, wrong: str = "") -> None:
                if self._of is answer:
                    self._pack, self._wrong = pack, wrong
                    self._bench.paint_page()

            make, jobs = partial(self._bench.kind_page.pack, answer), self._bench.jobs
            jobs.work_out(PACK, make, take, lambda error: take(None, describe_error(error)), between=True)
        terms = query_terms(answer)
        view.show_pack(self._pack, state.cursor, terms, self._wrong or "laying out what is sent …")

    def state_taken(self) -> None:
        self._of, self._pack, self._wrong = None, None, ""
