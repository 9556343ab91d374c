"""Dialogues on top of everything: a text to read or to choose from by a key, a question with a field, and a field with
a list of what it leads to. Each is dismissed with its answer, with None where it is left.

    bench.ask(AskPage("Save", draw, "name.scenario.toml"), save)
    bench.ask(Chooser("Find", offers, "a name, a path"), go)

The query field. Pasted text becomes safe to print before it is shown or asked.

A text of several lines, such as a pasted issue, stands in the one line of the field with a `␊` for each end of a line;
the lower border says how many lines there are.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.segment import Segment
from secateur.errors import SecateurError
from secateur.terminal import cell_width, clip, visible
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from secateur_tui.host import Dialogue, Guarded
from secateur_tui.short_names import shorten_path
from secateur_tui.styled_text import Line, mark_cursor
from secateur_tui.widgets.line_view import DrawnView, LineView

NEWLINE = "␊"  # the sign that the field shows for the end of a line, as `visible` does
MOST_PASTED = 20_000  # the most characters of a paste: an issue with a long traceback has half as many


class QueryInput(Guarded, Input):
    """A one-line field; Enter submits. With `lines` it takes texts of several lines."""

    def __init__(self, value: str, placeholder: str, *, lines: bool = False, opener: str = "", **options: Any) -> None:
        """`opener`: the key that leads to this field; it is no text while nothing is typed yet."""
        self._lines, self._opener = lines, opener
        self._note = "", ""  # what was pasted last, and what of it was not taken
        super().__init__(visible(value), placeholder=placeholder, select_on_focus=False, **options)

    @property
    def text(self) -> str:
        """The text as it was typed and pasted, with its ends of lines."""
        return self.value.replace(NEWLINE, "\n") if self._lines else self.value

    def put(self, text: str) -> None:
        """Show a text from outside; what is typed or deleted next begins at its end."""
        self.value = visible(text)
        self.cursor_position = len(self.value)

    def take(self, text: str) -> None:
        """Replaces the present text by a pasted text."""
        self.put(self._take_paste(text))

    def render_line(self, y: int) -> Strip:
        """Draws a text that has no room with an ellipsis while the keys go elsewhere; of a path the end stays."""
        cells = self.content_size.width
        if y or self.has_focus or cell_width(self.value) <= cells:
            return super().render_line(y)
        shorten = shorten_path if "/" in self.value and " " not in self.value else clip
        return Strip([Segment(shorten(self.value, cells), self.rich_style)]).adjust_cell_length(cells, self.rich_style)

    @property
    def noted(self) -> bool:
        """Tells whether the lower border says that a part of the pasted text is missing."""
        taken, note = self._note
        return bool(note) and taken in self.value

    def watch_value(self, value: str) -> None:
        note = self._note[1]
        lines = value.count(NEWLINE) + 1 if self._lines else 1
        notes = [*([f"{lines:,} lines"] if lines > 1 else []), *([note] if self.noted else [])]
        if self._lines or note:
            self.border_subtitle = Content(", ".join(notes))

    async def _on_key(self, event: events.Key) -> None:
        if self._opener and event.character == self._opener and not self.value:
            event.stop()
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the handler of `Input` after this one, on the same event.
        event.text = self._take_paste(event.text)

    def _take_paste(self, text: str) -> str:
        if self._lines:
            clean = "\n".join(text.splitlines()).strip()
            note = f"{MOST_PASTED:,} of {len(clean):,} characters" if len(clean) > MOST_PASTED else ""
            self._note = visible(clean[:MOST_PASTED]), note
        else:
            lines = [line for line in text.splitlines() if line.strip()]
            note = f"the first of {len(lines):,} lines" if len(lines) > 1 else ""
            self._note = visible(lines[0]) if lines else "", note
        return self._note[0]


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
        self._page = ModalText(draw, id="page")
        self._page.border_title = title
        self._page.border_subtitle = "Enter takes the first, Esc closes" if default else "Esc closes"
        self._choices = {**(choices or {}), **({"enter": default} if default else {})}

    def compose(self) -> ComposeResult:
        yield self._page

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
        page = self._page
        page.border_subtitle = "/ filters, Esc closes"
        if self._typing or self._sought:
            label = self._offer(self._sought)[1]
            does = f" · Enter does {label}" if label else ""
            page.border_subtitle = Content(f"/{self._sought}{'▏' if self._typing else ''}{does} · Esc shows all")
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
            self.dismiss(choice)
        elif event.key == "escape" and (self._typing or self._sought):
            self._sought, self._typing = "", False
        elif not self._typing:
            return
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


class _FieldPage(Guarded, Dialogue[Any]):
    """A field, if there is a text for it, above what it leads to. Escape leaves, Enter takes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str | None, placeholder: str, below: Widget, hint: str) -> None:
        super().__init__()
        self._title, self._hint, self._below = title, hint, below
        self._field = QueryInput(text, placeholder, id="answer", classes="input") if text is not None else None

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title, page.border_subtitle = self._title, self._hint
            if self._field is not None:
                yield self._field
            yield self._below

    def on_mount(self) -> None:
        self.set_focus(self._field or self._below)

    @on(QueryInput.Submitted)
    def _submitted(self, event: QueryInput.Submitted) -> None:
        event.stop()
        self.action_take()

    @abstractmethod
    def action_take(self) -> None:
        """Answers."""

    def action_leave(self) -> None:
        self.dismiss(None)


