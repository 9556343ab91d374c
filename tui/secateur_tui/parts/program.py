"""Help, themes, quitting, and the stops of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from secateur_tui import actions
from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.glossary import draw_glossary
from secateur_tui.part import ScreenPart
from secateur_tui.screen import Bench
from secateur_tui.styled_text import Line, Span, line, wrapped
from secateur_tui.widgets.modal_page import ModalPage

_MOVES = (
    ("↑ ↓ k j", "One up or down"),
    ("PgUp PgDn", "A page"),
    ("Home End g G", "First, last"),
    ("Tab", "The next part"),
    ("L", "In a text: wrap long lines, or not"),
    ("← →", "In a text: pan"),
    ("/ n N", "In a text: find, the next, the one before"),
    ("@", "In the pack: go to the item of the first line"),
    ("ctrl+p", "All actions by name"),
    ("ctrl+c", "Leave, also while something is under way"),
)


class Program(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {
            "help": self._help,
            "theme": lambda: self._bench.app.next_theme(),
            actions.QUIT: lambda: self._bench.app.exit(0),
            actions.REPLAY_NEXT: partial(self._replay, 1),
            actions.REPLAY_BACK: partial(self._replay, -1),
        }

    def unavailable(self, action: str) -> str:
        if action not in (actions.REPLAY_NEXT, actions.REPLAY_BACK):
            return ""
        stop = self._bench.app.stop
        if stop is None:
            return "no recording is played"
        return stop.no_next if action == actions.REPLAY_NEXT else stop.no_previous

    def _replay(self, by: int) -> None:
        self._bench.app.replay(by)

    def _help(self) -> None:
        self._bench.app.push_screen(ModalPage("Help", self._draw_help))

    def _draw_help(self, cells: int) -> Sequence[Line]:
        """Draws the notices that had no room above the list, then the registry as a page; an action that cannot be done
        now says why."""
        notices = self._bench.notices(cells)
        hidden = len(notices) > MOST_NOTICE_LINES
        lines: list[Line] = [line(Span("About this answer", "bold accent")), *notices, ()] if hidden else []
        group = ""
        for action in actions.ACTIONS:
            if action.group != group:
                lines += [*([()] if group else []), line(Span(action.group, "bold accent"))]
                group = action.group
            keys = " ".join(actions.key_name(key) for key in self._bench.app.keymap.keys[action.id]) or "(no key)"
            reason = self._bench.unavailable(action.id)
            words = action.help + (f" — not now: {reason}" if reason else "")
            text = wrapped(words, max(10, cells - 18), "faint" if reason else "")
            for index, part in enumerate(text):
                lines.append((Span(f" {keys if index == 0 else '':<16} ", "key"), *part))
        lines += [(), line(Span("Move", "bold accent"))]
        lines += [line(Span(f" {keys:<16} ", "key"), words) for keys, words in _MOVES]
        return [*lines, *draw_glossary(self._bench.kind_page.knobs_of(self._bench.state.settings), cells)]
