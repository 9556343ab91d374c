"""A page on top of everything: help, or a text to copy. Any of its closing keys returns to the bench."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from secateur_tui.guards import Dialogue
from secateur_tui.styled_text import Line
from secateur_tui.widgets.line_view import DrawnView


class ModalText(DrawnView, can_focus=True):
    """The scrolling part."""


class ModalPage(Dialogue[None]):
    """`ModalPage("Help", draw)`; `draw` is a function of the width."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,question_mark,y", "dismiss", show=False)]

    def __init__(self, title: str, draw: Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self._title = title
        self._draw_page = draw

    def compose(self) -> ComposeResult:
        page = ModalText(self._draw_page, id="page")
        page.border_title = self._title
        page.border_subtitle = "Esc closes"
        yield page
