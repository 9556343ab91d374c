"""Lines of styled text without markup: what every view is drawn with.

A line is a tuple of spans; a span is text and the name of a role ("kept", "faint", ...) that the palette colours. Text
never passes through a markup parser. Text from outside enters through `outside`, which makes control and bidi
characters visible. Widths are terminal cells, so wide characters keep columns aligned.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from secateur.errors import SecateurError
from secateur.terminal import cell_width, clip, visible

ELLIPSIS = "…"


class Span(NamedTuple):
    """Text in one role; "" is the widget's own colour. A click on it does `action`, an id; "" for nothing."""

    text: str
    role: str = ""
    action: str = ""


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """Returns a line of the program's own text."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def describe_error(error: SecateurError) -> str:
    """Returns an error in one line: its message, and its hint if it has one."""
    return f"{error.message}; {error.hint}" if error.hint else error.message


def outside(text: str, role: str = "") -> Span:
    """Text from a repository, a query or a path, on one line."""
    return Span(visible(text), role)


def begin_sentence(text: str) -> str:
    """Returns a text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def width(spans: Iterable[Span]) -> int:
    """Returns the width of a line in cells."""
    return sum(cell_width(span.text) for span in spans)


def plain(spans: Iterable[Span]) -> str:
    """Returns the text alone."""
    return "".join(span.text for span in spans)


def action_at(spans: Iterable[Span], cell: int) -> str:
    """Returns what a click on a cell of a line does; "" for nothing."""
    edge = 0
    for span in spans:
        edge += cell_width(span.text)
        if 0 <= cell < edge:
            return span.action
    return ""


def clip_line(spans: Line, cells: int) -> Line:
    """Returns the line within `cells`; what is cut ends in an ellipsis."""
    if width(spans) <= cells:
        return spans
    out: list[Span] = []
    room = cells
    for span in spans:
        used = cell_width(span.text)
        if used >= room:
            # One cell is kept back for the ellipsis, even when this span alone would just have fitted.
            out.append(span._replace(text=clip(span.text, room) if used > room else span.text[:-1] + ELLIPSIS))
            break
        out.append(span)
        room -= used
    return tuple(out)


def cut_cells(spans: Line, start: int, cells: int) -> Line:
    """Returns the cells of a line from `start` on, at most so many; half of a wide character is a blank."""
    out: list[Span] = []
    at, end = 0, start + cells
    for span in spans:
        text, used = span.text, cell_width(span.text)
        if at + used > start and at < end:
            wide = not text.isascii() and any(cell_width(letter) != 1 for letter in text)
            part = _cut_wide_text(text, start - at, end - at) if wide else text[max(0, start - at) : end - at]
            out.append(span._replace(text=part))
        at += used
        if at >= end:
            break
    return tuple(out)


def _cut_wide_text(text: str, start: int, end: int) -> str:
    out, at = "", 0
    for character in text:
        used = cell_width(character)
        inside = start <= at and at + used <= end
        if inside and (used or at > start or not at):  # what has no width of its own stays with what is before it
            out += character
        elif at < end and at + used > start and used > 1:
            out += " "
        at += used
    return out


def mark_places(spans: Line, places: Sequence[tuple[int, int]], role: str = "match") -> Line:
    """Returns the line with a further role on what stands between these characters; places are in order, and do not
    overlap."""
    if not places:
        return spans
    out: list[Span] = []
    at = 0
    for span in spans:
        text, done = span.text, 0
        for start, end in places:
            first, last = max(done, start - at), min(len(text), end - at)
            if first < last and last > 0:
                hit = Span(text[first:last], f"{span.role} {role}", span.action)
                out += [span._replace(text=text[done:first]), hit]
                done = last
        out.append(span._replace(text=text[done:]))
        at += len(text)
    return tuple(span for span in out if span.text)


def mark_cursor(drawn: Line, sign: str = "▸", role: str = "cursor") -> Line:
    """Returns a row with the cursor: a sign in place of the blank that it begins with."""
    first, *others = drawn
    spans = (first._replace(text=first.text[1:]), *others)
    return (Span(sign, f"accent {role}"), *(Span(span.text, f"{span.role} {role}") for span in spans if span.text))


def fit_text(text: str, cells: int) -> str:
    """Text clipped with an ellipsis and padded to exactly `cells`."""
    text = clip(text, cells)
    return text + " " * (cells - cell_width(text))


def choose_fitting(variants: Sequence[Line], cells: int) -> Line:
    """Returns the first variant that fits; else the last one, clipped."""
    return next((variant for variant in variants if width(variant) <= cells), clip_line(variants[-1], cells))


def wrap_words(text: str, cells: int, role: str = "", indent: str = "") -> list[Line]:
    """Wraps words to `cells`; a word longer than a line is cut into pieces, so that nothing is lost."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        while word and cell_width(indent + word) > cells:
            if current:
                lines.append(current)
                current = ""
            end = count_fitting(word, max(1, cells - cell_width(indent)))
            lines.append(word[:end])
            word = word[end:]
        if not current:
            current = word
        elif cell_width(indent + current) + 1 + cell_width(word) <= cells:
            current += " " + word
        else:
            lines.append(current)
            current = word
    if current:
        lines.append(current)
    return [(Span(indent + text, role),) for text in lines]


def wrap_name(text: str, cells: int, role: str = "") -> list[Line]:
    """Returns a name from outside in two lines at most."""
    return wrap_words(clip(visible(text), 2 * cells), cells, role)[:2]


def count_fitting(word: str, cells: int) -> int:
    """Counts the characters of `word` that fit into `cells`, at least one."""
    if word.isascii() and word.isprintable():
        return min(len(word), max(1, cells))
    used = 0
    for index, character in enumerate(word):
        used += cell_width(character)
        if used > cells:
            return max(1, index)
    return len(word)


def stack_bar(parts: Sequence[tuple[float, str, str]], full: float, cells: int) -> Line:
    """Returns a stacked bar. `parts` are (amount, texture, role), `full` is the amount of all `cells`.

    Edges are rounded from the running sum, so the whole bar is never longer or shorter than its total.
    """
    spans: list[Span] = []
    reached, drawn = 0.0, 0
    for amount, texture, role in parts:
        reached += max(0.0, amount)
        edge = min(cells, round(cells * reached / full)) if full > 0 else 0
        if edge > drawn:
            spans.append(Span(texture * (edge - drawn), role))
            drawn = edge
    if drawn < cells:
        spans.append(Span(" " * (cells - drawn)))
    return tuple(spans)


def spread_line(left: Line, right: Line, cells: int) -> Line:
    """Puts two lines at both ends of a row, with a gap of two cells at least."""
    return (*left, Span(" " * max(2, cells - width(left) - width(right))), *right)


def format_change(before: int, after: int) -> str:
    """Formats a change: `3,972 → 3,985 (+13)`."""
    return f"{before:,} → {after:,} ({format_signed(after - before)})"


def format_signed(number: int) -> str:
    """`+11`, `−11`, `±0`, with thousands separators."""
    return f"+{number:,}" if number > 0 else f"−{-number:,}" if number < 0 else "±0"


def format_places(climbed: int) -> str:
    """`▲3` for places gained, `▼2` for places lost."""
    return f"{'▲' if climbed > 0 else '▼'}{abs(climbed):,}"
