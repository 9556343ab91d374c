"""Looks at the item under the cursor: the pages why, preview and trim diff; the baseline. The page with the text that
leaves leads to its item."""

from collections.abc import Mapping, Sequence
from functools import partial, partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.model import State
from secateur.sources.git import HistoryCommit
from secateur.terminal import cell_width

from secateur_tui.frame import ZOOMED, Tab
from secateur_tui.jobs import Derived
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import SearchAnswer, query_terms
from secateur_tui.styled_text import Line, describe_error, line
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.pack_view import PackText, PackView
from secateur_tui.widgets.proof_pages import draw_hints, insert_hints
from secateur_tui.widgets.text_view import ItemText, PreviewText, TextView, draw_preview

_REST = "text"

_BORDER = 6  # cells of a border beside its title


class Looking(ScreenPart):
    """See the module docstring. The text of a candidate is read when the cursor rests on it."""

    _item: tuple[Any, int, bool] | None = None  # of the text below: answer, item, and whether it is listed
    _item_text: ItemText | None = None

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        # of a candidate its text, and per word of the query the lines that hold it; then the commits of its file
        self._text = Derived[tuple[PreviewText, Mapping[str, Sequence[int]]]](
            self.jobs, "preview", bench.paint_page, between=True
        )
        self._commits = Derived[Sequence[HistoryCommit]](
            self.jobs, "commits", bench.paint_page, thread=lambda: self.app.prover
        )
        self._pack = Derived[PackText](self.jobs, "pack", bench.paint_page, between=True)

    do_why, do_preview, do_diff, do_pack = (
        partialmethod(ScreenPart.open_page, page) for page in ("why", "preview", "diff", "pack")
    )

    def no_ghost(self) -> str:
        return "the answer is partial yet" if self.state.partial else ""

    @property
    def tabs(self) -> Sequence[Tab]:
        wraps = not isinstance(self.kind_page, SearchPage)

        def state_of(item: int) -> State:
            answer = self.state.answer
            return answer.state_of(item) if answer is not None and item < len(answer) else State.KEPT

        return (
            Tab("why", "Why", self._draw_why, self._paint_why),
            Tab("preview", "Preview", paint=self._paint_preview, widget=lambda: TextView(wraps=wraps, id="preview")),
            Tab("diff", "Diff", lambda cells: self.kind_page.draw_diff(self.bench.scene, cells)),
            Tab(
                "pack",
                "Pack",
                paint=self._paint_pack,
                widget=lambda: PackView(self._describe_item, state_of, id="pack"),
            ),
        )

    def painted(self) -> None:
        """Says above the list how many decisions differ from those of the ghost, and the key that leads to them: a
        pinned item stays where its priority puts it, and what it pushed out may stand far from it."""
        state, items = self.state, self.bench.query_one("#items")
        if self.kind_page.unopened:
            return
        noun = self.kind.wording.noun
        comparison = state.comparison if state.listed else None
        counts = comparison.flip_counts if comparison is not None else {}
        changes = " · ".join(
            f"{kept.glyph} {counts[kept]:,} now {kept.label}" for kept in reversed(State) if counts.get(kept)
        )
        key, room = self.key("next-changed"), items.size.width - _BORDER
        variants = [f"{noun} ─ {changes} · {key} goes there", f"{noun} ─ {changes}"] if changes else []
        self.bench.caption(
            items, line(next((words for words in variants if cell_width(words) <= room), noun)), top=True
        )

    def cursor_moved(self) -> None:
        if not isinstance(self.kind_page, SearchPage):
            for tab in self.bench.tabs:
                for view in self.bench.query(f"#{tab}").results(DrawnView):
                    view.scroll_to(y=0, animate=False, immediate=True)

    def state_taken(self) -> None:
        self.jobs.stop(_REST)
        self._item = self._item_text = None

    # --- why, and the preview ---

    def _draw_why(self, cells: int) -> Sequence[Line]:
        scene = self.bench.scene
        lines = self.kind_page.draw_why(scene, cells)
        hints = draw_hints(
            scene.hints,
            scene.trials,
            scene.chosen_hint,
            scene.nothing,
            (self.key("hint"), self.key("next-hint")),
            self.kind.knobs,
            proving=scene.proving,
            cells=cells,
        )
        return insert_hints(lines, hints) if lines else lines

    def _paint_why(self) -> None:
        answer, row, scene = self.state.answer, self.state.cursor, self.bench.scene
        scene.query_lines, scene.commits = None, ()
        if not isinstance(answer, SearchAnswer) or not len(answer):
            return
        if self._text.key != (answer.selection.pool, row):  # a cursor that runs through a list reads nothing
            self.jobs.after(_REST, self.app.pace.rest, partial(self._read_text, answer, row))
        elif self._text.made is not None and isinstance(page := self.kind_page, SearchPage):
            scene.query_lines = self._text.made[1]
            changes = partial(page.engine.changes_of, answer.selection.pool, row)
            scene.commits = self._commits.at(self._text.key, changes) or ()

    def _paint_preview(self) -> None:
        state, view = self.state, self.bench.query_one("#preview", TextView)
        if isinstance(state.answer, SearchAnswer) and len(state.answer):
            made = self._read_text(state.answer, state.cursor)
            text = made[0] if made is not None else None
            view.show(draw_preview(text, state.answer, state.cursor, query_terms(state.answer)))
            return
        item = state.answer, state.cursor, state.listed
        if self._item is None or self._item != item:
            self._item, self._item_text = item, self.kind_page.text_of(self.bench.scene)
        view.show(self._item_text)

    def _read_text(self, answer: SearchAnswer, row: int) -> tuple[PreviewText, Mapping[str, Sequence[int]]] | None:
        page, pool = self.kind_page, answer.selection.pool
        assert isinstance(page, SearchPage)
        engine = page.engine

        def read() -> tuple[PreviewText, Mapping[str, Sequence[int]]]:
            try:
                content = engine.content(pool, row)
            except SecateurError as error:
                content = f"{error.message}\n{error.hint}"
            text = PreviewText.of(content, pool.language[row], int(pool.line_start[row]))
            return text, text.lines_with(query_terms(answer))

        return self._text.at((pool, row), read)

    def do_decimals(self) -> None:
        self.bench.scene.exact = not self.bench.scene.exact
        self.bench.paint_page()

    def do_zoom(self) -> None:
        """Lets the pane with the focus fill the screen, or no longer."""
        bench = self.bench
        zoomed = any(bench.has_class(name) for name in ZOOMED)
        bench.remove_class(*ZOOMED)
        if not zoomed:
            bench.add_class(ZOOMED[bench.in_page])
        bench.call_after_refresh(bench.paint)

    def do_ghost(self) -> None:
        self.state.pin_baseline()
        self.bench.paint()

    # --- the text that leaves ---

    def _describe_item(self, item: int) -> str:
        state = self.state
        if state.answer is None or not 0 <= item < len(state.answer) or not state.listed:
            return ""
        return self.kind_page.listing(self.bench.scene).describe_item(item)

    def _paint_pack(self) -> None:
        state, view = self.state, self.bench.query_one(PackView)
        answer = state.answer if state.listed and self.jobs.error is None else None
        if answer is None:
            view.show_pack(None, 0, waits="there is no answer")
            return
        pack = self._pack.at(answer, partial(self.kind_page.pack, answer))
        wrong = describe_error(self._pack.error) if self._pack.error is not None else ""
        view.show_pack(pack, state.cursor, query_terms(answer), wrong or "laying out what is sent …")
