"""Reads the lines of a log: decodes them, makes them safe, counts their tokens, and finds repeats of the line before.

A line holds what a terminal would show: control sequences are removed, an overwritten line keeps the state after its
last carriage return, and the rest goes through `terminal.visible`. Every other line is exactly the line of the file.
Pure and linear in the log.
"""

import codecs
import re
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import accumulate, islice, pairwise
from operator import and_
from re import Pattern

from msgspec import Struct

from secateur.errors import SecateurError
from secateur.kinds.log.levels import DECIDES, HARMLESS_LEVEL
from secateur.ledger import Notice
from secateur.progress import Progress
from secateur.render.page import count_noun
from secateur.terminal import visible
from secateur.tokens import Counter

SLICE = 1000  # lines processed between two calls of `progress`
LONGEST_LINE = 2000  # characters after which a line is cut; nothing but data in one line is longer
MOST_LINES = 2_000_000  # most lines of a log that is read: even a short line costs time and memory
LEAST_REPEATS = 3  # lines in a row, equal except for numbers, from which on only the first is kept
PIECE = 8192  # characters of a line that are counted at once: a counter needs more time per character for longer words
# Places where every encoding begins a new token, so that the tokens of the parts of a line add up.
_WORD_END = re.compile(r"(?<=[0-9A-Za-z])[ !-&(-/:-@\[-`{-~]")

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

# Control sequences: colours, cursor movements, titles and links of a terminal (ECMA-48).
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")

_TIME = (
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d)?\]?:? ?(?:\d\d[OE]\+? ?)?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? "
    r"|\[ {0,9}\d{1,9}\.\d{6}\] )"  # seconds since Linux was started
)
_SYSLOG_TIME = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
_PREFIX = re.compile(
    r"(?:[^\t]{1,200}\t[^\t]{1,200}\t)?"  # job and step, of a log of GitHub Actions
    r"(?:[A-Za-z][\w.]*-\d+ +\| )?"  # container
    rf"(?:{_TIME}|{_SYSLOG_TIME}[\w.-]+ (?:[\w./@-]+(?:\[\d+\])?: )?)"
)

# The name that a runner of tasks, containers or services puts before each line, by its shape; maybe after a time.
_LABELS = tuple(
    re.compile(rf"(?:{_TIME}|{_SYSLOG_TIME})?({shape})")
    for shape in (
        r"\[[\w@][^\]\s]{0,99}(?: [^\]\s]{1,60})?\] ?",  # [0], [api], [pod/api-5d8f/api]
        r"(?:\d{1,4}\|)?[\w@][\w@./:-]{0,98} *\|(?: |$)",  # api-1  |, web.1 |, 0|api |
        r"[a-z\d@][\w@./:-]{0,98}?(?: [\w./@:-]{1,60}?)??(?:\[[\w.]+\])?(?::(?: |$)|\$ )",  # api:test:, host api[7]:
        r"#\d{1,9} (?:\d{1,9}\.\d{1,9} )?",  # the step of a build, and its seconds
        r"[a-z][a-z\d.-]*-[a-z\d]{3,10} [a-z][a-z\d-]* ",  # pod and container
    )
)
# What begins a line that is not of a runner: a level, a tool of its own forms, a place.
_NO_LABEL = re.compile(
    r"(?i)\b(?:errors?|err|warn(?:ing)?|info|debug|trace|fatal|notice|note|help|hint|fail(?:ed|ure)?|exception|severe"
    r"|panic|crit(?:ical)?|g?make|ninja|ld|npm|pnpm|yarn|expected|received|actual|got|want)\b|\.\w+:\d"
)
_LABELLED_SHARE = 0.7  # of the lines, by names that come at least so often:
_LEAST_LABELLED = 3
_MOST_STREAMS = 1000  # names beyond which they are taken for parts of the lines
_SAMPLE = 2000  # most lines that are looked at for a column of names

