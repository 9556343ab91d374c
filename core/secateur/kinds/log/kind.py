"""Logs as a kind of context: a log of a test run, a build or a service under a budget, verbatim lines only."""

from __future__ import annotations

import re
from array import array
from collections import Counter as Tally
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, count
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from secateur.errors import SecateurError, shown
from secateur.kind_places import place_of
from secateur.kinds.base import EntryDescription, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs
from secateur.kinds.kind_trials import KindTrials
from secateur.kinds.knobs import Knob
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.levels import RESULT
from secateur.kinds.log.lines import SLICE, LogLines, is_stamped, read_lines
from secateur.kinds.log.selection import LogSelection, ReadLog, Stretch, select_lines
from secateur.ledger import LedgerShape
from secateur.model import Entry, Ledger, Notice, State
from secateur.progress import Progress
from secateur.render.page import Column, Page, Section, change, count_noun, not_shown
from secateur.render.sentences import sentence
from secateur.settings import Settings
from secateur.shape import SCHEMA_VERSION, Version
from secateur.terminal import clip, visible
from secateur.tokens import get_counter
from secateur.what_if.explanation import ProofFields
from secateur.what_if.trials import Trials

LARGEST = 64 << 20
"""Bytes of a log that is read."""

MARK = "…"
"""Begins a line that is not one of the log, as often as no line of the log does."""

