"""Markdown and XML packs as pieces of text whose token counts add up.

Pieces meet where the tokenizers' word patterns always split: a line break before a visible character that is not a
slash (o200k joins `}` + line break + `/`), or a letter or digit before a mark or a space. A byte-pair encoding never
joins text across such a seam, so the tokens of a pack are the sum of the tokens of its pieces. `costs` relies on it,
tests check it.

Every token of a wrapper is missing for code, so a wrapper only says what the text does not: where it is from, and what
it belongs to. The kind and the name of a definition are in its first lines.

If fragments of a file share a heading (`shorten.headings`), a file is one block, or one `<file>`: its path is written
once, and each item has its lines and its owner. The other layouts have nothing around the items of a file.

Outside text cannot break the structure: Markdown is escaped (`markdown`), a quoted attribute contains no quotes, CDATA
is split where the text would end it. In a block of a file, a line that looks like the heading of an item can only mean
that file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape  # xml.sax would import urllib, http and ssl
from typing import Protocol

from secateur.errors import UsageError
from secateur.model import FragmentKind, Notice
from secateur.render.markdown import escape_line, fence_ends, heading, one_line, replace_backticks
from secateur.terminal import ELLIPSIS, visible

LONGEST_LABEL = 160
"""Most characters of a name or a query in a pack: the heading of a document can be a whole paragraph."""

CDATA_END = "]]>"

_CDATA_END_SPLIT = "]]]]><![CDATA[>"
_NOT_TAG = re.compile("[^a-z0-9]")
_ENDS_IN_WORD = re.compile(r"[^\W_]\Z")
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)
"""Kinds whose qualified name is made from the names of their containers."""


@dataclass(frozen=True, slots=True)
class Item:
    """The facts about a row that a pack shows besides its text."""

    path: str
    line_start: int
    line_end: int
    kind: str
    qualname: str
    shortened: bool = False


class Layout(Protocol):
    """One pack format."""

    signature_mark: str
    """The additional text in the heading of a shortened item."""

    cdata_end_cost: int
    """Most tokens that one `]]>` in a body adds."""

    def head(self, query: str) -> str:
        """Returns the first lines; as few as possible if `query` is empty."""
        ...

    def notice(self, notice: Notice) -> str: ...
    def file_open(self, language: str, backticks: int) -> str:
        """Returns the beginning of a file's items; `backticks` is the longest run in their bodies."""
        ...

    def file_heading(self, path: str) -> str:
        """Returns the rest of that line."""
        ...

    def file_close(self, backticks: int) -> str: ...
    def open(self, language: str, backticks: int) -> str:
        """Returns the beginning of an item; `backticks` is the longest run in its body."""
        ...

    def heading(self, item: Item) -> str:
        """Returns the rest of that line: where the body is from."""
        ...

    def text(self, body: str) -> str: ...
    def close(self, backticks: int) -> str: ...
    def foot(self) -> str: ...


class _NoFiles:
    """Puts nothing around the items of a file."""

    def file_open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return ""

    def file_heading(self, path: str) -> str:  # noqa: ARG002
        return ""

    def file_close(self, backticks: int) -> str:  # noqa: ARG002
        return ""


class Markdown(_NoFiles):
    """One fenced block per item; after the language follow its path, its lines and its owner."""

    signature_mark = " signature"
    cdata_end_cost = 0

    def head(self, query: str) -> str:
        return heading(1, f"Context for `{_line(query)}`") + "\n" if query else ""

    def notice(self, notice: Notice) -> str:
        return f"> {escape_line(one_line(notice.message))}\n\n"

    def open(self, language: str, backticks: int) -> str:
        return fence_ends(_tag(language), backticks)[0]

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        return f" {replace_backticks(item.path)}:{item.line_start}-{item.line_end}{_owner(item)}{mark}\n"

    def text(self, body: str) -> str:
        return body

    def close(self, backticks: int) -> str:
        return fence_ends("", backticks)[1]

    def foot(self) -> str:
        return ""


