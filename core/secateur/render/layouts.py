"""Markdown and XML packs as pieces of text whose token counts add up.

Seams between pieces are places where the tokenizers' word patterns always cut: a line break before a visible character
that is no slash (o200k joins `}` + line break + `/`), or a letter or digit before a mark or a space. A byte-pair
encoding never joins text across such a seam, so the tokens of a pack are the sum of the tokens of its pieces. `costs`
relies on it, tests hold it.

Every token of a wrapper is one that code cannot have, so a wrapper says only what the text does not: where it is from,
and what it belongs to. The kind and the name of a definition stand in its first lines.

Where fragments of a file share a heading (`shorten.headings`), a file is one block, or one `<file>`: its path stands
once, and each item says its lines and what it is a member of. The other layouts have nothing around the items of a
file.

Text from outside cannot break the structure: what Markdown is made of says so itself (`markdown`), a quoted attribute
holds no quotes, CDATA is split where the text would end it. A line that looks like the heading of an item in a block of
a file can only speak of that file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape  # xml.sax would import urllib, http and ssl
from typing import Protocol

from secateur.errors import UsageError
from secateur.model import FragmentKind, Notice
from secateur.render.markdown import escaped, fence_ends, heading, one_line, unticked
from secateur.terminal import ELLIPSIS, visible

LONGEST_LABEL = 160
"""Characters of a name or a query that a pack prints: the heading of a document can be a whole paragraph."""

CDATA_END = "]]>"

_CDATA_END_SPLIT = "]]]]><![CDATA[>"
_NOT_TAG = re.compile("[^a-z0-9]")
_ENDS_IN_WORD = re.compile(r"[^\W_]\Z")
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)
"""Kinds whose qualified name is made of the names of what they stand in."""


@dataclass(frozen=True, slots=True)
class Item:
    """The facts of a row that a pack tells beside its text."""

    path: str
    line_start: int
    line_end: int
    kind: str
    qualname: str
    shortened: bool = False


class Layout(Protocol):
    """One pack format."""

    signature_mark: str
    """The text that the heading of a shortened item has and that of a whole one has not."""

    cdata_end_cost: int
    """Most tokens that one `]]>` in a body adds."""

    def head(self, query: str) -> str:
        """The first lines; least of all where `query` is empty."""
        ...

    def notice(self, notice: Notice) -> str: ...
    def file_open(self, language: str, backticks: int) -> str:
        """The beginning of the items of a file, whose bodies' longest run of backticks is `backticks`."""
        ...

    def file_heading(self, path: str) -> str:
        """The rest of that line."""
        ...

    def file_close(self, backticks: int) -> str: ...
    def open(self, language: str, backticks: int) -> str:
        """The beginning of an item whose body's longest run of backticks is `backticks`."""
        ...

    def heading(self, item: Item) -> str:
        """The rest of that line: where the body is from."""
        ...

    def text(self, body: str) -> str: ...
    def close(self, backticks: int) -> str: ...
    def foot(self) -> str: ...


class _NoFiles:
    """Nothing stands around the items of a file."""

    def file_open(self, language: str, backticks: int) -> str:  # noqa: ARG002
        return ""

    def file_heading(self, path: str) -> str:  # noqa: ARG002
        return ""

    def file_close(self, backticks: int) -> str:  # noqa: ARG002
        return ""


class Markdown(_NoFiles):
    """A fenced block an item; behind the language its path, its lines and what it is a member of."""

    signature_mark = " signature"
    cdata_end_cost = 0

    def head(self, query: str) -> str:
        return heading(1, f"Context for `{_line(query)}`") + "\n" if query else ""

    def notice(self, notice: Notice) -> str:
        return f"> {escaped(one_line(notice.message))}\n\n"

    def open(self, language: str, backticks: int) -> str:
        return fence_ends(_tag(language), backticks)[0]

    def heading(self, item: Item) -> str:
        mark = self.signature_mark if item.shortened else ""
        return f" {unticked(item.path)}:{item.line_start}-{item.line_end}{_owner(item)}{mark}\n"

    def text(self, body: str) -> str:
        return body

    def close(self, backticks: int) -> str:
        return fence_ends("", backticks)[1]

    def foot(self) -> str:
        return ""


class MarkdownByFile(Markdown):
    """A fenced block a file, with its path behind the language; before each item a line that begins like the hunks of a
    diff, with its lines and what it is a member of."""

    def file_open(self, language: str, backticks: int) -> str:
        return super().open(language, backticks)

    def file_heading(self, path: str) -> str:
        return f" {unticked(path)}\n"

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
    """One `<file>` a file, with its language and its path, and in it one `<fragment>` per item."""

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
    """The layout called `form`; `by_file`: the one in which the items of a file share a heading.

    Raises:
        UsageError: there is none.
    """
    layout = (_BY_FILE if by_file else LAYOUTS).get(form)
    if layout is None:
        raise UsageError(f"there is no pack format {form!r}", hint="a pack is " + " or ".join(LAYOUTS))
    return layout


def _tag(language: str) -> str:
    return _NOT_TAG.sub("", language.lower()) or "text"


def _line(text: str) -> str:
    line = one_line(text[: 2 * LONGEST_LABEL])
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + ELLIPSIS


def _owner(item: Item) -> str:
    """The owner of a member, behind a space: the one thing of its name that its own text does not say. "" where it ends
    in a mark: a line break would join it."""
    owner = _line(item.qualname.rpartition(".")[0]) if item.kind in _MEMBERS else ""
    return f" {owner}" if _ENDS_IN_WORD.search(owner) else ""


def _attribute(text: str) -> str:
    return escape(visible(text), quote=False).replace('"', "&quot;")


def pack_format(form: str) -> str:
    """The format of the pack behind an output: candidates of text and JSON cost what they do in Markdown."""
    return form if form in LAYOUTS else "markdown"