# The time that GitHub Actions or GitLab put before each line of a job, with job and step before it.
_CI_STAMP = re.compile(
    r"((?:[^\t]{1,200}\t[^\t]{1,200}\t)?)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,7}Z)(?: (?:\d\d[OE][+ ]?)?|$)"
)
_STAMPED_SHARE = 0.9  # of the lines of a job
_LEAST_STAMPED = 5

_BEGINNING = 240  # characters at the beginning of a long line that are kept
_MARGIN = 20  # characters kept before a deciding part
_NEAR = 120  # most characters between two parts in one window, and after the last
_MOST_PLACES = 20
_MOST_WINDOWS = 3
_GAP = " … "
_MAY_DECIDE = re.compile(r"[A-Za-z]{3}|[EF][\d/ ]|[^\x00-\u036f]")  # in every match of DECIDES, which is slow to find

_UNIT = r"(?:h|ms|m|s|us|ns)"
_NUMBER = r"\d(?<![A-Za-z_\d]\d)\d*+"
# Parts that vary between lines with the same meaning. Digits in a name stay: `test_1` is not `test_2`. For speed each
# pattern begins with a character and looks back after it, because most positions do not match; none backtracks.
_VARYING: Pattern[str] = re.compile(
    rf"""[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}  # UUID
    | \b0x[0-9a-fA-F]+
    | (?:(?:tmp|TMP)(?<=[/\\]...)|(?:temp|Temp)(?<=[/\\]....))[/\\][^\s/\\:'"]+  # a folder that a run makes
    | \b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,64}}\b  # digest
    | \d{{4}}-\d\d-\d\dT[\d:.,]+
    | \[[=>\#.\- ]{{5,200}}\] | [━╸╺█▉▊▋▌▍▎▏░▒▓]++  # progress
    | {_NUMBER}(?:\.\d++)?{_UNIT}(?:\d++(?:\.\d++)?{_UNIT}){{0,7}}+\b  # duration
    | {_NUMBER}(?:[.,:]\d+)*
    """,
    re.VERBOSE,
)

_DIGITS = b"0123456789.,:"
_IN_DIGESTS = _DIGITS + b" \tabcdefABCDEF[]=>#-\xe2" + bytes(range(0x80, 0xC0))  # bars, too
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
# How far a program came, as it prints that again and again.
_PROGRESS = re.compile(r"\d ?%|(?<![\d/])\d+ ?/ ?\d+(?![\d/])|\d of \d|={3}|#{4}|[█▓━]{2}")
_ROWS_READ = 50  # rows that are compared to tell data from a counter
_ALIKE = 1e-6  # the most by which steps of a counter differ
_MOST_TABLES = 500  # the largest are told apart from other repeats
_MOST_HEADINGS = 2  # lines above rows of data that say what their columns are
_WIDTH = 256  # characters of a line in which columns are looked for
_BLANKS = bytes(32 if code == 32 else 0 for code in range(256))  # leaves nothing but the blanks of a line
_STRIDE = 5  # each fifth line is compared with the lines below it
_LEAST_ROWS = 10  # of a table
_ALIGNED = 0.75  # of the gaps between columns but one: more are blank in every row
_FIGURES = 0.8  # of the cells of a column of figures
# A figure with its unit, or the permissions of a file.
_CELL = re.compile(r"[-+<~]?\d[\d.,:/%-]*[A-Za-z%]{0,3}(?: [a-z]+){0,2}|([-dlbcps][-rwxsStT]{9}[.+@]?)")
_SIZED = re.compile(r"\s*\d[\d.,]*[KMGTP]?\s")  # a row of `du`, `wc` or `uniq -c`
# A line with it or with a level is one of a program that writes what it does.
_CLOCK = re.compile(r".{0,40}?\d\d:\d\d:\d\d")

_NUMBERED = re.compile(r"[A-Za-z_]\d+")


