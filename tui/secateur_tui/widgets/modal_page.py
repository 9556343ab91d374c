"""A page of text on top of everything: help, a report, or a choice by key. A closing key returns to the bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from secateur.terminal import visible
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

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


class FilteredPage(ModalPage):
    """A page of which `/` shows the entries that hold what is typed, and Enter chooses one.

    Args:
        draw: draws the entries for a width and for what is typed.
        offer: returns (choice, its label) for what is typed; "" for no choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "filter", show=False)]

    def __init__(
        self, title: str, draw: Callable[[int, str], Sequence[Line]], offer: Callable[[str], tuple[str, str]]
    ) -> None:
        super().__init__(title, lambda cells: draw(cells, self._sought))
        self._sought, self._typing, self._offer = "", False, offer

    def on_mount(self) -> None:
        self._tell()

    def _tell(self) -> None:
        page = self.query_one(ModalText)
        if self._typing or self._sought:
            label = self._offer(self._sought)[1]
            does = f" · Enter does {label}" if label else ""
            page.border_subtitle = Content(f"/{self._sought}{'▏' if self._typing else ''}{does} · Esc shows all")
        else:
            page.border_subtitle = "/ filters, Esc closes"
        page.repaint()

    def action_filter(self) -> None:
        """Starts to filter: what is typed next is the filter."""
        self._sought, self._typing = "", True
        self._tell()

    def check_consume_key(self, key: str, character: str | None) -> bool:  # noqa: ARG002
        """Tells whether a key is typed and does nothing else."""
        return self._typing

    def on_key(self, event: events.Key) -> None:
        """Takes typed keys as the filter."""
        if event.key == "enter" and (choice := self._offer(self._sought)[0]):
            event.stop()
            event.prevent_default()
            self.dismiss(choice)
            return
        if not self._typing:
            if event.key == "escape" and self._sought:
                event.stop()
                event.prevent_default()
                self._sought = ""
                self._tell()
            return
        if event.key == "escape":
            self._sought, self._typing = "", False
        elif event.key == "enter":
            self._typing = False
        elif event.key == "backspace":
            self._sought = self._sought[:-1]
        elif event.key == "ctrl+u":
            self._sought = ""
        elif event.is_printable and event.character:
            self._sought += visible(event.character)
        else:
            return  # it moves in the page
        event.stop()
        event.prevent_default()
        self._tell()
