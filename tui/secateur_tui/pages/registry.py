"""The pages of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from secateur.kinds.base import Kind
from secateur.scenarios.opened_scenario import OpenedScenario

from secateur_tui.pages.kind_page import KindPage

PAGES: Mapping[str, str] = {
    "files": "FilesPage",
    "conversation": "ConversationPage",
    "envelope": "EnvelopePage",
    "diff": "DiffPage",
    "log": "LogPage",
}
"""Kinds with columns and facts of their own on the screen; any other has those of `KindPage`. A search is opened on an
engine, and has `SearchPage`."""


def page_of(kind: Kind[Any, Any], opened: OpenedScenario | None = None) -> KindPage[Any, Any]:
    """Returns the page of a kind that is not a search."""
    if kind.name not in PAGES:
        return KindPage(kind, opened)
    module = import_module(f"secateur_tui.pages.{kind.name}")  # late: it imports what its kind decides with
    page: KindPage[Any, Any] = getattr(module, PAGES[kind.name])(kind, opened)
    return page