class LogLines(Struct, frozen=True, eq=False):
    """The lines of a log, counted from 0, and their tokens."""

    lines: Sequence[str]  # safe, without line breaks; a long one cut to its deciding parts
    whole: dict[int, str]  # line -> its whole text, if it is cut
    before: Sequence[int]  # running total of tokens of the lines as they came; one more than lines
    after: Sequence[int]  # the same for the lines as they go out
    repeats: dict[int, int]  # line -> the line, in the same uninterrupted run, that it repeats
    tables: Sequence[tuple[int, int, int]]  # rows of data: the first line above them, the first row, the line after
    notices: tuple[Notice, ...]
    times: tuple[str, str] | None = None  # the first and last time that were removed from the lines
    around: int = 0  # tokens of the removed times, jobs and steps
    steps: Sequence[str] = ()  # the removed job and step of each line

    def __len__(self) -> int:
        return len(self.lines)


def is_stamped(line: str) -> bool:
    """Tells whether a line begins with a date and time, maybe after a job or container."""
    return _PREFIX.match(line) is not None


def body(line: str) -> str:
    """Returns a line without job, container, date and time at its beginning."""
    prefix = _PREFIX.match(line) if ":" in line or line[:1] == "[" else None
    return line[prefix.end() :] if prefix else line


