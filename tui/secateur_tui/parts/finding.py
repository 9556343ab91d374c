"""Finds items by name, path or text, filters and sorts the list, and goes to the next item that changed, is cut or is
dropped. For every kind: an item is a line of columns (`state.list_view`)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, partialmethod
from itertools import islice
from textwrap import wrap
from typing import Any

import numpy as np
from secateur.engine import Engine
from secateur.kinds.protocols import Missing
from secateur.kinds.search.missing import explain_missing
from secateur.ledger import State
from secateur.settings import Settings
from secateur.terminal import cell_width, clip, clip_left, visible

from secateur_tui.jobs import Derived
from secateur_tui.parts.asking import Asking, FirstAnswers
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.short_names import shorten_label
from secateur_tui.state import list_view
from secateur_tui.state.answer import SearchAnswer, ShownAnswer
from secateur_tui.state.finding import MOST_TEXTS, Haystack, Hit, Match, search_texts
from secateur_tui.styled_text import Line, Span, line, width
from secateur_tui.widgets.dialogue import ChoiceLine, Chooser, Offers, match_rows

_LONGEST = 400  # characters of a name that are looked at for its line


def draw_hit(columns: ShownAnswer[Any], hit: Hit, cells: int) -> Line:
    """Draws an item that was found: its decision, its line in the list, its name, where it is, how it was found."""
    state = State(int(columns.state[hit.item]))
    digits = len(f"{len(columns):,}")
    rank = f"{int(columns.place[hit.item]) + 1:,}"
    head = line(" ", Span(state.glyph, state.label), Span(f" {rank:>{digits}} ", "faint"))
    called = columns.names[hit.item][:_LONGEST]
    path = columns.paths[hit.item] if called else ""
    name = visible(called or columns.ids[hit.item][:_LONGEST])
    how = "" if hit.match <= Match.NAME else f"  {hit.match.label}"
    room = max(1, cells - width(head) - len(how))
    shown = shorten_label(name, room) if called else clip(name, room)
    room -= cell_width(shown)
    beside = f"  {clip_left(visible(path), room - 2)}" if path and path != name and room > 6 else ""
    gap = " " * max(0, room - cell_width(beside)) if how else ""
    role = "faint" if state is State.DROPPED else ""
    return (*head, Span(shown, role), Span(beside, "faint"), Span(gap), Span(how, "accent"))


def draw_filter(facet: str, value: str, count: int, on: bool, cells: int) -> Line:
    """Draws a filter: whether it is on, what it asks, how many items pass it."""
    head = line(" ", Span("✓ " if on else "  ", "accent"), Span(f"{facet}: ", "faint"))
    tail = f" {count:,}"
    shown = clip(visible(value), max(1, cells - width(head) - len(tail)))
    gap = " " * max(0, cells - width(head) - cell_width(shown) - len(tail))
    return (*head, Span(shown, "bold" if on else ""), Span(gap), Span(tail, "faint"))


def _draw_choice(text: str, on: bool, _: int) -> Line:
    return line(" ", Span("✓ " if on else "  ", "accent"), Span(visible(text), "bold" if on else ""))


def _draw_text(head: str, text: str, beside: str, cells: int) -> Line:
    shown = clip(visible(text), max(1, cells - len(head)))
    return line(Span(head, "faint"), shown, Span(f"  {visible(beside)}" if beside else "", "faint"))


_TEXTS, _PAUSE = "texts", "texts-pause"
MOST_ABSENT = 20  # hits that are no candidates which are listed
_REASON_CELLS = 60  # the width of the reason why a symbol is no candidate: it has room on a screen of 80 columns

LEAST_TEXT = 3  # letters from which texts are searched: nearly every text holds a shorter word
TEXTS_AT_ONCE = 50  # texts that are searched before the search text is compared with what is typed now
MOST_SECONDS = 5.0  # seconds after which the search through texts ends
MOST_TEXT_HITS = 100  # hits in texts that are listed
MOST_VALUES = 50  # values of one facet that are offered
_FIRST = {"distance": "nearest"}  # the word for the first place of an order, if that is not the largest figure

NONE_OF: Mapping[str, str] = {
    "changed": "no other decision differs from the ghost",
    "cut": "nothing else is sent in part",
    "dropped": "nothing else is dropped",
}


class ItemFinding(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)

        def ask_again() -> None:
            if self._chooser.is_mounted and self._chooser.is_current:
                self._chooser.ask_again()
                self._seek_texts(self._chooser.sought)

        self._haystack = Derived[Haystack](self.jobs, "haystack", ask_again, between=True)
        self._absent = Derived[Haystack](self.jobs, "absent", ask_again, between=True)
        self._chooser = Chooser("Find", self._hits)

    def no_next_changed(self) -> str:
        return "nothing has changed since the ghost" if self.state.comparison is None else ""

    no_previous_changed = no_next_changed

    # --- going on ---

    def _next(self, what: str, step: int) -> None:
        state, answer, compared = self.state, self.state.columns, self.state.comparison
        if answer is None:
            return
        mask = np.zeros(len(answer), dtype=np.bool_)
        if what != "changed":  # cut is what goes out in part
            mask = np.isin(answer.state, [State.DROPPED] if what == "dropped" else [State.SHORTENED, State.SUMMARISED])
        elif compared is not None:
            mask = compared.flipped.copy()
        mask[len(answer.entries) - 1 :] = False  # what stands around the items is nothing that is decided
        item = list_view.find_next(state.view or list_view.make_view(answer, list_view.WHOLE), state.cursor, mask, step)
        if item is None:
            shown = " in what is shown" if state.view is not None else ""
            words = NONE_OF[what] if mask.any() else NONE_OF[what].replace("else ", "").replace("other ", "")
            self.app.say(words + shown)
        else:
            self.bench.move_cursor(item)

    do_next_changed, do_previous_changed = partialmethod(_next, "changed", 1), partialmethod(_next, "changed", -1)
    do_next_cut, do_previous_cut = partialmethod(_next, "cut", 1), partialmethod(_next, "cut", -1)
    do_next_dropped, do_previous_dropped = partialmethod(_next, "dropped", 1), partialmethod(_next, "dropped", -1)

    # --- finding ---

    def do_find(self) -> None:
        if (answer := self.state.columns) is None:
            return
        self._chooser = Chooser("Find", self._hits, "letters of a name, words of a path or a text", self._seek_texts)
        self.app.push_screen(self._chooser, self._go)
        self._haystack.at(answer.ids, lambda: Haystack(answer.ids, answer.sought_names()))
        if (engine := self.bench.part(FirstAnswers).engine) is not None and not self.state.partial:
            self._absent.at(answer.ids, partial(_list_absent, engine, answer.ids))

    def _hits(self, sought: str) -> Offers:
        columns, haystack = self.state.columns, self._haystack.made
        if columns is None:
            return Offers()
        if not sought.strip():
            return Offers(caption=f"{len(columns):,} {self.kind.wording.noun.lower()}")
        if haystack is None or len(haystack) != len(columns):
            return Offers(caption="one moment")
        matches = haystack.find(sought, columns.place)
        more = f", the best {len(matches.hits):,} are here" if matches.count > len(matches.hits) else ""
        lines = [_offer(columns, hit) for hit in matches.hits]
        if (absent := self._absent.made) is not None and self._absent.key is columns.ids:
            others = absent.find(sought, np.arange(len(absent)), MOST_ABSENT)
            names = [absent.ids[hit.item] for hit in others.hits]
            lines += [ChoiceLine(name, partial(_draw_text, " × ", name, "no candidate")) for name in names]
            more += f", {others.count:,} that are no candidates" if names else ""
        return Offers(lines, f"{matches.count:,} found{more}")

    def _explain_absent(self, symbol: str) -> None:
        state, engine, answer = self.state, self.bench.part(FirstAnswers).engine, self.state.answer
        if engine is None or not isinstance(answer, SearchAnswer):
            return
        make = partial(explain_missing, engine, answer.selection, state.settings, symbol)
        self.jobs.work_out("explain absent", make, self._show_absent, lambda error: self.app.say(error.message))

    def _show_absent(self, missing: Missing) -> None:
        pins = self.state.settings.pins

        def apply(change: tuple[str, Settings]) -> None:
            query, settings = change
            self.bench.change(settings)
            if settings.pins != pins:
                self.bench.read_again()  # deciding alone finds no further candidate
            self.bench.part(Asking).type({self.kind_page.fields[0].name: query})

        shape = missing.shape
        offers = [ChoiceLine(None, partial(_draw_text, " ", text, "")) for text in wrap(shape.because, _REASON_CELLS)]
        for lever, change in zip(shape.levers, missing.changes, strict=True):
            offers.append(ChoiceLine(change, partial(_draw_text, " › ", lever.typed, lever.words)))
        title = f"Why is {clip(visible(shape.id.rpartition('::')[2]), _REASON_CELLS - 20)} not here?"
        self.bench.ask(Chooser(title, lambda _: Offers(offers, "each was searched again ✓"), fitted=True), apply)

    def _go(self, item: int | str | None) -> None:
        self.jobs.stop(_PAUSE)
        self.jobs.cancel(_TEXTS)
        if isinstance(item, str):
            self._explain_absent(item)
        if not isinstance(item, int):
            return
        before = self.state.choice.filters
        self.bench.move_cursor(item)
        self.bench.go_home()
        if before and not self.state.choice.filters:
            self.app.say("The filter hid it, and is off")

    def _seek_texts(self, sought: str) -> None:
        jobs = self.jobs
        jobs.cancel(_TEXTS)
        jobs.stop(_PAUSE)
        # What is found in texts comes below the names, so it waits for them.
        if len(sought.strip()) >= LEAST_TEXT and self._haystack.made is not None:
            jobs.after(_PAUSE, self.app.pace.debounce, lambda: jobs.start(partial(self._look_through, sought), _TEXTS))

    async def _look_through(self, sought: str) -> None:
        """Adds matches in texts, a few texts at a time; the next key cancels the search."""
        if (columns := self.state.columns) is None:
            return
        listed = {offer.value for offer in self._hits(sought).lines if isinstance(offer.value, int)}
        looking = search_texts(columns, sought, partial(self.kind_page.source_text, columns))
        seen, hits, until = 0, 0, time.monotonic() + MOST_SECONDS
        while hits < MOST_TEXT_HITS and time.monotonic() < until:
            looked = await self.jobs.run(lambda: list(islice(looking, TEXTS_AT_ONCE)), between=True)
            if not looked:
                break
            seen += len(looked)
            new = [hit for hit in looked if hit is not None and hit.item not in listed]
            hits += len(new)
            of = f"{seen:,} of {min(MOST_TEXTS, len(columns)):,} texts looked through"
            self._chooser.add(
                sought, Offers([_offer(columns, hit) for hit in new], f"{len(listed) + hits:,} found, {of}")
            )

    # --- filters and orders ---

    def do_filter(self) -> None:
        placeholder = ", ".join(self.state.columns.facets) if self.state.columns is not None else ""
        self.bench.ask(Chooser("Filter", self._filters, placeholder), self._choose)

    def _filters(self, sought: str) -> Offers:
        state, columns, choice = self.state, self.state.columns, self.state.choice
        rows: list[tuple[str, ChoiceLine]] = []
        if columns is None:
            return Offers()
        if choice.filters:
            draw = partial(_draw_choice, "show all: take every filter off", False)
            rows.append(("all", ChoiceLine(replace(choice, filters=()), draw)))
        for facet in columns.facets:
            others = replace(choice, filters=tuple(chosen for chosen in choice.filters if chosen[0] != facet))
            for value, count in columns.counts(facet, list_view.filter_items(columns, others))[:MOST_VALUES]:
                draw = partial(draw_filter, facet, value, count, (facet, value) in choice.filters)
                rows.append((f"{facet}: {value}", ChoiceLine(choice.toggle(facet, value), draw)))
        return Offers(match_rows(rows, sought), state.view.caption if state.view is not None else "all are shown")

    def do_order(self) -> None:
        self.bench.ask(Chooser("Order", self._orders, "a figure", fitted=True), self._choose)

    def _orders(self, sought: str) -> Offers:
        columns, choice = self.state.columns, self.state.choice
        if columns is None:
            return Offers()
        words = {list_view.LIST_ORDER: "the list's own order", list_view.NAME: "by name"}
        words |= {figure: f"by {figure}, {_FIRST.get(figure, 'largest')} first" for figure in columns.figures}
        rows = [
            (text, ChoiceLine(replace(choice, by=by), partial(_draw_choice, text, by == choice.by)))
            for by, text in words.items()
        ]
        return Offers(match_rows(rows, sought))

    def _choose(self, choice: list_view.ListChoice) -> None:
        self.bench.choose(choice)
        self.bench.go_home()


def _list_absent(engine: Engine, ids: Sequence[str]) -> Haystack:
    """Lists the named symbols of the index that are no candidates."""
    snapshot, known = engine.code()[0], {*ids}
    rows = [row for row, name in enumerate(snapshot.qualnames) if name and snapshot.symbol_id(row) not in known]
    return Haystack([*map(snapshot.symbol_id, rows)], [snapshot.qualnames[row] for row in rows])


def _offer(columns: ShownAnswer[Any], hit: Hit) -> ChoiceLine:
    return ChoiceLine(hit.item, partial(draw_hit, columns, hit))
