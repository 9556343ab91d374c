"""A field and below it a list of what it leads to, on top of everything: typing narrows the list, Enter takes a line.

    screen.app.push_screen(Chooser("Find", offers, "a name, a path"), taken)

`offers` is a function of what is typed; `taken` gets the value of a line, or None where Escape was pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from secateur_tui.guards import Dialogue, Guarded
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.line_view import LineView
from secateur_tui.widgets.query_input import QueryInput


@dataclass(frozen=True)
class ChoiceLine:
    """A line that can be chosen; its first character is blank."""

    value: Any
    draw: Callable[[int], Line]


@dataclass(frozen=True)
class Offers:
    """The lines for a typed text, and the caption below the list."""

    lines: Sequence[ChoiceLine] = ()
    caption: str = ""


class OfferList(LineView, can_focus=False):
    """The lines; the cursor is moved by the keys of the field."""

    class Taken(Message):
        """A line was clicked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.offers: Sequence[ChoiceLine] = ()
        self.cursor = 0

    def show(self, offers: Sequence[ChoiceLine], cursor: int) -> None:
        """Shows other lines."""
        self.offers = offers
        self.repaint()
        self.go(cursor)

    def go(self, cursor: int) -> None:
        """Puts the cursor on a line, as far as there are any, and scrolls it into sight."""
        self.cursor = max(0, min(cursor, len(self.offers) - 1))
        self.scroll_near(self.scroll_offset.y, self.cursor)
        self.refresh()

    def line_count(self) -> int:
        return len(self.offers)

    def draw_line(self, index: int, cells: int) -> Line:
        drawn = self.offers[index].draw(cells)
        if index != self.cursor or not drawn:
            return drawn
        mark = line(Span("▸", "accent cursor"), Span(drawn[0].text[1:], f"{drawn[0].role} cursor"))
        return mark + tuple(Span(span.text, f"{span.role} cursor") for span in drawn[1:])

    def on_click(self, event: events.Click) -> None:
        self.go(event.y + self.scroll_offset.y)
        self.post_message(self.Taken())


class Chooser(Guarded, Dialogue[Any]):
    """See the module docstring.

    Args:
        typed: called with each text of the field; what takes longer comes later, by `add`.
        fitted: the page is as high as its lines: they are few, and all known.

    Attributes:
        sought: the text of the field.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        offers: Callable[[str], Offers],
        placeholder: str = "",
        typed: Callable[[str], None] = lambda _: None,
        *,
        fitted: bool = False,
    ) -> None:
        super().__init__(classes="-fitted" if fitted else None)
        self._title, self._offers, self._placeholder, self._typed = title, offers, placeholder, typed
        self.sought = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = self._title
            yield QueryInput("", self._placeholder, id="sought", classes="input")
            yield OfferList(id="offers")

    def on_mount(self) -> None:
        self.set_focus(self.query_one(QueryInput))
        self._show("")

    @property
    def _list(self) -> OfferList:
        return self.query_one(OfferList)

    @on(QueryInput.Changed)
    def _changed(self, event: QueryInput.Changed) -> None:
        event.stop()
        if event.value != self.sought:
            self._show(event.value)
            self._typed(event.value)

    def _show(self, sought: str) -> None:
        self.sought = sought
        offers = self._offers(sought)
        self._list.show(offers.lines, 0)
        self._tell(offers.caption)

    def ask_again(self) -> None:
        """Asks for the offers again, because their source is complete now."""
        self._show(self.sought)

    def _tell(self, caption: str) -> None:
        page = self.query_one("#page")
        page.border_subtitle = Content(" · ".join(part for part in (caption, "Enter takes it, Esc closes") if part))

    def add(self, sought: str, offers: Offers) -> None:
        """Adds lines below the others, unless something else is sought by now. The cursor stays where it is."""
        if sought == self.sought and self.is_mounted and self.is_current:
            self._list.show([*self._list.offers, *offers.lines], self._list.cursor)
            self._tell(offers.caption)

    @on(QueryInput.Submitted)
    def _submitted(self, event: QueryInput.Submitted) -> None:
        event.stop()
        self._take()

    @on(OfferList.Taken)
    def _clicked(self) -> None:
        self._take()

    def _take(self) -> None:
        offers = self._list
        if offers.offers:
            self.dismiss(offers.offers[offers.cursor].value)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        self._list.go(self._list.cursor + by)

    def action_page(self, by: int) -> None:
        self._list.go(self._list.cursor + by * max(1, self._list.size.height - 1))
