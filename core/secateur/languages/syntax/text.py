"""Turns bytes into text and lines, and a notebook into its cells. All modules count lines by this rule.

Lines end at "\n", as in git, and a "\r" before it is not part of the line. In a text without "\n" they end at "\r".
Form feeds and Unicode separators do not end a line, and a final line break does not start one.

Splits long stretches of lines where a reader would: before unindented text, after blank lines.

Rows count from 0. A piece is `(first, last)`, both inclusive, and neither end is a blank row.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence

from secateur.encodings import as_utf8

CONFLICT = "conflict_markers"  # problem of a file that holds both sides of a merge conflict
UNPARSED_LINES = (
    "unparsed_lines:"  # problem of a file some of whose code a grammar read; then how many lines it did not
)
DAMAGED_TEXT = "invalid_utf8"  # problem of a file with bytes that are not text


def decode(data: bytes) -> tuple[str, bool]:
    """Returns `(text, damaged)` for any encoding that `as_utf8` reads. `damaged`: U+FFFD replaced invalid bytes.

    A byte order mark is not part of the text. Never raises.
    """
    data = as_utf8(data).removeprefix(codecs.BOM_UTF8)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", errors="replace"), True


def read_text(path: str, data: bytes) -> tuple[str, bool]:
    """Returns the text of a file and `damaged`, as `decode` does; a notebook is shown as its cells."""
    text, damaged = decode(data)
    return (show_notebook(text) if path.lower().endswith(".ipynb") else text), damaged


def split_lines(text: str) -> list[str]:
    """Returns the lines of `text` without their line breaks; line number n (from 1) is element n - 1. Empty text has no
    lines."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines


def find_conflict(lines: Sequence[tuple[int, str]]) -> int:
    """Returns the number of the first line that marks a merge conflict; 0 without one. `lines`: number and text."""
    opened = next((number for number, text in lines if text.startswith("<<<<<<< ")), 0)
    return opened if opened and any(text.startswith(">>>>>>> ") for _, text in lines) else 0


_OUTPUT_LINES = 12  # most lines of a cell's results that are shown
_LINE_LENGTH = 2000  # most characters of a line of results that are shown

_INDENTED = re.compile(r'^[^\S\n]+"cell_type"\s*:', re.MULTILINE)
_KEY = re.compile(r'\s*"([\w./+-]+)"\s*:\s*(.*)')
_TEXT = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*+(?:,\s*+)?')
_CONTROLS = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN = frozenset({"text", "text/plain"})


def show_notebook(text: str) -> str:
    """Returns the text of a notebook as its cells; other texts as they are. Every line of the file stays one line.

    Source lines appear as written, below a line `# %%` or `# %% [markdown]`; results start with `#> ` and are
    shortened; a picture becomes a mark with its size. Lines with other JSON are blank.
    """
    if '"cells"' not in text or '"cell_type"' not in text:
        return text
    if not _INDENTED.search(text):
        try:
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        except (ValueError, RecursionError):
            return text
    shown: list[str] = []
    list_name = ""  # the JSON list that contains a line
    result_lines = _OUTPUT_LINES  # lines of results that may still be shown
    for line in text.split("\n"):
        shown_line, list_name, result_lines = _read_line(line, list_name, result_lines)
        shown.append(shown_line)
    return "\n".join(shown)


def _read_line(line: str, list_name: str, result_lines: int) -> tuple[str, str, int]:
    """Returns the line to show, the list that contains the next line, and how many lines of results may follow."""
    if (string := _TEXT.fullmatch(line)) is not None:
        if list_name == "source":
            return _decode_string(string[1]), list_name, result_lines
        if list_name in _SHOWN:
            return (_show_result(_decode_string(string[1])) if result_lines > 0 else ""), list_name, result_lines - 1
        return "", list_name, result_lines
    if line.strip().startswith(("]", "}")):
        return "", "", result_lines
    if (key := _KEY.fullmatch(line)) is None:
        return "", list_name, result_lines
    name, value = key[1], key[2].rstrip().removesuffix(",")
    if name == "cell_type":
        kind = value.strip('"')
        return ("# %%" if kind == "code" else f"# %% [{kind}]"), "", _OUTPUT_LINES
    if value.startswith("["):
        return "", name if not value.endswith("]") else "", result_lines
    if name == "source":
        return " ".join(_decode_string(value).split("\n")), "", result_lines
    if name in _SHOWN or name in ("ename", "evalue"):
        return (_show_result(_decode_string(value)) if result_lines > 0 else ""), "", result_lines - 1
    if "/" in name and value.startswith('"'):
        length = len(value) * 3 // 4  # four characters of base64 hold three bytes
        size = f"{length / 1000:,.0f} kB" if length >= 1000 else f"{length} bytes"
        return _show_result(f"[{name}, {size}]"), "", result_lines
    return "", list_name, result_lines


