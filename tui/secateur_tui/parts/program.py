"""Shows help, changes the theme, quits, captions a recording, and goes through its stops."""

from collections.abc import Sequence
from functools import partialmethod

from secateur.terminal import visible

from secateur_tui import actions
from secateur_tui.actions import Action
from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.glossary import draw_entry, glossary_sections
from secateur_tui.screen import ScreenPart
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, FilteredPage
from secateur_tui.widgets.listing import SORTED

_MOVES = (
    ("↑ ↓ k j", "One up or down"),
    ("PgUp PgDn", "A page"),
    ("Home End g G", "First, last"),
    ("Tab", "The next part"),
    ("L", "In a text: wrap long lines, or not"),
    ("← →", "In a text: pan"),
    ("/ n N", "In a text: find, the next, the one before"),
    ("@", "In the pack: go to the item of the first line"),
    ("ctrl+c", "Leave, also while something is under way"),
)


class Program(ScreenPart):
    """See the module docstring."""

    def do_palette(self) -> None:
        self.app.action_command_palette()

    def do_theme(self) -> None:
        self.app.next_theme()

    def do_quit(self) -> None:
        self.app.exit(0)

    def _replay(self, by: int) -> None:
        self.app.replay(by)

    do_replay_next, do_replay_back = partialmethod(_replay, 1), partialmethod(_replay, -1)

    def no_replay_next(self) -> str:
        return self.app.stop.no_next if self.app.stop is not None else "no recording is played"

    def no_replay_back(self) -> str:
        return self.app.stop.no_previous if self.app.stop is not None else "no recording is played"

    def no_caption(self) -> str:
        recorded = self.app.recorder is not None
        return "" if recorded else "nothing is recorded: start with --record NAME.replay.jsonl"

    def do_caption(self) -> None:
        if (recorder := self.app.recorder) is None:
            return
        words = "The recording shows this text with what is on the screen now. An empty one is removed."
        page = AskPage("Caption", lambda cells, _: wrap_words(words, cells), recorder.caption)
        self.bench.ask(page, recorder.set_caption)

    def do_help(self) -> None:
        title = f"Help: {self.kind.wording.title}"
        self.bench.ask(FilteredPage(title, self._draw_help, self._offer), self.bench.action_do)

    def _offer(self, sought: str) -> tuple[str, str]:
        """Returns (id, label) of the action that the filter leaves first: one whose name is or begins with what is
        sought, then one that can be done."""
        if not (name := " ".join(sought.casefold().split())):
            return "", ""

        def rank(action: Action) -> tuple[bool, bool, bool]:
            label = action.label.casefold()
            return label != name, not label.startswith(name), bool(self.bench.unavailable(action.id))

        matching = [action for action in actions.ACTIONS if _holds(sought, action.group, *self._describe(action)[:2])]
        first = min(matching, key=rank, default=None)
        return (first.id, first.label) if first is not None else ("", "")

    def _draw_help(self, cells: int, sought: str) -> Sequence[Line]:
        """Draws the notices that had no room above the list, then the actions; an unavailable action says why. It draws
        only entries that hold every word that is sought."""
        everything, notices, lines = bool(sought.strip()), self.bench.notices(cells), list[Line]()
        state, page, listed = self.state, self.kind_page, set[str]()
        if len(notices) > MOST_NOTICE_LINES and not everything:
            lines += [line(Span("About this answer", "bold accent")), *notices, ()]
        sections: dict[str, list[tuple[str, str, str]]] = {}  # by heading: keys or word, text, role
        for action in actions.ACTIONS:
            sections.setdefault(action.group, []).append(self._describe(action))
        sections["Move"] = [(keys, words, "") for keys, words in _MOVES]
        if state.columns is not None:
            shown = page.listing(self.bench.scene).columns
            listed.update(state.columns.facets["reason"](), [SORTED], (column.brief for column in shown))
            listed.update(part for column in shown for part in column.title.split(SORTED))
        bench = "" if everything else self.bench.name_of_bench  # words of other benches only where they are sought
        knobs = page.all_knobs_of(state.settings) if everything else self.bench.knobs.knobs
        for title, explained in glossary_sections(knobs, bench, listed):
            sections[title] = [(word, text, "") for word, text in explained.items()]
        for title, entries in sections.items():
            if matching := [entry for entry in entries if _holds(sought, title, *entry[:2])]:
                lines += [*([()] if lines else []), line(Span(title, "bold accent"))]
                lines += [drawn for entry in matching for drawn in draw_entry(*entry, cells)]
        if lines and not everything:
            lines += [(), *wrap_words("/ finds the words of the other benches too", cells, "faint")]
        return lines or wrap_words(f"nothing here holds {visible(sought)}", cells, "faint")

    def _describe(self, action: Action) -> tuple[str, str, str]:
        keys = " ".join(actions.key_name(key) for key in self.app.keymap.keys[action.id]) or "(no key)"
        reason = self.bench.unavailable(action.id)
        words = f"{action.label}: {action.help}" + (f" — not now: {reason}" if reason else "")
        return keys, words, "faint" if reason else ""


def _holds(sought: str, *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in sought.casefold().split())
