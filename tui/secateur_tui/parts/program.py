"""Shows help, changes the theme, quits, and goes through the stops of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from secateur.terminal import visible

from secateur_tui import actions
from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.glossary import draw_entry, glossary_sections
from secateur_tui.part import ScreenPart
from secateur_tui.screen import Bench
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.modal_page import FilteredPage

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
        title = f"Help: {self._bench.kind_page.kind.wording.title}"
        self._bench.app.push_screen(FilteredPage(title, self._draw_help))

    def _draw_help(self, cells: int, sought: str) -> Sequence[Line]:
        """Draws the notices that had no room above the list, then the actions; an unavailable action says why. It draws
        only entries that hold every word that is sought."""
        notices = self._bench.notices(cells)
        wanted, lines = sought.casefold().split(), list[Line]()
        if len(notices) > MOST_NOTICE_LINES and not wanted:
            lines += [line(Span("About this answer", "bold accent")), *notices, ()]
        for title, entries in self._sections():
            matching = [
                entry
                for entry in entries
                if all(word in f"{title} {entry[0]} {entry[1]}".casefold() for word in wanted)
            ]
            if matching:
                lines += [*([()] if lines else []), line(Span(title, "bold accent"))]
                lines += [drawn for entry in matching for drawn in draw_entry(*entry, cells)]
        return lines or wrap_words(f"nothing here holds {visible(sought)}", cells, "faint")

    def _sections(self) -> Iterator[tuple[str, Sequence[tuple[str, str, str]]]]:
        """Yields (heading, its entries), each of (keys or word, text, role)."""
        groups: dict[str, list[tuple[str, str, str]]] = {}
        for action in actions.ACTIONS:
            keys = " ".join(actions.key_name(key) for key in self._bench.app.keymap.keys[action.id]) or "(no key)"
            reason = self._bench.unavailable(action.id)
            words = f"{action.label}: {action.help}" + (f" — not now: {reason}" if reason else "")
            groups.setdefault(action.group, []).append((keys, words, "faint" if reason else ""))
        yield from groups.items()
        yield "Move", [(keys, words, "") for keys, words in _MOVES]
        knobs = self._bench.kind_page.knobs_of(self._bench.state.settings)
        for title, explained in glossary_sections(knobs):
            yield title, [(word, text, "") for word, text in explained.items()]
