"""The frame of the screen: its sizes, and the lines around the items, whatever is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from textual.geometry import Size
from textual.widget import Widget

from secateur_tui import actions
from secateur_tui.actions import BY_ID, MOST_USED, Keymap
from secateur_tui.host import RecordedStop
from secateur_tui.styled_text import ELLIPSIS, Line, Span, clip_line, line, width, wrap_words


@dataclass(frozen=True)
class Tab:
    """A page beside the list: its id, and how it is drawn for a width, or what makes its widget, which has that id.
    `paint` is called while the page is in sight, before it is drawn."""

    id: str
    title: str
    draw: Callable[[int], Sequence[Line]] = lambda _: ()
    paint: Callable[[], None] = lambda: None
    widget: Callable[[], Widget] | None = None


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
WIDE, ROOMY = 110, 150  # columns from which the right side stands beside the items, and from which it is wider

# Classes of the screen, each with the columns or rows from which it has them.
WIDTHS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (WIDE, "-wide"), (ROOMY, "-roomy")]
HEIGHTS = [(0, "-flat"), (LEAST_HEIGHT, "-tall")]

# Actions that the last line names while a recording is played.
REPLAY_FOOTER = (actions.REPLAY_NEXT, actions.REPLAY_BACK, "why", "preview", "diff", "help", "quit")

ZOOMED = ("-zoom-items", "-zoom-pages")  # classes under which a pane fills the screen
MOST_NOTICE_LINES = 3  # lines that notices may take from the items


def draw_small(size: Size, cells: int) -> Sequence[Line]:
    """Draws that a terminal of this size is too small."""
    return wrap_words(f"secateur needs {LEAST_WIDTH}×{LEAST_HEIGHT}, this is {size.width}×{size.height}", max(1, cells))


def limit_notices(notices: Sequence[Line], help_key: str) -> Sequence[Line]:
    """Limits notices to the lines they may take; the last line says how many more there are, and the key of the
    page that has them all."""
    more = len(notices) - MOST_NOTICE_LINES
    if more <= 0:
        return notices
    where = f": {help_key} shows them" if help_key else ""
    summary = line(Span(f"{ELLIPSIS} {more + 1} more lines of warnings{where}", "warning"))
    return [*notices[: MOST_NOTICE_LINES - 1], summary]
