"""A language model's judgement of files: a score each, or the lines that matter.

What is asked, in which order and of how much is settled before the first question, best files first by the local relevance; replies are used by
their question, so the result does not depend on when they come. Where there is no usable reply the local judgement stands.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec

from secateur.llm.asking import LanguageModel, Progress, Question, Reply
from secateur.model import ModelCall, Notice
from secateur.repository.fragments import split_lines
from secateur.settings import ContextPrune
from secateur.trimming.pieces import best, listed
from secateur.trimming.sliding import Range, merge, numbered, overlapping, windows
from secateur.trimming.sourcecode import MODEL, SCORES, Piece, WeighedFile

CHOSEN = 0.5
"""Least relevance of lines a model named: as much as a clear match by words."""

LONGEST_LINE = 400
"""Characters of a line that are sent; longer ones are data."""

LONGEST_TEXT = 60_000
"""Characters of a file or a window that are sent with one question."""

LONGEST_QUERY = 8_000
"""Characters of the query that are sent."""

LONGEST_SAID = 300
"""Characters that are kept of a model's reason."""

MOST_RANGES = 200
"""Ranges of one reply that are read."""

SCORING = (
    "You rate how much one source file helps to answer a request. 10: the answer is in this file or it must be changed; 5: it is needed to understand "
    "the answer; 0: it has nothing to do with it. Give relevant_score, a number from 0 to 10, and reason, one short sentence."
)
EXTRACTING = (
    "You pick the lines of one source file that are needed to answer a request. Every line begins with its number. Give snippets, a list of ranges of "
    "whole functions or statements with start_line and end_line, both included; an empty list if nothing in the file helps."
)


class FileScore(msgspec.Struct):
    """What a model says of a file."""

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
    """What one question is about."""

    number: int  # of the file
    window: Range
    relevance: float  # by the local judgement


@dataclass(frozen=True, slots=True)
class Judged:
    """Files as a model judged them, what that cost, and what went wrong."""

    files: list[WeighedFile]
    calls: tuple[ModelCall, ...]
    notices: list[Notice]


def judged(files: Sequence[WeighedFile], query: str, model: LanguageModel, rules: ContextPrune, progress: Progress | None = None) -> Judged:
    """Ask about every file the strategy needs a judgement of, at most `max_questions`.

    `score`: one question a file that can be kept at all. `extract`: one a file, or one a window of a file larger than the budget.
    """
    targets = _targets(files, rules)
    asked = sorted(targets, key=lambda target: (-target.relevance, target.number, target.window))[: rules.max_questions]
    asked.sort(key=lambda target: (target.number, target.window))
    make = _score_question if rules.strategy == "score" else _lines_question
    questions = [make(files[target.number], target.window, query) for target in asked]
    replies = model.ask(questions, progress) if questions else []
    answers = [_usable(question, reply) for question, reply in zip(questions, replies, strict=True)]
    out = list(files)
    by_file: dict[int, list[tuple[Range, Any]]] = {}
    for target, answer in zip(asked, answers, strict=True):
        if answer is not None:
            by_file.setdefault(target.number, []).append((target.window, answer))
    for number, said in by_file.items():
        out[number] = _scored(files[number], said[0][1]) if rules.strategy == "score" else _extracted(files[number], said)
    notices = _notices(questions, replies, answers, len(targets) - len(asked), rules.max_questions)
    return Judged(out, tuple(reply.call for reply in replies), notices)


# --- what is asked -----------------------------------------------------------------------------------------------------


def _targets(files: Sequence[WeighedFile], rules: ContextPrune) -> list[_Target]:
    found: list[_Target] = []
    for number, file in enumerate(files):
        if not file.source.source_code.strip():
            continue
        whole = (1, file.lines)
        too_large = file.cost > rules.max_tokens
        if rules.strategy == "score" and too_large:
            continue  # no score lets it in
        cut = windows(file.lines, rules.sliding_window_size, rules.sliding_window_overlap) if too_large else [whole]
        found += [_Target(number, window, best([piece for piece in file.pieces if overlapping(window, [(piece.start, piece.end)])])) for window in cut]
    return found