class AskPage(_FieldPage):
    """A question: `AskPage("Save", draw, "name.scenario.toml")` answers with the text of its field, "" without one.

    Args:
        draw: of the width and of the text in the field.
        text: proposed in the field; None: there is no field.
        replaced: what is typed takes the place of the text.
        proposals: texts that Up and Down put into the field, one after the other.
        check: raises SecateurError for a text that cannot be taken; Enter then leaves the page open.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "take", show=False),
        Binding("q,n", "leave", show=False),
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
        hint = ("↑/↓ choose, " if proposals else "") + "Enter does it, Esc closes"
        self._words = ModalText(lambda cells: draw(cells, self._typed), id="words")
        super().__init__(title, text, "", self._words, hint)
        self._proposals, self._check, self._replaced = proposals, check, replaced

    def on_mount(self) -> None:
        if self._replaced and self._field is not None:
            self._field.select_all()

    @property
    def _typed(self) -> str:
        return self._field.value.strip() if self._field is not None else ""

    @on(QueryInput.Changed)
    def _changed(self) -> None:
        self._words.repaint()

    def action_move(self, by: int) -> None:
        """Puts the next proposal into the field, or the first where another text is there; without any it scrolls."""
        proposals, now = self._proposals, self._typed
        if not proposals or self._field is None:
            self._words.scroll_relative(y=by, animate=False)
            return
        index = (proposals.index(now) + by) % len(proposals) if now in proposals else min(0, by)
        self._field.put(proposals[index])

    def action_take(self) -> None:
        with suppress(SecateurError):  # the words below the field say what is wrong
            self._check(self._typed)
            self.dismiss(self._typed)


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


def match_rows(rows: Sequence[tuple[str, ChoiceLine]], sought: str) -> list[ChoiceLine]:
    """Returns the lines whose text has all words of what is sought, those that begin with it first; where none has,
    those with a similar text."""
    wanted = sought.casefold().split()
    holding = [row for row in rows if all(word in row[0].casefold() for word in wanted)]
    if holding or not wanted:
        return [
            offer for _, offer in sorted(holding, key=lambda row: not row[0].casefold().startswith(" ".join(wanted)))
        ]
    from rapidfuzz import fuzz  # takes a while to import

    scored = [(-fuzz.partial_ratio(sought.casefold(), text.casefold()), index) for index, (text, _) in enumerate(rows)]
    return [rows[index][1] for score, index in sorted(scored) if score <= -60]


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
        return mark_cursor(drawn) if index == self.cursor and drawn else drawn

    def on_click(self, event: events.Click) -> None:
        self.go(event.y + self.scroll_offset.y)
        self.post_message(self.Taken())


class Chooser(_FieldPage):
    """A list that typing narrows; Enter takes a line, and the page answers with its value. `offers` is a function of
    what is typed.

    Args:
        typed: called with each text of the field; what takes longer comes later, by `add`.
        fitted: the page is as high as its lines: they are few, and all known.

    Attributes:
        sought: the text of the field.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
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
        self._list = OfferList(id="offers")
        super().__init__(title, "", placeholder, self._list, "")
        self.set_class(fitted, "-fitted")
        self._offers, self._typed = offers, typed
        self.sought = ""

    def on_mount(self) -> None:
        self.ask_again()

    @on(QueryInput.Changed)
    def _changed(self, event: QueryInput.Changed) -> None:
        event.stop()
        if event.value != self.sought:
            self.sought = event.value
            self.ask_again()
            self._typed(event.value)

    def ask_again(self) -> None:
        """Asks for the offers to what is typed; again where their source is complete now."""
        offers = self._offers(self.sought)
        self._list.show(offers.lines, 0)
        self._tell(offers.caption)

    def _tell(self, caption: str) -> None:
        page = self.query_one("#page")
        page.border_subtitle = Content(" · ".join(part for part in (caption, "Enter takes it, Esc closes") if part))

    def add(self, sought: str, offers: Offers) -> None:
        """Adds lines below the others, unless something else is sought by now. The cursor stays where it is."""
        if sought == self.sought and self.is_mounted and self.is_current:
            self._list.show([*self._list.offers, *offers.lines], self._list.cursor)
            self._tell(offers.caption)

    @on(OfferList.Taken)
    def action_take(self) -> None:
        offers = self._list
        if offers.offers:
            self.dismiss(offers.offers[offers.cursor].value)

    def action_move(self, by: int) -> None:
        self._list.go(self._list.cursor + by)

    def action_page(self, by: int) -> None:
        self._list.go(self._list.cursor + by * max(1, self._list.size.height - 1))
