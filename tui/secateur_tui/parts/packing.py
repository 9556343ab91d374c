"""Shows the text that leaves. It is made on the engine's thread, while its page is in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from secateur.errors import SecateurError
from secateur.model import State
from textual.widget import Widget

from secateur_tui.part import ScreenPart, Tab
from secateur_tui.screen import Bench
from secateur_tui.state.pack_text import PackText
from secateur_tui.state.search_answer import query_terms
from secateur_tui.styled_text import describe_error
from secateur_tui.widgets.pack_view import PackView

PACK = "pack"


class ShowingPack(ScreenPart):
    """The page with the pack."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._of: Any = None  # the answer whose pack was made, or is being made
        self._pack: PackText | None = None
        self._wrong = ""

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {PACK: partial(self._bench.show_page, PACK)}

    def unavailable(self, action: str) -> str:
        return "there is no answer yet" if action == PACK and self._bench.state.answer is None else ""

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(PACK, "Pack", self._make, self._paint),)

    def _make(self) -> Widget:
        return PackView(self._describe_item, self._state, id=PACK)

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
            self._bench.jobs.start(partial(self._make_pack, answer), PACK)
        terms = query_terms(answer)
        view.show(self._pack, state.cursor, terms, self._wrong or "laying out what is sent …")

    async def _make_pack(self, answer: Any) -> None:
        try:
            pack = await self._bench.jobs.run(partial(self._bench.kind_page.pack, answer), between=True)
        except SecateurError as error:
            pack, self._wrong = None, describe_error(error)
        if self._of is answer:
            self._pack = pack
            self._bench.paint_page()

    def state_taken(self) -> None:
        self._of, self._pack, self._wrong = None, None, ""
