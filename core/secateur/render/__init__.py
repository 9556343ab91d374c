"""Renders a Selection or TrimReport as Markdown, XML, JSON and plain text. Pure functions; outside text is made
harmless."""

from typing import TYPE_CHECKING

from secateur.render.layouts import LAYOUTS, Item, PackCosts, pack_format
from secateur.render.pack import body, ingredients, render_message, render_pack
from secateur.render.page import notices_of, shown_notices
from secateur.render.search_json import DROPPED_LISTED, count_pack, json_report, search_ledger, search_report
from secateur.render.structured import dumps, dumps_report, error_json
from secateur.render.text import search_page, why
from secateur.submodules import import_on_demand

__all__ = [
    "DROPPED_LISTED",
    "LAYOUTS",
    "Item",
    "PackCosts",
    "body",
    "count_pack",
    "dumps",
    "dumps_report",
    "error_json",
    "ingredients",
    "json_report",
    "notices_of",
    "pack_format",
    "render_message",
    "render_pack",
    "search_ledger",
    "search_page",
    "search_report",
    "shown_notices",
    "why",
]

if not TYPE_CHECKING:  # type checkers need the modules by name
    __getattr__ = import_on_demand(__name__)
