"""A text on top of everything: help, a report, or a choice between keys. A closing key returns to the bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from secateur_tui.guards import Dialogue
from secateur_tui.styled_text import Line
from secateur_tui.widgets.line_view import DrawnView


class ModalText(DrawnView, can_focus=True):
    """The scrolling part."""


class ModalPage(Dialogue[str | None]):
    """`ModalPage("Help", draw)` is dismissed with the choice of the key that was pressed; with None by a closing key.

    Args:
        draw: draws the text for a width.
        choices: what each key chooses; such a key never closes the page without a choice.
        default: what Enter chooses; "": Enter closes the page.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,question_mark,y", "close", show=False)]

    def __init__(
        self,
        title: str,
        draw: Callable[[int], Sequence[Line]],
        choices: Mapping[str, str] | None = None,
        default: str = "",
    ) -> None:
        super().__init__()
        self._title, self._draw_page = title, draw
        self._choices = {**(choices or {}), **({"enter": default} if default else {})}

    def compose(self) -> ComposeResult:
        page = ModalText(self._draw_page, id="page")
        page.border_title = self._title
        page.border_subtitle = "Enter takes the first, Esc closes" if "enter" in self._choices else "Esc closes"
        yield page

    def on_key(self, event: events.Key) -> None:
        if event.key in self._choices:
            event.stop()
            event.prevent_default()
            self.dismiss(self._choices[event.key])

    def action_close(self) -> None:
        """Leaves without a choice."""
        self.dismiss(None)
