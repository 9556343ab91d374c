"""Markdown and XML packs as pieces of text whose token counts add up.

Pieces meet where the tokenizers' word patterns always split: a line break before a visible character that is not a
slash (o200k joins `}` + line break + `/`), or a letter or digit before a mark or a space. A byte-pair encoding never
joins text across such a seam, so the tokens of a pack are the sum of the tokens of its pieces. `PackCosts` relies on
it, tests check it.

Every token of a wrapper is missing for code, so a wrapper only says what the text does not: where it is from, and what
it belongs to. The kind and the name of a definition are in its first lines.

A file is one block, or one `<file>`: its path is written once, and each item has its lines and its owner.

Outside text cannot break the structure: Markdown is escaped (`markdown`), a quoted attribute contains no quotes, CDATA
is split where the text would end it. In a block of a file, a line that looks like the heading of an item can only mean
that file.

The pack, which a model reads, as Markdown or XML: file by file, and at the end what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape  # xml.sax would import urllib, http and ssl
from itertools import groupby

import numpy as np
from msgspec import Struct

from secateur.errors import UsageError
from secateur.model import FragmentKind, IntArray, Notice, Selection, State
from secateur.render.markdown import (
    SHORTEST_FENCE,
    escape_line,
    fence_ends,
    heading,
    longest_run,
    one_line,
    replace_backticks,
)
from secateur.render.page import count_noun, notices_of, shown_notices
from secateur.terminal import ELLIPSIS, visible
from secateur.tokens import Counter, get_counter

# Most characters of a name or a query in a pack: the heading of a document can be a whole paragraph.
LONGEST_LABEL = 160

CDATA_END = "]]>"

_CDATA_END_SPLIT = "]]]]><![CDATA[>"
_NOT_TAG = re.compile("[^a-z0-9]")
_ENDS_IN_WORD = re.compile(r"[^\W_]\Z")
# Kinds whose qualified name is made from the names of their containers.
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


class Item(Struct, frozen=True):
    """The facts about a row that a pack shows besides its path and its text."""

    line_start: int
    line_end: int
    kind: str
    qualname: str
    shortened: bool = False


class Layout:
    """One pack format: the items of a file stand in one block, which begins with the file's path.

    This one is Markdown: one fenced block per file, with its path after the language; before each item a line like the
    hunk header of a diff, with its lines and its owner."""

    signature_mark = " signature"  # the additional text in the heading of a shortened item
    cdata_end_cost = 0  # most tokens that one `]]>` in a body adds
    close = ""  # the text after the body of an item
    foot = ""  # the last line

    def head(self, query: str) -> str:
        """Returns the first lines; as few as possible if `query` is empty."""
        return heading(1, f"Context for `{_line(query)}`") + "\n" if query else ""

    def notice(self, notice: Notice) -> str:
        return f"> {escape_line(one_line(notice.message))}\n\n"

    def file_ends(self, language: str, backticks: int) -> tuple[str, str]:
        """Returns the beginning and the end of a file; `backticks` is the longest run in its bodies."""
        return fence_ends(_tag(language), backticks)

    def file_heading(self, path: str) -> str:
        """Returns the rest of the first line."""
        return f" {replace_backticks(path)}\n"

    def heading(self, item: Item) -> str:
        """Returns the line before a body: its lines and its owner."""
        mark = self.signature_mark if item.shortened else ""
        # the owner of a member, which the member's own text does not say; no mark, which would join the line break
        owner = _line(item.qualname.rpartition(".")[0]) if item.kind in _MEMBERS else ""
        owner = f" {owner}" if _ENDS_IN_WORD.search(owner) else ""
        return f"@@{item.line_start}-{item.line_end}{owner}{mark}\n"

    def text(self, body: str) -> str:
        return body

    def last_line(self, count: int, names: Sequence[str]) -> str:
        """Returns the line that says how many candidates were left out, names the best, and says how to get them."""
        best = ", best first: " + ", ".join(f"`{_line(name)}`" for name in names) if names else ""
        return f"{count_noun(count, 'candidate')} left out{best}; a larger budget holds more.\n"


class _Xml(Layout):
    """One `<file>` per file, with its language and its path, in one `<context>`; inside it one `<fragment>` per item,
    its text in CDATA."""

    signature_mark = ' form="signature"'
    cdata_end_cost = 8  # 5 was the most that 60,000 random surroundings needed
    close = "]]></fragment>\n"
    foot = "</context>\n"

    def head(self, query: str) -> str:
        return f'<context query="{_attribute(_line(query))}">\n' if query else "<context>\n"

    def notice(self, notice: Notice) -> str:
        return f'<warning code="{_attribute(notice.code)}">{escape(one_line(notice.message), quote=False)}</warning>\n'

    def file_ends(self, language: str, backticks: int) -> tuple[str, str]:  # noqa: ARG002
        return f'<file language="{_tag(language)}"', "</file>\n"

    def file_heading(self, path: str) -> str:
        return f' path="{_attribute(path)}">\n'

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        # The space at the end keeps the line break from joining marks to a slash that begins the body.
        return (
            f'<fragment lines="{item.line_start}-{item.line_end}" kind="{item.kind}"'
            f' name="{_attribute(_line(item.qualname))}"{mark}><![CDATA[ \n'
        )

    def text(self, body: str) -> str:
        return body.replace(CDATA_END, _CDATA_END_SPLIT)

    def last_line(self, count: int, names: Sequence[str]) -> str:
        best = f' best="{_attribute(", ".join(map(_line, names)))}"' if names else ""
        return f"<left-out{best}>{count_noun(count, 'candidate')}; a larger budget holds more</left-out>\n"


LAYOUTS = {"markdown": Layout(), "xml": _Xml()}


def layout_of(form: str) -> Layout:
    """Returns the layout called `form`. Raises UsageError: there is no such layout."""
    if (layout := LAYOUTS.get(form)) is None:
        raise UsageError(f"unknown pack format {form!r}", hint="a pack is " + " or ".join(LAYOUTS))
    return layout


def _tag(language: str) -> str:
    return _NOT_TAG.sub("", language.lower()) or "text"


def _line(text: str) -> str:
    line = one_line(text[: 2 * LONGEST_LABEL])
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + ELLIPSIS


def _attribute(text: str) -> str:
    return escape(visible(text), quote=False).replace('"', "&quot;")


def pack_format(form: str) -> str:
    """Returns the format of the pack behind an output: in text and JSON, candidates cost what they do in Markdown."""
    return form if form in LAYOUTS else "markdown"


LAST_LINE = 30  # most tokens of the line that says what was left out
# Longer runs of backticks, found only in hostile text, cost a token for each backtick of both fences.
_LONGEST_COUNTED_RUN = 32


class PackCosts:
    """The costs of rows in one format by one counter, in tokens: upper bounds that `select` can add up, so that the
    rendered pack never exceeds the budget.

        count(render_pack(selection, ...)) <= overhead(query) + sum of cost over the rows in the output
                                             + sum of heading over their files + selection.last_line

    For Markdown and a byte-pair counter, the two sides are equal except for the last item and the line that says what
    was left out. For each fragment the index stores `counter.count(body(text))` and the two numbers of
    `ingredients(text)`; headings are counted for the rows of a pool, or stored too.

        costs = PackCosts(counter, "markdown")
        wrapper = costs.wrappers(costs.headings(items), cdata_ends)
        cost, sig_cost = tokens + wrapper, sig_tokens + wrapper + costs.signature_mark
        heading = costs.files(paths, languages, backticks)     # once for all rows of a file

    Raises UsageError: no such format.
    """

    def __init__(self, counter: Counter, form: str = "markdown") -> None:
        self._counter = counter
        self._layout = layout_of(form)
        self._frames: dict[tuple[str, int], int] = {}
        # additional tokens in the heading of a shortened row; tokens after the body of a row
        self.signature_mark, self._close = counter.count_many([self._layout.signature_mark, self._layout.close])

    def overhead(self, query: str) -> int:
        """Returns the tokens that belong to no row: head and foot."""
        return sum(self._counter.count_many([self._layout.head(query), self._layout.foot]))

    def headings(self, items: Iterable[Item]) -> IntArray:
        """Returns the exact tokens of each row's heading; about 3 microseconds per row."""
        return np.array(self._counter.count_many(map(self._layout.heading, items)), dtype=np.int64)

    def wrappers(self, headings: IntArray, cdata_ends: IntArray) -> IntArray:
        """Returns the tokens of a row besides its text: heading, tags, splits of CDATA. Arrays of one size."""
        return np.asarray(headings + self._close + self._layout.cdata_end_cost * cdata_ends)

    def files(self, paths: Sequence[str], languages: Sequence[str], backticks: IntArray) -> IntArray:
        """Returns the most tokens around the rows of each row's file, whichever of them are kept: heading, fence or
        tags. Arrays of one length."""
        indexes = {path: index for index, path in enumerate(dict.fromkeys(paths))}
        file = np.array([indexes[path] for path in paths], dtype=np.int64)
        longest, most = np.zeros(len(indexes), dtype=np.int64), np.zeros(len(indexes), dtype=np.int64)
        np.maximum.at(longest, file, backticks)
        frames = map(self._frame, languages, longest[file].tolist())
        np.maximum.at(most, file, np.fromiter(frames, dtype=np.int64, count=len(file)))
        return (most + np.array(self._counter.count_many(map(self._layout.file_heading, indexes)), dtype=np.int64))[
            file
        ]

    def _frame(self, language: str, backticks: int) -> int:
        """Returns the most tokens before and after the bodies of a file, whose longest run is at most `backticks` (what
        is kept of them may have a shorter one)."""
        if (known := self._frames.get((language, backticks))) is None:
            runs = range(SHORTEST_FENCE - 1, max(SHORTEST_FENCE, min(backticks, _LONGEST_COUNTED_RUN) + 1))
            known = max(sum(self._counter.count_many(self._layout.file_ends(language, run))) for run in runs)
            known += 2 * backticks if backticks > _LONGEST_COUNTED_RUN else 0
            self._frames[language, backticks] = known
        return known


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
    """Returns the text instead of an empty pack: its notices, or their codes as they fit, or nothing.

    With a budget of 0 the notices are returned anyway: they must be shown (SC-SP-005), and are not meant for a model.
    """
    texts = _messages(selection.pool.format, notices_of(selection))
    return next((text for text in texts if selection.budget == 0 or counter.count(text) <= selection.budget), "")


def gives_notices(text: str, notices: Sequence[Notice], form: str) -> bool:
    """Tells whether a text stands instead of an empty pack and gives these notices, at least their codes."""
    return bool(text) and text in _messages(form, notices)[:-1]


def _messages(form: str, notices: Sequence[Notice]) -> Sequence[str]:
    shown, layout = shown_notices(notices), layout_of(form)
    codes = " ".join(notice.code for notice in shown)
    short = (f'<context warning="{_attribute(codes)}"/>\n',) if layout.foot else ()
    bare = _message(layout, [Notice(notice.code, notice.code) for notice in shown])
    return [_message(layout, shown), bare, *short, *((f"{codes}\n",) if codes else ()), _message(layout, [])]


def _message(layout: Layout, notices: Sequence[Notice]) -> str:
    text = "".join((layout.head(""), *map(layout.notice, notices), layout.foot)).strip("\n")
    return text + "\n" if text else ""
