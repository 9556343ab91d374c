"""Takes what is typed on top, reads again what is on disk, and leads back to the items."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from secateur.errors import SecateurError
from secateur.terminal import visible

from secateur_tui.pages.folder import FolderPage
from secateur_tui.part import ScreenPart
from secateur_tui.screen import Bench
from secateur_tui.state.input_files import typed_path
from secateur_tui.state.kind_reader import Prepares
from secateur_tui.state.list_view import WHOLE
from secateur_tui.widgets.query_input import QueryInput


class Asking(ScreenPart):
    """The fields. Of a search a pause in typing asks, of anything else Enter does."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {"query": self._go_to_field, "refresh": self._refresh, "back": self._back}

    def unavailable(self, action: str) -> str:
        page = self._bench.kind_page
        if action == "refresh" and not self._bench.state.asks and not isinstance(page, Prepares):
            return page.nothing_asked
        return ""

    def mounted(self) -> None:
        self._bench.go_to(self._empty_field or self._bench.home)

    @property
    def _empty_field(self) -> QueryInput | None:
        """The first field in which nothing was typed."""
        state = self._bench.state
        empty = (one.name for one in state.kind_page.fields if not one.optional and not state.inputs[one.name].strip())
        return next((self._bench.field(name) for name in empty), None)

    def _go_to_field(self) -> None:
        bench = self._bench
        bench.close_overlays()
        first = bench.field(bench.kind_page.fields[0].name)
        wrong = first if bench.jobs.error is not None else None  # what could not be read is what wants typing
        bench.go_to(wrong or self._empty_field or first)

    def _back(self) -> None:
        """Leads to the items; from there to all of them, in their own order."""
        bench = self._bench
        if not bench.kind_page.instant:
            bench.put_fields()
        if bench.focused is bench.home and bench.state.view is not None:
            bench.choose(WHOLE)
        bench.go_home()

    def _refresh(self) -> None:
        for part in self._bench.parts:
            part.refreshing()
        self._bench.read_again()

    def typed(self) -> None:
        """A field has another text."""
        state, page = self._bench.state, self._bench.kind_page
        if not page.instant:
            return
        changed = False
        for one in page.fields:
            field = self._bench.field(one.name)
            changed |= field.value != visible(state.inputs[one.name]) and state.type(one.name, field.text)
        if changed:
            self._bench.answering.asked_in_typing()

    def submitted(self) -> None:
        """Enter was pressed in a field."""
        bench, state = self._bench, self._bench.state
        if isinstance(state.kind_page, FolderPage):
            self._open(state.kind_page)
            return
        if not state.kind_page.instant:
            self._take_fields()
        bench.go_home()

    def _take_fields(self) -> None:
        bench, state, changed = self._bench, self._bench.state, False
        for number, one in enumerate(state.kind_page.fields):
            field = bench.field(one.name)
            if field.value != visible(state.inputs[one.name]):
                text = field.text.strip()
                changed |= state.type(one.name, typed_path(text) if number == 0 else text)
                field.put(state.inputs[one.name])
        if changed or bench.jobs.error is not None:
            bench.jobs.error = None
            bench.answering.answer()

    def _open(self, page: FolderPage) -> None:
        bench = self._bench
        try:
            page.open_folder(typed_path(bench.field(page.fields[0].name).value) or ".")
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
