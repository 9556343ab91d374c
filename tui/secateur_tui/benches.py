"""The benches of a session, by the names of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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


class Benches(Mapping[str, Bench]):
    """Each is made where somebody first looks at it: most sessions see one or two, and kinds take a while to import.

    Args:
        makers: by name.
        install: keeps a bench when another takes its place on the screen.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Bench]], install: Callable[[Bench, str], None]) -> None:
        self._makers, self._install = dict(makers), install
        self._made: dict[str, Bench] = {}

    def __getitem__(self, name: str) -> Bench:
        if name not in self._made:
            self.put(name, self._makers[name]())
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._makers, **self._made})

    def __len__(self) -> int:
        return len({**self._makers, **self._made})

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._makers

    def put(self, name: str, bench: Bench) -> None:
        """Takes a bench in, in place of any of its name."""
        self._made[name] = bench
        self._install(bench, name)