class MarkdownByFile(Markdown):
    """One fenced block per file, with its path after the language; before each item a line like the hunk header of a
    diff, with its lines and its owner."""

    def file_open(self, language: str, backticks: int) -> str:
        return super().open(language, backticks)

    def file_heading(self, path: str) -> str:
        return f" {replace_backticks(path)}\n"

    def file_close(self, backticks: int) -> str:
        return super().close(backticks)

    def open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return ""

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        return f"@@{item.line_start}-{item.line_end}{_owner(item)}{mark}\n"

    def close(self, backticks: int) -> str:  # noqa: ARG002
        return ""


class Xml(_NoFiles):
    """One `<fragment>` per item, its text in CDATA, in one `<context>`."""

    signature_mark = ' form="signature"'
    cdata_end_cost = 8  # 5 was the most that 60,000 random surroundings needed

    def head(self, query: str) -> str:
        return f'<context query="{_attribute(_line(query))}">\n' if query else "<context>\n"

    def notice(self, notice: Notice) -> str:
        return f'<warning code="{_attribute(notice.code)}">{escape(one_line(notice.message), quote=False)}</warning>\n'

    def open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return f'<fragment language="{_tag(language)}"'

    def heading(self, item: Item) -> str:
        return f' path="{_attribute(item.path)}"{self._place(item)}'

    def _place(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        # The space at the end keeps the line break from joining marks to a slash that begins the body.
        return (
            f' lines="{item.line_start}-{item.line_end}" kind="{item.kind}"'
            f' name="{_attribute(_line(item.qualname))}"{mark}><![CDATA[ \n'
        )

    def text(self, body: str) -> str:
        return body.replace(CDATA_END, _CDATA_END_SPLIT)

    def close(self, backticks: int) -> str:  # noqa: ARG002
        return "]]></fragment>\n"

    def foot(self) -> str:
        return "</context>\n"


class XmlByFile(Xml):
    """One `<file>` per file, with its language and its path, and inside it one `<fragment>` per item."""

    def file_open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return f'<file language="{_tag(language)}"'

    def file_heading(self, path: str) -> str:
        return f' path="{_attribute(path)}">\n'

    def file_close(self, backticks: int) -> str:  # noqa: ARG002
        return "</file>\n"

    def open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return "<fragment"

    def heading(self, item: Item) -> str:
        return self._place(item)


LAYOUTS: dict[str, Layout] = {"markdown": Markdown(), "xml": Xml()}

_BY_FILE: dict[str, Layout] = {"markdown": MarkdownByFile(), "xml": XmlByFile()}


def layout_of(form: str, *, by_file: bool = False) -> Layout:
    """Returns the layout called `form`; with `by_file`, the one in which the items of a file share a heading.

    Raises:
        UsageError: there is no such layout.
    """
    layout = (_BY_FILE if by_file else LAYOUTS).get(form)
    if layout is None:
        raise UsageError(f"unknown pack format {form!r}", hint="a pack is " + " or ".join(LAYOUTS))
    return layout


def _tag(language: str) -> str:
    return _NOT_TAG.sub("", language.lower()) or "text"


def _line(text: str) -> str:
    line = one_line(text[: 2 * LONGEST_LABEL])
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + ELLIPSIS


def _owner(item: Item) -> str:
    """Returns the owner of a member after a space, which the member's own text does not say; "" if it ends in a mark,
    which would join the line break."""
    owner = _line(item.qualname.rpartition(".")[0]) if item.kind in _MEMBERS else ""
    return f" {owner}" if _ENDS_IN_WORD.search(owner) else ""


def _attribute(text: str) -> str:
    return escape(visible(text), quote=False).replace('"', "&quot;")


def pack_format(form: str) -> str:
    """Returns the format of the pack behind an output: in text and JSON, candidates cost what they do in Markdown."""
    return form if form in LAYOUTS else "markdown"
