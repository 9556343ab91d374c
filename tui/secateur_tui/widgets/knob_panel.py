"""The knobs of a bench: a slider for each share and weight, for weights the range in which the selection stays
the same; values of the rest.

The title line: what is read, with which profile and counter, how many candidates, and whether the index is what is
on disk.

The texture and letter of each signal, so that nothing depends on colour alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from secateur.kinds.knobs import Knob, decimal
from secateur.model import UNREACHABLE, Pool
from secateur.render.page import count_noun
from secateur.settings import Settings, key_of
from secateur.terminal import cell_width, clip, visible
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.jobs import KnobClicked
from secateur_tui.short_names import shorten_path, shorten_words
from secateur_tui.styled_text import Line, Span, clip_line, fit_text, line, mark_cursor, outside, plain, width
from secateur_tui.widgets.line_view import LineView


class Signal(NamedTuple):
    """A term of the priority on screen; `name` is also its role in the stylesheet."""

    name: str
    letter: str
    texture: str


SIGNALS = {
    "relevance": Signal("relevance", "R", "█"),
    "hotspot": Signal("hotspot", "H", "▓"),
    "distance": Signal("distance", "D", "▒"),
    "preference": Signal("preference", "P", "░"),
    "boost": Signal("boost", "B", "▞"),
}


def effective_distance(pool: Pool, settings: Settings, row: int) -> int:
    """Distance of a row as the priority sees it: beyond the depth in force it counts as unreached."""
    distance = int(pool.distance[row])
    return distance if distance <= settings.graph_rag.max_depth + 1 else UNREACHABLE


def value_and_weight(name: str, pool: Pool, settings: Settings, row: int) -> tuple[float, float] | None:
    """(value, weight) whose product is the term; None for a boost, which is a factor on the other terms."""
    weights = settings.smart_pruning.priority_weights
    if name == "relevance":
        return float(pool.relevance[row]), weights.relevance
    if name == "hotspot":
        return float(pool.hotspot[row]), weights.hotspot
    if name == "distance":
        distance = effective_distance(pool, settings, row)
        return (1 / distance if distance else 0.0), weights.distance
    return (float(pool.preference[row]), settings.preference.weight) if name == "preference" else None


_SCALES = (1.0, 2.0, 5.0, 10.0)  # possible ends of a slider's track; the smallest that holds the value is used

_BEFORE, _PLACE, _AFTER = "━", "◆", "─"

_LABEL, _LONG_LABEL = 10, 18
_ROOMY = 60  # cells from which a knob has its whole name

_VALUE = 7
_RANGE = 11
_SHORTEST_TRACK = 6

# For each signal, the range of weights in which the selection is proven to stay the same.
Ranges = Mapping[str, tuple[float, float]]


def draw_knob(knob: Knob, settings: Settings, opened: Settings, ranges: Ranges, cells: int, note: str = "") -> Line:
    """Draws one knob; `*` marks a value that is not the one the inspector was opened with."""
    value, shown = knob.value(settings), knob.text(settings)
    changed = Span("*" if value != knob.value(opened) else "", "accent")
    texture = SIGNALS[knob.signal].texture if knob.signal else " "
    head = line(" ", Span(texture, knob.signal), f" {fit_text(knob.label, _LABEL if cells < _ROOMY else _LONG_LABEL)} ")
    ends = ranges.get(knob.signal or knob.key)
    unchanged = _draw_range(*ends) if ends is not None else ""
    if not isinstance(value, float):
        shown = f"‹ {shown} ›" if isinstance(value, str | bool) else shown
        beside = Span(f"  {unchanged}" if unchanged else "", "faint")
        return (*head, Span(shown), changed, Span(note, "faint"), beside)
    room = cells - width(head) - _VALUE
    with_range = room - _RANGE - 1 >= _SHORTEST_TRACK
    track = max(_SHORTEST_TRACK, room - (_RANGE + 1 if with_range or not knob.signal else 0))
    reached = min(track - 1, round(value / _top(knob, value) * (track - 1)))
    slider = line(
        Span(_BEFORE * reached, knob.signal or "accent"),
        Span(_PLACE, "bold"),
        Span(_AFTER * (track - 1 - reached), "faint"),
    )
    text = line(f" {shown}", changed)
    pad = line(" " * max(0, _VALUE - width(text)))
    return (*head, *slider, *text, *pad, *(line(" ", Span(unchanged, "faint")) if with_range else ()))


def _draw_range(low: float, high: float) -> str:
    if isinstance(low, int):
        figures = [f"{low:,}", f"{high:,}"]
    else:
        places = max(2 + (low == high), *(len(decimal(end).partition(".")[2]) for end in (low, high)))
        figures = [f"{low:.{places}f}", f"{high:.{places}f}"]
    return f"only {figures[0]}" if low == high else "–".join(figures)


def _top(knob: Knob, value: float) -> float:
    return knob.high if not knob.signal else next(scale for scale in _SCALES if value <= scale)


def find_click(knob: Knob, settings: Settings, drawn: str, cell: int) -> KnobClicked | None:
    """Returns what a click on a cell of a drawn knob turns; None for nothing."""
    value = knob.value(settings)
    if isinstance(value, str | bool):
        start, end = drawn.find("‹"), drawn.rfind("›")
        inside = 0 <= start <= cell <= end
        return KnobClicked(knob, direction=-1 if cell == start else 1) if inside else None
    track = [index for index, character in enumerate(drawn) if character in (_BEFORE, _PLACE, _AFTER)]
    if not isinstance(value, float) or cell not in track:
        return None
    return KnobClicked(knob, (cell - track[0]) / max(1, len(track) - 1) * _top(knob, value))


class KnobPanel(LineView, can_focus=True):
    """Shows the settings; remembers which knob is chosen. The line below them says what the figures at the right mean,
    or what the chosen knob means while the keys go here, as far as there is room; `?` shows all of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "choose(-1)", show=False),
        Binding("down,j", "choose(1)", show=False),
    ]

    def __init__(
        self,
        settings: Settings,
        knobs_of: Callable[[Settings], Sequence[Knob]],
        all_of: Callable[[Settings], Sequence[Knob]],
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._knobs_of, self._all_of = knobs_of, all_of
        self._settings = self._opened = settings
        self._ranges: Ranges = {}
        self._notes: Mapping[str, str] = {}
        self._pending = ""
        self._figures: dict[str, Line] = {}
        self._chosen = 0

    @property
    def knobs(self) -> Sequence[Knob]:
        return (self._all_of if self.has_class("-all") else self._knobs_of)(self._settings)

    def toggle_all(self) -> None:
        """Shows every knob, or those of the bench again."""
        self.toggle_class("-all")
        self._chosen = min(self._chosen, len(self.knobs) - 1)
        self.repaint()
        self.refresh(layout=True)

    @property
    def chosen(self) -> Knob:
        """The knob the arrow keys turn."""
        return self.knobs[min(self._chosen, len(self.knobs) - 1)]

    def show(
        self, settings: Settings, opened: Settings, ranges: Ranges, notes: Mapping[str, str], pending: str = ""
    ) -> None:
        """Paint settings. `notes` are further words per setting key; `pending` says why not every range is there."""
        self._settings, self._opened, self._ranges, self._notes = settings, opened, ranges, notes
        self._pending = pending
        self.repaint()

    def tell(self, of: str, figures: Line) -> None:
        """Paint what the settings are worth, below the knobs: a line for each thing that says so, unless it is
        empty."""
        if figures != self._figures.get(of, ()):
            taller = bool(figures) != (of in self._figures)
            self._figures.pop(of, None)
            if figures:
                self._figures = dict(sorted((self._figures | {of: figures}).items()))
            self.repaint()
            if taller:
                self.refresh(layout=True)

    def line_count(self) -> int:
        return len(self.knobs) + 1 + len(self._figures)

    def draw_line(self, index: int, cells: int) -> Line:
        if index > len(self.knobs):
            return [*self._figures.values()][index - len(self.knobs) - 1]
        if index == len(self.knobs):
            if self.has_focus:
                return line(Span(shorten_words(key_of(self.chosen.key).doc, cells), "accent"))
            known = "selection unchanged inside (re-run ✓)" if self._ranges else self._pending
            return line(Span(clip(f"range: {known}" if known else "", cells), "faint"))
        knob = self.knobs[index]
        drawn = draw_knob(knob, self._settings, self._opened, self._ranges, cells, self._notes.get(knob.key, ""))
        if knob != self.chosen:
            return drawn
        return mark_cursor(drawn) if self.has_focus else (Span("›", "accent"), *drawn[1:])

    @property
    def _for_knobs(self) -> int:
        """The rows in sight that scroll: what is said of the knobs stays in sight below them."""
        height = self.scrollable_content_region.height
        return max(1, height - self.line_count() + len(self.knobs)) if self.line_count() > height else height

    def draw_in_sight(self, y: int, cells: int) -> Line:
        rows = self._for_knobs
        if y < rows:
            return super().draw_in_sight(y, cells)
        below = len(self.knobs) + y - rows if self.line_count() > rows else self.line_count()
        return clip_line(self.draw_line(below, cells), cells) if below < self.line_count() else ()

    def action_choose(self, by: int) -> None:
        self._chosen = (self.knobs.index(self.chosen) + by) % len(self.knobs)
        height = self._for_knobs
        if not self.scroll_offset.y <= self._chosen < self.scroll_offset.y + height:
            self.scroll_to(y=self._chosen - (height - 1 if by > 0 else 0), animate=False, immediate=True)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        row = at.y + self.scroll_offset.y if at is not None else -1
        if at is None or not 0 <= row < len(self.knobs) or at.y >= self._for_knobs:
            return
        self._chosen = row
        self.refresh()
        drawn = plain(self.draw_line(row, self.content_cells))
        if message := find_click(self.chosen, self._settings, drawn, at.x):
            self.post_message(message)


class BenchTitle(NamedTuple):
    """A bench in the title line of the present screen."""

    key: str  # as printed; "" for none
    title: str
    open: bool
    action: str = ""  # opens it


@dataclass(frozen=True, slots=True)
class TitleFacts:
    """The facts of the line. `fresh` is None while unknown, `stale` says what changed; `activity` takes the place of
    the mark while something runs."""

    source: str
    profile: str
    changed: bool
    counter: str
    count: tuple[int, str] | None  # of what: (12, "candidate")
    fresh: bool | None
    stale: str  # "3 files changed"; "" where that is not known
    remedy: str  # "R reads again"
    activity: str
    benches: Sequence[BenchTitle]


_LEAST_SOURCE = 18  # cells of the source that come before everything behind it


def draw_title(facts: TitleFacts, cells: int) -> Line:
    """Draws one line. With too little room it drops, in this order: words before values, the counter, names of closed
    benches (their keys stay), the count, the remedy, the reason of staleness, benches. A long source loses its first
    folders before any of these."""
    count = line(f"   {count_noun(*facts.count)}") if facts.count is not None else ()
    profile = line(outside(facts.profile), Span("*" if facts.changed else "", "accent"))
    counter = line(outside(facts.counter))
    named = [(bench, bench.title if bench.open else "") for bench in facts.benches]
    with_keys = (Span("  "), *(span for bench in facts.benches for span in _draw_bench(bench, bench.title)))
    keys = (Span("  "), *(span for bench, title in named for span in _draw_bench(bench, title)))
    mark, with_reason, with_remedy = _draw_marks(facts)
    told = Span("   profile ", "faint"), *profile, Span("   tokens ", "faint"), *counter
    start = Span("   "), *profile
    tails: list[Line] = [
        (*told, *count, *with_remedy, *with_keys),
        (*start, Span("   "), *counter, *count, *with_remedy, *with_keys),
        (*start, *count, *with_remedy, *with_keys),
        (*start, *count, *with_remedy, *keys),
        (*start, *with_remedy, *keys),
        (*start, *with_reason, *keys),
        (*start, *mark, *keys),
        (*start, *with_reason),
        (*start, *mark),
    ]
    name, source = Span(" secateur  ", "bold"), visible(facts.source)
    least = width((name,)) + min(cell_width(source), _LEAST_SOURCE)
    tail = next((tail for tail in tails if least + width(tail) <= cells), tails[-1])
    room = max(1, cells - width(tail) - width((name,)))
    return clip_line((name, Span(shorten_path(source, room)), *tail), cells)


def _draw_bench(bench: BenchTitle, title: str) -> Line:
    named = Span(f" {title}" if title else "", "bold" if bench.open else "faint", bench.action)
    return line(Span(f" {bench.key}", "accent", bench.action), named) if bench.key else (named,)


def _draw_marks(facts: TitleFacts) -> tuple[Line, Line, Line]:
    if facts.activity or facts.fresh is not False:
        known = line("   ", Span("● fresh", "success")) if facts.fresh else ()
        mark = line(Span("   ◌ ", "accent"), outside(facts.activity, "accent")) if facts.activity else known
        return mark, mark, mark
    mark = line("   ", Span("○ stale", "warning"))
    with_reason = (*mark, Span(f": {facts.stale}", "warning")) if facts.stale else mark
    return mark, with_reason, (*with_reason, Span(f", {facts.remedy}", "faint")) if facts.remedy else with_reason
