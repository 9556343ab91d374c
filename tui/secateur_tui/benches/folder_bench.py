"""The screen of a bench that reads a folder while none is open: what can be opened, and a field for its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from secateur.errors import SecateurError
from textual import on
from textual.widget import Widget
from textual.widgets import Input

from secateur_tui import actions
from secateur_tui.benches.bench import Bench
from secateur_tui.state.input_files import typed_path
from secateur_tui.styled_text import Line, line, wrapped
from secateur_tui.widgets import blank
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.query_input import QueryInput
from secateur_tui.widgets.title import TitleFacts

_ALWAYS = ("query", "theme", "back", "help", "quit")


class FolderBench(Bench):
    """`open_folder(path)` opens the typed folder and shows it; it raises SecateurError where the folder cannot be
    opened."""

    CSS_PATH = ["bench.tcss", "items.tcss", "opening.tcss"]  # noqa: RUF012 - Textual declares it
    pages: ClassVar[Sequence[tuple[str, str]]] = (("nothing", "Nothing open"),)

    def __init__(self, name: str, open_folder: Callable[[str], None], profile: str, counter: str) -> None:
        super().__init__()
        self.name_of_bench = name  # type: ignore[misc]
        self._open, self._profile, self._counter = open_folder, profile, counter
        self._error: SecateurError | None = None

    def compose_input(self) -> Iterable[Widget]:
        field = QueryInput("", "a folder, or sample:NAME", id="folder", classes="input")
        field.border_title = "Folder"
        yield field

    def compose_items(self) -> Iterable[Widget]:
        yield DrawnView(self._draw, id="words")

    def compose_knobs(self) -> Iterable[Widget]:
        yield DrawnView(lambda _: (), id="knobs")

    def compose_page(self, page: str) -> Widget:
        return DrawnView(lambda _: (), id=page)

    def title_facts(self) -> TitleFacts:
        return TitleFacts(
            "nothing open",
            self._profile,
            False,
            self._counter,
            None,
            None,
            "",
            "",
            "",
            self.app.bench_titles(self.name_of_bench),
        )

    def draw_budget(self, cells: int) -> Sequence[Line]:
        return [line("·" * cells), ()]

    def unavailable(self, action: str) -> str:
        if action in _ALWAYS or action.startswith(actions.BENCH):
            return super().unavailable(action)
        return "nothing is open yet"

    @property
    def busy(self) -> bool:
        return False

    @property
    def home(self) -> Widget:
        return self.query_one("#folder")

    def on_mount(self) -> None:
        super().on_mount()
        self.go_home()

    def do_query(self) -> None:
        self.go_home()

    @on(Input.Submitted, "#folder")
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            self._open(typed_path(event.value) or ".")
        except SecateurError as error:
            self._error = error
            self.query_one("#words", DrawnView).repaint()

    def _draw(self, cells: int) -> Sequence[Line]:
        if self._error is not None:
            return blank.draw_error(self._error, cells)
        words = "A folder can be opened here: a repository whose code is to be searched. Nothing in it is run."
        return [
            *wrapped(words, cells, "bold"),
            (),
            *wrapped("Enter opens it; an empty field means the folder you are in.", cells, "faint"),
        ]
