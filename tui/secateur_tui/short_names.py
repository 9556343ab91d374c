"""Names, paths and texts in little room: cut where a word begins, never inside one as long as a single word fits."""

import re
import string

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
