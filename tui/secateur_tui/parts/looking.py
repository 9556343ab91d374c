"""Looks at the item under the cursor: the pages why, preview and trim diff; the baseline. The page with the text that
leaves leads to its item.

Shows help, changes the theme, quits, captions a recording, and goes through its stops.
"""

from collections.abc import Mapping, Sequence
from functools import partial, partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.model import State
from secateur.sources.git import HistoryCommit
from secateur.terminal import cell_width, visible

from secateur_tui import actions
from secateur_tui.actions import Action
from secateur_tui.frame import MOST_NOTICE_LINES, ZOOMED, Tab
from secateur_tui.glossary import draw_entry, glossary_sections
from secateur_tui.jobs import Derived
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import SearchAnswer, query_terms
from secateur_tui.styled_text import Line, Span, describe_error, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, FilteredPage
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.listing import SORTED
from secateur_tui.widgets.pack_view import PackText, PackView
from secateur_tui.widgets.proof_pages import draw_hints, insert_hints
from secateur_tui.widgets.text_view import ItemText, PreviewText, TextView, draw_preview

_REST = "text"

_BORDER = 6  # cells of a border beside its title


class Looking(ScreenPart):
    """See the module docstring. The text of a candidate is read when the cursor rests on it."""

    _item: tuple[Any, int, bool] | None = None  # of the text below: answer, item, and whether it is listed
    _item_text: ItemText | None = None

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        # of a candidate its text, and per word of the query the lines that hold it; then the commits of its file
        self._text = Derived[tuple[PreviewText, Mapping[str, Sequence[int]]]](
            self.jobs, "preview", bench.paint_page, between=True
        )
        self._commits = Derived[Sequence[HistoryCommit]](
            self.jobs, "commits", bench.paint_page, thread=lambda: self.app.prover
        )
        self._pack = Derived[PackText](self.jobs, "pack", bench.paint_page, between=True)

    do_why, do_preview, do_diff, do_pack = (
        partialmethod(ScreenPart.open_page, page) for page in ("why", "preview", "diff", "pack")
    )

    def no_ghost(self) -> str:
        return "the answer is partial yet" if self.state.partial else ""

    @property
    def tabs(self) -> Sequence[Tab]:
        wraps = not isinstance(self.kind_page, SearchPage)

        def state_of(item: int) -> State:
            answer = self.state.answer
            return answer.state_of(item) if answer is not None and item < len(answer) else State.KEPT

        return (
            Tab("why", "Why", self._draw_why, self._paint_why),
            Tab("preview", "Preview", paint=self._paint_preview, widget=lambda: TextView(wraps=wraps, id="preview")),
            Tab("diff", "Diff", lambda cells: self.kind_page.draw_diff(self.bench.scene, cells)),
            Tab(
                "pack",
                "Pack",
                paint=self._paint_pack,
                widget=lambda: PackView(self._describe_item, state_of, id="pack"),
            ),
        )

    def painted(self) -> None:
        """Says above the list how many decisions differ from those of the ghost, and the key that leads to them: a
        pinned item stays where its priority puts it, and what it pushed out may stand far from it."""
        state, items = self.state, self.bench.query_one("#items")
        if self.kind_page.unopened:
            return
        noun = self.kind.wording.noun
        comparison = state.comparison if state.listed else None
        counts = comparison.flip_counts if comparison is not None else {}
        changes = " · ".join(
            f"{kept.glyph} {counts[kept]:,} now {kept.label}" for kept in reversed(State) if counts.get(kept)
        )
        key, room = self.key("next-changed"), items.size.width - _BORDER
        variants = [f"{noun} ─ {changes} · {key} goes there", f"{noun} ─ {changes}"] if changes else []
        self.bench.caption(
            items, line(next((words for words in variants if cell_width(words) <= room), noun)), top=True
        )

    def cursor_moved(self) -> None:
        if not isinstance(self.kind_page, SearchPage):
            for tab in self.bench.tabs:
                for view in self.bench.query(f"#{tab}").results(DrawnView):
                    view.scroll_to(y=0, animate=False, immediate=True)

    def state_taken(self) -> None:
        self.jobs.stop(_REST)
        self._item = self._item_text = None

    # --- why, and the preview ---

    def _draw_why(self, cells: int) -> Sequence[Line]:
        scene = self.bench.scene
        lines = self.kind_page.draw_why(scene, cells)
        hints = draw_hints(
            scene.hints,
            scene.trials,
            scene.chosen_hint,
            scene.nothing,
            (self.key("hint"), self.key("next-hint")),
            self.kind.knobs,
            proving=scene.proving,
            cells=cells,
        )
        return insert_hints(lines, hints) if lines else lines

    def _paint_why(self) -> None:
        answer, row, scene = self.state.answer, self.state.cursor, self.bench.scene
        scene.query_lines, scene.commits = None, ()
        if not isinstance(answer, SearchAnswer) or not len(answer):
            return
        if self._text.key != (answer.selection.pool, row):  # a cursor that runs through a list reads nothing
            self.jobs.after(_REST, self.app.pace.rest, partial(self._read_text, answer, row))
        elif self._text.made is not None and isinstance(page := self.kind_page, SearchPage):
            scene.query_lines = self._text.made[1]
            changes = partial(page.engine.changes_of, answer.selection.pool, row)
            scene.commits = self._commits.at(self._text.key, changes) or ()

    def _paint_preview(self) -> None:
        state, view = self.state, self.bench.query_one("#preview", TextView)
        if isinstance(state.answer, SearchAnswer) and len(state.answer):
            made = self._read_text(state.answer, state.cursor)
            text = made[0] if made is not None else None
            view.show(draw_preview(text, state.answer, state.cursor, query_terms(state.answer)))
            return
        item = state.answer, state.cursor, state.listed
        if self._item is None or self._item != item:
            self._item, self._item_text = item, self.kind_page.text_of(self.bench.scene)
        view.show(self._item_text)

    def _read_text(self, answer: SearchAnswer, row: int) -> tuple[PreviewText, Mapping[str, Sequence[int]]] | None:
        page, pool = self.kind_page, answer.selection.pool
        assert isinstance(page, SearchPage)
        engine = page.engine

        def read() -> tuple[PreviewText, Mapping[str, Sequence[int]]]:
            try:
                content = engine.content(pool, row)
            except SecateurError as error:
                content = f"{error.message}\n{error.hint}"
            text = PreviewText.of(content, pool.language[row], int(pool.line_start[row]))
            return text, text.lines_with(query_terms(answer))

        return self._text.at((pool, row), read)

    def do_zoom(self) -> None:
        """Lets the pane with the focus fill the screen, or no longer."""
        bench = self.bench
        zoomed = any(bench.has_class(name) for name in ZOOMED)
        bench.remove_class(*ZOOMED)
        if not zoomed:
            bench.add_class(ZOOMED[bench.in_page])
        bench.call_after_refresh(bench.paint)

    def do_ghost(self) -> None:
        self.state.pin_baseline()
        self.bench.paint()

    # --- the text that leaves ---

    def _describe_item(self, item: int) -> str:
        state = self.state
        if state.answer is None or not 0 <= item < len(state.answer) or not state.listed:
            return ""
        return self.kind_page.listing(self.bench.scene).describe_item(item)

    def _paint_pack(self) -> None:
        state, view = self.state, self.bench.query_one(PackView)
        answer = state.answer if state.listed and self.jobs.error is None else None
        if answer is None:
            view.show_pack(None, 0, waits="there is no answer")
            return
        pack = self._pack.at(answer, partial(self.kind_page.pack, answer))
        wrong = describe_error(self._pack.error) if self._pack.error is not None else ""
        view.show_pack(pack, state.cursor, query_terms(answer), wrong or "laying out what is sent …")


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
        self.bench.ask(
            FilteredPage(f"Help: {self.kind.wording.title}", self._draw_help, self._offer), self.bench.action_do
        )

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
            listed.update(state.columns.facets["reason"](), [SORTED])
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
        return lines or wrap_words(f"nothing here has {visible(sought)}", cells, "faint")

    def _describe(self, action: Action) -> tuple[str, str, str]:
        keys = " ".join(actions.key_name(key) for key in self.app.keymap.keys[action.id]) or "(no key)"
        reason = self.bench.unavailable(action.id)
        words = f"{action.label}: {action.help}" + (f" — not now: {reason}" if reason else "")
        return keys, words, "faint" if reason else ""


def _holds(sought: str, *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in sought.casefold().split())
