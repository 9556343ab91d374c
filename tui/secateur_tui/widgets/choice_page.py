"""A page on top of everything whose keys choose: `ChoicePage("Export", draw, {"h": "html"}, "html")` is dismissed with
what a key stands for, Enter with the default; with None where it was closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from secateur_tui.guards import Dialogue
from secateur_tui.styled_text import Line
from secateur_tui.widgets.modal_page import ModalText


class ChoicePage(Dialogue[str | None]):
    """See the module docstring. A key that is a choice never closes the page.

    Args:
        draw: of the width.
        choices: key -> what it stands for.
        default: what Enter stands for; "": Enter closes the page.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,y", "close", show=False)]

    def __init__(
        self, title: str, draw: Callable[[int], Sequence[Line]], choices: Mapping[str, str], default: str = ""
    ) -> None:
        super().__init__()
        self._title, self._draw_page, self._choices, self._default = title, draw, choices, default

    def compose(self) -> ComposeResult:
        page = ModalText(self._draw_page, id="page")
        page.border_title = self._title
        page.border_subtitle = "Enter takes the first, Esc closes" if self._default else "Esc closes"
        yield page

    def on_key(self, event: events.Key) -> None:
        chosen = self._choices.get(event.key)
        if event.key == "enter":
            chosen = self._default
        elif chosen is None:
            return
        event.stop()
        event.prevent_default()
        self.dismiss(chosen or None)

    def action_close(self) -> None:
        """Leaves without a choice."""
        self.dismiss(None)
