"""A language model's judgement of files: a score each, or the lines that matter.

What is asked, in which order and of how much is settled before the first question, best files first by the local
relevance; replies are used by their question, so the result does not depend on when they come. Where there is no usable
reply the local judgement stands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec

from secateur.kinds.files.line_ranges import Range, merge, numbered, overlapping, windows
from secateur.kinds.files.local_relevance import best
from secateur.kinds.files.measurements import LOW_RELEVANCE, counted_pieces
from secateur.kinds.files.sourcecode import MODEL, SCORES, MeasuredFile, MeasuredFiles, SourcePiece
from secateur.kinds.files.statements import widened
from secateur.kinds.files.strategies import whole_first
from secateur.languages.syntax.fragments import split_lines
from secateur.llm.interface import Question, Reply, notices_of
from secateur.model import Notice
from secateur.settings import ContextPrune, Settings
from secateur.tokens import Counter, get_counter

LONGEST_LINE = 400
"""Characters of a line, and of a name, that are sent; longer ones are data."""

LONGEST_QUERY = 2_000
"""Characters of the query that are sent."""

TEXT_SHARE = 0.7
"""Of `llm.text_tokens`, what a question is filled up to: its client reckons with tokenizers that count more than ours,
and cuts what is too long."""

NUMBER_TOKENS = 3
"""Tokens of the number of a line."""

MOST_ANSWER = 1024
"""Tokens of an answer that lists ranges."""

LONGEST_SAID = 300
"""Characters that are kept of a model's reason."""

MOST_RANGES = 200
"""Ranges of one reply that are read."""

SCORING = (
    "You rate how much one source file helps to answer a request. 10: the answer is in this file or it must be changed;"
    " 5: it is needed to understand the answer; 0: it has nothing to do with it. Give relevant_score, a number from 0"
    " to 10, and reason, one short sentence."
)
EXTRACTING = (
    "You pick the lines of one source file that are needed to answer a request. Every line begins with its number. Give"
    " snippets, a list of ranges of whole functions or statements with start_line and end_line, both included; an empty"
    " list if nothing in the file helps."
)


class FileScore(msgspec.Struct):
    """The score that a model gives a file."""

    relevant_score: Annotated[float, msgspec.Meta(ge=0, le=SCORES)]
    reason: str = ""


class LineRange(msgspec.Struct):
    """Lines of a file, numbered from 1, both ends included."""

    start_line: int
    end_line: int


class Snippets(msgspec.Struct):
    """The lines of a file, or of a window, that matter."""

    snippets: Annotated[list[LineRange], msgspec.Meta(max_length=MOST_RANGES)]


