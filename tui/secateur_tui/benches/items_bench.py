"""A bench of items with a decision each: the list with its notices and titles, the pages, and what is under way.

Slow work runs on the engine's thread. A newer job takes the place of an older one, whose result is then ignored. The
answer to an older question is dimmed and never painted as the answer to a newer one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from secateur.errors import SecateurError
from secateur.replays.recorder import Observation
from secateur.terminal import visible
from textual import on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from secateur_tui.background import Cancelled
from secateur_tui.benches.bench import Fixed
from secateur_tui.benches.knob_bench import KnobBench
from secateur_tui.benches.staleness_bench import StalenessBench
from secateur_tui.messages import CursorMoved, IndexProgress, Reselect
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, wrapped
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.modal_page import ModalPage
from secateur_tui.widgets.tab_line import TabLine

MOST_NOTICE_LINES = 3
"""Lines that notices may take from the items."""


class ItemsBench(KnobBench, StalenessBench):
    """See the module docstring. `state` holds all that the bench knows; everything on screen is drawn from it."""

    pages: ClassVar[Sequence[tuple[str, str]]] = (("why", "Why"), ("preview", "Preview"), ("diff", "Trim diff"))
    noun: ClassVar[str]  # what the items are: the title of their frame

    def __init__(self) -> None:
        super().__init__()
        self.activity = ""  # what is under way, for people
        self.progress: IndexProgress | None = None
        self.error: SecateurError | None = None
        self.job = 0  # number of the latest job for the engine; the results of older ones are ignored
        self._pause: Timer | None = None

    # --- what a bench fills in ---

    @abstractmethod
    def compose_list(self) -> Widget:
        """Returns the list of items, with the id `list`."""

    @abstractmethod
    def paint_list(self) -> None:
        """Paints the items from the state."""

    @property
    @abstractmethod
    def listed(self) -> bool:
        """Tells whether there are items to show."""

    @property
    @abstractmethod
    def outdated(self) -> bool:
        """Tells whether the answer on screen belongs to an older question."""

    @abstractmethod
    def draw_columns(self, cells: int) -> Line:
        """Draws the titles of the list's columns."""

    @abstractmethod
    def draw_notices(self, cells: int) -> list[Line]:
        """Draws every notice about the answer."""

    @abstractmethod
    def draw_blank(self, cells: int) -> Sequence[Line]:
        """Draws what stands in place of the items: an error, progress, or the kind of emptiness."""

    def scenario_line(self, cells: int) -> list[Line]:  # noqa: ARG002 - a bench without scenarios has none
        """Draws what is to be said of a scenario, above the notices."""
        return []

    def draw_caption(self, cells: int) -> Line:  # noqa: ARG002 - most have none
        """Draws the line in the lower border of the list."""
        return ()

    @abstractmethod
    def draw_why(self, cells: int) -> Sequence[Line]:
        """Draws the page on the item at the cursor: why it was decided so."""

    @abstractmethod
    def draw_diff(self, cells: int) -> Sequence[Line]:
        """Draws the page on what changed since the baseline."""

    @abstractmethod
    def paint_knobs(self) -> None:
        """Paints the knobs from the state."""

    @abstractmethod
    def paint_preview(self) -> None:
        """Paints the text of the item at the cursor; called while that page is open."""

    @abstractmethod
    def decide(self) -> None:
        """Brings the answer up to the present settings."""

    @abstractmethod
    def observation(self) -> Observation | None:
        """Returns what a recording of the session says of the bench; None while it is at work, or nothing is open."""

    @property
    @abstractmethod
    def answered(self) -> bool:
        """Tells whether the answer on screen, or the error in its place, is that to what is wanted."""

    @abstractmethod
    def item_of(self, entry: str) -> int | None:
        """Returns the item of an entry of the ledger; None where there is none."""

    @property
    @abstractmethod
    def entry(self) -> str:
        """The id of the ledger's entry at the cursor; "" for none."""

    @abstractmethod
    def command(self) -> str:
        """Returns the command line that reproduces the screen."""

    # --- what the skeleton asks for ---

    def compose_items(self) -> Iterable[Widget]:
        yield Fixed(self._draw_notices, id="notices")
        yield Fixed(lambda cells: [self.draw_columns(cells)], id="columns")
        yield self.compose_list()
        yield DrawnView(self.draw_blank, id="blank")

    def compose_page(self, page: str) -> Widget:
        return DrawnView({"why": self.draw_why, "diff": self.draw_diff}[page], id=page)

    @property
    def home(self) -> Widget:
        return self.query_one("#list")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#items").border_title = self.noun
        self.caption(self.query_one("#knobs"), line(" ←/→ tune  0 mute  r reset "))

    @property
    def busy(self) -> bool:
        return bool(self.activity) or self._pause is not None or any(not worker.is_finished for worker in self.workers)

    @property
    def reading(self) -> int:
        return 0 if self.activity or self._pause is not None else self.job

    def unavailable(self, action: str) -> str:
        if action in ("why", "preview", "diff", "ghost") and self.state.answer is None:
            return "there is no answer yet"
        if action == "hold":
            return "nothing in this list is held"
        return super().unavailable(action)

    # --- slow and instant ---

    def after_pause(self, call: Callable[[], None]) -> None:
        """Calls `call` after the debounce, unless this method is called again before."""
        if self._pause is not None:
            self._pause.stop()

        def fire() -> None:
            if self._pause is pause:  # the call of a timer that was stopped may be in the queue already
                self._pause = None
                call()

        pause = self._pause = self.set_timer(self.app.pace.debounce, fire)

    def act(self, activity: str) -> None:
        """Shows what is under way and forgets an old error."""
        self.activity = activity
        self.error = None
        self.paint()

    def report_progress(self, phase: str, done: int, total: int) -> None:
        """Reports the progress of a job on the engine's thread. Raises Cancelled once the inspector is closing."""
        if self.app.thread.closing.is_set():
            raise Cancelled
        self.post_message(IndexProgress(phase, done, total))

    @on(IndexProgress)
    def _progressed(self, event: IndexProgress) -> None:
        if self.activity:
            self.progress = event
            self.query_one("#blank", DrawnView).repaint()

    def settings_changed(self) -> None:
        self.paint_knobs()
        self.post_message(Reselect())

    @on(Reselect)
    def _reselect(self) -> None:
        self.decide()

    # --- looking ---

    def do_why(self) -> None:
        self.show_page("why")

    def do_preview(self) -> None:
        self.show_page("preview")

    def do_diff(self) -> None:
        self.show_page("diff")

    def do_ghost(self) -> None:
        self.state.pin_baseline()
        self.paint()

    def do_refresh(self) -> None:
        self.read_again()

    def do_hold(self) -> None:
        """Does nothing: `unavailable` lets this action through in benches that have it."""

    def do_copy(self) -> None:
        command = self.command()
        self.app.copy_to_clipboard(command)
        self.app.push_screen(ModalPage("Copied: this screen, headless", lambda cells: wrapped(visible(command), cells)))

    @on(CursorMoved)
    def _cursor_moved(self, event: CursorMoved) -> None:
        self.state.cursor = event.row
        self.paint_page()
        if self.app.recorder is not None:
            self.app.look(self.entry)
        self.cursor_moved()

    def cursor_moved(self) -> None:
        """Called when the cursor is on another item and the page is painted."""

    def page_opened(self, page: str) -> None:  # noqa: ARG002 - whichever is open is painted
        self.paint_page()
        self._observe()

    def on_screen_resume(self) -> None:
        self._observe()

    # --- replaying a recording ---

    @property
    def at_work(self) -> bool:
        """Tells whether the engine reads, retrieves or decides for this bench, or is about to."""
        jobs = [worker for worker in self.workers if worker.group == "engine" and worker.node is self]
        return self._pause is not None or any(not worker.is_finished for worker in jobs)

    def go_to_entry(self, entry: str) -> None:
        """Puts the cursor on an entry of the ledger.

        Raises:
            SecateurError: there is no such entry.
        """
        item = self.item_of(entry)
        if item is None:
            raise SecateurError(f"there is no entry {entry}", hint="what was read has changed since it was recorded")
        self.state.cursor = item
        self.paint()
        self.cursor_moved()

    def hold_entry(self, entry: str) -> None:
        """Holds what an entry of the ledger holds, or lets it go; raises as `go_to_entry`."""
        self.go_to_entry(entry)
        if reason := self.unavailable("hold"):
            raise SecateurError(f"{entry} cannot be held: {reason}", hint="leave the event out")
        self.do_hold()

    @property
    def in_page(self) -> bool:
        """Tells whether the keys go to the open page."""
        return self.focused is not None and self.focused.id == self.page

    def put_back(self, state: Any, page: str, *, in_page: bool) -> None:
        """Shows what the bench knew before: the answer is among it, and nothing is decided anew."""
        self.take_state(state)
        if self.standing:
            self.query_one("#page-switch", ContentSwitcher).current = page
            self.query_one("#tabs", TabLine).show(page)
            self.go_home()
            if in_page:
                self.show_page(page)
            self.paint()

    def take_state(self, state: Any) -> None:
        """Takes another state in place of the present one; what is under way for that is forgotten."""
        self.job += 1
        self.workers.cancel_group(self, "engine")
        self.activity, self.progress, self.error, self.state = "", None, None, state

    def _observe(self) -> None:
        if self.app.recorder is not None and self.is_current and self.standing:
            self.app.observe(self.observation())

    # --- painting ---

    def paint(self) -> None:
        """Paints everything from the state."""
        if not self.standing:
            return
        shown = self.listed and self.error is None
        items = self.query_one("#items")
        items.set_class(not shown, "-blank")
        for widget in self.query("#budget, #notices, #columns, #list, #why, #preview, #diff"):
            widget.set_class(self.outdated, "-stale")
        self.paint_list()
        for name in ("notices", "columns", "blank"):
            self.query_one(f"#{name}", DrawnView).repaint()
        self.caption(items, self.draw_caption(max(0, items.size.width - 6)) if shown else ())
        self.paint_knobs()
        self.paint_page()
        self.repaint_frame()
        self._observe()

    @property
    def standing(self) -> bool:
        """Tells whether the widgets are there: a job may end together with its screen."""
        return all(self.query(part) for part in ("#title", "#items #list", "#page-switch", "#footer"))

    def paint_page(self) -> None:
        """Paints the open page where it is in sight."""
        if not self.standing or not self.pages_in_sight:
            return
        if self.page == "preview":
            self.paint_preview()
        else:
            self.query_one(f"#{self.page}", DrawnView).repaint()

    def _draw_notices(self, cells: int) -> Sequence[Line]:
        lines = [*self.scenario_line(cells), *self.draw_notices(cells)]
        notices = self.query_one("#notices")
        notices.set_class(not lines, "-none")
        notices.styles.height = min(len(lines), MOST_NOTICE_LINES)
        more = len(lines) - MOST_NOTICE_LINES
        return (
            lines
            if more <= 0
            else [
                *lines[: MOST_NOTICE_LINES - 1],
                line(Span(f"{ELLIPSIS} {more + 1} more lines of warnings", "warning")),
            ]
        )