def _decode_string(string: str) -> str:
    try:
        return str(json.loads(string)).rstrip("\n")
    except ValueError:
        return string


def _show_result(text: str) -> str:
    flat = " ".join(_CONTROLS.sub("", text[:_LINE_LENGTH]).split("\n"))
    return f"#> {flat}".rstrip()


BLOCK_LINES = 60  # most lines of a block of plain text: about one screen, some 600 tokens
REGION_LINES = 80  # most lines of a module-level region or of the header of a class

_CLOSING = re.compile(
    r"\s*(?:[\]\)\}]+(?:\.\w+\(\))?[;,\s\]\)\}>%]*(?://.*|/\*.*\*/\s*)?|[%?-]?>|</[\w.:-]+>|\{\{[~/]+.*"
    r"|[{<%@*\s-]*(?:end(?!e|o|point)[a-z]{0,14}|END\w*|End\b|fi|done|esac)\b(?:[ \t.-]+\w+){0,3}\s*"
    r"(?:\([^()]*\)\s*)?[.;,%}>)*\s-]*"
    r"|#\s*end(?:if|region)\b.*)\s*"
)
_CLOSING_LENGTH = 200  # longer lines are not examined: they always contain more than closing signs


def is_blank(line: str) -> bool:
    """True for lines without a visible character."""
    return not line or line.isspace()


def is_closing(line: str) -> bool:
    """True for a line that only closes what earlier lines opened: brackets, `end`, `End Sub`, `#endif`, `?>`,
    `{% endif %}`, `</div>`."""
    return len(line) <= _CLOSING_LENGTH and _CLOSING.fullmatch(line) is not None


def trim(lines: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """Removes blank rows at the ends of `first..last`; None if nothing is left."""
    while first <= last and is_blank(lines[first]):
        first += 1
    while last >= first and is_blank(lines[last]):
        last -= 1
    return (first, last) if first <= last else None


def cut(lines: Sequence[str], first: int, last: int, most: int) -> list[tuple[int, int]]:
    """Returns pieces of at most `most` rows that contain every non-blank row of `first..last`.

    Preferred places, in order: before an unindented row that follows a blank one, before any row that follows a blank
    one, before an unindented row, and at `most` rows if there is no such place. The latest place wins.
    """
    pieces = []
    least = max(1, most // 4)
    whole = trim(lines, first, last)
    while whole is not None:
        first, last = whole
        if last - first < most:
            pieces.append(whole)
            break
        # A tail of fewer than `least` rows is too small: leave it more rows if possible.
        low = first + least
        high = max(low, min(first + most, last + 1 - least))
        at, best_rank = high, 0
        outer = min(
            (_measure_indent(lines[row]) for row in range(low - 1, high + 1) if not is_blank(lines[row])), default=0
        )
        for row in range(low, high + 1):
            line = lines[row]
            if is_blank(line):
                continue
            unindented = _measure_indent(line) == outer and not is_closing(line)
            rank = (2 if is_blank(lines[row - 1]) else 0) + (1 if unindented else 0)
            if rank and rank >= best_rank:
                at, best_rank = row, rank
        if (head := trim(lines, first, at - 1)) is not None:
            pieces.append(head)
        whole = trim(lines, at, last)
    return pieces


def _measure_indent(line: str) -> int:
    """Returns the width of the leading white space. A tab counts as one: a file rarely mixes tabs and spaces."""
    return len(line) - len(line.lstrip())