@dataclass(frozen=True, slots=True)
class _Target:
    """The subject of one question."""

    number: int  # of the file
    window: Range
    relevance: float  # by the local judgement


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of a file that a question shows."""

    text: str
    last: int  # its last line there; before the first one, nothing can be shown


@dataclass(frozen=True, slots=True)
class ModelQuestions:
    """The questions to a model about files."""

    questions: tuple[Question, ...]
    shown: tuple[tuple[int, Range], ...]  # per question the number of the file, and the lines of it that are shown
    unasked: int  # what else could be asked about


def questions_about(measured: MeasuredFiles, settings: Settings) -> ModelQuestions:
    """A question about every file the strategy needs a judgement of, at most `max_questions`. Pure.

    `score`: one question a file that can be kept at all. `extract`: none about files that leave whole first; one about
    any other, or one a window of a file larger than the budget.
    """
    files, rules, counter = measured.files, settings.context_prune, get_counter(measured.counter)
    request = measured.query[:LONGEST_QUERY]
    room = int(settings.llm.text_tokens * TEXT_SHARE) - counter.count(request)
    targets = _targets(files, rules, room)
    best_first = sorted(targets, key=lambda target: (-target.relevance, target.number, target.window))
    questions, shown = [], []
    for target in sorted(best_first[: rules.max_questions], key=lambda one: (one.number, one.window)):
        file = files[target.number]
        page = _page(file, target.window, room, counter)
        if page.last >= target.window[0]:
            questions.append(_question(rules.strategy, file, target.window, page, request))
            shown.append((target.number, (target.window[0], page.last)))
    return ModelQuestions(tuple(questions), tuple(shown), len(targets) - len(questions))


def with_replies(
    measured: MeasuredFiles, asked: ModelQuestions, replies: Sequence[Reply], settings: Settings
) -> MeasuredFiles:
    """The files as the model judged them, what that cost, and what went wrong. Pure.

    Args:
        replies: one per question, in their order.
    """
    rules, counter = settings.context_prune, get_counter(measured.counter)
    answers: dict[int, list[tuple[Range, Any]]] = {}
    for (number, window), reply in zip(asked.shown, replies, strict=True):
        if reply.value is not None:
            answers.setdefault(number, []).append((window, reply.value))
    files = list(measured.files)
    for number, said in answers.items():
        if rules.strategy == "score":
            files[number] = _scored(files[number], said[0][1])
        else:
            files[number] = _extracted(files[number], said, rules.model_relevance, counter)
    own = [notice for notice in measured.notices if notice.code != LOW_RELEVANCE]  # the model may well know better
    notices = (*own, *_notices(replies, asked.unasked, rules.max_questions))
    return replace(measured, files=tuple(files), calls=tuple(reply.call for reply in replies), notices=notices)


# --- what is asked ----------------------------------------------------------------------------------------------------


def _targets(files: Sequence[MeasuredFile], rules: ContextPrune, room: int) -> list[_Target]:
    """The possible subjects of questions: whole files, and windows of those that are larger than the budget or than a
    question can carry."""
    found: list[_Target] = []
    whole_files = whole_first(files, rules) if rules.strategy == "extract" else frozenset()
    for number, file in enumerate(files):
        if number in whole_files or not file.source.source_code.strip():
            continue
        whole = (1, file.lines)
        if rules.strategy == "score":
            found += (
                [_Target(number, whole, best(file.pieces))] if file.cost <= rules.max_tokens else []
            )  # what is larger no score lets in
            continue
        too_large = file.cost > rules.max_tokens or file.source.tokens + NUMBER_TOKENS * file.lines > room
        cut = windows(file.lines, rules.sliding_window_size, rules.sliding_window_overlap) if too_large else [whole]
        starts, ends = [piece.start for piece in file.pieces], [piece.end for piece in file.pieces]
        for window in cut:
            inside = file.pieces[bisect_left(ends, window[0]) : bisect_right(starts, window[1])]
            found.append(_Target(number, window, best(inside)))
    return found


def _page(file: MeasuredFile, window: Range, room: int, counter: Counter) -> _Page:
    """As many whole lines of the window as a question can carry."""
    lines = split_lines(file.source.source_code)
    rows = numbered(lines, window, LONGEST_LINE)
    taken = 0
    for tokens in counter.count_many(f"{row}\n" for row in rows):
        room -= tokens
        if room < 0:
            break
        taken += 1
    return _Page("\n".join(rows[:taken]), window[0] + taken - 1)


def _question(strategy: str, file: MeasuredFile, window: Range, page: _Page, request: str) -> Question:
    name = file.source.module_name[:LONGEST_LINE]
    whole = (window[0], page.last) == (1, file.lines)
    head = f"Request:\n{request}\n\nFile {name}, " + (
        f"{file.lines:,} lines" if whole else f"lines {window[0]}-{page.last} of {file.lines:,}"
    )
    text = f"{head}:\n{page.text}\n"
    if strategy == "score":
        return Question(f"score {name}", SCORING, text, FileScore)
    what = f"extract {name}" if whole else f"extract {name}:{window[0]}-{page.last}"
    return Question(what, EXTRACTING, text, Snippets, MOST_ANSWER, _check_of((window[0], page.last)))


def _check_of(window: Range) -> Any:
    def check(answer: Snippets) -> str:
        """Ranges that leave nothing say nothing: backwards, or all outside."""
        if answer.snippets and not _ranges(answer, window):
            return f"no range runs forwards within lines {window[0]}-{window[1]}"
        return ""

    return check


# --- what is answered -------------------------------------------------------------------------------------------------


def _scored(file: MeasuredFile, answer: FileScore) -> MeasuredFile:
    return replace(file, score=round(answer.relevant_score, 1), judge=MODEL, said=answer.reason[:LONGEST_SAID])


def _extracted(
    file: MeasuredFile, said: Sequence[tuple[Range, Snippets]], named_alone: float, counter: Counter
) -> MeasuredFile:
    """The file with what the model named of the windows it answered for, whole statements within each fragment."""
    named = merge((one for window, answer in said for one in _ranges(answer, window)), file.lines)
    seen = merge((window for window, _ in said), file.lines)
    lines = split_lines(file.source.source_code)
    pieces: list[SourcePiece] = []
    for piece in file.pieces or [SourcePiece(start, end, "", 0.0) for start, end in named]:
        within = piece.start, piece.end
        inside = [(number, one) for number, one in enumerate(named) if overlapping(within, [one])]
        parts = [(number, wide) for number, one in inside if (wide := widened(one, lines, within))]
        for start, end in merge((wide for _, wide in parts), file.lines):
            number = next(number for number, wide in parts if wide[0] <= end and wide[1] >= start)
            relevance = round(named_alone + (1 - named_alone) * piece.relevance, 6)
            pieces.append(replace(piece, start=start, end=end, relevance=relevance, chosen=True, named=number))
        if not parts:
            unseen = not any(start <= piece.start and piece.end <= end for start, end in seen)
            pieces.append(piece if unseen else replace(piece, relevance=0.0))
    judged = replace(file, pieces=tuple(pieces), score=round(SCORES * best(pieces), 1), judge=MODEL)
    return replace(judged, pieces=counted_pieces(judged, counter))


def _ranges(answer: Snippets, window: Range) -> list[Range]:
    """The ranges clipped to the window they were named for; those that run backwards go."""
    forwards = [(one.start_line, one.end_line) for one in answer.snippets if one.start_line <= one.end_line]
    return [
        (max(start, window[0]), min(end, window[1]))
        for start, end in forwards
        if start <= window[1] and end >= window[0]
    ]


def _notices(replies: Sequence[Reply], unasked: int, most: int) -> list[Notice]:
    notices = list(notices_of(replies))
    failed = sum(reply.value is None for reply in replies)
    if failed:
        notices.append(
            Notice(
                "model_fallback",
                f"What {failed:,} of {len(replies):,} questions were about is decided without the model.",
            )
        )
    if unasked:
        said = (
            f"{unasked:,} questions were not asked (context_prune.max_questions is {most:,}): what they were about is"
            " decided without the model."
        )
        notices.append(Notice("not_asked", said))
    return notices