_TABLE = "log."
_MOST_MATCHES = 500  # lines that hold words of the query
_ANY_QUESTION = frozenset(
    {"the", "and", "for", "with", "was", "were", "did", "does", "do", "is", "are", "has", "have", "had", "this", "that"}
    | {
        "what",
        "why",
        "which",
        "how",
        "when",
        "where",
        "who",
        "in",
        "of",
        "on",
        "to",
        "at",
        "by",
        "it",
        "its",
        "be",
        "not",
    }
    | {
        "no",
        "an",
        "or",
        "from",
        "there",
        "any",
        "my",
        "our",
        "you",
        "me",
        "we",
        "can",
        "could",
        "error",
        "errors",
        "fail",
    }
    | {"fails", "failed", "failing", "failure", "wrong", "broke", "broken", "problem", "log", "build", "run", "test"}
    | {"tests"}
)
"""Words that say nothing of a line: those of any question, and those by which errors are found anyway."""
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SCRIPTS = re.compile(rf"{_HAN.pattern}|[\u3040-\u309f]+|[\u30a0-\u30ff]+|[^\u3040-\u30ff\u3400-\u9fff]+")
_SHOWN_DROPPED = 10  # entries that are dropped, in the report
_LINE_CELLS = 72
_COLUMNS = Column(1, gap=0), Column(13, gap=1), Column(17, right=True, gap=1), Column()
"""State of an entry, its lines, its tokens, and what is said of it."""
_RULES = re.compile(r"^([_=*#-])\1{3,} *| *([_=*#-])\2{3,}$")
"""The rules that a heading is drawn with, before and behind its words."""
_STAMPED_OF = 20  # first lines by which a log without a telling name is told


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
            "lines that hold words of it come before other lines",
            metavar="Q",
            title="Query",
            placeholder="words to look for",
            optional=True,
            lines=True,
        ),
    )
    flags: ClassVar[Sequence[Flag]] = (Flag(_TABLE + "max_tokens", "N", "tokens that may go out (default 4000)"),)
    budget = Knob(_TABLE + "max_tokens", "budget", fine_step=10, rounded=True, mutable=True)
    knobs: ClassVar[Sequence[Knob]] = (
        budget,
        Knob(_TABLE + "block_share", "block"),
        Knob(_TABLE + "last_share", "last share", mutable=True),
        Knob(_TABLE + "last_lines", "last lines", mutable=True),
        Knob(_TABLE + "context_lines", "context", mutable=True),
        Knob(_TABLE + "fill", "fill"),
    )
    formats = ("text", "json", "plain")

    def recognises(self, path: Path, head: str) -> bool:
        if path.suffix == ".log":
            return True
        lines = [line for line in head.split("\n")[: 2 * _STAMPED_OF] if line.strip()][:_STAMPED_OF]
        return len(lines) > 1 and 2 * sum(map(is_stamped, lines)) > len(lines)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        rules = settings.log
        query = inputs.get("query") or ""
        return inputs["path"], query, settings.tokens.counter, rules.longest_line, rules.least_repeats

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> ReadLog:
        path, rules, progress = inputs["path"], settings.log, environment.progress
        data = environment.bytes_of(path, "log")
        if len(data) > LARGEST:
            where = "standard input" if path == "-" else shown(path)
            said = f"{where} is larger than {LARGEST:,} bytes, the most that is read of a log"
            raise SecateurError(said, hint="give a part of it, such as its end by tail -c 60M", code="TOO_LARGE")
        counter = get_counter(settings.tokens.counter)
        words = _words(inputs.get("query") or "")
        lines = read_lines(data, counter, rules.longest_line, rules.least_repeats, progress, words)
        found = find_blocks(lines.lines, progress)
        flags = array("q", bytes(8 * len(lines)))
        for number in (*lines.repeats, *found.repeated):
            flags[number] = 1
        matches = _matches(lines, words, progress)
        matched = bool(matches) or any(_matches(lines, _all_words(inputs.get("query") or ""), progress))
        return ReadLog(
            lines, found, matches, matched, array("q", accumulate(flags, initial=0)), _mark(lines), environment.redactor
        )

    def decide(
        self, material: ReadLog, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[LogSelection]:
        selection = select_lines(material, settings.log, get_counter(settings.tokens.counter))
        notices = (*material.lines.notices, *_notices(material, selection, inputs, settings.log.max_tokens))
        return Outcome(
            self.name,
            settings,
            selection,
            lambda: _ledger(material, selection, settings.log.max_tokens),
            notices,
        )

    def trials(self, material: ReadLog, inputs: Inputs, settings: Settings, outcome: Outcome[LogSelection]) -> Trials:
        return KindTrials(self, material, inputs, settings, outcome, states_in=_states_in)

    def described(self, material: ReadLog) -> str:
        errors = sum(block.grade != RESULT and block.repeats is None for block in material.found.blocks)
        sizes = ((len(material.lines), "line"), (material.lines.before[-1], "token"), (errors, "distinct error"))
        return ", ".join(count_noun(number, noun) for number, noun in sizes)

    def output(self, outcome: Outcome[LogSelection]) -> LogOutput:
        text, mark = outcome.payload.text, outcome.payload.log.mark
        return LogOutput(SCHEMA_VERSION, text, mark, outcome.ledger.shape(), list(outcome.warnings))

    def page(self, outcome: Outcome[LogSelection], *, verbose: bool = False) -> Page:
        """Lists what goes out, in the log's order, and the errors that do not."""
        ledger, selection = outcome.ledger, outcome.payload
        going = sum(end - start for one in selection.stretches for start, end in one.spans)
        counter = outcome.settings.tokens.counter
        head = [
            ("log", f"{count_noun(len(selection.log.lines), 'line')}, {going:,} {'goes' if going == 1 else 'go'} out"),
            ("tokens", f"{change(ledger.before, ledger.after)} ({counter}), budget {ledger.budget:,}"),
        ]
        rows, dropped = [], 0
        for number, one in enumerate(selection.stretches):
            if one.state is State.DROPPED:
                dropped += 1
                if not verbose and (one.block is None or one.block.repeats is not None or dropped > _SHOWN_DROPPED):
                    continue
            rows.append(self._row(outcome, number, one))
        more = len(selection.stretches) - len(rows)
        section = Section(rows, more=not_shown(more, " that were dropped"), columns=_COLUMNS)
        return Page(head, [section] if rows or more else [], outcome.warnings)

    def _row(self, outcome: Outcome[LogSelection], number: int, one: Stretch) -> Sequence[str]:
        entry = outcome.ledger.entries[number]
        said = f"{sentence(entry)}: {clip(_telling(one, outcome.payload.log.lines), _LINE_CELLS)}"
        return one.state.glyph, entry.id, change(entry.before, entry.after), said

    def describe(self, outcome: Outcome[LogSelection], number: int) -> EntryDescription:
        """Lines by their numbers; they are told by the one that says what happened, without the rule it may be drawn
        in."""
        told, selection = super().describe(outcome, number), outcome.payload
        told = replace(told, name=f"lines {told.name}" if "-" in told.name else f"line {told.name}")
        if number >= len(selection.stretches):
            return told
        one = selection.stretches[number]
        line = _telling(one, selection.log.lines)
        return replace(told, beside=_RULES.sub("", line) or line, line=one.start + 1)

    def leaving(self, outcome: Outcome[LogSelection], form: str = "") -> str:
        return outcome.payload.text

    def texts(self, outcome: Outcome[LogSelection], number: int) -> tuple[str, str]:
        selection = outcome.payload
        if number >= len(selection.stretches):
            return "", ""
        one, lines = selection.stretches[number], selection.log.lines.lines
        going = [line for start, end in one.spans for line in lines[start:end]]
        return "\n".join(lines[one.start : one.end]), "\n".join(going)


def _states_in(asked: Outcome[LogSelection], outcome: Outcome[LogSelection]) -> Sequence[State]:
    """By their lines: other settings make other entries of them."""
    going = array("q", bytes(8 * (len(outcome.payload.log.lines) + 1)))
    for one in outcome.payload.stretches:
        for start, end in one.spans:
            going[start + 1 : end + 1] = array("q", [1]) * (end - start)
    sums, cut = array("q", accumulate(going)), outcome.payload.log.lines.whole
    states = []
    for one in asked.payload.stretches:
        number = sums[one.end] - sums[one.start]
        whole = number == one.end - one.start and not any(one.start <= line < one.end for line in cut)
        states.append(State.KEPT if number and whole else State.SHORTENED if number else State.DROPPED)
    return states


def _telling(one: Stretch, lines: LogLines) -> str:
    """The line of a stretch that tells what happened, else its first."""
    return visible(lines.lines[one.block.telling[0] if one.block else one.start]).strip()


def _all_words(query: str) -> Sequence[str]:
    """The words of a query; of text without blanks between words, as in Chinese and Japanese, each two characters."""
    words = [part for word in re.findall(r"\w+", query.lower()) for part in _SCRIPTS.findall(word)]
    pieces = (
        [word] if word.isascii() or not _HAN.fullmatch(word) else [word[at : at + 2] for at in range(len(word) - 1)]
        for word in words
    )
    return tuple(dict.fromkeys(piece for split in pieces for piece in split if len(piece) > 1))


def _words(query: str) -> Sequence[str]:
    """The words of a query that a line can be told by: without those that any question holds, if others are left."""
    words = _all_words(query)
    return tuple(word for word in words if word not in _ANY_QUESTION) or words


def _matches(lines: LogLines, words: Sequence[str], progress: Progress) -> dict[int, int]:
    """Lines that hold words of a query, and how well: a rare word counts more. The best where there are too many."""
    held: dict[int, list[str]] = {}
    if words:
        pattern = re.compile("|".join(map(re.escape, words)))
        for number, line in enumerate(lines.lines):
            if number % SLICE == 0:
                progress("matching", number, len(lines))
            low = lines.whole.get(number, line).lower()
            if pattern.search(low):
                held[number] = [word for word in words if word in low]
    numbers = Tally(word for found in held.values() for word in found)
    weights = {word: 1 + (len(lines) // number).bit_length() for word, number in numbers.items()}
    scores = {number: sum(map(weights.__getitem__, found)) for number, found in held.items()}
    best = sorted(scores, key=lambda number: (-scores[number], number))[:_MOST_MATCHES]
    return {number: scores[number] for number in best}


def _mark(lines: LogLines) -> str:
    """The beginning of lines that are not of the log: so many marks as no line of the log begins with."""
    begun = {len(line) - len(line.lstrip(MARK)) for line in lines.lines if line.startswith(MARK)}
    return MARK * next(number for number in count(1) if number not in begun)


def _notices(log: ReadLog, selection: LogSelection, inputs: Mapping[str, Any], budget: int) -> list[Notice]:
    found = []
    query = inputs.get("query") or ""
    if query.strip() and not log.matched and len(log.lines):
        found.append(Notice("no_match", "No line holds a word of the query."))
    if log.found.further:
        errors, taken = (
            log.found.further,
            "are taken as routine lines" if log.found.further > 1 else "is taken as routine",
        )
        said = f"{count_noun(errors, 'further distinct error')} {taken}: only the first are told apart."
        found.append(Notice("many_errors", said))
    if len(log.lines) and not selection.text:
        if not budget:
            found.append(Notice("zero_budget", "The budget is 0 tokens: nothing leaves."))
        else:
            found.append(Notice("budget_too_small", f"No line fits the budget of {budget:,} tokens with its marks."))
    return found


def _ledger(log: ReadLog, selection: LogSelection, budget: int) -> Ledger:
    """Every line in one entry; an entry is named by its lines, counted from 1."""
    entries, position = [], 0
    for one in selection.stretches:
        lines = log.lines
        position += bool(one.spans)
        after = sum(lines.after[end] - lines.after[start] for start, end in one.spans)
        before = lines.before[one.end] - lines.before[one.start]
        name = f"{one.start + 1}-{one.end}" if one.end - one.start > 1 else f"{one.end}"
        place = position if one.spans else None
        entries.append(Entry(name, one.state, one.reason, before, after, one.figures, position=place))
    return Ledger.closed("log", budget, entries, selection.tokens, around=log.lines.around)
