"""Names, paths and texts in little room: cut where a word begins, never inside one as long as a single word fits.

The columns of every list: which of them fit, and how wide each is.

A kind declares its columns with what each needs and how much it matters. Room is given out in that order: each column
takes what it wants before the next one has any, and a column is left out where less than its least cells remain. What
is left when all have what they want goes, in the same order, to those that can make use of more, and at last to the
places; only the names come behind the places, because a name that is longer than its column takes cells of its place.
Nothing matters more than the state and the name.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from secateur.terminal import cell_width, clip

from secateur_tui.styled_text import ELLIPSIS

# Places where a name may be cut at last: before a separator, and where a word of a CamelCase name begins.
_FOLDERS = re.compile(r"(?<=.)[/\\]")
_INSIDE_FOLDERS = re.compile(r"(?<=[/\\])(?=[^/\\]*$)")
_WORDS = re.compile(r"(?<=.)(?:::|[/\\.#:\-_\[ ])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Places where the name of a file may be cut at last; its ending alone tells nothing.
_FILE_WORDS = re.compile(r"(?<=.)[/\\_\- ]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_ENDS = re.compile(r"\w+\b|[^\w\s]+")  # words of a text, and what stands between them: it may be cut behind each

_WORD_CHARACTERS = string.ascii_letters + string.digits + "_"

_LONGEST = 400  # characters of a name that are looked at; no list is wider


def shorten_path(text: str, cells: int) -> str:
    """Cuts off the first folders of a path: `…/sessions.py:337`, or `…sessions.py:337`. Expects visible text."""
    return _keep_end(text, cells, _FOLDERS, _INSIDE_FOLDERS, _FILE_WORDS)


def fit_path(text: str, cells: int) -> str:
    """Returns the shortened path; "" if not even the name of the file fits."""
    short = shorten_path(text, cells)
    return short if short == text or short.startswith(ELLIPSIS) else ""


def shorten_name(text: str, cells: int) -> str:
    """Returns the last words of a name: `…Interface.save_session`; `….save_session` where not one word of the class
    fits. Expects visible text."""
    return _keep_end(text, cells, _WORDS)


def shorten_paths(text: str, cells: int) -> str:
    """Cuts off the first folders of every path that takes more than half of the width, so that the sentence stays
    readable. Expects visible text."""
    most = cells // 2

    def shorten(word: str) -> str:
        before = word[: len(word) - len(word.lstrip("([\"'"))]  # an opening bracket stays with its closing one
        return before + shorten_path(word.removeprefix(before), most - len(before))

    words = text.split(" ")
    return " ".join(shorten(word) if len(word) > most and "/" in word else word for word in words)


SECTION = " > "  # stands between the headings of a section's name

_SECTIONS = re.compile(r"(?<=.) > ")


def shorten_label(text: str, cells: int) -> str:
    """Shortens the name of an item where it tells least. It keeps the last words of a symbol, the last headings of a
    section, by which the sections of a chapter differ, and both ends of a heading or sentence. Expects visible text."""
    if " " not in text:
        return shorten_name(text, cells)
    short = _keep_end(text, cells, _SECTIONS)
    if short == text or short.startswith(ELLIPSIS):
        return short
    heading = text.rpartition(SECTION)[2]
    head = clip(heading, max(1, cells * 2 // 3))
    end = next((heading[at:] for at in range(len(heading)) if cell_width(head + heading[at:]) <= cells), "")
    return head + end


def shorten_words(text: str, cells: int) -> str:
    """Returns a text with its last words cut off. Expects visible text."""
    text = text[:_LONGEST]
    cut = clip(text, cells)
    if cut in (text, ""):
        return cut
    kept = cut[: -len(ELLIPSIS)]
    ends = [word.end() for word in _ENDS.finditer(text, 0, len(kept) + 1) if word.end() <= len(kept)]
    return kept[: ends[-1] if ends else None].rstrip() + ELLIPSIS


def shorten_shared(text: str, cells: int, shared: int) -> str:
    """Returns a text with its last words cut off, and also those in the middle that others share which look the same
    without: so many first characters are shared. Expects visible text."""
    if not (start := len(text[:shared].rstrip(_WORD_CHARACTERS))) or cell_width(text) <= cells:
        return shorten_words(text, cells)
    head = shorten_words(text[:start], cells // 3)
    return head + shorten_words(text[start:], cells - cell_width(head))


def _keep_end(text: str, cells: int, *places: re.Pattern[str]) -> str:
    """Returns the longest end of a text that fits, cut at one of these places; the first pattern with a fitting end
    counts. Without any it returns the beginning of the last word."""
    if len(text) <= cells and cell_width(text) <= cells:
        return text
    text = text[-_LONGEST:]
    for cuts in places:
        for place in cuts.finditer(text):
            end = text[place.start() :]
            if cell_width(end) < cells:
                return ELLIPSIS + end
    last = max((place.start() for place in places[-1].finditer(text)), default=0)
    return clip(text[last:] + ELLIPSIS, cells)


# Ids of the two columns that every list has: what an item is called, and, dim behind it, where it is.
NAME, PLACE = "name", "place"

_GAP = 1

_SAMPLED = 500  # names that are measured to find how wide their columns want to be

# Percent of the names that should fit whole into their column: where room is scarce, and where there is more.
_MOST_OF_A_HUNDRED = 80
_NEARLY_ALL_OF_A_HUNDRED = 95


class Label(NamedTuple):
    """An item as people call it. Visible text."""

    name: str
    place: str = ""  # where it is, or what it says
    prose: bool = False  # whether the place is a text, of which the beginning tells most, and not a path
    repository: str = ""  # the first folder of the place, where it is told as long as there is room for it


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column as it is declared."""

    id: str
    title: str
    least: int  # cells below which it is left out
    wants: int  # cells it takes before a column that matters less has any
    matters: int  # 0: most; columns that matter least give way first
    right: bool = False  # figures stand at the right
    most: int = 0  # cells it makes use of once all columns have what they want

    @classmethod
    def fixed(cls, id_: str, title: str, cells: int, matters: int, *, right: bool = True) -> ListColumn:
        """Returns a column that is as wide as its figures, or not there."""
        return cls(id_, title, cells, cells, matters, right)


