"""Walks the calls around the item at the cursor: a page with a tree of calls, and the findings of the whole walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from secateur.errors import SecateurError
from secateur.render.walk_text import Walk
from secateur.retrieval.walk import CallMap
from textual.widget import Widget

from secateur_tui.pages.search import SearchPage
from secateur_tui.part import ScreenPart, Tab
from secateur_tui.screen import Bench
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.walking import WalkTree
from secateur_tui.widgets.walk_view import WalkView

PAGE = "walk"

_GRAPH, _WHOLE, _REST = "walk-graph", "walk-whole", "walk-rest"


class Walking(ScreenPart):
    """See the module docstring. The graph is opened once for what was retrieved; other decisions are put on it at
    once. The whole walk searches again, so it waits for a rest."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._calls: CallMap | None = None
        self._opening: object = None  # the pool whose graph is being opened, or could not be
        self._tree: WalkTree | None = None
        self._item: object = None  # (pool, row) whose tree it is
        self._whole: tuple[SearchAnswer, Walk] | None = None
        self._told = ""

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {PAGE: self._open}

    def unavailable(self, action: str) -> str:
        if action != PAGE:
            return ""
        if not isinstance(self._bench.kind_page, SearchPage):
            return "only what a search finds has calls"
        return "" if self._bench.state.listed else "there are no items yet"

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(PAGE, "Walk", self._make, self._paint),) if isinstance(self._bench.kind_page, SearchPage) else ()

    def state_taken(self) -> None:
        self._calls = self._opening = self._tree = self._item = self._whole = None

    def _make(self) -> Widget:
        return WalkView(self._go, id=PAGE)

    @property
    def _view(self) -> WalkView:
        return self._bench.query_one(f"#{PAGE}", WalkView)

    def _open(self) -> None:
        self._bench.show_page(PAGE)
        self._bench.go_to(self._view)

    def _go(self, node: int) -> None:
        row = self._calls.row(node) if self._calls is not None else None
        if row is None:
            self._bench.app.say("It is no candidate of this search: nothing of it is in the list")
        else:
            self._bench.move_cursor(row)

    def _paint(self) -> None:
        answer = self._bench.state.answer
        if not isinstance(answer, SearchAnswer) or not len(answer):
            self._view.show(None, None, "nothing was found to walk from")
            return
        pool = answer.selection.pool
        if self._calls is None or self._calls.selection.pool is not pool:
            self._start(answer)
            self._view.show(None, None, self._told)
            return
        calls = self._calls
        if calls.selection is not answer.selection:
            calls = self._calls = calls.under(answer.selection)
        self._show(answer, calls)

    def _show(self, answer: SearchAnswer, calls: CallMap) -> None:
        """Shows the tree of the item at the cursor; the one on screen stays as it is opened."""
        row, view = self._bench.state.cursor, self._view
        if self._item != (answer.selection.pool, row):
            self._item = answer.selection.pool, row
            node, marked = int(calls.node_of_row[row]), view.calls.marked if view.calls is not None else None
            self._tree = WalkTree(calls, node, marked) if node >= 0 else None
        elif view.calls is not None:
            self._tree = view.calls  # the user may have gone on to another root
        if self._tree is not None and self._tree.calls is not calls:
            self._tree.take_decisions(calls)
        whole = self._whole[1] if self._whole is not None and self._whole[0] is answer else None
        if whole is None and not self._bench.jobs.waits(_REST) and not self._bench.jobs.runs(_WHOLE):
            rest = self._bench.app.pace.rest
            self._bench.jobs.after(_REST, rest, lambda: self._bench.jobs.start(self._walk, _WHOLE))
        view.show(self._tree, whole, "" if self._tree is not None else "its file has changed since it was indexed")

    def _start(self, answer: SearchAnswer) -> None:
        if self._opening is not answer.selection.pool:
            self._opening, self._told = answer.selection.pool, "one moment"
            self._bench.jobs.start(partial(self._open_graph, answer), _GRAPH)

    async def _open_graph(self, answer: SearchAnswer) -> None:
        page = self._bench.kind_page
        assert isinstance(page, SearchPage)
        try:
            self._calls = await self._bench.jobs.run(partial(page.engine.calls, answer.selection))
        except SecateurError as error:
            self._told = f"{error.message}. {error.hint}"
        self._bench.paint_page()

    async def _walk(self) -> None:
        """The whole walk of the answer on screen, on the engine's thread."""
        answer, page = self._bench.state.answer, self._bench.kind_page
        if not isinstance(answer, SearchAnswer) or not isinstance(page, SearchPage) or self._bench.page != PAGE:
            return
        try:
            walk = await self._bench.jobs.run(partial(page.engine.walk, answer.selection, answer.settings))
        except SecateurError:  # a file changed meanwhile: the title says so
            return
        self._whole = answer, walk
        self._bench.paint_page()
