"""Extractive summaries: the most important lines of a stretch of conversation, verbatim and in order.

    summary = ExtractiveSummary()
    summary.add(messages)         # one group after the other
    summary.lines(4000)           # the best lines of all groups, in about 4,000 characters

The worth of a line depends on its text: decisions, errors, open questions, paths, names; new names and numbers count
most. All lines of a user compete, but of a tool's output only lines that report or define something. No model is asked.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from secateur.kinds.conversation.media import without_encoded
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind

# Longest line in a summary, in characters; a longer one is cut to the text around its first sign of worth.
LONGEST_LINE = 300

SHORTEST_EXCERPT = 48  # shortest useful excerpt of a line, in characters

# Most characters of a text that are scored, half at its start and half at its end; the middle of a longer log is
# skipped.
LONGEST_LOOKED_AT = 240_000

LONGEST_SCORED = 2_000  # most characters of a line that are scored; a longer line is data
LONGEST_ARGUMENT = 120  # longest argument of a call that is repeated; of a longer one only the size is given
MEDIA_CHARACTERS = 4  # characters of a text for each token of a picture: the words beside it may be as long
PLAIN_SHARE = 0.3  # share of a summary that lines without a sign of worth may fill: room that is not needed stays free

# Share of a group's characters for the output of tools that only read, at least one line: they can read again.
LOOKED_SHARE = 0.1

# What a line is worth.
_DECISION = 3.0
_TROUBLE = 3.0
_OPEN = 3.0
_NEW_NAME = 2.0  # for each of the first NAMES_COUNTED new names, paths and numbers
_OLD_NAME = 0.3  # for any known names
_NEW_WORDS = 1.0  # times the share of new words
NAMES_COUNTED = 3
# Weights of speakers: users count most, tool output least.
_SPEAKER = {"user": 1.6, "assistant": 1.0, "call": 0.8, "result": 0.6}

_DECISIONS = re.compile(
    r"\b(?:decid|decision|agreed?\b|accepted|chose|settled|we(?: wi|')ll use|let'?s (?:use|go|keep)|go(?:ing)?"
    r" with|went with|instead|rather than|prefer"
    r"|must\b|never\b|always\b|should not|do(?:n't| not)\b|from now"
    r" on|stays?\b|keep\b|switch|replac|dropp|drop\b|moved?\b|revert|root cause"
    r"|because\b|the plan)"
    r"|决定|必须|不要|改为|采用|保留|方案|不再",
    re.IGNORECASE,
)
_TROUBLES = re.compile(
    r"error|exception|fail|fatal|panic|traceback|denied|timed"
    r" out|time-?out|regression|crash|broken|wrong|refused|missing|cannot\b|can't\b|segfault|\bbug\b"
    r"|hangs?\b|leak|\brace\b|out of memory|corrupt|错误|失败|异常|报错|崩溃",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"[?？]\s*$|\b(?:TODO|FIXME|XXX|HACK)\b|open question|unclear|unresolved|still (?:to|need)|remain|next step|not"
    r" (?:sure|yet|checked|know)"
    r"|don't know|has to confirm|\bwhether\b|for later|remind|pending|待定|未解决|问题|吗|为什么",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(
    r"`[^`\n]{1,200}`"  # set as code
    r"|(?<![\w/.-])[\w.~@-]{0,80}(?:/[\w.@+-]{1,80}){1,30}"  # a path
    r"|\b[\w-]{1,80}\.[A-Za-z]{1,5}\b"  # a file
    r"|\b[^\W_]*_\w+"  # snake_case, UPPER_CASE
    r"|\b[A-Za-z]*[a-z][A-Z]\w*"  # camelCase, CamelCase
    r"|\b[A-Za-z0-9]{2,}(?:-[A-Za-z0-9]+)+\b"  # kebab-case, TICKET-1
    r"|\b\d[\d.,]*\d\b"
    r"|\b[A-Z]{2,}\d*\b"
    r"|(?<=[a-z,;:(\"'] )[A-Z][a-z]+(?: [A-Z][a-z]+)*"  # a proper name inside a sentence
    r"|\b[A-Z][a-z]+ [A-Z][a-z]+\b"
    r"|(?<=[\u3400-\u9fff] )[A-Za-z]\w+"  # a name in Chinese
)

# Important lines of tool output: reports, tasks, definitions of names and records of changed files. There are
# two expressions because each alone starts with literal characters, which is ten times faster than both in one.
_REPORTS = re.compile(
    r"Error|error|ERROR|ERR!|Exception|EXCEPTION|Fail(?:ed|ure)|failed|failure|FAIL|fatal|FATAL|panic"
    r"|Traceback|Denied|denied|Refused|refused|Timed out|timed out|CRITICAL|WARN|Warning|warning|TODO|FIXME|XXX|HACK"
    r"|NOTE|ADR|BREAKING|DEPRECATED|- \[ \]|Status:|错误|失败|异常"
)
_OPENINGS = re.compile(
    r"\n(?:[ \t]*(?:(?:export|public|private|protected|static|final|abstract|async|default|pub(?:\([a-z]+\))?)[ \t]+)*"
    r"(?:def|class|func|fn|function|interface|struct|trait|impl|enum|type|module|namespace|export|CREATE TABLE)["
    r" \t]+[\w(]"
    r"|\+\+\+ |--- |rename |create mode |delete mode |commit[ :]|(?:[MADRU?][ MADRU?]| [MADRU]) (?=\S)"
    r"|[ \t]*(?:modified|deleted|new file|renamed|created|Wrote):? |[ \t]*File \"|[\w./-]{1,200}\.\w{1,5}:\d|#{1,3} |\*"
    r" |[A-Z][A-Z0-9_]{3,}[:=])"
)
# Words in the names of tools that only read.
_LOOKS = frozenset(("read", "view", "open", "cat", "show", "grep", "glob", "search", "find", "list", "ls", "fetch"))
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NUMBER = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|(?<=[。！？])")
_WORD = re.compile(r"\w+")


MOST_KNOWN = 2_000_000  # characters of messages whose spoken lines are kept between decisions, about 35 MB


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line that competes for a place in a summary, and what its text alone says about its worth."""

    speaker: str
    text: str
    known_as: str  # lines of one result that differ only in numbers are one line
    names: frozenset[str]
    words: frozenset[str]
    signs: tuple[float, ...]  # the weights of decisions, troubles and open questions in it
    looked: bool  # whether a tool that only reads said it

    @property
    def side(self) -> str:
        return self.speaker.partition(" ")[0]


