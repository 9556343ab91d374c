"""The benches of a session, by the names of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from secateur.kinds.base import Kind
from secateur_lab.scenarios.opened_scenario import OpenedScenario

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.screen import Bench

PAGES: Mapping[str, str] = {
    "files": "FilesPage",
    "conversation": "ConversationPage",
    "envelope": "EnvelopePage",
    "diff": "DiffPage",
    "log": "LogPage",
}
"""Kinds with a page class of their own; any other kind uses `KindPage`. A search is opened on an
engine, and has `SearchPage`."""


def page_of(kind: Kind[Any, Any], opened: OpenedScenario | None = None) -> KindPage[Any, Any]:
    """Returns the page of a kind that is not a search."""
    if kind.name not in PAGES:
        return KindPage(kind, opened)
    module = import_module(f"secateur_tui.pages.{kind.name}")  # late: it imports what its kind decides with
    page: KindPage[Any, Any] = getattr(module, PAGES[kind.name])(kind, opened)
    return page


class Benches:
    """Each is made where somebody first looks at it: most sessions see one or two, and kinds take a while to import.

    Args:
        makers: by name.
        install: keeps a bench when another takes its place on the screen.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Bench]], install: Callable[[Bench, str], None]) -> None:
        self._makers, self._install = makers, install
        self._made: dict[str, Bench] = {}

    def get(self, name: str) -> Bench | None:
        """Returns the bench of a name; None if there is none."""
        if name not in self._made and name in self._makers:
            self.put(name, self._makers[name]())
        return self._made.get(name)

    def put(self, name: str, bench: Bench) -> None:
        """Takes a bench in, in place of any of its name."""
        self._made[name] = bench
        self._install(bench, name)
