"""Asks a language model to judge files: for a score of each, or for the lines that matter.

All questions are planned before the first is asked, best files first by local relevance. A reply belongs to its
question, so the result does not depend on the order of replies. Without a usable reply the local judgement stands.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import Annotated, Any

import msgspec

from secateur.kinds.files.line_ranges import Range, intersect, merge, number_lines, widen_to_statements, windows
from secateur.kinds.files.measurements import LOW_RELEVANCE, count_pieces
from secateur.kinds.files.sourcecode import MODEL, SCORES, MeasuredFile, MeasuredFiles, SourcePiece, best
from secateur.kinds.files.strategies import whole_first
from secateur.languages.syntax.fragments import split_lines
from secateur.llm.interface import Question, Reply, notices_of
from secateur.model import Notice
from secateur.render.page import count_noun
from secateur.settings import ContextPrune, Settings
from secateur.tokens import Counter, get_counter

MOST_QUESTIONS = 100  # in one run; what they are not about is rated without a model
LONGEST_LINE = 400  # characters of a line, and of a name, that are sent; longer ones are data
LONGEST_QUERY = 2_000  # characters of the query that are sent
# The share of `llm.text_tokens` that a question may fill: its client allows for tokenizers that count more than ours,
# and cuts longer texts.
TEXT_SHARE = 0.7

MODEL_RELEVANCE = 0.5  # relevance of lines that only a model named; matching words add to it
NUMBER_TOKENS = 3  # tokens of the number of a line
MOST_ANSWER = 1024  # tokens of an answer that lists ranges
LONGEST_SAID = 300  # characters of a model's reason that are kept
MOST_RANGES = 200  # ranges of one reply that are read
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
class ModelQuestions:
    """The questions to a model about files."""

    questions: tuple[Question, ...]
    shown: tuple[tuple[int, Range], ...]  # the index of each question's file, and the lines shown
    unasked: int  # further targets without a question


def plan_questions(measured: MeasuredFiles, settings: Settings) -> ModelQuestions:
    """Plans a question about each file that the strategy must judge, at most MOST_QUESTIONS. Pure.

    `score`: one question for each file that fits the budget. `extract`: one for each file that does not go out whole
    first, or one for each window of a file larger than the budget.
    """
    files, rules, counter = measured.files, settings.context_prune, get_counter(measured.counter)
    request = measured.query[:LONGEST_QUERY]
    room = int(settings.llm.text_tokens * TEXT_SHARE) - counter.count(request)
    targets = _list_targets(files, rules, room)
    questions, shown = [], []
    for _, number, window in sorted(sorted(targets)[:MOST_QUESTIONS], key=itemgetter(1, 2)):
        file = files[number]
        rows = number_lines(split_lines(file.source.source_code), window, LONGEST_LINE)
        used = accumulate(counter.count_many(f"{row}\n" for row in rows))
        if fitting := rows[: bisect_right(list(used), room)]:
            lines = window[0], window[0] + len(fitting) - 1
            questions.append(_question(rules.strategy, file, lines, "\n".join(fitting), request))
            shown.append((number, lines))
    return ModelQuestions(tuple(questions), tuple(shown), len(targets) - len(questions))


def apply_replies(
    measured: MeasuredFiles, asking: ModelQuestions, replies: Sequence[Reply], settings: Settings
) -> MeasuredFiles:
    """Applies the model's judgements to the files, and adds its calls and notices about failures. Pure. `replies`: one
    per question, in their order."""
    rules, counter = settings.context_prune, get_counter(measured.counter)
    answers: dict[int, list[tuple[Range, Any]]] = {}
    for (file_index, window), reply in zip(asking.shown, replies, strict=True):
        if reply.value is not None:
            answers.setdefault(file_index, []).append((window, reply.value))
    files = list(measured.files)
    for file_index, file_answers in answers.items():
        if rules.strategy == "score":
            answer: FileScore = file_answers[0][1]
            score, said = round(answer.relevant_score, 1), answer.reason[:LONGEST_SAID]
            files[file_index] = replace(files[file_index], score=score, judge=MODEL, said=said)
        else:
            files[file_index] = _apply_snippets(files[file_index], file_answers, counter)
    notices = [notice for notice in measured.notices if notice.code != LOW_RELEVANCE]  # the model may judge better
    notices += notices_of(replies)
    given = [answer for replies_of in answers.values() for _, answer in replies_of]
    if given and not any(one.snippets if isinstance(one, Snippets) else one.relevant_score > 0 for one in given):
        message = f"The model names nothing in {count_noun(len(answers), 'file')} that helps with the query."
        notices.append(Notice("model_named_nothing", message))
    if failed := sum(reply.value is None for reply in replies):
        message = f"{failed:,} of {len(replies):,} questions have no answer: their files are decided without the model."
        notices.append(Notice("model_fallback", message))
    if asking.unasked:
        limit = f"{asking.unasked:,} questions were not asked (at most {MOST_QUESTIONS} are)"
        notices.append(Notice("not_asked", f"{limit}: their files are decided without the model."))
    return replace(measured, files=tuple(files), calls=tuple(reply.call for reply in replies), notices=tuple(notices))


# --- what is asked ----------------------------------------------------------------------------------------------------


def _list_targets(files: Sequence[MeasuredFile], rules: ContextPrune, room: int) -> list[tuple[float, int, Range]]:
    """Lists what is asked about: the relevance by the local judgement, negated so that the best come first when sorted,
    the number of the file, and the lines."""
    targets: list[tuple[float, int, Range]] = []
    whole_files = whole_first(files, rules) if rules.strategy == "extract" else frozenset()
    for index, file in enumerate(files):
        if index in whole_files or not file.source.source_code.strip():
            continue
        whole = (1, file.lines)
        if rules.strategy == "score":
            if file.cost <= rules.max_tokens:  # no score lets a larger file in
                targets.append((-best(file.pieces), index, whole))
            continue
        too_large = file.cost > rules.max_tokens or file.source.tokens + NUMBER_TOKENS * file.lines > room
        cut = windows(file.lines, rules.sliding_window_size, rules.sliding_window_overlap) if too_large else [whole]
        starts, ends = [piece.start for piece in file.pieces], [piece.end for piece in file.pieces]
        for window in cut:
            inside = file.pieces[bisect_left(ends, window[0]) : bisect_right(starts, window[1])]
            targets.append((-best(inside), index, window))
    return targets


def _question(strategy: str, file: MeasuredFile, lines: Range, numbered: str, request: str) -> Question:
    name, whole = file.source.module_name[:LONGEST_LINE], lines == (1, file.lines)
    shown = f"{file.lines:,} lines" if whole else f"lines {lines[0]}-{lines[1]} of {file.lines:,}"
    text = f"Request:\n{request}\n\nFile {name}, {shown}:\n{numbered}\n"
    if strategy == "score":
        return Question(f"score {name}", SCORING, text, FileScore)

    def check(answer: Snippets) -> str:
        if answer.snippets and not _ranges(answer, lines):
            return f"no range runs forwards within lines {lines[0]}-{lines[1]}"
        return ""

    what = f"extract {name}" if whole else f"extract {name}:{lines[0]}-{lines[1]}"
    return Question(what, EXTRACTING, text, Snippets, MOST_ANSWER, check)


# --- what is answered -------------------------------------------------------------------------------------------------


def _apply_snippets(file: MeasuredFile, answers: Sequence[tuple[Range, Snippets]], counter: Counter) -> MeasuredFile:
    named = merge((named_range for window, answer in answers for named_range in _ranges(answer, window)), file.lines)
    seen = merge((window for window, _ in answers), file.lines)
    lines = split_lines(file.source.source_code)
    pieces: list[SourcePiece] = []
    for piece in file.pieces or [SourcePiece(start, end, "", 0.0) for start, end in named]:
        within = piece.start, piece.end
        inside = [(index, asked) for index, asked in enumerate(named) if intersect(within, [asked])]
        parts = [(index, whole) for index, asked in inside if (whole := widen_to_statements(asked, lines, within))]
        for start, end in merge((whole for _, whole in parts), file.lines):
            index = next(index for index, (first, last) in parts if first <= end and last >= start)
            relevance = round(MODEL_RELEVANCE + (1 - MODEL_RELEVANCE) * piece.relevance, 6)
            pieces.append(replace(piece, start=start, end=end, relevance=relevance, chosen=True, named=index))
        if not parts:
            unseen = not any(start <= piece.start and piece.end <= end for start, end in seen)
            pieces.append(piece if unseen else replace(piece, relevance=0.0))
    judged = replace(file, pieces=tuple(pieces), score=round(SCORES * best(pieces), 1), judge=MODEL)
    return replace(judged, pieces=count_pieces(judged, counter))


def _ranges(answer: Snippets, window: Range) -> list[Range]:
    named = ((lines.start_line, lines.end_line) for lines in answer.snippets)
    return intersect(window, (lines for lines in named if lines[0] <= lines[1]))
