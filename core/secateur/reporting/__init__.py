"""Selection and TrimReport -> Markdown, XML, JSON and plain text. Pure functions; text from outside leaves only in harmless form."""

from secateur.reporting.costs import PackCosts
from secateur.reporting.layouts import LAYOUTS, Item
from secateur.reporting.ledger import recount, trim_report
from secateur.reporting.notices import notices_of
from secateur.reporting.pack import body, ingredients, render_pack
from secateur.reporting.structured import dumps, error_json, json_report
from secateur.reporting.text import render_text, why

__all__ = [
    "LAYOUTS",
    "Item",
    "PackCosts",
    "body",
    "dumps",
    "error_json",
    "ingredients",
    "json_report",
    "notices_of",
    "recount",
    "render_pack",
    "render_text",
    "trim_report",
    "why",
]
