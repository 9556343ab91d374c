"""Markdown and XML packs as pieces of text whose token counts add up.

Seams between pieces are places where the tokenizers' word patterns always cut: a line break before a visible character
that is no slash (o200k joins `}` + line break + `/`), or a letter or digit before a mark or a space. A byte-pair
encoding never joins text across such a seam, so the tokens of a pack are the sum of the tokens of its pieces. `costs`
relies on it, tests hold it.

Every token of a wrapper is one that code cannot have, so a wrapper says only what the text does not: where it is from,
and what it belongs to. The kind and the name of a definition stand in its first lines.

Text from outside cannot break the structure: what Markdown is made of says so itself (`markdown`), a quoted attribute
holds no quotes, CDATA is split where the text would end it.
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
    def open(self, language: str, backticks: int) -> str:
        """The beginning of an item whose body's longest run of backticks is `backticks`."""
        ...

    def heading(self, item: Item) -> str:
        """The rest of that line: where the body is from."""
        ...

    def text(self, body: str) -> str: ...
    def close(self, backticks: int) -> str: ...
    def foot(self) -> str: ...


class Markdown:
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


class Xml:
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
        mark = self.signature_mark if item.shortened else ""
        lines = f"{item.line_start}-{item.line_end}"
        # The space at the end keeps the line break from joining marks to a slash that begins the body.
        return (
            f' path="{_attribute(item.path)}" lines="{lines}" kind="{item.kind}"'
            f' name="{_attribute(_line(item.qualname))}"{mark}><![CDATA[ \n'
        )

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
