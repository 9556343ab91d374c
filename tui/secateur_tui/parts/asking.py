"""Takes what is typed on top, reads again what is on disk, and leads back to the items. What has changed on disk is
noticed, and said or read again."""

from __future__ import annotations

import time
from collections.abc import Mapping

from secateur.errors import SecateurError
from secateur.terminal import visible

from secateur_tui.jobs import DEBOUNCE
from secateur_tui.messages import Report
from secateur_tui.pages.folder import FolderPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.input_files import ReplacedError, expand_path
from secateur_tui.state.list_view import WHOLE
from secateur_tui.widgets.query_input import QueryInput


class Asking(ScreenPart):
    """Handles the fields. A pause in typing asks, Enter and Escape ask at once, and Escape leaves the text. Where
    nothing is open yet, only Enter opens a folder."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._opened_in: QueryInput | None = None  # the empty field that had the keys at the start, till an answer

    def no_refresh(self) -> str:
        page = self._bench.kind_page
        return "" if self._bench.state.asks or page.preparing else page.nothing_asked

    def mounted(self) -> None:
        self._opened_in = self._empty_field
        self._bench.go_to(self._opened_in or self._bench.home)

    def painted(self) -> None:
        """Gives the keys to the list as soon as there is an answer without what the first field asks for."""
        field, bench = self._opened_in, self._bench
        if field is None or bench.state.answer is None:
            return
        self._opened_in = None
        if bench.focused is field and not field.value:
            bench.go_home()

    @property
    def _empty_field(self) -> QueryInput | None:
        fields, inputs = self._bench.kind_page.fields, self._bench.state.inputs
        empty = (field.name for field in fields if not field.optional and not inputs[field.name].strip())
        return next((self._bench.field(name) for name in empty), None)

    def do_query(self) -> None:
        bench = self._bench
        bench.close_overlays()
        first, asking = (bench.field(bench.kind_page.fields[0].name), bench.field(bench.kind_page.asking_field.name))
        wrong = bench.jobs.error is not None and not asking.value  # nothing is asked, and the path could not be read
        bench.go_to(first if wrong else self._empty_field or asking)

    def cancel(self) -> bool:
        refresh = self._bench.app.keymap.first_key("refresh")
        return self._bench.answering.cancel(f"{refresh} reads it" if refresh else "")

    def do_back(self) -> None:
        """Cancels slow work that is waited for, else moves the focus to the items; from there it shows all of them in
        their own order."""
        bench = self._bench
        if not bench.in_field and any(part.cancel() for part in bench.parts):
            return
        if bench.in_field and not bench.kind_page.unopened:
            self._ask_now()
        if bench.focused is bench.home and bench.state.view is not None:
            bench.choose(WHOLE)
        bench.go_home()

    def do_refresh(self) -> None:
        for part in self._bench.parts:
            part.refreshing()
        self._bench.read_again()

    def typed(self) -> None:
        """The text of a field changed."""
        if not self._bench.kind_page.unopened and self._take_fields():
            self._bench.answering.asked_in_typing()

    def submitted(self) -> None:
        """Enter was pressed in a field."""
        bench, page = self._bench, self._bench.kind_page
        if isinstance(page, FolderPage):
            self._open(page)
            return
        self._ask_now(again=bench.jobs.error is not None)
        bench.go_home()

    def _take_fields(self) -> bool:
        """Takes the texts of the fields into the state, and returns whether any of them changed."""
        bench, state, changed = self._bench, self._bench.state, False
        for index, field in enumerate(state.kind_page.fields):
            widget = bench.field(field.name)
            if widget.value != visible(state.inputs[field.name]):
                text = widget.text if field.lines else widget.text.strip()
                path = index == 0 and not state.kind_page.instant
                changed |= state.type(field.name, expand_path(text) if path else text)
        return changed

    def _ask_now(self, *, again: bool = False) -> None:
        """Asks what the fields say, without waiting for a pause. `again`: even where that was asked before."""
        bench = self._bench
        if self._take_fields() or bench.jobs.waits(DEBOUNCE) or again:
            bench.jobs.error = None
            bench.put_fields()
            bench.answering.answer()

    def _open(self, page: FolderPage) -> None:
        bench = self._bench
        try:
            page.open_folder(expand_path(bench.field(page.fields[0].name).value) or ".")
        except SecateurError as error:
            bench.jobs.error = error
            bench.paint()

    def type(self, texts: Mapping[str, str]) -> None:
        """Types texts into fields, and reads or decides what follows from them."""
        bench, changed = self._bench, False
        for name, text in texts.items():
            changed |= bench.state.type(name, text)
            bench.field(name).put(text)
        if changed:
            bench.answering.answer()


REST = 20
"""The pause after a look, as a multiple of the time it took: looking takes a twentieth of a processor at most."""

REST_OF_ANSWERS = 3
"""The same factor for an answer that is followed: following takes a quarter of a processor at most."""


class Staleness(ScreenPart):
    """Notices when what is shown has changed on disk; what is watched is the `watch` of the page.

    A look compares listings and reads next to nothing. The longer a look took, the later the next one is due; and so it
    is where an answer to what was read again took long.
    """

    def mounted(self) -> None:
        self._bench.state.follows = self._bench.app.follows
        if not self._bench.kind_page.unopened:
            self._look_after(0.0)

    def returned(self) -> None:
        self._due()

    def _look_after(self, took: float) -> None:
        bench, watch = self._bench, self._bench.app.pace.watch
        if watch:
            followed = REST_OF_ANSWERS * bench.answering.took if bench.app.follows else 0.0
            bench.jobs.after("look", max(watch, REST * took, followed), self._due, matters=False)

    def _due(self) -> None:
        self._bench.post_message(Report(self._start, "look"))

    def _start(self) -> None:
        if not self._bench.kind_page.unopened:
            self._bench.jobs.start(self._look, "watch")

    async def _look(self) -> None:
        bench = self._bench
        reading, start = bench.jobs.reading, time.perf_counter()
        try:
            if reading and not (bench.app.follows and bench.jobs.activity):  # else it would never be read
                changes = str(await bench.app.watcher.run(bench.kind_page.watch.changes))
                if reading == bench.jobs.reading:  # otherwise it was compared with what is no longer shown
                    if changes and bench.app.follows:
                        bench.read_again()
                    else:
                        self._say(changes)
        except ReplacedError as error:  # not followed any further; the key that reads again reads it
            self._say(error.message)
        except SecateurError:
            self._say("not readable")
        self._look_after(time.perf_counter() - start)

    def _say(self, stale: str) -> None:
        if stale != self._bench.answering.stale:
            self._bench.answering.stale = stale
            self._bench.repaint_frame()
