"""Splits documents and configuration into sections, and other text into blocks of lines.

A section starts at its heading (or key) and ends before the next one. Its name is the heading; its qualified name is
the path of outer headings, joined by " > ". Long sections are cut at blank lines, and each part keeps the name.
Headings without text and runs of tiny entries join their neighbours.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from secateur.languages.syntax.names import words
from secateur.languages.syntax.text import BLOCK_LINES, REGION_LINES, cut, is_blank, trim
from secateur.model import Fragment, FragmentKind

_NAME_LENGTH = 80  # most characters of a section's name
_PATH_DEPTH = 8  # most levels of headings in a qualified name; deeper nesting would be unreadable
_TINY_LINES = 5  # entries of a configuration file with fewer lines join their neighbours

# The same for languages whose entries are tables, jobs, steps or instructions.
_TINY_LINES_OF = {"toml": 2, "yaml": 2, "dockerfile": 2}

_JOINED_LINES = 40  # most lines of a section of joined entries
_FRONT_MATTER_LINES = 200  # most lines of a metadata block; a longer one is ordinary text between two rules
_LINE_LENGTH = 500  # most characters of a line that are searched for a heading


class _Heading(Struct, frozen=True):
    """A heading on `row` (from 0); `level` 1 is the outermost. `body` is the row after the heading."""

    row: int
    level: int
    name: str
    body: int


def split_blocks(lines: Sequence[str]) -> list[Fragment]:
    """Returns blocks of at most `BLOCK_LINES` lines, split before unindented text after a blank line if possible."""
    spans = cut(lines, 0, len(lines) - 1, BLOCK_LINES)
    return [_make_fragment(FragmentKind.BLOCK, "", "", first, last) for first, last in spans]


def split_sections(language: str, lines: Sequence[str]) -> list[Fragment]:
    """Returns sections if the language has headings and the text contains some, otherwise blocks."""
    find = _HEADINGS.get(language)
    headings = list(find(lines)) if find else []
    if not headings:
        return split_blocks(lines)
    sections = _make_sections(lines, headings)
    if language in _KEYED:
        joined, can_join, least = list[_Section](), False, _TINY_LINES_OF.get(language, _TINY_LINES)
        for name, qualname, first, last in sections:
            tiny = last - first + 1 < least
            if tiny and can_join and last - joined[-1][2] < _JOINED_LINES:
                names = ", ".join(part for part in (joined[-1][0], name) if part)
                names = names if len(names) <= _NAME_LENGTH else joined[-1][0]
                joined[-1] = (names, names, joined[-1][2], last)
            else:
                joined.append((name, qualname, first, last))
                can_join = tiny
        sections = joined
    fragments = []
    for name, qualname, first, last in sections:
        kind = FragmentKind.SECTION if name or language in _KEYED else FragmentKind.BLOCK
        fragments += [_make_fragment(kind, name, qualname, *span) for span in cut(lines, first, last, REGION_LINES)]
    return fragments


def _make_fragment(kind: FragmentKind, name: str, qualname: str, first: int, last: int) -> Fragment:
    return Fragment(kind, name, qualname, first + 1, last + 1, first + 1, first + 1)


_Section = tuple[str, str, int, int]  # name, qualified name, first row, last row


def _make_sections(lines: Sequence[str], headings: Sequence[_Heading]) -> list[_Section]:
    """Returns one section per heading. Text before the first heading has no name; a heading without a body joins the
    section below."""
    before = trim(lines, 0, headings[0].row - 1)
    sections: list[_Section] = [("", "", *before)] if before else []
    path: list[tuple[int, str]] = []
    start = -1  # of headings without a body above
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, heading.name))
        first = heading.row if start < 0 else start
        last = following.row - 1 if following else len(lines) - 1
        if following and following.level > heading.level and trim(lines, heading.body, last) is None:
            start = first
            continue
        start = -1
        if span := trim(lines, first, last):
            sections.append((heading.name, " > ".join(name for _, name in path[-_PATH_DEPTH:]), *span))
    return sections


# --- headings of documents -------------------------------------------------------------------------------------------

_ATX = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\r?")


def _find_markdown_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    fence = ""
    for row in range(_skip_front_matter(lines), len(lines)):
        line = lines[row][:_LINE_LENGTH]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif match := _ATX.match(line):
            yield _Heading(row, len(match[1]), _make_name(line[match.end() :].rstrip("# \t\r")), row + 1)
        elif (
            row
            and (match := _SETEXT.fullmatch(line))
            and not is_blank(above := lines[row - 1])
            and above[0] not in " \t#>|-*+<`"
            and len(above) < _LINE_LENGTH
            and (row < 2 or is_blank(lines[row - 2]))
        ):
            yield _Heading(row - 1, 1 if match[1][0] == "=" else 2, _make_name(above), row + 1)


def _skip_front_matter(lines: Sequence[str]) -> int:
    """Returns the row after a block of metadata between two `---` or `+++` lines at the top; 0 without one."""
    mark = lines[0].strip() if lines else ""
    rows = range(1, min(len(lines), _FRONT_MATTER_LINES)) if mark in ("---", "+++") else ()
    return next((row + 1 for row in rows if lines[row].strip() == mark), 0)


_RULE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}\s*")


def _find_restructured_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    """Finds titles with underlines, or with under- and overlines; each new style is one level deeper, as in
    docutils."""
    styles: list[str] = []
    row = 0
    while row < len(lines):
        line = lines[row][:_LINE_LENGTH]
        if _RULE.fullmatch(line):
            below = lines[row + 2][:_LINE_LENGTH] if row + 2 < len(lines) else ""
            has_overline = line.rstrip() == below.rstrip() and not is_blank(lines[row + 1])
            above = lines[row - 1] if row else ""
            is_text = not is_blank(above) and not above[0].isspace() and not _RULE.fullmatch(above)
            fits = len(above.rstrip()) <= len(line.rstrip()) and (row < 2 or is_blank(lines[row - 2]))
            has_underline = is_text and fits
            if has_overline or has_underline:
                style = line[0] * (2 if has_overline else 1)
                if style not in styles:
                    styles.append(style)
                start, title, end = (row, row + 1, row + 3) if has_overline else (row - 1, row - 1, row + 1)
                yield _Heading(start, styles.index(style) + 1, _make_name(lines[title]), end)
                row = end
                continue
        row += 1


_ASCIIDOC = re.compile(r"(={1,6})[ \t]+(\S.*)")
_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,})\s*")


def _find_asciidoc_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    fence = ""
    for row, whole in enumerate(lines):
        line = whole[:_LINE_LENGTH]
        if _DELIMITER.fullmatch(line):
            fence = "" if fence == line.rstrip() else fence or line.rstrip()
        elif not fence and (match := _ASCIIDOC.match(line)):
            yield _Heading(row, len(match[1]), _make_name(match[2]), row + 1)


# --- keys of configuration -------------------------------------------------------------------------------------------


def _make_line_finder(pattern: str, *, comments: str = "") -> Callable[[Sequence[str]], Iterator[_Heading]]:
    """Returns a finder of lines that match `pattern`. Its first group is the name; `comments` start comment lines,
    which belong to the heading below."""
    expression = re.compile(pattern)
    marks = tuple(comments)

    def find(lines: Sequence[str]) -> Iterator[_Heading]:
        after = 0  # the row after the last heading
        for row, line in enumerate(lines):
            if match := expression.match(line[:_LINE_LENGTH]):
                yield _Heading(_find_first_comment(lines, row, after, marks), 1, _make_name(match[1]), row + 1)
                after = row + 1

    return find


def _find_first_comment(lines: Sequence[str], row: int, after: int, marks: tuple[str, ...]) -> int:
    """Returns the first row of the comments right above `row`, from row `after` on; `row` without comments."""
    while marks and row > after and lines[row - 1].startswith(marks):
        row -= 1
    return row


_JSON_KEY = re.compile(r'(\s*)"((?:[^"\\]|\\.)*)"\s*:')


def _find_json_keys(lines: Sequence[str]) -> Iterator[_Heading]:
    indent: str | None = None
    for row, line in enumerate(lines):
        if (match := _JSON_KEY.match(line[:_LINE_LENGTH])) and indent in (None, match[1]):
            # The opening brace above the first key belongs to it, the closing one to the last.
            yield _Heading(0 if indent is None else row, 1, _make_name(match[2]), row + 1)
            indent = match[1]


_YAML_KEY = re.compile(r"""( *)((?:- +){0,16})(["']?[\w./$@-][^:#{}\[\]]*?):(?:\s+(.*)|$)""")
_YAML_ITEM = re.compile(r" *- ")
_YAML_TEXT = re.compile(r"(?:[|>][+-]?\d?|[|>]\d?[+-]?)\s*(?:#.*)?")
# Keys whose entries are units.
_GROUPS = words(
    "jobs services stages workflows commands executors definitions components paths resources Resources Outputs"
)
_LISTS = words("steps jobs stages tasks")  # keys whose items are units


def _find_yaml_keys(lines: Sequence[str]) -> Iterator[_Heading]:
    above: list[tuple[int, str]] = []  # indentation and name of the keys around a row
    text_indent = _LINE_LENGTH  # rows with a larger indentation belong to a multi-line text
    after = 0  # the row after the last unit
    for row, whole in enumerate(lines):
        line = whole[:_LINE_LENGTH].rstrip()
        indent = len(line) - len(line.lstrip(" "))
        if not line or line.lstrip().startswith("#") or indent > text_indent:
            continue
        text_indent = _LINE_LENGTH
        is_item = _YAML_ITEM.match(line) is not None
        while above and (above[-1][0] > indent or (above[-1][0] == indent and not is_item)):
            above.pop()
        match = _YAML_KEY.match(line)
        holder = above[-1][1] if above else ""
        is_unit = match is not None and (not above or (not is_item and len(above) == 1 and holder in _GROUPS))
        if is_unit or (is_item and holder in _LISTS and len(above) <= _PATH_DEPTH):
            first = row
            while first > after and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            name = match[3] if match else ""
            if is_item and above:
                name = _read_item_name(lines, row, indent)
            yield _Heading(first, len(above) + 1, _make_name(name), row + 1)
            after = row + 1
        if match is not None:
            if not is_item or above:
                above.append((indent + len(match[2]), match[3].strip("\"'")))
            if _YAML_TEXT.fullmatch(match[4] or ""):
                text_indent = indent + len(match[2])
        elif is_item and _YAML_TEXT.fullmatch(line.lstrip(" -")):
            text_indent = indent


def _read_item_name(lines: Sequence[str], row: int, indent: int) -> str:
    for inner in range(row, min(row + _JOINED_LINES, len(lines))):
        line = lines[inner][:_LINE_LENGTH]
        if inner > row and line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            break
        match = _YAML_KEY.match(line)
        if match is not None and match[3] in ("name", "id", "job", "stage", "displayName") and match[4]:
            return match[4].strip("\"' \r")
    return lines[row][:_LINE_LENGTH].strip(" -\r")


_STAGE = re.compile(r"(?i)(FROM\s+\S.*)")
_INSTRUCTION = re.compile(
    r"(?i)((?:RUN|COPY|ADD|ENV|ENTRYPOINT|CMD|HEALTHCHECK|ARG|LABEL|WORKDIR|USER|EXPOSE|VOLUME|SHELL|ONBUILD)\b.*)"
)


def _find_instructions(lines: Sequence[str]) -> Iterator[_Heading]:
    after = 0  # the row after the last heading
    is_continuation = False
    for row, whole in enumerate(lines):
        line = whole[:_LINE_LENGTH].rstrip()
        above = lines[row - 1].strip() if row else ""
        continues = line.endswith(("\\", "`"))
        stage = _STAGE.match(line)
        match = stage or _INSTRUCTION.match(line)
        if match and not is_continuation and (stage or continues or not above or above.startswith("#")):
            first = _find_first_comment(lines, row, after, ("#",))
            yield _Heading(first, 1 if stage else 2, _make_name(match[1].rstrip("\\ ")), row + 1)
            after = row + 1
        is_continuation = continues or (is_continuation and line.lstrip().startswith("#"))


def _make_name(text: str) -> str:
    return " ".join(text.split())[:_NAME_LENGTH]


_HEADINGS: dict[str, Callable[[Sequence[str]], Iterator[_Heading]]] = {
    "markdown": _find_markdown_headings,
    "restructuredtext": _find_restructured_headings,
    "asciidoc": _find_asciidoc_headings,
    "json": _find_json_keys,
    "toml": _make_line_finder(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#|$)", comments="#"),
    "ini": _make_line_finder(r"\[([^\]]+)\]", comments="#;"),
    "yaml": _find_yaml_keys,
    "properties": _make_line_finder(r"(?:export\s+)?([\w.\-/]+)\s*[=:]", comments="#"),
    "dockerfile": _find_instructions,
    "makefile": _make_line_finder(r"([\w./%$(){}-][\w./%$(){} -]*):(?!:{0,2}=)", comments="#"),
}
_KEYED = frozenset({"json", "toml", "ini", "yaml", "properties", "dockerfile", "makefile"})
