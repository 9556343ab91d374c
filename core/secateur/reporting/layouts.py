"""Markdown and XML packs as pieces of text whose token counts add up.

Seams between pieces are places where the tokenizers' word patterns always cut: a line break before a visible character that is
no slash (o200k joins `}` + line break + `/`), or a letter or digit before a mark or a space. A byte-pair encoding never joins
text across such a seam, so the tokens of a pack are the sum of the tokens of its pieces. `costs` relies on it, tests hold it.

Text from outside cannot break the structure: a fence is longer than any run of backticks inside, paths and names stand in code
spans or quoted attributes that hold neither backticks nor quotes, CDATA is split where the text would end it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol
from xml.sax.saxutils import escape

from secateur.errors import UsageError
from secateur.model import Notice
from secateur.terminal import ELLIPSIS, visible

LONGEST_LABEL = 160
"""Characters of a name or a query that a pack prints: the heading of a document can be a whole paragraph."""

SHORTEST_FENCE = 3
CDATA_END = "]]>"

_CDATA_END_SPLIT = "]]]]><![CDATA[>"
_NOT_TAG = re.compile("[^a-z0-9]")
_MARKDOWN_MARKS = re.compile(r"[\\*_\[\]<>&#|~]")
_QUOTES = {'"': "&quot;"}


@dataclass(frozen=True, slots=True)
class Item:
    """What a pack says of a row beside its text."""

    path: str
    line_start: int
    line_end: int
    kind: str
    qualname: str
    shortened: bool = False


class Layout(Protocol):
    """One pack format."""

    signature_mark: str
    """What the heading of a shortened item holds more than that of a whole one."""

    cdata_end_cost: int
    """Most tokens that one `]]>` in a body adds."""

    def head(self, query: str) -> str:
        """The first lines; least of all where `query` is empty."""
        ...

    def notice(self, notice: Notice) -> str: ...
    def heading(self, item: Item) -> str: ...
    def open(self, language: str, backticks: int) -> str:
        """What stands before a body whose longest run of backticks is `backticks`."""
        ...

    def text(self, body: str) -> str: ...
    def close(self, backticks: int) -> str: ...
    def foot(self) -> str: ...


class Markdown:
    """A heading with path, lines, kind and qualified name, then a fenced block."""

    signature_mark = " signature"
    cdata_end_cost = 0

    def head(self, query: str) -> str:
        return f"# Context for `{_line(query)}`\n\n" if query else ""

    def notice(self, notice: Notice) -> str:
        return f"> {_MARKDOWN_MARKS.sub(_backslashed, _one_line(notice.message))}\n\n"

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        return f"## `{_unticked(item.path)}:{item.line_start}-{item.line_end} {item.kind}{mark}{_spaced(_line(item.qualname))}`\n"

    def open(self, language: str, backticks: int) -> str:
        return f"{_fence(backticks)}{_NOT_TAG.sub('', language.lower()) or 'text'}\n"

    def text(self, body: str) -> str:
        return body

    def close(self, backticks: int) -> str:
        return f"{_fence(backticks)}\n\n"

    def foot(self) -> str:
        return ""


class Xml:
    """One `<fragment>` per item, its text in CDATA, in one `<context>`."""

    signature_mark = ' form="signature"'
    cdata_end_cost = 8  # 5 was the most that 60,000 random surroundings needed

    def head(self, query: str) -> str:
        return f'<context query="{_attribute(_line(query))}">\n' if query else "<context>\n"

    def notice(self, notice: Notice) -> str:
        return f'<warning code="{_attribute(notice.code)}">{escape(_one_line(notice.message))}</warning>\n'

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        lines = f"{item.line_start}-{item.line_end}"
        return f'<fragment path="{_attribute(item.path)}" lines="{lines}" kind="{item.kind}" name="{_attribute(_line(item.qualname))}"{mark}'

    def open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        # The space keeps the line break from joining marks to a slash that begins the body.
        return f' language="{_NOT_TAG.sub("", language.lower()) or "text"}"><![CDATA[ \n'

    def text(self, body: str) -> str:
        return body.replace(CDATA_END, _CDATA_END_SPLIT)

    def close(self, backticks: int) -> str:  # noqa: ARG002
        return "]]></fragment>\n"

    def foot(self) -> str:
        return "</context>\n"


LAYOUTS: dict[str, Layout] = {"markdown": Markdown(), "xml": Xml()}


def layout_of(form: str) -> Layout:
    """The layout called `form`.

    Raises:
        UsageError: there is none.
    """
    layout = LAYOUTS.get(form)
    if layout is None:
        raise UsageError(f"there is no pack format {form!r}", hint="a pack is " + " or ".join(LAYOUTS))
    return layout


def _fence(backticks: int) -> str:
    return "`" * max(SHORTEST_FENCE, backticks + 1)


def _one_line(text: str) -> str:
    return _unticked(" ".join(text.split()))


def _line(text: str) -> str:
    line = _one_line(text[: 2 * LONGEST_LABEL])
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + ELLIPSIS


def _unticked(text: str) -> str:
    return visible(text).replace("`", "'")


def _spaced(name: str) -> str:
    return f" {name}" if name else ""


def _backslashed(mark: re.Match[str]) -> str:
    return "\\" + mark[0]


def _attribute(text: str) -> str:
    return escape(visible(text), _QUOTES)
