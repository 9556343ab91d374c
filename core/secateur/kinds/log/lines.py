"""The lines of a log: decoded, harmless, counted, and which of them repeat the line before.

A line is what a terminal shows of it: sequences that a terminal obeys are left out, of a line that was overwritten
after a carriage return the last state stays, and what is left goes through `terminal.visible`. Every other line is
exactly the line of the file. Pure and linear in the log.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from re import Pattern

from secateur.errors import SecateurError
from secateur.kinds.log.levels import DECIDES
from secateur.model import Notice
from secateur.progress import Progress
from secateur.terminal import visible
from secateur.tokens import Counter

SLICE = 1000
"""Lines that are worked on between two calls of `progress`."""

MOST_LINES = 2_000_000
"""Lines of a log that is read: a line costs time and memory however short it is."""

PIECE = 8192
"""Characters of a line that are counted at once. A counter needs more time for each character of a longer word."""

_WORD_END = re.compile(r"(?<=[0-9A-Za-z])[ !-&(-/:-@\[-`{-~]")
"""Places where every encoding begins a new token, so that the parts of a line have as many tokens as the line."""

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
"""Colours, movements of the cursor, titles and links of a terminal (ECMA-48)."""

_PREFIX = re.compile(
    r"(?:[^\t]{1,200}\t[^\t]{1,200}\t)?"  # job and step, of a log of GitHub Actions
    r"(?:[A-Za-z][\w.]*-\d+ +\| )?"  # container
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?\]?:? ?(?:\d\d[OE]\+? ?)?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ (?:[\w./@-]+(?:\[\d+\])?: )?"  # syslog
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? )"
)

_CI_STAMP = re.compile(
    r"((?:[^\t]{1,200}\t[^\t]{1,200}\t)?)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,7}Z)(?: (?:\d\d[OE][+ ]?)?|$)"
)
"""The time that GitHub Actions or GitLab put before each line of a job, with what may stand before it."""
_STAMPED_SHARE = 0.9  # of the lines of a job
_LEAST_STAMPED = 5

_BEGINNING = 240  # characters of a long line that stand before the parts that decide
_MARGIN = 20  # characters before what decides
_NEAR = 120  # characters between two places that are shown together, and after the last
_MOST_PLACES = 20
_MOST_WINDOWS = 3
_GAP = " … "

_UNIT = r"(?:h|ms|m|s|us|ns)"
_NUMBER = r"\d(?<![A-Za-z_\d]\d)\d*+"
_VARYING: Pattern[str] = re.compile(
    rf"""[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}  # UUID
    | \b0x[0-9a-fA-F]+
    | (?:(?:tmp|TMP)(?<=[/\\]...)|(?:temp|Temp)(?<=[/\\]....))[/\\][^\s/\\:'"]+  # a folder that a run makes
    | \b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,64}}\b  # digest
    | \d{{4}}-\d\d-\d\dT[\d:.,]+
    | {_NUMBER}(?:\.\d++)?{_UNIT}(?:\d++(?:\.\d++)?{_UNIT}){{0,7}}+\b  # duration
    | {_NUMBER}(?:[.,:]\d+)*
    """,
    re.VERBOSE,
)
"""Patterns of the parts that differ between two lines that say the same. Digits that are part of a name stay: `test_1`
is not `test_2`. Each pattern begins with a character and looks back after it, because most places of a line are none;
none of them gives back what it matched."""

_DIGITS = "0123456789.,:"
_WITHOUT_NUMBERS = str.maketrans("", "", _DIGITS)
_WITHOUT_DIGESTS = str.maketrans("", "", _DIGITS + "abcdefABCDEF")
_NUMBERED = re.compile(r"[A-Za-z_]\d+")


@dataclass(frozen=True, eq=False)
class LogLines:
    """The lines of a log, numbered from 0, and their tokens."""

    lines: Sequence[str]  # harmless, without line breaks; of one above `longest` characters the parts that decide
    whole: dict[int, str]  # line -> the text of a line that is cut
    before: Sequence[int]  # running total of tokens, of the lines as they came; one more than there are lines
    after: Sequence[int]  # the same of the lines as they go out
    repeats: dict[int, int]  # line -> the line, in the same uninterrupted run, that it repeats
    notices: tuple[Notice, ...]
    times: tuple[str, str] | None = None  # the first and last of the times that are left out of the lines
    around: int = 0  # tokens of these times, and of the job and step before them
    steps: Sequence[str] = ()  # per line the job and step that are left out

    def __len__(self) -> int:
        return len(self.lines)


def is_stamped(line: str) -> bool:
    """Tells whether a line begins with a date and time, with a job or container before it."""
    return _PREFIX.match(line) is not None


def body(line: str) -> str:
    """A line without the job, container, date and time at its beginning."""
    found = _PREFIX.match(line) if ":" in line else None
    return line[found.end() :] if found else line


@lru_cache(maxsize=1024)
def template(line: str) -> str:
    """A line without what varies between two lines that say the same: numbers, times, addresses, digests, temporary
    folders.

    >>> template("2026-05-01T12:00:07Z took 12.5 ms at 0x7ffd (test_1)")
    '#Z took # ms at # (test_1)'
    """
    return _VARYING.sub("#", line)


def read_lines(
    data: bytes, counter: Counter, longest: int, least_repeats: int, progress: Progress, words: Sequence[str] = ()
) -> LogLines:
    """The lines of a log.

    Args:
        longest: characters above which a line is cut.
        words: of a query, in lower case: what is shown of a line that is cut holds them.
        least_repeats: equal lines in a row from which all but the first are repeats.

    Raises:
        SecateurError: it has more than MOST_LINES lines.
    """
    progress("reading", 0, 0)
    text, notices = _decoded(data)
    text = visible(text, keep_newlines=True, keep_tabs=True)
    whole = text.removesuffix("\n").split("\n") if text else []
    if not text.strip():
        said = "The log holds only blank lines." if text else "The log is empty: it has no bytes."
        notices.append(Notice("blank_log" if text else "empty_log", said))
    times, around, steps = None, 0, list[str]()
    stamped = [_CI_STAMP.match(line) for line in whole]
    if sum(map(bool, stamped)) >= max(_LEAST_STAMPED, _STAMPED_SHARE * sum(map(bool, whole))):
        total = sum(_tokens(whole, counter, progress))
        times = next(match[2] for match in stamped if match), next(match[2] for match in stamped[::-1] if match)
        steps = [match[1].strip().replace("\t", ": ") if match else "" for match in stamped]
        whole = [line[match.end() :] if match else line for line, match in zip(whole, stamped, strict=True)]
    tokens = _tokens(whole, counter, progress)
    if times:
        around = total - sum(tokens)
    before = list(accumulate(tokens, initial=0))
    cut = {number: line for number, line in enumerate(whole) if len(line) > longest}
    lines = whole
    if cut:
        lines = list(whole)
        for number, line in cut.items():
            lines[number] = excerpt(line, longest, words)
            tokens[number] = counter.count(lines[number] + "\n")
    after = list(accumulate(tokens, initial=0)) if cut else before
    repeats = _repeats(lines, least_repeats, progress)
    return LogLines(lines, cut, before, after, repeats, tuple(notices), times, around, steps if any(steps) else ())


def excerpt(line: str, longest: int, words: Sequence[str] = ()) -> str:
    """The beginning of a long line and the parts that decide on it: its level, words that report an error, words of
    a query. Where nothing decides, its beginning alone.

    >>> excerpt("x" * 500 + ' "level":"error"', 90)
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … xxxxxxxxxxxxxxxxxx "level":"error"'
    """
    low = line.lower()
    head = min(_BEGINNING, longest // 2)
    asked = [place for word in words if (place := low.find(word)) >= head]
    places = sorted({*asked, *(match.start() for match in islice(DECIDES.finditer(line, head), _MOST_PLACES))})
    if not places:
        return line[:longest]
    near = [[places[0], places[0]]]
    for place in places:
        if place - near[-1][1] > _NEAR:
            near.append([place, place])
        near[-1][1] = place
    near.sort(key=lambda edges: (-sum(edges[0] <= place <= edges[1] for place in asked), edges[0]))
    room = longest - head
    spans = [(0, head)]
    for first, last in near[:_MOST_WINDOWS]:
        start = max(head, first - _MARGIN)
        end = min(len(line), last + _NEAR, start + room)
        if end - start > _MARGIN:
            spans.append((start, end))
            room -= end - start + len(_GAP)
    spans.sort()
    parts = [line[max(start, before) : end] for (_, before), (start, end) in pairwise([(0, 0), *spans])]
    return _GAP.join(filter(None, parts)) + ("" if spans[-1][1] == len(line) else _GAP)


def _decoded(data: bytes) -> tuple[str, list[Notice]]:
    """The text with one line break after each line, and what was done to it.

    Raises:
        SecateurError: it has more than MOST_LINES lines.
    """
    notices = []
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        text = data[2:].decode(encoding, "replace")
    else:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
        if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in set(text)):
            said = "Bytes that are not UTF-8 go out as their values in angle brackets, such as <FF>."
            notices.append(Notice("invalid_utf8", said))
    if "\r" in text:
        text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if (breaks := text.count("\n")) > MOST_LINES:
        said = f"the log has {breaks:,} lines; at most {MOST_LINES:,} are read"
        raise SecateurError(said, hint="give a part of it, such as its end by tail -n 1000000", code="TOO_LARGE")
    if "\x1b" in text:
        text, found = _SEQUENCE.subn("", text)
        if found:
            said = f"Control sequences of a terminal are left out of the lines: {found:,} colours, movements and such."
            notices.append(Notice("control_sequences", said))
    if "\r" in text:
        lines = [line.rstrip("\r") for line in text.split("\n")]
        overwritten = sum("\r" in line for line in lines)
        if overwritten:
            told = "1 line that was" if overwritten == 1 else f"{overwritten:,} lines that were"
            said = f"Of {told} overwritten after a carriage return, the last state is shown."
            notices.append(Notice("overwritten", said))
        text = "\n".join(line.rpartition("\r")[2] for line in lines)
    return text, notices


def _tokens(lines: Sequence[str], counter: Counter, progress: Progress) -> list[int]:
    """Tokens of each line; equal lines that are not far from one another are counted once."""
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
                counts[line] = _tokens_of_long(line + "\n", counter)
        tokens += map(counts.__getitem__, part)
    return tokens


def _tokens_of_long(line: str, counter: Counter) -> int:
    """Tokens of a line that is counted in pieces."""
    pieces = Tally(_pieces(line))
    return sum(number * count for number, count in zip(pieces.values(), counter.count_many(pieces), strict=True))


def _pieces(line: str) -> Iterator[str]:
    """A line in pieces that end where a word ends, if one does."""
    start = 0
    while len(line) - start > PIECE:
        found = _WORD_END.search(line, start + PIECE // 2, start + PIECE)
        end = found.start() if found else start + PIECE
        yield line[start:end]
        start = end
    yield line[start:]


def _repeats(lines: Sequence[str], least: int, progress: Progress) -> dict[int, int]:
    """Lines that say the same as the line before, where `least` in a row do."""
    found: dict[int, int] = {}
    first, rough = 0, ""
    for number, line in enumerate(lines):
        if number % SLICE == 0:
            progress("comparing", number, len(lines))
        if number and line == lines[number - 1]:
            continue
        before, rough = rough, line.translate(_WITHOUT_DIGESTS)
        if number and rough == before and _alike(lines[number - 1], line):
            continue
        if number - first >= least:
            found.update(dict.fromkeys(range(first + 1, number), first))
        first = number
    if len(lines) - first >= least:
        found.update(dict.fromkeys(range(first + 1, len(lines)), first))
    return found


def _alike(one: str, other: str) -> bool:
    """Tells whether two lines have one template; most that have are told without making it, in a tenth of the time."""
    same = one.translate(_WITHOUT_NUMBERS) == other.translate(_WITHOUT_NUMBERS)
    return (same and _NUMBERED.findall(one) == _NUMBERED.findall(other)) or template(one) == template(other)