def split_streams(lines: Sequence[str]) -> list[tuple[Sequence[int], Sequence[str]]]:
    """Splits lines by the name that a runner of tasks or services put before them, if it did: per name the numbers of
    its lines, and the lines without name. A line without a name belongs to the line before it.

    >>> split_streams(["api | a", "db | x", "api | b", "db | y", "api | c", "db | z"])
    [([0, 2, 4], ['a', 'b', 'c']), ([1, 3, 5], ['x', 'y', 'z'])]
    """
    sample = [line for line in lines[:: 1 + len(lines) // _SAMPLE] if line.strip()]
    best, most = None, max(_LEAST_LABELLED, _LABELLED_SHARE * len(sample))
    for label in _LABELS:
        names = Tally(match[1] for line in sample if (match := label.match(line)) and not _NO_LABEL.search(match[1]))
        if (labelled := sum(times for times in names.values() if times >= _LEAST_LABELLED)) >= most:
            best, most = label, labelled
    if best is None:
        return [(range(len(lines)), lines)]
    streams: dict[str, tuple[list[int], list[str]]] = {}
    name = ""
    for index, line in enumerate(lines):
        if (match := best.match(line)) and not _NO_LABEL.search(match[1]):
            name, line = match[1].rstrip(), line[match.end() :]
        numbers, texts = streams.setdefault(name, ([], []))
        numbers.append(index)
        texts.append(line)
    return list(streams.values()) if len(streams) <= _MOST_STREAMS else [(range(len(lines)), lines)]


@lru_cache(maxsize=1024)
def template(line: str) -> str:
    """Replaces the varying parts of a line: numbers, times, addresses, digests, temporary folders.

    >>> template("2026-05-01T12:00:07Z took 12.5 ms at 0x7ffd (test_1)")
    '#Z took # ms at # (test_1)'
    """
    return _VARYING.sub("#", line)


def read_lines(data: bytes, counter: Counter, longest: int, progress: Progress, words: Sequence[str] = ()) -> LogLines:
    """Reads the lines of a log.

    Args:
        longest: longest line that is not cut, in characters.
        words: words of a query in lower case; an excerpt of a cut line shows them.

    Raises:
        SecateurError: the log has more than MOST_LINES lines.
    """
    progress("reading", 0, 0)
    text, notices = _decode(data)
    text = visible(text, keep_newlines=True, keep_tabs=True)
    whole = text.removesuffix("\n").split("\n") if text else []
    if not text.strip():
        message = "The log holds only blank lines." if text else "The log is empty: it has no bytes."
        notices.append(Notice("blank_log" if text else "empty_log", message))
    times, left_out_tokens, steps = None, 0, list[str]()
    stamped = [_CI_STAMP.match(line) for line in whole]
    if sum(map(bool, stamped)) >= max(_LEAST_STAMPED, _STAMPED_SHARE * sum(map(bool, whole))):
        left_out_tokens = sum(_count_lines(whole, counter, progress))
        times = next(match[2] for match in stamped if match), next(match[2] for match in stamped[::-1] if match)
        steps = [match[1].strip().replace("\t", ": ") if match else "" for match in stamped]
        whole = [line[match.end() :] if match else line for line, match in zip(whole, stamped, strict=True)]
    tokens = _count_lines(whole, counter, progress)
    left_out_tokens -= sum(tokens) if times else 0
    before = list(accumulate(tokens, initial=0))
    cut = {index: line for index, line in enumerate(whole) if len(line) > longest}
    lines = list(whole) if cut else whole
    for index, line in cut.items():
        lines[index] = excerpt(line, longest, words)
        tokens[index] = counter.count(lines[index] + "\n")
    after = list(accumulate(tokens, initial=0)) if cut else before
    runs = _find_runs(lines, progress)
    repeats: dict[int, int] = {}
    for first, end in runs:  # the figures of the last line of the log say how far it came
        repeats.update(dict.fromkeys(range(first + 1, end - (end == len(lines) and lines[-1] != lines[first])), first))
    tables = _find_tables(lines, runs)
    steps = steps if any(steps) else []
    return LogLines(lines, cut, before, after, repeats, tables, tuple(notices), times, left_out_tokens, steps)


def excerpt(line: str, longest: int, words: Sequence[str] = ()) -> str:
    """Cuts a long line to its beginning and its deciding parts: its level, words that report an error, words of a
    query. Without such parts only its beginning stays.

    >>> excerpt("x" * 500 + ' "level":"error"', 90)
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … xxxxxxxxxxxxxxxxxx "level":"error"'
    """
    low = line.lower()
    head = min(_BEGINNING, longest // 2)
    asked = [offset for word in words if (offset := low.find(word)) >= head]
    found = DECIDES.finditer(line, head) if _MAY_DECIDE.search(line, head) else ()
    if not (offsets := sorted({*asked, *(match.start() for match in islice(found, _MOST_PLACES))})):
        return line[:longest]
    near = [[offsets[0], offsets[0]]]
    for offset in offsets:
        if offset - near[-1][1] > _NEAR:
            near.append([offset, offset])
        near[-1][1] = offset
    near.sort(key=lambda edges: (-sum(edges[0] <= offset <= edges[1] for offset in asked), edges[0]))
    room = longest - head
    spans = [(0, head)]
    for first, last in near[:_MOST_WINDOWS]:
        start = max(head, first - _MARGIN)
        end = min(len(line), last + _NEAR, start + room)
        if end - start > _MARGIN:
            spans.append((start, end))
            room -= end - start + len(_GAP)
    spans.sort()
    return _GAP.join(
        filter(None, [line[max(start, before) : end] for (_, before), (start, end) in pairwise([(0, 0), *spans])])
    ) + ("" if spans[-1][1] == len(line) else _GAP)


def _decode(data: bytes) -> tuple[str, list[Notice]]:
    """Decodes a log to text with uniform line breaks, and returns notices about the changes. Raises SecateurError: the
    log has more than MOST_LINES lines."""
    notices = []
    if (encoding := _UTF16.get(data[:2])) is not None:
        text = data[2:].decode(encoding, "replace")
    else:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
        if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in set(text)):
            message = "Bytes that are not UTF-8 go out as their values in angle brackets, such as <FF>."
            notices.append(Notice("invalid_utf8", message))
    if "\r" in text:
        text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if (breaks := text.count("\n")) > MOST_LINES:
        message = f"the log has {breaks:,} lines; at most {MOST_LINES:,} are read"
        raise SecateurError(message, hint="give a part of it, such as its end by tail -n 1000000", code="TOO_LARGE")
    if "\x1b" in text:
        text, sequences = _SEQUENCE.subn("", text)
        if sequences:
            what = "Control sequences of a terminal are left out of the lines"
            message = f"{what}: {sequences:,} colours, movements and such."
            notices.append(Notice("control_sequences", message))
    if "\r" in text:
        lines = [line.rstrip("\r") for line in text.split("\n")]
        if overwritten := sum("\r" in line for line in lines):
            subject = count_noun(overwritten, "line that was", "lines that were")
            message = f"Of {subject} overwritten after a carriage return, the last state is shown."
            notices.append(Notice("overwritten", message))
        text = "\n".join(line.rpartition("\r")[2] for line in lines)
    return text, notices


def _count_lines(lines: Sequence[str], counter: Counter, progress: Progress) -> list[int]:
    tokens: list[int] = []
    for start in range(0, len(lines), SLICE):
        progress("counting", start, len(lines))
        part = lines[start : start + SLICE]
        different = dict.fromkeys(part)
        short = [line for line in different if len(line) < PIECE]
        counts = dict(zip(short, counter.count_many(line + "\n" for line in short), strict=True))
        for line in different if len(short) < len(different) else ():
            if len(line) >= PIECE:
                progress("counting", start, len(lines))
                pieces = Tally(_split_line(line + "\n"))
                tokens_of = zip(pieces.values(), counter.count_many(pieces), strict=True)
                counts[line] = sum(times * count for times, count in tokens_of)
        tokens += map(counts.__getitem__, part)
    return tokens


def _split_line(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > PIECE:
        word_end = _WORD_END.search(line, start + PIECE // 2, start + PIECE)
        end = word_end.start() if word_end else start + PIECE
        yield line[start:end]
        start = end
    yield line[start:]


def _find_runs(lines: Sequence[str], progress: Progress) -> list[tuple[int, int]]:
    """Finds runs of at least LEAST_REPEATS lines that are equal, numbers and blanks beside them aside: the first line
    and the line after the last."""
    edges, rough = list[int](), b""
    for index, line in enumerate(lines):
        if index % SLICE == 0:
            progress("comparing", index, len(lines))
        last = lines[index - 1]
        if index and line == last:
            continue
        before, rough = rough, _without(line, _IN_DIGESTS)
        if index and rough == before:
            # most lines with one template are recognised without making it, in a tenth of the time
            same = _without(last, _DIGITS).split() == _without(line, _DIGITS).split()
            if (same and _NUMBERED.findall(last) == _NUMBERED.findall(line)) or (
                template(last).split() == template(line).split()
            ):
                continue
        edges.append(index)
    return [(first, end) for first, end in pairwise((*edges, len(lines))) if end - first >= LEAST_REPEATS]


def _find_tables(lines: Sequence[str], runs: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Finds the tables, and the runs that are rows of data: figures that nothing foretells, and no time before them."""
    tables, last = [], 0
    aligned = _find_aligned(lines)
    largest = sorted({*aligned, *runs}, key=lambda run: (run[0] - run[1], run[0]))[:_MOST_TABLES]
    for first, end in sorted(largest):
        data = (first, end) in aligned or _are_data(lines[first : min(end, first + _ROWS_READ)])
        if not data or (first := max(first, last)) >= end:
            continue
        head = first
        while head > max(last, first - _MOST_HEADINGS) and lines[head - 1].strip() and not is_stamped(lines[head - 1]):
            head -= 1
        tables.append((head, first, end))
        last = end
    return tables


def _are_data(rows: Sequence[str]) -> bool:
    """Tells whether rows that differ in figures alone are data, and not the same line with a counter."""
    if is_stamped(rows[0]) or HARMLESS_LEVEL.match(rows[0]):
        return False
    figures = [list(map(float, _FIGURE.findall(row[:LONGEST_LINE]))) for row in rows]
    steps = [[after - before for before, after in pairwise(column)] for column in zip(*figures, strict=False)]
    if all(max(column) - min(column) < _ALIKE for column in steps):
        return False
    rising = any(min(column) >= 0 < max(column) for column in steps)
    return not (rising and _PROGRESS.search(rows[-1]))


def _find_aligned(lines: Sequence[str]) -> set[tuple[int, int]]:
    """Finds the tables whose columns are aligned, as `ls -l` prints them: the first row and the line after the last."""
    tables, end, known = list[tuple[int, int]](), 0, 0
    for probe in range(_STRIDE, len(lines) - _STRIDE, _STRIDE):
        rows = lines[probe : probe + _STRIDE]
        if probe < end or len(rows[0]) < _STRIDE or rows[0] == rows[1] or is_stamped(rows[0]):
            continue
        below = reduce(and_, map(_find_blanks, rows[3:]))
        blanks = reduce(and_, map(_find_blanks, rows[:3]), below)
        if not _is_aligned(below, blanks):
            continue  # the lines above are no rows of the table below
        size, blanks = _follow(map(lines.__getitem__, range(probe, len(lines))), blanks)
        above, blanks = _follow(map(lines.__getitem__, range(probe - 1, max(end, probe - 2 * _STRIDE) - 1, -1)), blanks)
        first, last, end = probe - above, end, probe + size
        wide = all(line.strip() and _find_figures(lines[last - 1]) <= _find_figures(line) for line in lines[last:first])
        if wide and known and last == tables[-1][1] and _is_aligned(known, blanks):
            tables[-1] = (tables[-1][0], end)  # a row was wider than the columns of the table
        elif end - first >= _LEAST_ROWS:
            headed = _is_table(lines[first:end], lines[first - 1] if first else "", blanks)
            if headed is not None:
                tables.append((first + headed, end))
                known = blanks
    return set(tables)


def _find_blanks(line: str) -> int:
    """Returns a byte for each column at the beginning of a line: 32 if it is blank, else 0, also after its end."""
    row = line[:_WIDTH].expandtabs()[:_WIDTH].rstrip().encode("latin-1", "replace")
    return int.from_bytes(row.translate(_BLANKS).ljust(_WIDTH, b"\0"), "big")


def _is_aligned(first: int, blanks: int) -> bool:
    """Tells whether enough of the gaps between the columns of the first rows are blank in further rows, too."""
    row = blanks.to_bytes(_WIDTH, "big")
    kept = [b" " in row[slice(*gap.span())] for gap in re.finditer(b" +", first.to_bytes(_WIDTH, "big"))]
    return any(kept) and sum(kept) > _ALIGNED * (len(kept) - 1)


def _find_figures(line: str) -> set[int]:
    return {index for index, word in enumerate(line[:_WIDTH].split()) if word[0].isdigit()}


def _follow(lines: Iterable[str], blanks: int) -> tuple[int, int]:
    """Counts the lines up to the first with too few or too wide cells. Returns also what is blank in all of them."""
    first, size = blanks, 0
    for line in lines:
        both = blanks & _find_blanks(line)
        if not (blanks and (both == blanks or _is_aligned(first, both))) or _is_rule(line):
            break
        blanks, size = both, size + 1
    return size, blanks


def _is_rule(line: str) -> bool:  # below the names of columns
    return not line.strip("-=+| ") and ("--" in line or "==" in line)


def _is_table(rows: Sequence[str], above: str, blanks: int) -> bool | None:
    """Tells whether the first of these lines holds the names of columns; None if they are no table."""
    if _is_rule(above):
        return False
    head, *rows = (row.expandtabs() for row in rows[:: len(rows) // _ROWS_READ + 1])
    figures = list[slice]()
    for column in re.finditer(rb"\0+", blanks.to_bytes(_WIDTH, "big")):
        cells = [cell for row in rows if (cell := row[slice(*column.span())].strip())]
        matches = [match for cell in cells if (match := _CELL.fullmatch(cell))]
        if len(matches) > max(1, _FIGURES * len(cells)) and (
            matches[0][1] or _are_data([match[0] for match in matches])
        ):
            figures.append(slice(*column.span()))
    headed = bool(figures) and not any(_CELL.fullmatch(head[column].strip()) for column in figures)
    logged = 2 * sum(bool(_CLOCK.match(row) or HARMLESS_LEVEL.match(row)) for row in rows) > len(rows)
    enough = len(figures) + headed + all(map(_SIZED.match, rows)) > 1 and not logged
    return headed if enough or (headed and len(figures) > 1) else None


def _without(line: str, letters: bytes) -> bytes:
    """Leaves letters of ASCII out of a line; of bytes, because `str.translate` takes twenty times as long."""
    return line.encode("utf-8", "surrogatepass").translate(None, letters)
