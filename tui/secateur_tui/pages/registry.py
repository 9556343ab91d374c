"""The pages of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from secateur.kinds.base import Kind
from secateur.scenarios.opened_scenario import OpenedScenario

from secateur_tui.pages.conversation import ConversationPage
from secateur_tui.pages.diff import DiffPage
from secateur_tui.pages.envelope import EnvelopePage
from secateur_tui.pages.files import FilesPage
from secateur_tui.pages.kind_page import KindPage

PAGES: Mapping[str, type[KindPage[Any, Any]]] = {
    "files": FilesPage,
    "conversation": ConversationPage,
    "envelope": EnvelopePage,
    "diff": DiffPage,
}
"""Kinds with columns and facts of their own on the screen; any other has those of `KindPage`. A search is opened on an
engine, and has `SearchPage`."""


def page_of(kind: Kind[Any, Any], opened: OpenedScenario | None = None) -> KindPage[Any, Any]:
    """Returns the page of a kind that is not a search."""
    return PAGES.get(kind.name, KindPage)(kind, opened)
