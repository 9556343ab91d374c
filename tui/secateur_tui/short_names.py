"""Names, paths and texts in little room: cut where a word begins, never inside one as long as a single word fits."""

from __future__ import annotations

import re

from secateur.terminal import cell_width, clip

from secateur_tui.styled_text import ELLIPSIS

_FOLDERS = re.compile(r"(?<=.)[/\\]")
_INSIDE_FOLDERS = re.compile(r"(?<=[/\\])(?=[^/\\]*$)")
_WORDS = re.compile(r"(?<=.)(?:::|[/\\.#:\-_\[ ])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Places where a name may be cut at last: before a separator, and where a word of a CamelCase name begins."""

_FILE_WORDS = re.compile(r"(?<=.)[/\\_\- ]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The same of a file: its ending alone tells nothing."""

_ENDS = re.compile(r"\w+\b|[^\w\s]+")
"""Words of a text, and what stands between them: it may be cut behind each."""

_LONGEST = 400
"""Characters of a name that are looked at; no list is wider."""


def short_path(text: str, cells: int) -> str:
    """A path with its first folders cut off: `…/sessions.py:337`, or `…sessions.py:337`. Expects visible text."""
    return _last(text, cells, _FOLDERS, _INSIDE_FOLDERS, _FILE_WORDS)


def fitting_path(text: str, cells: int) -> str:
    """The same; "" where not even the name of the file fits."""
    short = short_path(text, cells)
    return short if short == text or short.startswith(ELLIPSIS) else ""


def short_name(text: str, cells: int) -> str:
    """The last words of a name: `…Interface.save_session`; `….save_session` where not one word of the class fits.
    Expects visible text."""
    return _last(text, cells, _WORDS)


def shorten_paths(text: str, cells: int) -> str:
    """A sentence in which no path hides the words around it: one that takes more than half of the width loses its first
    folders. Expects visible text."""
    words = text.split(" ")
    return " ".join(short_path(word, cells // 2) if len(word) > cells // 2 and "/" in word else word for word in words)


SECTION = " > "
"""Stands between the headings of a section's name."""

_SECTIONS = re.compile(r"(?<=.) > ")


def short_section(text: str, cells: int) -> str:
    """The last headings of a section's name, by which sections of one chapter differ; of a heading that is longer than
    that its beginning and its end. Expects visible text."""
    short = _last(text, cells, _SECTIONS)
    if short == text or short.startswith(ELLIPSIS):
        return short
    heading = text.rpartition(SECTION)[2]
    head = clip(heading, max(1, cells * 2 // 3))
    end = next((heading[at:] for at in range(len(heading)) if cell_width(head + heading[at:]) <= cells), "")
    return head + end


def short_words(text: str, cells: int) -> str:
    """A text with its last words cut off. Expects visible text."""
    text = text[:_LONGEST]
    cut = clip(text, cells)
    if cut in (text, ""):
        return cut
    kept = cut[: -len(ELLIPSIS)]
    ends = [found.end() for found in _ENDS.finditer(text, 0, len(kept) + 1) if found.end() <= len(kept)]
    return kept[: ends[-1] if ends else None].rstrip() + ELLIPSIS


def _last(text: str, cells: int, *places: re.Pattern[str]) -> str:
    """The longest end of a text that fits, cut at the first of these places where one does; else the beginning of its
    last word."""
    if len(text) <= cells and cell_width(text) <= cells:
        return text
    text = text[-_LONGEST:]
    for cuts in places:
        for found in cuts.finditer(text):
            end = text[found.start() :]
            if cell_width(end) < cells:
                return ELLIPSIS + end
    last = max((found.start() for found in places[-1].finditer(text)), default=0)
    return clip(text[last:] + ELLIPSIS, cells)
