"""The skeleton every bench shares: title, input on top, budget, items on the left, knobs and pages on the right, keys
below.

A bench is a subclass with a stylesheet. It composes its input, items and pages, says what the title and the budget
show, and has a `do_…` method for each action of the registry it supports; what it does not support, or not now,
`unavailable` explains. Below 110 columns the right side lies on top of the items when it is asked for; below 80×24 one
line says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from secateur_tui import actions
from secateur_tui.host import Host
from secateur_tui.styled_text import Line, Span, line, plain, wrapped
from secateur_tui.widgets.footer import draw_footer
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.modal_page import ModalPage
from secateur_tui.widgets.stop import draw_stop
from secateur_tui.widgets.tab_line import TabLine
from secateur_tui.widgets.title import TitleFacts, draw_title

LEAST_WIDTH, LEAST_HEIGHT = 80, 24
WIDE, ROOMY = 110, 150
"""Columns from which the right side stands beside the items, and from which it is wider."""


REPLAY_FOOTER = (actions.REPLAY_NEXT, actions.REPLAY_BACK, "why", "preview", "diff", "help", "quit")
"""Actions that the last line names while a recording is played."""


class Fixed(DrawnView, can_focus=False):
    """A view that never scrolls: title, budget, footer."""


class Bench(Screen[None]):
    """See the module docstring."""

    CSS_PATH = ["bench.tcss"]  # noqa: RUF012 - Textual declares it
    BINDINGS = [*actions.BINDINGS]  # noqa: RUF012 - Textual declares it
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-tiny"),
        (LEAST_WIDTH, "-narrow"),
        (WIDE, "-wide"),
        (ROOMY, "-roomy"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_HEIGHT, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""

    app: Host

    name_of_bench: ClassVar[str]  # as in `--bench`
    pages: ClassVar[Sequence[tuple[str, str]]]  # (id, title), the first is open at the start

    # --- what a bench fills in ---

    @abstractmethod
    def compose_input(self) -> Iterable[Widget]:
        """Yields the input on top."""

    @abstractmethod
    def compose_items(self) -> Iterable[Widget]:
        """Yields the items, on the left."""

    @abstractmethod
    def compose_knobs(self) -> Iterable[Widget]:
        """Yields the knobs, on the right."""

    @abstractmethod
    def compose_page(self, page: str) -> Widget:
        """Returns one of `pages`; its id is the id of the page."""

    @abstractmethod
    def title_facts(self) -> TitleFacts:
        """Returns what the title line says."""

    @abstractmethod
    def draw_budget(self, cells: int) -> Sequence[Line]:
        """Returns the two lines of the budget."""

    def unavailable(self, action: str) -> str:
        """Returns why an action cannot be done now; "" where it can."""
        if action in (actions.REPLAY_NEXT, actions.REPLAY_BACK):
            stop = self.app.stop
            if stop is None:
                return "no recording is played"
            return stop.no_next if action == actions.REPLAY_NEXT else stop.no_previous
        return "it is open" if action == actions.BENCH + self.name_of_bench else ""

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Tells whether anything is still under way that will change the screen."""

    @property
    @abstractmethod
    def home(self) -> Widget:
        """The widget that has the focus by default."""

    # --- the skeleton ---

    def compose(self) -> ComposeResult:
        yield Fixed(self._draw_small, id="small")
        yield Fixed(lambda cells: [draw_title(self.title_facts(), cells)], id="title")
        yield from self.compose_input()
        yield Fixed(self.draw_budget, id="budget")
        with Horizontal(id="body"):
            with Vertical(id="items"):
                yield from self.compose_items()
            with Vertical(id="side"):
                yield from self.compose_knobs()
                with Vertical(id="pages"):
                    yield TabLine(self.pages, id="tabs")
                    with ContentSwitcher(initial=self.pages[0][0], id="page-switch"):
                        for page, _ in self.pages:
                            yield self.compose_page(page)
        if self.app.stop is not None:
            yield Fixed(self._draw_stop, id="stop")
        yield Fixed(self._draw_footer, id="footer")

    def on_mount(self) -> None:
        self.query_one("#budget").border_title = "Budget"

    def _draw_small(self, cells: int) -> Sequence[Line]:
        words = f"secateur needs {LEAST_WIDTH}×{LEAST_HEIGHT}, this is {self.size.width}×{self.size.height}"
        return wrapped(words, max(1, cells))

    def _draw_footer(self, cells: int) -> Sequence[Line]:
        shown = REPLAY_FOOTER if self.app.stop is not None else None
        return [draw_footer(self.app.keymap, self.unavailable, cells, shown)]

    def _draw_stop(self, cells: int) -> Sequence[Line]:
        return draw_stop(self.app.stop, cells) if self.app.stop is not None else []

    def repaint_frame(self) -> None:
        """Repaints title, budget, the caption of a recording, and footer."""
        for part in self.query("#title, #budget, #stop, #footer").results(Fixed):
            part.repaint()

    @property
    def page(self) -> str:
        """The open page."""
        return self.query_one("#page-switch", ContentSwitcher).current or self.pages[0][0]

    @property
    def pages_in_sight(self) -> bool:
        """Tells whether the right side with its pages is on screen."""
        return self.has_class("-wide") or self.has_class("-show-pages")

    def show_page(self, page: str) -> None:
        """Opens a page and moves the focus there."""
        self.query_one("#page-switch", ContentSwitcher).current = page
        self.query_one("#tabs", TabLine).show(page)
        self.set_class(True, "-show-pages")
        self.set_class(False, "-show-knobs")
        self.go_to(self.query_one(f"#{page}"))
        self.page_opened(page)

    def returned_to(self) -> None:
        """Called when the terminal comes to the front again: what was read may have changed meanwhile."""

    def page_opened(self, page: str) -> None:
        """Called when a page comes into sight: brings it up to date."""

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self.show_page(event.page)

    def go_to(self, widget: Widget) -> None:
        """Focuses a widget at once, so that keys typed ahead reach it; a widget without a layout gets the focus as soon
        as it has one."""
        if widget.focusable:
            self.set_focus(widget)
        else:
            widget.focus()

    def go_home(self) -> None:
        """Closes overlays and moves the focus to the items."""
        self.remove_class("-show-pages", "-show-knobs")
        self.go_to(self.home)

    def caption(self, widget: Widget, drawn: Line) -> None:
        """Puts a line into the lower border of a widget; as content, never as markup."""
        widget.border_subtitle = Content(plain(drawn))

    # --- actions of every bench ---

    def action_do(self, action: str) -> None:
        """Does an action of the registry, or says why it cannot."""
        reason = self.unavailable(action)
        if reason:
            self.app.say(f"{actions.BY_ID[action].label}: {reason}")
        elif action.startswith(actions.BENCH):
            self.app.show_bench(action.removeprefix(actions.BENCH))
        else:
            getattr(self, "do_" + action.replace("-", "_"))()

    def do_weights(self) -> None:
        self.set_class(True, "-show-knobs")
        self.set_class(False, "-show-pages")
        self.go_to(self.query_one("#knobs"))

    def do_back(self) -> None:
        self.go_home()

    def do_replay_next(self) -> None:
        self.app.replay(1)

    def do_replay_back(self) -> None:
        self.app.replay(-1)

    def do_help(self) -> None:
        self.app.push_screen(ModalPage("Help", self._draw_help))

    def do_theme(self) -> None:
        self.app.next_theme()

    def do_quit(self) -> None:
        self.app.exit(0)

    def _draw_help(self, cells: int) -> Sequence[Line]:
        """Draws the registry as a page; an action that cannot be done now says why."""
        lines: list[Line] = []
        group = ""
        for action in actions.ACTIONS:
            if action.group != group:
                lines += (
                    [(), line(Span(action.group, "bold accent"))]
                    if group
                    else [line(Span(action.group, "bold accent"))]
                )
                group = action.group
            keys = " ".join(actions.key_name(key) for key in self.app.keymap.keys[action.id]) or "(no key)"
            reason = self.unavailable(action.id)
            text = wrapped(
                action.help + (f" — not now: {reason}" if reason else ""),
                max(10, cells - 18),
                "faint" if reason else "",
            )
            for index, part in enumerate(text):
                lines.append((Span(f" {keys if index == 0 else '':<16} ", "key"), *part))
        lines += [(), line(Span("Move", "bold accent"))]
        for keys, words in (
            ("↑ ↓ k j", "One up or down"),
            ("PgUp PgDn", "A page"),
            ("Home End g G", "First, last"),
            ("Tab", "The next part"),
            ("ctrl+p", "All actions by name"),
            ("ctrl+c", "Leave, also while something is under way"),
        ):
            lines.append(line(Span(f" {keys:<16} ", "key"), words))
        return lines
