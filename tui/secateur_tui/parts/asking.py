"""Takes what is typed on top, reads again what is on disk, and leads back to the items. What has changed on disk is
noticed, and said or read again (`ui.watch`)."""

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
        page = self.kind_page
        return "" if self.state.asks or page.preparing else page.nothing_asked

    def mounted(self) -> None:
        self._opened_in = self._empty_field
        self.bench.go_to(self._opened_in or self.bench.home)

    def painted(self) -> None:
        """Gives the keys to the list as soon as there is an answer without what the first field asks for."""
        field = self._opened_in
        if field is not None and self.state.answer is not None:
            self._opened_in = None
            if self.bench.focused is field and not field.value:
                self.bench.go_home()

    @property
    def _empty_field(self) -> QueryInput | None:
        fields, inputs = self.kind_page.fields, self.state.inputs
        empty = (field.name for field in fields if not field.optional and not inputs[field.name].strip())
        return next((self.bench.field(name) for name in empty), None)

    def do_query(self) -> None:
        bench, page = self.bench, self.kind_page
        bench.close_overlays()
        asking = bench.field(page.asking_field.name)
        wrong = self.jobs.error is not None and not asking.value  # nothing is asked, and the path could not be read
        bench.go_to(bench.field(page.fields[0].name) if wrong else self._empty_field or asking)

    def cancel(self) -> bool:
        refresh = self.key("refresh")
        return self.bench.answering.cancel(f"{refresh} reads it" if refresh else "")

    def do_back(self) -> None:
        """Cancels slow work that is waited for, else moves the focus to the items; from there it shows all of them in
        their own order."""
        bench = self.bench
        if bench.in_field:
            if not self.kind_page.unopened:
                self._ask_now()
        elif any(part.cancel() for part in bench.parts):
            return
        elif bench.focused is bench.home and self.state.view is not None:
            bench.choose(WHOLE)
        bench.go_home()

    def do_refresh(self) -> None:
        for part in self.bench.parts:
            part.refreshing()
        self.bench.read_again()

    def typed(self) -> None:
        """The text of a field changed."""
        if not self.kind_page.unopened and self._take_fields():
            self.bench.answering.asked_in_typing()

    def submitted(self) -> None:
        """Enter was pressed in a field."""
        bench, page = self.bench, self.kind_page
        if not isinstance(page, FolderPage):
            self._ask_now(again=self.jobs.error is not None)
            bench.go_home()
            return
        try:
            page.open_folder(expand_path(bench.field(page.fields[0].name).value) or ".")
        except SecateurError as error:
            self.jobs.error = error
            bench.paint()

    def _take_fields(self) -> bool:
        """Takes the texts of the fields into the state, and returns whether any of them changed."""
        state, page, changed = self.state, self.kind_page, False
        for index, field in enumerate(page.fields):
            widget = self.bench.field(field.name)
            if widget.value != visible(state.inputs[field.name]):
                text = widget.text if field.lines else widget.text.strip()
                changed |= state.type(field.name, text if index or page.instant else expand_path(text))
        return changed

    def _ask_now(self, *, again: bool = False) -> None:
        """Asks what the fields say, without waiting for a pause. `again`: even where that was asked before."""
        if self._take_fields() or self.jobs.waits(DEBOUNCE) or again:
            self.jobs.error = None
            self.bench.put_fields()
            self.bench.answering.answer()

    def type(self, texts: Mapping[str, str]) -> None:
        """Types texts into fields, and reads or decides what follows from them."""
        bench, changed = self.bench, False
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

    @property
    def _follows(self) -> bool:
        return self.app.watching == "follow"

    def mounted(self) -> None:
        self.state.follows = self._follows
        if not self.kind_page.unopened:
            self._look_after(0.0)

    def _look_after(self, took: float) -> None:
        if watch := self.app.pace.watch:
            followed = REST_OF_ANSWERS * self.bench.answering.took if self._follows else 0.0
            self.jobs.after("look", max(watch, REST * took, followed), self.returned, matters=False)

    def returned(self) -> None:
        def start() -> None:
            if self.app.watching != "off" and not self.kind_page.unopened:
                self.jobs.start(self._look, "watch")

        self.bench.post_message(Report(start, "look"))

    async def _look(self) -> None:
        reading, start, answering = self.jobs.reading, time.perf_counter(), self.bench.answering
        stale = None  # not known
        try:
            if reading and not (self._follows and self.jobs.activity):  # else it would never be read
                changes = str(await self.app.watcher.run(self.kind_page.watch.changes))
                if reading == self.jobs.reading:  # otherwise it was compared with what is no longer shown
                    if changes and self._follows:
                        self.bench.read_again()
                    else:
                        stale = changes
        except ReplacedError as error:  # not followed any further; the key that reads again reads it
            stale = error.message
        except SecateurError:
            stale = "not readable"
        if stale is not None and stale != answering.stale:
            answering.stale = stale
            self.bench.repaint_frame()
        self._look_after(time.perf_counter() - start)
