"""Logs as a kind of context: a log of a test run, a build or a service under a budget, verbatim lines only."""

from __future__ import annotations

import re
from array import array
from collections import Counter as Tally
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, chain, count, islice
from operator import mul, sub
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from secateur.errors import SecateurError, shown
from secateur.kind_places import place_of
from secateur.kinds.base import PIN, EntryDescription, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs
from secateur.kinds.knobs import Knob, warn_unknown_pins
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.levels import RESULT
from secateur.kinds.log.lines import LONGEST_LINE, SLICE, LogLines, is_stamped, read_lines
from secateur.kinds.log.selection import (
    MOST_MATCHES,
    LogSelection,
    ReadLog,
    Stretch,
    note_on_times,
    parse_lines,
    select_lines,
)
from secateur.ledger import Entry, Ledger, LedgerShape, Notice, State
from secateur.progress import Progress
from secateur.render.page import Column, Page, Section, change, count_noun, not_shown, sentence
from secateur.settings import Settings
from secateur.shape import SCHEMA_VERSION, Version
from secateur.terminal import clip, visible
from secateur.tokens import get_counter
from secateur.what_if import ProofFields

if TYPE_CHECKING:
    from secateur.what_if.trials import Trials

LARGEST = 64 << 20  # largest log that is read, in bytes
MARK = "…"  # begins a line that is not from the log, repeated so often that no line of the log begins so
_TABLE = "log."
# Words that do not distinguish lines: words of any question, and words that report errors, which are found anyway.
_ANY_QUESTION = frozenset(
    (
        *("the", "and", "for", "with", "was", "were", "did", "does", "do", "is", "are", "has", "have", "had"),
        *("this", "that", "what", "why", "which", "how", "when", "where", "who", "in", "of", "on", "to", "at"),
        *("by", "it", "its", "be", "not", "no", "an", "or", "from", "there", "any", "my", "our", "you", "me", "we"),
        *("can", "could", "error", "errors", "fail", "fails", "failed", "failing", "failure", "wrong", "broke"),
        *("broken", "problem", "log", "build", "run", "test", "tests"),
    )
)
MOST_WORDS = 500  # most words of a query that are looked for; each is compared with every line
_WORDS = re.compile(r"[^\W_]")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SCRIPTS = re.compile(rf"{_HAN.pattern}|[\u3040-\u309f]+|[\u30a0-\u30ff]+|[^\u3040-\u30ff\u3400-\u9fff]+")
_SHOWN_DROPPED = 10  # most dropped entries in the report
_LINE_CELLS = 72
# State of an entry, its lines, its tokens, and a remark.
_COLUMNS = Column(1, gap=0), Column(13, gap=1), Column(17, right=True, gap=1), Column()
# The rules around the words of a heading.
_RULES = re.compile(r"^([_=*#-])\1{3,} *| *([_=*#-])\2{3,}$")
_STAMPED_OF = 20  # first lines that identify a log without a telling name


class LogOutput(ProofFields, frozen=True):
    """The output of `secateur log --format json`."""

    schema_version: Version
    text: str
    mark: Annotated[str, Meta(description="A line of the text that begins with it and a space is not one of the log.")]
    ledger: LedgerShape
    warnings: list[Notice]