def _score_question(file: WeighedFile, _window: Range, query: str) -> Question:
    text = file.source.source_code
    lines = split_lines(text[: LONGEST_TEXT + LONGEST_LINE])
    shown = "\n".join(line[:LONGEST_LINE] for line in lines)
    return Question(f"score {file.source.module_name}", SCORING, _about(query, file, _bounded(shown, len(text) > LONGEST_TEXT)), FileScore)


def _lines_question(file: WeighedFile, window: Range, query: str) -> Question:
    shown = numbered(split_lines(file.source.source_code), window, LONGEST_LINE)
    what = f"extract {file.source.module_name}" + (f":{window[0]}-{window[1]}" if window != (1, file.lines) else "")
    return Question(what, EXTRACTING, _about(query, file, _bounded(shown, False)), Snippets, check=_check_of(window))


def _about(query: str, file: WeighedFile, shown: str) -> str:
    return f"Request:\n{query[:LONGEST_QUERY]}\n\nFile {file.source.module_name[:LONGEST_LINE]}, {file.lines:,} lines:\n{shown}\n"


def _bounded(shown: str, more: bool) -> str:
    return shown[:LONGEST_TEXT] + "\n[the rest is not shown]" if more or len(shown) > LONGEST_TEXT else shown


def _check_of(window: Range) -> Any:
    def check(answer: Snippets) -> str:
        """Ranges that leave nothing say nothing: backwards, or all outside."""
        if answer.snippets and not _ranges(answer, window):
            return f"no range runs forwards within lines {window[0]}-{window[1]}"
        return ""

    return check


# --- what is answered --------------------------------------------------------------------------------------------------


def _usable(question: Question, reply: Reply) -> Any | None:
    """The answer if it has the shape that was asked for; whoever asked may not have checked."""
    if not isinstance(reply.value, question.answer):
        return None
    try:
        answer = msgspec.convert(msgspec.to_builtins(reply.value), question.answer)
    except (msgspec.ValidationError, TypeError, ValueError):
        return None
    return None if question.check is not None and question.check(answer) else answer


def _scored(file: WeighedFile, answer: FileScore) -> WeighedFile:
    return replace(file, score=round(answer.relevant_score, 1), judge=MODEL, said=answer.reason[:LONGEST_SAID])


def _extracted(file: WeighedFile, said: Sequence[tuple[Range, Snippets]]) -> WeighedFile:
    """The file with what the model named of the windows it answered for, cut to whole fragments where a range ends between them."""
    named = merge((one for window, answer in said for one in _ranges(answer, window)), file.lines)
    seen = merge((window for window, _ in said), file.lines)
    pieces: list[Piece] = []
    for piece in file.pieces or [Piece(start, end, "", 0.0) for start, end in named]:
        parts = overlapping((piece.start, piece.end), named)
        pieces += [replace(piece, start=start, end=end, relevance=max(piece.relevance, CHOSEN), chosen=True) for start, end in parts]
        if not parts:
            unseen = not any(start <= piece.start and piece.end <= end for start, end in seen)
            pieces.append(piece if unseen else replace(piece, relevance=0.0))
    return replace(file, pieces=tuple(pieces), score=round(SCORES * best(pieces), 1), judge=MODEL)


def _ranges(answer: Snippets, window: Range) -> list[Range]:
    """The ranges clipped to the window they were named for; those that run backwards go."""
    forwards = [(one.start_line, one.end_line) for one in answer.snippets if one.start_line <= one.end_line]
    return [(max(start, window[0]), min(end, window[1])) for start, end in forwards if start <= window[1] and end >= window[0]]


def _notices(questions: Sequence[Question], replies: Sequence[Reply], answers: Sequence[Any], unasked: int, most: int) -> list[Notice]:
    failed = [(question, reply) for question, reply, answer in zip(questions, replies, answers, strict=True) if answer is None]
    notices = []
    if failed:
        problems = Tally(reply.problem or "the answer is not what was asked for" for _, reply in failed)
        often = sorted(problems.items(), key=lambda item: (-item[1], item[0]))[0][0]
        names = listed([question.what for question, _ in failed])
        said = f"{len(failed):,} of {len(questions):,} questions have no usable answer ({often}); decided without the model: {names}."
        notices.append(Notice("model_failed", said))
    if unasked:
        said = f"{unasked:,} questions were not asked: context_prune.max_questions is {most:,}. What they were about is decided without the model."
        notices.append(Notice("not_asked", said))
    return notices
