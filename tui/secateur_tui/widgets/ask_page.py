"""A question on top of everything, with a field if a text is asked for. Enter answers, Escape closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import ClassVar

from secateur.errors import SecateurError
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from secateur_tui.guards import Dialogue
from secateur_tui.styled_text import Line
from secateur_tui.widgets.modal_page import ModalText
from secateur_tui.widgets.query_input import QueryInput


class AskPage(Dialogue[str | None]):
    """`AskPage("Save", draw, "name.scenario.toml")` is dismissed with the text of its field, "" without one; with None
    where Escape was pressed.

    Args:
        draw: of the width and of the text in the field.
        text: proposed in the field; None: there is no field.
        replaced: what is typed takes the place of the text.
        proposals: texts that Up and Down put into the field, one after the other.
        check: raises SecateurError for a text that cannot be taken; Enter then leaves the page open.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer(False)", show=False),
        Binding("enter,y", "answer(True)", show=False),
        Binding("q,n", "answer(False)", show=False),
        Binding("up", "propose(-1)", show=False, priority=True),
        Binding("down", "propose(1)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        draw: Callable[[int, str], Sequence[Line]],
        text: str | None = None,
        *,
        replaced: bool = False,
        proposals: Sequence[str] = (),
        check: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__()
        self._proposals, self._check = proposals, check
        self._title, self._draw_words, self._text, self._replaced = title, draw, text, replaced

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = self._title
            page.border_subtitle = ("↑/↓ choose, " if self._proposals else "") + "Enter does it, Esc closes"
            if self._text is not None:
                yield QueryInput(self._text, "", id="answer", classes="input")
            yield ModalText(lambda cells: self._draw_words(cells, self._typed), id="words")

    def on_mount(self) -> None:
        self.set_focus(self.query_one(QueryInput if self._text is not None else ModalText))
        if self._replaced:
            self.query_one(QueryInput).select_all()

    @property
    def _typed(self) -> str:
        fields = self.query(QueryInput)
        return fields.first().value.strip() if fields else ""

    @on(QueryInput.Changed)
    def _changed(self) -> None:
        self.query_one(ModalText).repaint()

    @on(QueryInput.Submitted)
    def _submitted(self) -> None:
        self.action_answer(True)

    def action_propose(self, by: int) -> None:
        """Puts the next proposal into the field, or the first where another text is there; without any it scrolls."""
        proposals = self._proposals
        if not proposals:
            self.query_one(ModalText).scroll_relative(y=by, animate=False)
            return
        now = self._typed
        index = (proposals.index(now) + by) % len(proposals) if now in proposals else 0 if by > 0 else -1
        self.query_one(QueryInput).put(proposals[index])

    def action_answer(self, yes: bool) -> None:
        with suppress(SecateurError):  # the words below the field say what is wrong
            if yes:
                self._check(self._typed)
            self.dismiss(self._typed if yes else None)