class LogKind(Kind[ReadLog, LogSelection]):
    """See `Kind`."""

    name = "log"
    wording = Wording(
        "Log",
        place_of("log").about,
        "Lines",
        "A log can be opened here: what a test run, a build or a service printed.",
        unit="lines",
    )
    inputs: ClassVar[Sequence[Input]] = (
        Input(
            "path",
            "the log; - reads stdin",
            positional=True,
            required=True,
            title="Log",
            placeholder="the file of a log",
        ),
        Input(
            "query",
            "lines with words of this query come first",
            metavar="Q",
            title="Query",
            placeholder="words to look for",
            optional=True,
            lines=True,
        ),
    )
    flags: ClassVar[Sequence[Flag]] = (Flag(_TABLE + "max_tokens", "N", "most tokens of output (default 4000)"), PIN)
    budget = Knob(_TABLE + "max_tokens", "budget", fine_step=10, rounded=True, mutable=True)
    knobs: ClassVar[Sequence[Knob]] = (budget,)
    formats = ("text", "json", "plain")

    def recognises(self, path: Path, head: str) -> bool:
        if path.suffix == ".log":
            return True
        lines = [line for line in head.split("\n")[: 2 * _STAMPED_OF] if line.strip()][:_STAMPED_OF]
        return len(lines) > 1 and 2 * sum(map(is_stamped, lines)) > len(lines)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        return inputs["path"], inputs.get("query") or "", settings.tokens.counter

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> ReadLog:
        path, progress = inputs["path"], environment.progress
        data = environment.bytes_of(path, "log")
        if len(data) > LARGEST:
            where = "standard input" if path == "-" else shown(path)
            message = f"{where} is larger than {LARGEST:,} bytes, the most that is read of a log"
            raise SecateurError(message, hint="give a part of it, such as its end by tail -c 60M", code="TOO_LARGE")
        counter = get_counter(settings.tokens.counter)
        all_words = _split_words(inputs.get("query") or "")
        words = (tuple(word for word in all_words if word not in _ANY_QUESTION) or all_words)[:MOST_WORDS]
        lines = read_lines(data, counter, LONGEST_LINE, progress, words)
        failures = find_blocks(lines.lines, progress)
        flags = (index in lines.repeats or index in failures.repeated for index in range(len(lines)))
        matches = _match_lines(lines, words, progress)
        matched = bool(matches) or any(_match_lines(lines, all_words[:MOST_WORDS], progress))
        repeated = array("q", accumulate(flags, initial=0))
        # as many marks as no line of the log begins with
        lengths = {len(line) - len(line.lstrip(MARK)) for line in lines.lines if line.startswith(MARK)}
        mark = MARK * next(length for length in count(1) if length not in lengths)
        return ReadLog(lines, failures, matches, matched, repeated, mark, environment.redactor)

    def decide(
        self, material: ReadLog, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[LogSelection]:
        pinned = {name: parse_lines(name, len(material.lines)) for name in settings.pins}
        pins = [span for span in pinned.values() if span is not None]
        selection = select_lines(material, settings.log.max_tokens, get_counter(settings.tokens.counter), pins)
        notices = (*material.lines.notices, *_notices(material, selection, inputs, settings.log.max_tokens))
        if None in pinned.values():
            known = {name for name, span in pinned.items() if span is not None}
            names = _ledger(material, selection, settings.log.max_tokens).ids
            looks = f"give a line or a range of lines, from 1 to {len(material.lines)}"
            notices = (*notices, *warn_unknown_pins(settings, known.union(names), looks))
        budget = settings.log.max_tokens
        return Outcome(self.name, settings, selection, lambda: _ledger(material, selection, budget), notices)

    def trials(self, material: ReadLog, inputs: Inputs, settings: Settings, outcome: Outcome[LogSelection]) -> Trials:
        from secateur.kinds.kind_trials import KindTrials  # it needs numpy, which a log does not

        return KindTrials(self, material, inputs, settings, outcome, find_entries=_find_entries)

    def described(self, material: ReadLog) -> str:
        blocks = material.failures.blocks
        errors = len({block.head for block in blocks if block.grade != RESULT and block.repeats is None})
        sizes = ((len(material.lines), "line"), (material.lines.before[-1], "token"), (errors, "distinct error"))
        return ", ".join(count_noun(count, noun) for count, noun in sizes)

    def output(self, outcome: Outcome[LogSelection]) -> LogOutput:
        text, mark = outcome.payload.text, outcome.payload.log.mark
        return LogOutput(SCHEMA_VERSION, text, mark, outcome.ledger.shape(), list(outcome.warnings))

    def page(self, outcome: Outcome[LogSelection], *, verbose: bool = False) -> Page:
        """Lists the lines that go out, in the log's order, and the errors that do not."""
        ledger, selection = outcome.ledger, outcome.payload
        kept = sum(end - start for stretch in selection.stretches for start, end in stretch.spans)
        counter = outcome.settings.tokens.counter
        head = [
            ("log", f"{count_noun(len(selection.log.lines), 'line')}, {kept:,} {'goes' if kept == 1 else 'go'} out"),
            ("tokens", f"{change(ledger.before, ledger.after)} ({counter}), budget {ledger.budget:,}"),
        ]
        rows, dropped = [], 0
        for stretch, entry in zip(selection.stretches, ledger.entries, strict=False):
            if stretch.state is State.DROPPED:
                dropped += 1
                error = stretch.block is not None and stretch.block.repeats is None
                if not verbose and (not error or dropped > _SHOWN_DROPPED):
                    continue
            line = clip(_telling_line(stretch, selection.log.lines), _LINE_CELLS)
            remark = f"{sentence(entry)}: “{line}”" if line else sentence(entry)
            rows.append((stretch.state.glyph, entry.id, change(entry.before, entry.after), remark))
        more = len(selection.stretches) - len(rows)
        section = Section(rows, more=not_shown(more, " that were dropped"), columns=_COLUMNS)
        return Page(head, [section] if rows or more else [], outcome.warnings)

    def describe(self, outcome: Outcome[LogSelection], index: int) -> EntryDescription:
        """Describes an entry by the numbers of its lines, and by the line that tells what happened, without rules
        around it."""
        description, selection = super().describe(outcome, index), outcome.payload
        lines = "lines" if "-" in description.name else "line"
        description = replace(description, name=f"{lines} {description.name}")
        if index >= len(selection.stretches):
            return description
        stretch = selection.stretches[index]
        line = _telling_line(stretch, selection.log.lines)
        return replace(description, beside=_RULES.sub("", line) or line, line=stretch.start + 1)

    def leaving(self, outcome: Outcome[LogSelection], form: str = "") -> str:
        return outcome.payload.text

    def texts(self, outcome: Outcome[LogSelection], index: int) -> tuple[str, str]:
        selection = outcome.payload
        if index >= len(selection.stretches):
            return "", ""
        stretch, lines = selection.stretches[index], selection.log.lines.lines
        kept = [line for start, end in stretch.spans for line in lines[start:end]]
        return "\n".join(lines[stretch.start : stretch.end]), "\n".join(kept)


def _find_entries(asked: Outcome[LogSelection], outcome: Outcome[LogSelection]) -> Sequence[tuple[State, int]]:
    goes_out = array("q", bytes(8 * (len(outcome.payload.log.lines) + 1)))
    for stretch in outcome.payload.stretches:
        for start, end in stretch.spans:
            goes_out[start + 1 : end + 1] = array("q", [1]) * (end - start)
    lines = outcome.payload.log.lines
    costs = chain((0,), map(sub, islice(lines.after, 1, None), lines.after))
    sums, tokens = (array("q", accumulate(column)) for column in (goes_out, map(mul, goes_out, costs)))
    found = []
    for stretch in asked.payload.stretches:
        kept = sums[stretch.end] - sums[stretch.start]
        whole = kept == stretch.end - stretch.start and not any(
            stretch.start <= line < stretch.end for line in lines.whole
        )
        state = State.KEPT if kept and whole else State.SHORTENED if kept else State.DROPPED
        found.append((state, tokens[stretch.end] - tokens[stretch.start]))
    return found


def _telling_line(stretch: Stretch, lines: LogLines) -> str:
    """The line of a stretch that tells what happened, else its first line; a line that says something if there is
    one."""
    order = chain(stretch.block.telling if stretch.block else (), range(stretch.start, stretch.end))
    texts = (lines.lines[index] for index in order)
    return visible(next(filter(_WORDS.search, texts), lines.lines[stretch.start])).strip()


def _split_words(query: str) -> Sequence[str]:
    """Splits a query into words; text without spaces, as in Chinese and Japanese, into pairs of characters."""
    words = [part for word in re.findall(r"\w+", query.lower()) for part in _SCRIPTS.findall(word)]
    pieces = (
        [word] if word.isascii() or not _HAN.fullmatch(word) else [word[at : at + 2] for at in range(len(word) - 1)]
        for word in words
    )
    return tuple(dict.fromkeys(piece for split in pieces for piece in split if len(piece) > 1))


def _match_lines(lines: LogLines, words: Sequence[str], progress: Progress) -> dict[int, int]:
    """Finds the lines that hold words of a query, with a score in which rare words count more; only the best if there
    are too many."""
    words_by_line: dict[int, list[str]] = {}
    if words:
        pattern = re.compile("|".join(map(re.escape, words)))
        for index, line in enumerate(lines.lines):
            if index % SLICE == 0:
                progress("matching", index, len(lines))
            low = lines.whole.get(index, line).lower()
            if pattern.search(low):
                words_by_line[index] = [word for word in words if word in low]
    lines_with_word = Tally(word for line_words in words_by_line.values() for word in line_words)
    weights = {word: 1 + (len(lines) // index).bit_length() for word, index in lines_with_word.items()}
    scores = {index: sum(map(weights.__getitem__, line_words)) for index, line_words in words_by_line.items()}
    # a line that repeats one that matches as well says no more
    scores = {index: score for index, score in scores.items() if score > scores.get(lines.repeats.get(index, -1), 0)}
    best = sorted(scores, key=lambda index: (-scores[index], index))[:MOST_MATCHES]
    return {index: scores[index] for index in best}


def _notices(log: ReadLog, selection: LogSelection, inputs: Mapping[str, Any], budget: int) -> list[Notice]:
    notices = []
    query = inputs.get("query") or ""
    if query.strip() and not log.matched and len(log.lines):
        notices.append(Notice("no_match", "No line holds a word of the query."))
    if len(_split_words(query)) > MOST_WORDS:
        notices.append(Notice("query_cut", f"Only the first {MOST_WORDS} words of the query are looked for."))
    if log.failures.further:
        errors = log.failures.further
        taken = "are taken as routine lines" if errors > 1 else "is taken as routine"
        message = f"{count_noun(errors, 'further distinct error')} {taken}: only the first are told apart."
        notices.append(Notice("many_errors", message))
    note = note_on_times(log.lines.times) if log.lines.times else ""
    if selection.text and note not in selection.text.split("\n", 1)[0]:
        notices.append(Notice("times_left_out", f"The text has no room to say: {note}."))
    if len(log.lines) and not selection.text:
        if not budget:
            notices.append(Notice("zero_budget", "The budget is 0 tokens: nothing goes out."))
        else:
            notices.append(Notice("budget_too_small", f"No line fits the budget of {budget:,} tokens with its marks."))
    return notices


def _ledger(log: ReadLog, selection: LogSelection, budget: int) -> Ledger:
    entries, position = [], 0
    for stretch in selection.stretches:
        lines = log.lines
        position += bool(stretch.spans)
        after = sum(lines.after[end] - lines.after[start] for start, end in stretch.spans)
        before = lines.before[stretch.end] - lines.before[stretch.start]
        name = f"{stretch.start + 1}-{stretch.end}" if stretch.end - stretch.start > 1 else f"{stretch.end}"
        at = position if stretch.spans else None
        entries.append(Entry(name, stretch.state, stretch.reason, before, after, stretch.figures, position=at))
    return Ledger.closed("log", budget, entries, selection.tokens, around=log.lines.around)
