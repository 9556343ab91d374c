"""Measures files once for all budgets and strategies: their tokens, and which of their pieces answer the query.

measured = measure_files(files, settings, "where is the refund total rounded?")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from secateur.errors import UsageError
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.transcripts import Transcript
from secateur.kinds.files.line_ranges import check_windows
from secateur.kinds.files.local_relevance import best, pieces_of, query_of
from secateur.kinds.files.snippet_text import FORMS, PLAIN, cost, end_lines, header, touches
from secateur.kinds.files.sourcecode import LOCAL, SCORES, MeasuredFile, MeasuredFiles, SourceCode, SourcePiece
from secateur.languages.syntax.fragments import split_lines
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.settings import ContextPrune, Settings
from secateur.tokens import Counter, get_counter

COUNTED_AT_ONCE = 200
"""Files counted between two steps of the progress bar."""

QUERY_MESSAGES = 3
"""The user's last messages, this many, are read as the query."""

LOW_RELEVANCE = "low_relevance"
"""Code of the notice that the best match is weak."""


def measure_files(
    files: Sequence[SourceCode],
    settings: Settings,
    query: str,
    *,
    form: str = PLAIN,
    ahead: bool = True,
    progress: Progress = unreported,
) -> MeasuredFiles:
    """Counts the files, and scores them against the query if there is one: the slow phase.

    Args:
        ahead: score them even if these settings need no scores, for a screen on which settings change.

    Raises:
        UsageError: windows overlap completely; no such form.
    """
    rules = settings.context_prune
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)
    measured = _count_files(files, settings, form, progress)
    if query.strip() and (ahead or needs_scores(measured, rules)):
        return _score_files(measured, settings, query, progress)
    return measured


def needs_scores(measured: MeasuredFiles, rules: ContextPrune) -> bool:
    """Tells whether files must be dropped and scores decide which."""
    return rules.enabled and rules.strategy != "delete" and 0 < rules.max_tokens < measured.total


def question_of(query: str, transcript: Transcript | None = None) -> str:
    """Joins the query and the last messages of the user, newest first, because the first line counts most."""
    user_texts = []
    for message in reversed(transcript.messages if transcript else ()):
        texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
        if message.role == "user" and any(text.strip() for text in texts):
            user_texts.append("\n".join(texts).strip())
            if len(user_texts) == QUERY_MESSAGES:
                break
    return "\n".join(text for text in (query.strip(), *user_texts) if text)


def _count_files(files: Sequence[SourceCode], settings: Settings, form: str, progress: Progress) -> MeasuredFiles:
    if form not in FORMS:
        raise UsageError(f"there is no form {form!r}", hint="forms: " + ", ".join(FORMS))
    counter = get_counter(settings.tokens.counter)
    measured: list[MeasuredFile] = []
    for start in range(0, len(files), COUNTED_AT_ONCE):
        batch = files[start : start + COUNTED_AT_ONCE]
        for file, tokens in zip(batch, counter.count_many(file.source_code for file in batch), strict=True):
            source = file if file.tokens == tokens else replace(file, tokens=tokens)
            file_cost = tokens if form == PLAIN else cost(file.module_name, file.source_code, form, counter)
            measured.append(MeasuredFile(source, len(split_lines(file.source_code)), file_cost))
        progress("counting", len(measured), len(files))
    return MeasuredFiles(tuple(measured), settings.tokens.counter, form, "")


def _score_files(measured: MeasuredFiles, settings: Settings, text: str, progress: Progress) -> MeasuredFiles:
    """Adds pieces and scores to the files, by the engine's own relevance."""
    query, english = query_of(text)
    counter = get_counter(measured.counter)
    pieces_by_file, notices = pieces_of([file.source for file in measured.files], query, settings, progress)
    top = max(map(best, pieces_by_file), default=0.0)
    if query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif query.foreign and not english and not top:
        notices.append(
            Notice(
                "no_gloss",
                "No word of the query occurs here. For Chinese queries on English code install secateur[zh].",
            )
        )
    if 0 < top < settings.relevance.low_threshold and not query.foreign:
        sentence = f"The best match has a score of {SCORES * top:.1f} of {SCORES}"
        notices.append(Notice(LOW_RELEVANCE, f"{sentence}: the query may not be about these files."))
    files = []
    for file, pieces in zip(measured.files, pieces_by_file, strict=True):
        local_score = round(SCORES * best(pieces), 1)
        scored = replace(file, pieces=pieces, score=local_score, local=local_score, judge=LOCAL)
        files.append(replace(scored, pieces=count_pieces(scored, counter)))
    return replace(measured, files=tuple(files), query=text, notices=tuple(notices))


def count_pieces(file: MeasuredFile, counter: Counter) -> tuple[SourcePiece, ...]:
    """Returns the pieces of a file with the tokens of the relevant ones, and with the gap to a piece that they
    touch."""
    pieces = file.pieces
    if not any(piece.relevance for piece in pieces):
        return pieces
    lines = split_lines(file.source.source_code)
    relevant = [piece for piece in pieces if piece.relevance]
    bodies = iter(counter.count_many(end_lines(lines[piece.start - 1 : piece.end]) for piece in relevant))
    headers = iter(counter.count_many(header(piece.start, piece.end, piece.owner) for piece in relevant))
    touching = [False, *(touches(before.end, piece.start, lines) for before, piece in pairwise(pieces))]
    between = zip(pieces, pieces[1:], touching[1:], strict=False)
    gaps = iter(
        counter.count_many(
            end_lines(lines[before.end : piece.start - 1])
            for before, piece, touches_previous in between
            if touches_previous
        )
    )
    return tuple(
        replace(
            piece,
            tokens=next(bodies) if piece.relevance else 0,
            header=next(headers) if piece.relevance else 0,
            gap=next(gaps) if touches_previous else -1,
        )
        for piece, touches_previous in zip(pieces, touching, strict=True)
    )