@dataclass(slots=True)
class SpokenLines:
    """The spoken lines of messages, each read once, however often a summary of it is tried."""

    _known: dict[tuple[str, MessagePart], tuple[SpokenLine, ...]] = field(default_factory=dict)
    _room: int = MOST_KNOWN

    def of(self, message: Message) -> Iterator[SpokenLine]:
        """Yields the competing lines of a message."""
        for part in message.parts:
            if (lines := self._known.get((message.role, part))) is None:
                lines = tuple(read_line(speaker, text) for speaker, text in _speech_lines(message.role, part))
                if self._room > 0:
                    self._known[message.role, part] = lines
                    self._room -= len(part.text)
            yield from lines


def read_line(speaker: str, text: str) -> SpokenLine:
    """Finds the names, words and signs of a line."""
    side, _, tool = speaker.partition(" ")
    scored = text[:LONGEST_SCORED]
    return SpokenLine(
        speaker,
        text,
        _NUMBER.sub("0", text) if side == "result" else text,
        frozenset(name.strip("`") for name in _SPECIFIC.findall(scored)),
        frozenset(_WORD.findall(scored.lower())),
        tuple(
            weight
            for weight, sign in ((_DECISION, _DECISIONS), (_TROUBLE, _TROUBLES), (_OPEN, _OPENS))
            if sign.search(scored)
        ),
        side == "result" and not _LOOKS.isdisjoint(word.lower() for word in _PARTS.findall(tool)),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    speaker: str
    text: str
    worth: float
    rank: int  # SIGNED, LOOKED or PLAIN


# Ranks of lines: with a sign of worth; with one, but from a tool that only reads, which has its own room; without a
# sign, which come last.
SIGNED, LOOKED, PLAIN = range(3)


class ExtractiveSummary:
    """The lines of a stretch of conversation with their worth. A repeated line of one speaker counts once, and so do
    lines of one result that differ only in numbers."""

    def __init__(self, spoken: SpokenLines | None = None) -> None:
        """`spoken`: the lines that are known from earlier summaries."""
        self._spoken = spoken or SpokenLines()
        self._lines: list[_Line] = []
        self._said: set[tuple[str, str]] = set()
        self._names: set[str] = set()
        self._words: set[str] = set()
        self._looked = 0.0  # characters that LOOKED lines may take

    def add(self, messages: Sequence[Message]) -> int:
        """Scores the lines of more messages, and returns the characters of the lines that a summary should hold."""
        signed, looked = 0, 0
        for message in messages:
            alike = set[tuple[str, str]]()
            for spoken in self._spoken.of(message):
                said, like = (spoken.speaker, spoken.text), (spoken.speaker, spoken.known_as)
                if said not in self._said and like not in alike:
                    self._said.add(said)
                    alike.add(like)
                    new_names, new_words = spoken.names - self._names, spoken.words - self._words
                    self._names |= spoken.names
                    self._words |= spoken.words
                    fresh = len(new_words) / (len(spoken.words) or 1)
                    signs = _NEW_NAME * min(len(new_names), NAMES_COUNTED) + (_OLD_NAME if spoken.names else 0.0)
                    for weight in spoken.signs:
                        signs += weight
                    worth = (signs + _NEW_WORDS * fresh) * _SPEAKER.get(spoken.side, 1.0) * (0.5 + 0.5 * fresh)
                    rank = LOOKED if spoken.looked else SIGNED
                    rank = PLAIN if signs < 1 and spoken.side != "user" else rank
                    line = _Line(spoken.speaker, spoken.text, worth, rank)
                    self._lines.append(line)
                    signed += min(len(line.text), LONGEST_LINE) if line.rank == SIGNED else 0
                    looked += min(len(line.text), LONGEST_LINE) if line.rank == LOOKED else 0
        characters = length_of(messages)
        room = min(looked, max(LONGEST_LINE, LOOKED_SHARE * characters))
        self._looked += room
        return signed + int(room)

    def lines(self, characters: int) -> list[str]:
        """Returns the best lines within about `characters`, in order; the speaker stands before the first of several
        lines."""
        widest = min(LONGEST_LINE, max(SHORTEST_EXCERPT, characters // 3))
        left, looked, floor, excerpts = characters, self._looked, characters * (1 - PLAIN_SHARE), dict[int, str]()
        ranked = sorted(enumerate(self._lines), key=lambda line: (line[1].rank == PLAIN, -line[1].worth, line[0]))
        for index, line in ranked:
            if left < SHORTEST_EXCERPT // 2 or (line.rank == PLAIN and left <= floor):
                break
            if line.rank == LOOKED:
                if looked < len(line.text):
                    continue
                looked -= len(line.text)
            width = min(widest, left - len(line.speaker) - len("- : \n"))
            if width >= min(len(line.text), SHORTEST_EXCERPT):
                excerpts[index] = _excerpt(line.text, width)
                named = index and index - 1 in excerpts and self._lines[index - 1].speaker == line.speaker
                left -= len(excerpts[index]) + len("- \n") + (0 if named else len(line.speaker) + 2)
        summary: list[str] = []
        before = ""
        for index in sorted(excerpts):
            speaker = self._lines[index].speaker
            summary.append(f"  {excerpts[index]}" if speaker == before else f"- {speaker}: {excerpts[index]}")
            before = speaker
        return summary


def length_of(messages: Sequence[Message]) -> int:
    """Returns the characters of messages; pictures count as a text of as many tokens."""
    return sum(len(part.text) + MEDIA_CHARACTERS * part.media_tokens for message in messages for part in message.parts)


def summary_lines(messages: Sequence[Message], characters: int) -> list[str]:
    """Returns the best lines of `messages` within about `characters`."""
    summary = ExtractiveSummary()
    summary.add(messages)
    return summary.lines(characters)


def _excerpt(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    first = min(
        (match.start() for sign in (_TROUBLES, _DECISIONS, _SPECIFIC) if (match := sign.search(line[:LONGEST_SCORED]))),
        default=0,
    )
    start = max(0, min(first - width // 4, len(line) - width))
    return ("…" if start else "") + line[start + bool(start) : start + width - 1] + "…"


# --- lines of messages ------------------------------------------------------------------------------------------------


def _speech_lines(role: str, part: MessagePart) -> Iterator[tuple[str, str]]:
    if part.kind is PartKind.CALL:
        yield f"call {part.tool}".strip(), without_encoded(_call_line(part))
    elif part.kind is PartKind.RESULT:
        yield from ((f"result {part.tool}".strip(), line) for line in _report_lines(without_encoded(part.text)))
    elif part.kind is PartKind.TEXT:
        yield from ((role, line) for line in _sentences(without_encoded(part.text)))


def _call_line(part: MessagePart) -> str:
    if len(part.written) <= LONGEST_ARGUMENT:
        return part.written
    try:
        arguments = json.loads(part.written)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return part.written[:LONGEST_SCORED]
    written = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in arguments.items()
    }
    return ", ".join(
        f"{name}: {' '.join(value.split()) if len(value) <= LONGEST_ARGUMENT else f'({len(value):,} characters)'}"
        for name, value in written.items()
    )


def _report_lines(text: str) -> Iterator[str]:
    lines = [" ".join(text.lstrip()[:LONGEST_SCORED].partition("\n")[0].split())]
    for half in _halves(text):
        rows = dict(_rows(half, _REPORTS)) | dict(_rows("\n" + half, _OPENINGS, 1))
        lines += (" ".join(half[start:end].split()) for start, end in sorted(rows.items()))
    return (line for line in lines if len(line) > 1)


def _rows(text: str, sign: re.Pattern[str], before: int = 0) -> Iterator[tuple[int, int]]:
    """Yields start and end of the lines with a sign, shifted back by `before` characters; of an endless line the text
    around its first sign."""
    match = sign.search(text)
    while match:
        earliest = max(0, match.end() - LONGEST_SCORED // 2)
        start = text.rfind("\n", earliest, match.end()) + 1 or earliest
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        yield start - before, min(end, start + LONGEST_SCORED) - before
        match = sign.search(text, end)


def _sentences(text: str) -> Iterator[str]:
    for half in _halves(text):
        for row in half.split("\n"):
            for line in _SENTENCE_END.split(row):
                line = " ".join(line[:LONGEST_SCORED].split())
                if len(line) > 1:
                    yield line


def _halves(text: str) -> tuple[str, ...]:
    half = LONGEST_LOOKED_AT // 2
    return (text,) if len(text) <= LONGEST_LOOKED_AT else (text[:half], text[-half:])