@dataclass(frozen=True, slots=True)
class ListLayout:
    """Columns that have room, from left to right, each with its cells; a blank for the cursor stands before them."""

    columns: tuple[ListColumn, ...]
    cells: Mapping[str, int]
    joined: bool  # whether the place stands right behind the name, which may take cells of it


def lay_out_columns(columns: Sequence[ListColumn], cells: int) -> ListLayout:
    """Returns the columns that fit into a list of so many cells. A wider list never shows fewer of them."""
    room = cells  # of it a cell is the cursor's, and each column has a gap on its left: together as many as columns
    given: dict[str, int] = {}
    for column in sorted(columns, key=lambda candidate: candidate.matters):
        if room - _GAP < column.least and given:
            break
        given[column.id] = max(1, min(column.wants, room - _GAP))
        room -= given[column.id] + _GAP
    places = max((column.matters for column in columns if column.id == PLACE), default=0)
    for column in sorted(
        columns, key=lambda candidate: (places, 1) if candidate.id == NAME else (candidate.matters, 0)
    ):
        if column.id in given and len(given) == len(columns):
            more = max(0, min(room, column.most - given[column.id]))
            given[column.id] += more
            room -= more
    stretches = PLACE if PLACE in given else NAME
    if stretches in given:
        given[stretches] += max(0, room)
    shown = tuple(column for column in columns if column.id in given)
    ids = [column.id for column in shown]
    return ListLayout(shown, given, (NAME, PLACE) in pairwise(ids))


def sample_items(count: int, most: int = _SAMPLED) -> range:
    """Returns evenly spaced item numbers, few enough to be measured."""
    return range(0, count, -(-count // most) or 1)


def measure_usual(texts: Iterable[str], least: int, wanted: int, most: int) -> tuple[int, int]:
    """(cells that most of these texts fit into, cells that all do), within these bounds."""
    widths = sorted(map(cell_width, texts)) or [0]
    wants = max(least, min(wanted, widths[len(widths) * _MOST_OF_A_HUNDRED // 100]))
    return wants, max(wants, min(most, widths[-1]))


def measure_nearly_all(texts: Iterable[str], least: int, most: int) -> int:
    """Returns the cells that all but the longest of these texts fit into, within these bounds."""
    widths = sorted(map(cell_width, texts)) or [0]
    return max(least, min(most, widths[len(widths) * _NEARLY_ALL_OF_A_HUNDRED // 100]))
