"""The pack: what a model reads. One item per row that goes out, in priority order, as Markdown or XML; where rows of a
file share a heading, file by file."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from secateur.model import Notice, Selection, State
from secateur.render.layouts import CDATA_END, Item, Layout, layout_of
from secateur.render.markdown import longest_run
from secateur.render.notices import notices_of, packed_notices
from secateur.terminal import visible
from secateur.tokens import Counter

_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


def body(text: str) -> str:
    """`text` as it stands in a pack: `terminal.visible`, no blank lines around it, one line break at its end; blank
    text is "".

    The token count of a fragment is the count of this. Idempotent.
    """
    plain = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    if not plain:
        text = visible(text, keep_newlines=True, keep_tabs=True)
    text = _LEADING_BLANK_LINES.sub("", text).rstrip()
    return text + "\n" if text else ""


def ingredients(text: str) -> tuple[int, int]:
    """(longest run of backticks if 3 or more, else 0; number of `]]>`): what bounds a wrapper. No part of `text` has
    more of either."""
    return longest_run(text), text.count(CDATA_END)


def item_text(layout: Layout, item: Item, language: str, text: str) -> str:
    """`text` as one item of a pack."""
    shown = body(text)
    backticks = longest_run(shown)
    return layout.open(language, backticks) + layout.heading(item) + layout.text(shown) + layout.close(backticks)


def render_pack(
    selection: Selection, content: Callable[[int], str], shortened: Callable[[int], str], form: str = "markdown"
) -> str:
    """The pack in `form` ("markdown" or "xml"). An empty selection gives its notices, all of them; `render_message`
    keeps to the budget.

    Args:
        content: text of a pool row; asked only for rows kept whole.
        shortened: what goes out of a pool row; asked only for shortened rows.

    Raises:
        UsageError: no such format.
    """
    pool = selection.pool
    layout = layout_of(form, by_file=pool.heading is not None)
    parts = [layout.head(pool.query if selection.kept_rows else "")]
    parts += [layout.notice(notice) for notice in packed_notices(notices_of(selection))]
    for path, rows in groupby(selection.pack_rows, pool.path.__getitem__):
        texts = {row: body((content if selection.state[row] == State.KEPT else shortened)(row)) for row in rows}
        backticks = max(map(longest_run, texts.values()))
        parts += [layout.file_open(pool.language[next(iter(texts))], backticks), layout.file_heading(path)]
        parts += [item_text(layout, _item(selection, row), pool.language[row], text) for row, text in texts.items()]
        parts.append(layout.file_close(backticks))
    parts.append(layout.foot())
    return "".join(parts).rstrip("\n") + "\n"


def _item(selection: Selection, row: int) -> Item:
    pool = selection.pool
    return Item(
        pool.path[row],
        int(pool.line_start[row]),
        int(pool.line_end[row]),
        pool.kind[row],
        pool.qualname[row],
        selection.state[row] != State.KEPT,
    )


def render_message(selection: Selection, counter: Counter, form: str = "markdown") -> str:
    """The text in the place of an empty pack: its notices, or of each the code alone, or nothing, whichever the budget
    holds.

    With a budget of 0 it is the notices all the same: the least that has to be said (SC-SP-005), and nobody meant to
    send them to a model.
    """
    layout, notices = layout_of(form), packed_notices(notices_of(selection))
    for told in (notices, [Notice(notice.code, notice.code) for notice in notices], []):
        text = "".join((layout.head(""), *map(layout.notice, told), layout.foot())).strip("\n")
        text = text + "\n" if text else ""
        if selection.budget == 0 or counter.count(text) <= selection.budget:
            return text
    return ""
