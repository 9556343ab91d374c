"""The frame of the screen: the lines and widgets around the items, whatever is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from secateur_tui import actions
from secateur_tui.actions import BY_ID, MOST_USED, Keymap
from secateur_tui.answering import Answering
from secateur_tui.host import Host, RecordedStop
from secateur_tui.pages.scene import Scene
from secateur_tui.styled_text import ELLIPSIS, Line, Span, clip_line, line, width, wrap_words
from secateur_tui.widgets.knob_panel import KnobPanel
from secateur_tui.widgets.line_view import DrawnView, Fixed
from secateur_tui.widgets.query_input import QueryInput
from secateur_tui.widgets.tab_line import TabLine
from secateur_tui.widgets.title import TitleFacts, draw_title


@dataclass(frozen=True)
class Tab:
    """A page beside the list: its id, and how it is drawn for a width, or what makes its widget, which has that id.
    `paint` is called while the page is in sight, before it is drawn."""

    id: str
    title: str
    draw: Callable[[int], Sequence[Line]] | None = None
    paint: Callable[[], None] = lambda: None
    widget: Callable[[], Widget] | None = None

    def make(self) -> Widget:
        """Returns its widget, a new one for each screen."""
        return self.widget() if self.widget is not None else DrawnView(self.draw or (lambda _: ()), id=self.id)


CAPTION_LINES = 2


def draw_stop(stop: RecordedStop, cells: int) -> Sequence[Line]:
    """Draws three lines."""
    head = line(Span(f"▶ {stop.number}/{stop.of} ", "accent bold"), Span(stop.done, "faint"))
    caption = wrap_words(stop.caption, max(10, cells), "bold")[:CAPTION_LINES]
    return [clip_line(head, cells), *caption]


_ALWAYS = ("palette", "help", "quit")


def draw_footer(
    keys: Keymap,
    unavailable: Callable[[str], str],
    cells: int,
    only: Sequence[str] | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
    *,
    typing: bool = False,
) -> Line:
    """Draws as many actions as fit, the most used first, the last three always; an ellipsis if some are left out. They
    stand closer together where not all have room.

    Args:
        only: ids of the actions, in their order; None: what people do most.
        labels: by action what this bench calls it, if not by its own label; "" if it never does it.
        typing: the keys go to a field: its own come first, and the others are faint, because they would be typed.
    """

    def entry(action_id: str, label: str) -> Line:
        off = typing or bool(unavailable(action_id))
        return line(
            Span(f" {keys.first_key(action_id)}", "faint" if off else "key", action_id),
            Span(f" {label}", "faint" if off else "", action_id),
        )

    named = [BY_ID[action_id] for action_id in only or MOST_USED]
    entries = [
        (action.id, entry(action.id, label))
        for action in named
        if keys.keys[action.id] and (label := labels.get(action.id, action.label))
    ]
    out: Line = ()
    if typing:
        back = keys.first_key("back")
        leave = line(Span(f"  {back}", "key"), " Leave the field ", Span(" then ", "faint")) if back else ()
        out = (*line(Span(" ⏎", "key"), " Ask "), *leave)
    gap = Span(" " if width(out) + sum(width(drawn) + 1 for _, drawn in entries) <= cells else "")
    last = tuple(span for action_id, drawn in entries if action_id in _ALWAYS for span in (*drawn, gap))
    others = [(*drawn, gap) for action_id, drawn in entries if action_id not in _ALWAYS]
    for index, drawn in enumerate(others):
        more = index + 1 < len(others)
        if width(out) + width(drawn) + width(last) + (2 if more else 0) > cells:
            return (*out, Span(f" {ELLIPSIS}", "faint"), *last)
        out = (*out, *drawn)
    return (*out, *last)


LEAST_WIDTH, LEAST_HEIGHT = 80, 24
WIDE, ROOMY = 110, 150
"""Columns from which the right side stands beside the items, and from which it is wider."""

WIDTHS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (WIDE, "-wide"), (ROOMY, "-roomy")]
HEIGHTS = [(0, "-flat"), (LEAST_HEIGHT, "-tall")]
"""Classes of the screen, each with the columns or rows from which it has them."""

REPLAY_FOOTER = (actions.REPLAY_NEXT, actions.REPLAY_BACK, "why", "preview", "diff", "help", "quit")
"""Actions that the last line names while a recording is played."""

ZOOMED = ("-zoom-items", "-zoom-pages")
"""Classes under which a pane fills the screen."""

MOST_NOTICE_LINES = 3
"""Lines that notices may take from the items."""


class Frame:
    """Draws what stands around the items. `unavailable` says why an action cannot be done now."""

    def __init__(
        self, scene: Scene, answering: Answering, host: Callable[[], Host], unavailable: Callable[[str], str]
    ) -> None:
        self._scene, self._answering, self._host, self._unavailable = scene, answering, host, unavailable

    # --- widgets ---

    def compose_fields(self) -> ComposeResult:
        """Yields the input on top: a field for each text that is typed."""
        state = self._scene.state
        with Horizontal(id="fields"):
            for field in state.kind_page.fields:
                text, id_ = state.inputs[field.name], f"field-{field.name}"
                opener = self._host().keymap.first_key("query") if field.name == "query" else ""
                widget = QueryInput(text, field.placeholder, lines=field.lines, opener=opener, id=id_, classes="input")
                widget.border_title = field.title
                yield widget

    def compose_side(self, tabs: Iterable[Tab]) -> ComposeResult:
        """Yields the right side: the knobs, and the pages below them."""
        scene, pages = self._scene, list(tabs)
        page = scene.state.kind_page
        with Vertical(id="side"):
            panel = KnobPanel(scene.state.settings, page.knobs_of, page.all_knobs_of, id="knobs")
            panel.border_title = page.knobs_title
            yield panel
            with Vertical(id="pages"):
                yield TabLine([(tab.id, tab.title) for tab in pages], id="tabs")
                with ContentSwitcher(initial=scene.state.page, id="page-switch"):
                    for tab in pages:
                        yield tab.make()

    def compose_bottom(self) -> Iterable[Widget]:
        """Yields the lines below everything."""
        if self._host().stop is not None:
            yield Fixed(lambda cells: draw_stop(stop, cells) if (stop := self._host().stop) else [], id="stop")
        yield Fixed(self._draw_footer, id="footer")

    # --- lines ---

    def draw_title(self, cells: int) -> Sequence[Line]:
        """Draws the title line. While the keys go to a field those of the benches are faint: they would be typed."""
        scene, jobs, stale, host = self._scene, self._scene.jobs, self._answering.stale, self._host()
        state, page, fresh, activity = scene.state, scene.state.kind_page, None, jobs.activity
        if jobs.error is None:
            fresh = page.fresh(state.reading.material if state.reading is not None else None)
        if activity and state.partial:  # while a partial answer is shown, how far the whole one is
            percent = jobs.progress.percent if jobs.progress is not None else ""
            activity = f"partial answer, {activity} {percent}".rstrip()
        key = host.keymap.first_key("refresh")
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
            benches=host.bench_titles(page.kind.name),
        )
        drawn = draw_title(facts, cells)
        return [tuple(span._replace(role="faint") if scene.typing and span.action else span for span in drawn)]

    def _draw_footer(self, cells: int) -> Sequence[Line]:
        host = self._host()
        only = REPLAY_FOOTER if host.stop is not None else None
        labels = self._scene.state.kind_page.action_labels
        return [draw_footer(host.keymap, self._unavailable, cells, only, labels, typing=self._scene.typing)]


def draw_small(size: Size, cells: int) -> Sequence[Line]:
    """Draws that a terminal of this size is too small."""
    words = f"secateur needs {LEAST_WIDTH}×{LEAST_HEIGHT}, this is {size.width}×{size.height}"
    return wrap_words(words, max(1, cells))


def limit_notices(notices: Sequence[Line], help_key: str) -> Sequence[Line]:
    """Limits notices to the lines they may take; the last line says how many more there are, and the key of the
    page that has them all."""
    more = len(notices) - MOST_NOTICE_LINES
    if more <= 0:
        return notices
    where = f": {help_key} shows them" if help_key else ""
    summary = line(Span(f"{ELLIPSIS} {more + 1} more lines of warnings{where}", "warning"))
    return [*notices[: MOST_NOTICE_LINES - 1], summary]
