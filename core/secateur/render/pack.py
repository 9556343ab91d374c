"""The pack, which a model reads, as Markdown or XML: file by file, and at the end what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from secateur.model import Notice, Selection, State
from secateur.render.layouts import CDATA_END, Item, Layout, layout_of
from secateur.render.markdown import longest_run
from secateur.render.page import notices_of, shown_notices
from secateur.terminal import visible
from secateur.tokens import Counter, get_counter

_MOST_NAMES = 3  # most candidates that the line about what was left out names
_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


def body(text: str) -> str:
    """Returns `text` in the form of a pack: `terminal.visible`, no blank lines around it, one line break at its end;
    blank text becomes "".

    The token count of a fragment is the count of this. Idempotent.
    """
    plain = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    if not plain:
        text = visible(text, keep_newlines=True, keep_tabs=True)
    text = _LEADING_BLANK_LINES.sub("", text).rstrip()
    return text + "\n" if text else ""


def ingredients(text: str) -> tuple[int, int]:
    """Returns (longest run of backticks if 3 or more, else 0; number of `]]>`), which limit a wrapper. No part of
    `text` has more of either."""
    return longest_run(text), text.count(CDATA_END)


def file_block(layout: Layout, path: str, language: str, items: str) -> str:
    """Formats the items of a file as its block."""
    start, end = layout.file_ends(language, longest_run(items))
    return start + layout.file_heading(path) + items + end


def render_pack(selection: Selection, content: Callable[[int], str], shortened: Callable[[int], str]) -> str:
    """Renders the pack in the format that the selection was decided for. An empty selection gives its notices;
    `render_message` respects the budget.

    Args:
        content: returns the text of a pool row; called only for rows kept whole.
        shortened: returns the shortened text of a pool row; called only for shortened rows.

    Raises:
        UsageError: no such format.
    """
    pool = selection.pool
    layout = layout_of(pool.format)
    if not selection.kept_rows:
        return _message(layout, shown_notices(notices_of(selection)))

    def item_of(row: int) -> Item:
        lines = int(pool.line_start[row]), int(pool.line_end[row])
        return Item(*lines, pool.kind[row], pool.qualname[row], selection.state[row] != State.KEPT)

    parts = [layout.head(pool.query)]
    for path, rows in groupby(selection.pack_rows, pool.path.__getitem__):
        texts = {row: body((content if selection.state[row] == State.KEPT else shortened)(row)) for row in rows}
        items = (layout.heading(item_of(row)) + layout.text(text) for row, text in texts.items())
        parts.append(file_block(layout, path, pool.language[next(iter(texts))], layout.close.join((*items, ""))))
    # The line that says what was left out has as many names as its room holds.
    left_out, counter = selection.left_out, get_counter(pool.counter)
    names = [name for row in left_out[:_MOST_NAMES].tolist() if (name := pool.qualname[row])]
    lines = (layout.last_line(len(left_out), names[:count]) for count in range(len(names), -1, -1))
    last_line = next((line for line in lines if counter.count(line) <= selection.last_line), "")
    parts += [last_line, layout.foot]
    return "".join(parts).rstrip("\n") + "\n"


def render_message(selection: Selection, counter: Counter) -> str:
    """Returns the text instead of an empty pack: its notices, or only their codes, or nothing, whichever fits the
    budget.

    With a budget of 0 the notices are returned anyway: they must be shown (SC-SP-005), and are not meant for a model.
    """
    texts = _messages(selection.pool.format, notices_of(selection))
    return next((text for text in texts if selection.budget == 0 or counter.count(text) <= selection.budget), "")


def gives_notices(text: str, notices: Sequence[Notice], form: str) -> bool:
    """Tells whether a text stands instead of an empty pack and gives these notices, at least their codes."""
    return bool(text) and text in _messages(form, notices)[:2]


def _messages(form: str, notices: Sequence[Notice]) -> Sequence[str]:
    shown = shown_notices(notices)
    codes = [Notice(notice.code, notice.code) for notice in shown]
    return [_message(layout_of(form), part) for part in (shown, codes, [])]


def _message(layout: Layout, notices: Sequence[Notice]) -> str:
    text = "".join((layout.head(""), *map(layout.notice, notices), layout.foot)).strip("\n")
    return text + "\n" if text else ""
