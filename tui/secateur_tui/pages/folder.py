"""The page on which a folder is opened: a bench that reads folders shows it while no folder is open."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from secateur.kinds.base import Input, Kind

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.pages.scene import Scene
from secateur_tui.state.bench_state import BenchState
from secateur_tui.styled_text import Line, line, wrap_words
from secateur_tui.widgets import item_pages


class FolderPage(KindPage[Any, Any]):
    """`open_folder(path)` opens the typed folder and shows it; it raises SecateurError where the folder cannot be
    opened."""

    unopened: ClassVar[bool] = True

    def __init__(self, kind: Kind[Any, Any], open_folder: Callable[[str], None]) -> None:
        super().__init__(kind)
        self.open_folder = open_folder
        self.fields = (Input("folder", "", title="Folder", placeholder="a folder, sample:NAME or a git URL"),)

    def source(self, scene: Scene) -> str:
        return "nothing open"

    def knob_notes(self, state: BenchState[Any]) -> dict[str, str]:
        return {}

    def draw_budget(self, scene: Scene, cells: int) -> Sequence[Line]:
        return [line("nothing open"), (), line("·" * cells)]

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        if scene.jobs.error is not None:
            return item_pages.draw_error(scene.jobs.error, cells)
        words = "A folder can be opened here: a repository whose code is to be searched. Nothing in it is run."
        return [
            *wrap_words(words, cells, "bold"),
            (),
            *wrap_words("Enter opens it; an empty field means the folder you are in.", cells, "faint"),
        ]
