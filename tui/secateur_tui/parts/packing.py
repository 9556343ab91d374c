"""Shows the text that leaves. It is made on the engine's thread, while its page is in sight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.model import State

from secateur_tui.frame import Tab
from secateur_tui.screen import ScreenPart
from secateur_tui.state.pack_text import PackText
from secateur_tui.state.search_answer import query_terms
from secateur_tui.styled_text import describe_error
from secateur_tui.widgets.pack_view import PackView

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
            view.show(None, 0, waits="there is no answer")
            return
        if self._of is not answer:
            self._of, self._pack, self._wrong = answer, None, ""
            make = partial(self._bench.kind_page.pack, answer)
            self._bench.jobs.work_out(
                PACK, make, partial(self._take, answer), partial(self._fail, answer), between=True
            )
        terms = query_terms(answer)
        view.show(self._pack, state.cursor, terms, self._wrong or "laying out what is sent …")

    def _take(self, answer: Any, pack: PackText | None) -> None:
        if self._of is answer:
            self._pack = pack
            self._bench.paint_page()

    def _fail(self, answer: Any, error: SecateurError) -> None:
        self._wrong = describe_error(error)
        self._take(answer, None)

    def state_taken(self) -> None:
        self._of, self._pack, self._wrong = None, None, ""
