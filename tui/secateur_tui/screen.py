"""The one screen of the inspector: title, input on top, budget, items on the left, knobs and pages on the right, keys
below. It shows a bench: the state of any kind of context, drawn by the page module of that kind.

The screen composes widgets, paints them from the state, and hands each action of the registry to the part that does it
(`secateur_tui.parts`). Below 110 columns the right side lies on top of the items when it is asked for; below 80×24 one
line says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from msgspec import structs
from secateur import directories
from secateur.errors import SecateurError
from secateur.kinds.base import Kind, least_budget
from secateur.settings import Settings, SettingsSources
from secateur.terminal import visible
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input
from textual.worker import Worker, WorkerState

from secateur_tui import actions, frame
from secateur_tui.answering import Answering
from secateur_tui.host import Guarded, Host
from secateur_tui.jobs import ActionClicked, CursorMoved, IndexProgress, Jobs, KnobClicked, Report, SegmentChosen
from secateur_tui.pages.kind_page import KindPage, Scene, find_overruling
from secateur_tui.state.bench_state import BenchState, Request, WrittenFile
from secateur_tui.state.list_view import ListChoice
from secateur_tui.styled_text import Line, Span, clip_line, describe_error, line, plain, width
from secateur_tui.widgets.budget_bar import BudgetBar
from secateur_tui.widgets.dialogue import QueryInput
from secateur_tui.widgets.item_list import ItemList
from secateur_tui.widgets.knob_panel import BenchTitle, KnobPanel, TitleFacts, draw_title
from secateur_tui.widgets.line_view import DrawnView, Fixed, LineView


class TabLine(LineView, can_focus=False):
    """`pages` are (id, title)."""

    class Chosen(Message):
        """A page was clicked."""

        def __init__(self, page: str) -> None:
            super().__init__()
            self.page = page

    def __init__(self, pages: Sequence[tuple[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self._pages = pages
        self._open = pages[0][0]

    def show(self, page: str) -> None:
        """Mark the open page."""
        self._open = page
        self.repaint()

    def line_count(self) -> int:
        return 1

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - one line
        return tuple(span for tab in draw_tabs(self._pages, self._open, cells) for span in tab)

    def on_click(self, event: events.Click) -> None:
        edge = 0
        for (page, _), tab in zip(self._pages, draw_tabs(self._pages, self._open, self.size.width), strict=True):
            edge += width(tab)
            if event.x < edge:
                self.post_message(self.Chosen(page))
                return


def draw_tabs(pages: Sequence[tuple[str, str]], opened: str, cells: int) -> Sequence[Line]:
    """Draws each tab with its edges; if that is too wide, neighbours share an edge."""
    mark = "accent bold"
    tabs: list[Line] = [
        (Span(f"▐{title}▌", mark) if page == opened else Span(f" {title} ", "faint"),) for page, title in pages
    ]
    if sum(width(tab) for tab in tabs) <= cells:
        return tabs
    ids = [page for page, _ in pages]
    shared: list[Line] = []
    for (page, title), after in zip(pages, [*ids[1:], ""], strict=True):
        edge = Span("▌", mark) if page == opened else Span("▐", mark) if after == opened else Span(" ")
        shared.append((Span(title, mark if page == opened else "faint"), edge))
    first = Span("▐", mark) if ids[0] == opened else Span(" ")
    return [(first, *shared[0]), *shared[1:]]


# Actions that can be done where nothing is open, beside going to another bench.
WITHOUT_A_FOLDER = ("query", "theme", "back", "palette", "help", "quit")

P = TypeVar("P", bound="ScreenPart")
Page = KindPage[Any, Any]


class Bench(Guarded, Screen[None]):
    """`Bench(state, PARTS)`; `state` holds all that is known; everything on screen is drawn from it.

    Attributes:
        jobs: everything that is under way.
        scene: what pages are drawn from.
        tabs: the pages beside the list, by id.
    """

    CSS_PATH = "screen.tcss"
    BINDINGS = [*actions.BINDINGS]  # noqa: RUF012 - Textual declares it
    HORIZONTAL_BREAKPOINTS = frame.WIDTHS
    VERTICAL_BREAKPOINTS = frame.HEIGHTS
    AUTO_FOCUS = ""

    app: Host
    had_focus: Widget | None = None  # the widget that the keys went to last

    def __init__(self, state: BenchState[Page], parts: Sequence[Callable[[Bench], ScreenPart]]) -> None:
        super().__init__()
        self.state = state
        self.name_of_bench = state.kind_page.kind.name  # as in `--bench`
        self.jobs = Jobs(self, lambda: self.app)
        self.scene = Scene(state, self.jobs, actions.make_keymap({}))
        self.answering = Answering(self.scene, lambda: self.app.pace, self.paint)
        # that from which the budget was stepped, and its number
        self._derived_budget: tuple[Request, int] | None = None
        self._attempted: Settings | None = None  # taken only if there is an answer under them
        self.parts = [part(self) for part in parts]
        self._doers = {action: do for part in self.parts for action, do in part.actions.items()}
        self.tabs: Mapping[str, frame.Tab] = {}

    def part(self, kind: type[P]) -> P:
        """Returns the part of a class."""
        return next(part for part in self.parts if isinstance(part, kind))

    def _each(self, call: Callable[[ScreenPart], None]) -> None:
        for part in self.parts:
            call(part)

    @property
    def kind_page(self) -> Page:
        """The page module of what is shown."""
        return self.state.kind_page

    # --- widgets ---

    def compose(self) -> ComposeResult:
        page, app = self.kind_page, self.app
        self.tabs = {tab.id: tab for part in self.parts for tab in part.tabs}
        yield Fixed(lambda cells: frame.draw_small(self.size, cells), id="small")
        yield Fixed(self._draw_title, id="title")
        with Horizontal(id="fields"):
            for field in page.fields:
                opener = app.keymap.first_key("query") if field.name == "query" else ""
                text, id_ = self.state.inputs[field.name], f"field-{field.name}"
                widget = QueryInput(text, field.placeholder, lines=field.lines, opener=opener, id=id_, classes="input")
                widget.border_title = field.title
                yield widget
        budget = BudgetBar(
            lambda cells: self.kind_page.draw_budget(self.scene, cells),
            lambda cell, cells: self.kind_page.segment_at(self.scene, cell, cells),
            id="budget",
        )
        budget.border_title = "Budget"
        yield budget
        with Horizontal(id="body"):
            with Vertical(id="items") as items:
                items.border_title = "" if page.unopened else page.kind.wording.noun
                yield Fixed(self._draw_notices, id="notices")
                yield Fixed(lambda cells: [self.query_one("#list", ItemList).draw_titles(cells)], id="columns")
                yield ItemList(lambda item: setattr(self.state, "cursor", item), id="list")
                yield DrawnView(lambda cells: self.kind_page.draw_blank(self.scene, cells), id="blank")
            with Vertical(id="side"):
                panel = KnobPanel(self.state.settings, page.knobs_of, page.all_knobs_of, id="knobs")
                panel.border_title = page.knobs_title
                self.caption(panel, line(" ←/→ tune  0 mute  r reset "))
                yield panel
                with Vertical(id="pages"):
                    yield TabLine([(tab.id, tab.title) for tab in self.tabs.values()], id="tabs")
                    with ContentSwitcher(initial=self.page, id="page-switch"):
                        for tab in self.tabs.values():
                            yield tab.widget() if tab.widget is not None else DrawnView(tab.draw, id=tab.id)
        if app.stop is not None:
            yield Fixed(lambda cells: frame.draw_stop(stop, cells) if (stop := app.stop) else [], id="stop")
        yield Fixed(self._draw_footer, id="footer")

    def on_mount(self) -> None:
        self.scene.keys = self.app.keymap
        page = self.kind_page
        self.set_class(page.unopened, "-unopened")
        self.set_class(self.app.stop is not None, "-recorded")
        self._each(lambda part: part.mounted())
        self.scene.typing = self.in_field
        self.paint()
        if not page.unopened:
            self.answering.answer()

    def on_unmount(self) -> None:
        self.kind_page.release()

    def on_resize(self) -> None:
        """Gives the keys back to what had them before the terminal was too small to show it."""

        def follow() -> None:
            if self.focused is None and self.had_focus is not None and self.had_focus.focusable:
                self.set_focus(self.had_focus)

        self.call_after_refresh(follow)

    @property
    def home(self) -> Widget:
        """The widget that has the focus by default."""
        return self.query_one("#list")

    @property
    def knobs(self) -> KnobPanel:
        """The knobs."""
        return self.query_one("#knobs", KnobPanel)

    def field(self, name: str) -> QueryInput:
        """Returns the input of a field."""
        return self.query_one(f"#field-{name}", QueryInput)

    @property
    def standing(self) -> bool:
        """Tells whether the widgets are there: a job may end together with its screen."""
        parts = (self.query_one_optional(part) for part in ("#title", "#list", "#page-switch", "#footer"))
        return all(part is not None and part.is_attached for part in parts)

    @property
    def _too_small(self) -> bool:
        return self.has_class("-tiny") or self.has_class("-flat")

    # --- where the keys go ---

    @property
    def in_field(self) -> bool:
        """Tells whether the keys go to a field."""
        return isinstance(self.focused, Input)

    @property
    def focus_chain(self) -> list[Widget]:
        """The widgets that Tab goes through: it leads out of the fields, and to none of them from a pane."""
        chain = super().focus_chain
        return chain if self.in_field else [widget for widget in chain if not isinstance(widget, Input)] or chain

    def on_descendant_focus(self) -> None:
        """Draws the words about keys anew: they say where the keys go."""
        if self.focused is not None and not self._too_small:
            self.had_focus = self.focused
        self.scene.typing = self.in_field
        for drawn in self.query("#blank, #footer, #notices, #title").results(DrawnView):
            drawn.repaint()

    on_descendant_blur = on_descendant_focus

    def on_paste(self, event: events.Paste) -> None:
        """Takes what is pasted while the keys go elsewhere for a question, whole."""
        name = self.kind_page.asking_field.name
        if not self.in_field and name == "query":
            event.stop()
            query = self.field(name)
            self.set_focus(query)
            query.take(event.text)

    def go_to(self, widget: Widget) -> None:
        """Focuses a widget at once, so that keys typed ahead reach it; a widget without a layout gets the focus as soon
        as it has one."""
        if widget.focusable:
            self.set_focus(widget)
        else:
            widget.focus()

    def go_home(self) -> None:
        """Closes overlays and moves the focus to the items. Where there are none the keys are those of the screen."""
        self.close_overlays()
        if not self.home.focusable:
            self.set_focus(None)
        self.go_to(self.home)

    def close_overlays(self) -> None:
        """Closes what lies on top of the items on a narrow screen; no pane fills the screen any longer."""
        self.remove_class("-show-pages", "-show-knobs", *frame.ZOOMED)

    def open_knobs(self) -> None:
        """Moves the focus to the knobs."""
        self.set_class(True, "-show-knobs")
        self.remove_class("-show-pages", *frame.ZOOMED)
        self.go_to(self.knobs)

    # --- pages ---

    @property
    def page(self) -> str:
        """The open page."""
        return self.state.page

    @property
    def in_page(self) -> bool:
        """Tells whether the keys go to the open page."""
        return self.focused is not None and self.focused.id == self.page

    def show_page(self, page: str) -> None:
        """Opens a page; the keys go where they went before, unless the page takes the place of the knobs."""
        self._open(page)
        self.set_class(True, "-show-pages")
        self.remove_class("-show-knobs", frame.ZOOMED[0])
        if self.has_class("-narrow") and self.focused is not self.home:
            self.go_to(self.home)
        self.paint_page()
        self._each(lambda part: part.page_opened())

    def _open(self, page: str) -> None:
        self.state.page = page
        self.query_one("#page-switch", ContentSwitcher).current = page
        self.query_one("#tabs", TabLine).show(page)

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self.show_page(event.page)

    # --- actions ---

    def unavailable(self, action: str) -> str:
        """Returns why an action cannot be done now; "" where it can."""
        if action.startswith(actions.BENCH):
            return "it is open" if action == actions.BENCH + self.name_of_bench else ""
        if self.kind_page.unopened and action not in WITHOUT_A_FOLDER:
            return "nothing is open yet"
        if action in actions.NEED_ITEMS and not self.state.listed:
            return "there are no items yet"
        present = self.state.outcome if action in actions.NEED_DECISION else self.state.answer
        if action in (*actions.NEED_ANSWER, *actions.NEED_DECISION) and present is None:
            return "there is no answer yet"
        return next((reason for part in self.parts if (reason := part.unavailable(action))), "")

    def action_do(self, action: str) -> None:
        """Does an action of the registry, or says why it cannot. On a screen that is too small to show what it would
        do, quitting is all there is."""
        if self._too_small and action != actions.QUIT:
            return
        if reason := self.unavailable(action):
            self.app.say(f"{actions.BY_ID[action].label}: {reason}")
        elif action.startswith(actions.BENCH):
            self.app.show_bench(action.removeprefix(actions.BENCH))
        else:
            self.do(action)

    @on(ActionClicked)
    def _action_clicked(self, event: ActionClicked) -> None:
        self.action_do(event.action)

    def do(self, action: str) -> None:
        """Does an action, whether or not it can be done by the user now; says why where it fails."""
        self._try(self._doers[action])

    def _try(self, do: Callable[..., object], *arguments: object) -> None:
        try:
            do(*arguments)
        except SecateurError as error:
            self.app.say(describe_error(error))

    def returned_to(self) -> None:
        """The terminal came to the front again: what was read may have changed meanwhile."""
        self._each(lambda part: part.returned())

    def ask(self, dialogue: Screen[Any], then: Callable[[Any], object]) -> None:
        """Opens a dialogue, and hands on its answer, unless it is left without one; says why where that fails."""
        self.app.push_screen(dialogue, lambda answer: self._try(then, answer) if answer is not None else None)

    # --- settings and answers ---

    def change(self, settings: Settings, file: WrittenFile | None = None) -> None:
        """Takes other settings and decides under them; a burst of changes is decided once. `file`: see `BenchState`."""
        if self.state.change(settings, file):
            self.settings_changed()

    def attempt(self, settings: Settings) -> None:
        """Takes other settings as `change`, unless there is no answer under them: it says why, and nothing changes."""
        self._attempted = settings
        self.change(settings)

    def change_budget(self, tokens: int) -> None:
        """Takes another budget, or the least or the largest there may be; a derived one again where a step leads back
        to it."""
        kind, state = self.kind_page.kind, self.state
        if kind.budget.value(state.settings) != state.budget:
            self._derived_budget = state.wanted, state.budget
        settings = kind.budget.within(state.settings, max(least_budget(kind), tokens))
        if self._derived_budget is not None:
            derived, number = self._derived_budget
            again = kind.budget.put(settings, kind.budget.value(derived.settings))
            if tokens == number and derived == replace(state.wanted, settings=again):
                settings = again
        self.change(settings)

    def settings_changed(self) -> None:
        """Decides under settings that the state has taken."""
        self.paint_knobs()
        self.post_message(Report(self.answering.decide, "decide"))  # a burst of steps becomes one decision

    def read_again(self) -> None:
        """Brings the screen up to what is on disk."""
        self.answering.answer(again=True)

    @property
    def given(self) -> Mapping[str, object]:
        """The inputs of the kind."""
        return self.kind_page.given(self.state.inputs)

    def command(self) -> str:
        """Returns the command line that reproduces the screen, whatever configuration files set."""
        state, page, loaded = self.state, self.kind_page, self.state.opened
        files = SettingsSources(state.settings.profile, user_dir=directories.config_dir(self.app.environ))
        outside = structs.replace(page.outside, regular=True, found={})
        with suppress(SecateurError):  # `--config` defines the profile, or what was read is gone
            loaded = page.kind.load(self.given, files.load, outside).settings
        return page.command(state.inputs, state.settings, loaded, state.answer_to_inputs)

    @property
    def answered(self) -> bool:
        """Tells whether the answer on screen, or the error in its place, is that to what is wanted."""
        return self.standing and not self.jobs.at_work and (self.jobs.error is not None or not self.state.needs_answer)

    def take_state(self, state: BenchState[Page]) -> None:
        """Takes another state in place of the present one; what is under way for that is forgotten."""
        self.jobs.reset()
        self.answering.forget()
        self.state = self.scene.state = state
        self._each(lambda part: part.state_taken())
        if self.standing:
            self._open(state.page)
            self.put_fields()

    def put_fields(self) -> None:
        """Shows the texts of the state in the fields."""
        for name, text in self.state.inputs.items():
            self.field(name).put(text)

    @on(Report)
    def _take_report(self, report: Report) -> None:
        report.take()

    @on(SegmentChosen)
    def _segment_chosen(self, event: SegmentChosen) -> None:
        self.move_cursor(event.item)

    @on(KnobClicked)
    def _knob_clicked(self, event: KnobClicked) -> None:
        self._each(lambda part: part.knob_clicked(event))

    @on(Input.Changed, ".input")
    def _typed(self) -> None:
        self._each(lambda part: part.typed())

    @on(Input.Submitted, ".input")
    def _submitted(self) -> None:
        self._each(lambda part: part.submitted())

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.jobs.show_failure(event.worker.group, event.worker.error)
            self.paint()
        if event.worker.is_finished:
            self._each(lambda part: part.job_ended(event.worker.group))

    @on(IndexProgress)
    def _progressed(self, event: IndexProgress) -> None:
        if self.jobs.activity:
            before, self.jobs.progress = self.jobs.progress, event
            self.query_one("#blank", DrawnView).repaint()
            if self.state.partial and (before is None or before.percent != event.percent):
                self.query_one("#title", Fixed).repaint()

    def place_messages(self) -> None:
        """Puts passing messages into the half of the screen without the row at the cursor."""
        rack, rows = self.query_one_optional("#textual-toastrack"), self.query_one_optional("#list", ItemList)
        if rack is not None and rows is not None:  # a message may come before the list does
            rack.styles.dock = end = "top" if 2 * rows.cursor_y >= self.size.height else "bottom"
            rack.styles.align_vertical = end

    @on(CursorMoved)
    def _cursor_moved(self) -> None:
        self.place_messages()
        self.query_one("#budget", BudgetBar).repaint()
        self.paint_page()
        self._each(lambda part: part.cursor_moved())

    def move_cursor(self, item: int, *, in_place: bool = False) -> None:
        """Puts the cursor on an item; filters that hide it are taken off. `in_place`: the item comes to the cursor's
        line of the screen, whatever was in sight."""
        self.state.look_at(item)
        if not in_place:
            self.query_one("#list", ItemList).jump(item)
        self.paint()
        self._each(lambda part: part.cursor_moved())

    def choose(self, choice: ListChoice) -> None:
        """Shows another part of the list, or another order; nothing is decided otherwise."""
        self.state.choose(choice)
        self.paint()
        self._each(lambda part: part.cursor_moved())

    def on_screen_resume(self) -> None:
        self._each(lambda part: part.in_front())

    # --- painting ---

    def paint(self) -> None:
        """Paints everything from the state."""
        if not self.standing:
            return
        state, page = self.state, self.kind_page
        if self._attempted is state.settings and state.refusal is not None and state.asked == state.wanted:
            self.app.say(f"not taken: {state.refusal.message}")
            state.take_back()
            self.settings_changed()
        shown = state.listed and self.jobs.error is None
        items = self.query_one("#items")
        items.set_class(not shown, "-blank")
        if shown and self.focused is None:
            self.set_focus(self.home)
        outdated = self.answering.outdated
        for name in ("budget", "notices", "columns", "list", *self.tabs):
            self.query_one(f"#{name}").set_class(outdated, "-stale")
        self.paint_list()
        if not page.instant:
            read, first = state.reading if not state.needs_reading else None, self.field(page.fields[0].name)
            if read is not None or not first.noted:
                self.caption(first, line(visible(page.kind.described(read.material) if read is not None else "")))
        self._each(lambda part: part.list_painted())
        for name in ("notices", "columns", "blank"):
            self.query_one(f"#{name}", DrawnView).repaint()
        self.caption(items, self._draw_caption(max(0, items.size.width - 6)) if shown else ())
        self.paint_knobs()
        self.paint_page()
        self.repaint_frame()
        self._each(lambda part: part.painted())

    def _draw_title(self, cells: int) -> Sequence[Line]:
        """While the keys go to a field those of the benches are faint: they would be typed."""
        scene, jobs, stale, state, page = self.scene, self.jobs, self.answering.stale, self.state, self.kind_page
        activity, key, fresh = jobs.activity, self.app.keymap.first_key("refresh"), None
        bench = actions.BENCH + page.kind.name
        if jobs.error is None:
            fresh = page.fresh(state.reading.material if state.reading is not None else None)
        if activity and state.partial:  # while a partial answer is shown, how far the whole one is
            percent = jobs.progress.percent if jobs.progress is not None else ""
            activity = f"partial answer, {activity} {percent}".rstrip()
        facts = TitleFacts(
            source=page.source(scene),
            profile=state.settings.profile,
            changed=state.changed,
            counter=page.counter(scene),
            count=page.count_items(scene),
            fresh=fresh and not stale,
            stale=stale,
            remedy=f"{key} reads again" if key else "",
            activity=activity,
            benches=[
                BenchTitle(self.app.keymap.first_key(action.id), action.label, action.id == bench, action.id)
                for action in actions.ACTIONS
                if action.id.startswith(actions.BENCH)
            ],
        )
        drawn = draw_title(facts, cells)
        return [tuple(span._replace(role="faint") if scene.typing and span.action else span for span in drawn)]

    def _draw_footer(self, cells: int) -> Sequence[Line]:
        only = frame.REPLAY_FOOTER if self.app.stop is not None else None
        keys, labels, typing = self.app.keymap, self.kind_page.action_labels, self.scene.typing
        return [frame.draw_footer(keys, self.unavailable, cells, only, labels, typing=typing)]

    def _draw_caption(self, cells: int) -> Line:
        if (view := self.state.view) is None:
            return self.kind_page.draw_caption(self.scene, cells)
        key = self.scene.keys.first_key("back")
        leave = f" · {key} shows all" if key else ""
        return clip_line(line(Span(f" {visible(view.caption)}", "accent"), Span(f"{leave} ", "faint")), cells)

    def paint_list(self) -> None:
        """Paints the list from the state."""
        if self.standing:
            state = self.state
            listing = state.kind_page.listing(self.scene) if state.shown is not None else None
            if listing is not None:
                listing.overruled = partial(find_overruling, state.kind_page.kind, state.answer)
            self.query_one("#list", ItemList).show(listing, state.cursor, state.view)
            self.place_messages()

    def paint_knobs(self) -> None:
        """Paints the knobs from the state."""
        if self.standing:
            state, scene = self.state, self.scene
            ranges = scene.ranges if scene.proven else {}
            self.knobs.show(
                state.settings, state.opened, ranges, state.kind_page.knob_notes(state), scene.ranges_pending
            )

    def paint_page(self) -> None:
        """Paints the open page where it is in sight."""
        if self.standing and (not self.has_class("-narrow") or self.has_class("-show-pages")):
            self.tabs[self.page].paint()
            if isinstance(view := self.query_one(f"#{self.page}"), DrawnView):
                view.repaint()

    def repaint_frame(self) -> None:
        """Repaints title, budget, the caption of a recording, and footer."""
        for name in ("title", "budget", "stop", "footer"):
            if (part := self.query_one_optional(f"#{name}", Fixed)) is not None:
                part.repaint()

    def caption(self, widget: Widget, drawn: Line, *, top: bool = False) -> None:
        """Puts a line into the lower or upper border of a widget; as content, never as markup."""
        content, place = Content(plain(drawn)), "border_title" if top else "border_subtitle"
        if getattr(widget, place) != content.markup:  # Textual paints a widget whole for the same words, too
            setattr(widget, place, content)

    def notices(self, cells: int) -> Sequence[Line]:
        """Draws every notice about the answer."""
        lines = [drawn for part in self.parts for drawn in part.notices(cells)]
        return [*lines, *self.kind_page.draw_notices(self.scene, cells)]

    def _draw_notices(self, cells: int) -> Sequence[Line]:
        lines = self.notices(cells)
        notices, shown = self.query_one("#notices"), frame.limit_notices(lines, self.scene.keys.first_key("help"))
        notices.set_class(not lines, "-none")
        notices.styles.height = len(shown)
        return shown


class ScreenPart:
    """Some actions of the registry, with what follows from them. The screen knows no part; a part may use all public
    methods of the screen.

    A method `do_NAME` does the action of this name; `no_NAME` returns why it cannot be done now, "" where it can. Every
    hook does nothing by default.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench, self.jobs = bench, bench.jobs

    @property
    def app(self) -> Host:
        """The application."""
        return self.bench.app

    @property
    def state(self) -> BenchState[Page]:
        """The state of the bench."""
        return self.bench.state

    @property
    def kind_page(self) -> Page:
        """The page of the kind that is shown."""
        return self.bench.state.kind_page

    @property
    def kind(self) -> Kind[Any, Any]:
        """The kind that is shown."""
        return self.bench.state.kind_page.kind

    def key(self, action: str) -> str:
        """Returns the first key of an action as printed; "" where it has none."""
        return self.bench.app.keymap.first_key(action)

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        """Its actions, by the ids of the registry (`secateur_tui.actions`)."""
        methods = (name for name in dir(type(self)) if name.startswith("do_"))
        return {name.removeprefix("do_").replace("_", "-"): getattr(self, name) for name in methods}

    def unavailable(self, action: str) -> str:
        """Returns why one of its actions cannot be done now; "" where it can."""
        reason: Callable[[], str] = getattr(self, f"no_{action.replace('-', '_')}", str)
        return reason()

    @property
    def tabs(self) -> Sequence[frame.Tab]:
        """Its pages beside the list."""
        return ()

    def open_page(self, page: str) -> None:
        """Opens a page beside the list."""
        self.bench.show_page(page)

    def notices(self, cells: int) -> Iterable[Line]:  # noqa: ARG002
        """Draws lines above the notices about the answer."""
        return ()

    def mounted(self) -> None:
        """The widgets are there."""

    def list_painted(self) -> None:
        """The list shows the state, which may have another answer; what is painted next may use what is found now."""

    def painted(self) -> None:
        """Everything shows the state."""

    def typed(self) -> None:
        """The text of a field changed."""

    def submitted(self) -> None:
        """Enter was pressed in a field."""

    def cursor_moved(self) -> None:
        """Another item is looked at."""

    def page_opened(self) -> None:
        """Another page is in sight."""

    def in_front(self) -> None:
        """The screen was shown, or lies uncovered again."""

    def refreshing(self) -> None:
        """The user wants to read again what is on disk."""

    def cancel(self) -> bool:
        """Cancels slow work that the user waits for; returns whether there was any."""
        return False

    def returned(self) -> None:
        """The terminal came to the front again."""

    def state_taken(self) -> None:
        """The state was replaced by another one."""

    def job_ended(self, group: str) -> None:
        """A job of this group ended, or was cancelled."""

    def knob_clicked(self, event: KnobClicked) -> None:
        """A knob was clicked."""
