"""Notebooks: every cell is a unit, and all Python cells together are read as one module."""

import re
from itertools import accumulate

from secateur.languages.python import LANGUAGES as PYTHON
from secateur.languages.python import reader as python
from secateur.languages.syntax.collector import ALWAYS, Captures, Collector, Definition
from secateur.languages.syntax.text import split_lines
from secateur.languages.traits import Grammar, LanguageTraits
from secateur.model import FragmentKind

LANGUAGES = (
    LanguageTraits(
        name="notebook",
        extensions="ipynb",
        line_comment="#",
        block_comments=False,
        triple_quotes=True,
        grammar=Grammar("tree_sitter_python", __name__, queries="python"),
        silent=PYTHON[0].silent,
        lines_end_statements=True,
        rules=PYTHON[0].rules,
        keywords=PYTHON[0].keywords,
    ),
)

_CELL = "# %%"
_MAGIC = re.compile(rb"[ \t]*[%!?]")
_NAME_LENGTH = 80


def prepare(source: bytes, _language: str) -> bytes:
    """Replaces everything but Python with blanks: other cells, and shell or notebook commands."""
    kept: list[bytes] = []
    is_code = False
    for line in source.split(b"\n"):
        if line.startswith(_CELL.encode()):
            is_code = line.strip() == _CELL.encode()
        elif line.startswith(b"%%"):
            is_code = False  # a cell in another language
        kept.append(line if is_code and not _MAGIC.match(line) else b" " * len(line))
    return b"\n".join(kept)


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions and calls of the code, and adds the cells."""
    python.read(captures, out)
    lines = split_lines(out.source.decode("utf-8", errors="replace"))
    starts = [row for row, line in enumerate(lines) if line.startswith(_CELL)]
    offsets = list(accumulate((len(line) + 1 for line in out.source.split(b"\n")), initial=0))
    for first, after in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = max(row for row in range(first, after) if row == first or lines[row].strip())
        name = ""
        if lines[first].strip() != _CELL:  # named by the first heading in it, or else by the first line
            cell = lines[first + 1 : last + 1]
            texts = [line.strip() for line in cell if line.strip() and not line.startswith("#>")]
            heading = next((text for text in texts if text.startswith("#")), texts[0] if texts else "")
            name = heading.lstrip("# ")[:_NAME_LENGTH]
        span = (offsets[first], offsets[last + 1] - 1)
        out.definitions.append(Definition(FragmentKind.SECTION, name, *span, first, last, first, first, ALWAYS))
