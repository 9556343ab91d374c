"""Files measured once for every budget and strategy: their tokens, and what of each answers the query.

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
from secateur.kinds.files.snippet_text import FORMS, PLAIN, cost, header, newline_ended, touches
from secateur.kinds.files.sourcecode import LOCAL, SCORES, MeasuredFile, MeasuredFiles, SourceCode, SourcePiece
from secateur.languages.syntax.fragments import split_lines
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.settings import ContextPrune, Settings
from secateur.tokens import Counter, get_counter

COUNTED_AT_ONCE = 200
"""Files between two steps of the progress bar."""

LOW_RELEVANCE = "low_relevance"
"""Code of the notice that the best match is a weak one."""


def measure_files(
    files: Sequence[SourceCode],
    settings: Settings,
    query: str,
    *,
    form: str = PLAIN,
    ahead: bool = True,
    progress: Progress = unreported,
) -> MeasuredFiles:
    """The slow phase: counts the files, and scores them against the query where there is one.

    Args:
        ahead: score them also where these settings need no scores, as for a screen on which settings change.

    Raises:
        UsageError: windows that overlap whole; no such form.
    """
    rules = settings.context_prune
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)
    measured = _counted(files, settings, form, progress)
    if query.strip() and (ahead or needs_scores(measured, rules)):
        return _scored(measured, settings, query, progress)
    return measured


def needs_scores(measured: MeasuredFiles, rules: ContextPrune) -> bool:
    """Tells whether something has to go, and scores decide what."""
    return rules.enabled and rules.strategy != "delete" and 0 < rules.max_tokens < measured.total


def question_of(query: str, transcript: Transcript | None = None, last: int = 3) -> str:
    """The question: the query, and the `last` messages in which a user says something, newest first: the first line
    counts most."""
    said = []
    for message in reversed(transcript.messages if transcript else ()):
        texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
        if message.role == "user" and any(text.strip() for text in texts):
            said.append("\n".join(texts).strip())
            if len(said) == last:
                break
    return "\n".join(text for text in (query.strip(), *said) if text)


def _counted(files: Sequence[SourceCode], settings: Settings, form: str, progress: Progress) -> MeasuredFiles:
    if form not in FORMS:
        raise UsageError(f"there is no form {form!r}", hint="forms: " + ", ".join(FORMS))
    counter = get_counter(settings.tokens.counter)
    found: list[MeasuredFile] = []
    for start in range(0, len(files), COUNTED_AT_ONCE):
        some = files[start : start + COUNTED_AT_ONCE]
        for file, tokens in zip(some, counter.count_many(file.source_code for file in some), strict=True):
            source = file if file.tokens == tokens else replace(file, tokens=tokens)
            price = tokens if form == PLAIN else cost(file.module_name, file.source_code, form, counter)
            found.append(MeasuredFile(source, len(split_lines(file.source_code)), price))
        progress("counting", len(found), len(files))
    return MeasuredFiles(tuple(found), settings.tokens.counter, form, "")


def _scored(measured: MeasuredFiles, settings: Settings, text: str, progress: Progress) -> MeasuredFiles:
    """The files with their pieces and scores, by the engine's own relevance."""
    query, english = query_of(text)
    counter = get_counter(measured.counter)
    found, notices = pieces_of([file.source for file in measured.files], query, settings, progress)
    top = max(map(best, found), default=0.0)
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
        said = f"The best match has a score of {SCORES * top:.1f} of {SCORES}"
        notices.append(Notice(LOW_RELEVANCE, f"{said}: the query may not be about these files."))
    files = []
    for file, pieces in zip(measured.files, found, strict=True):
        rated = round(SCORES * best(pieces), 1)
        judged = replace(file, pieces=pieces, score=rated, local=rated, judge=LOCAL)
        files.append(replace(judged, pieces=counted_pieces(judged, counter)))
    return replace(measured, files=tuple(files), query=text, notices=tuple(notices))


def counted_pieces(file: MeasuredFile, counter: Counter) -> tuple[SourcePiece, ...]:
    """Its pieces with the tokens of those that something speaks for, and whether they go on where the one before
    ends."""
    pieces = file.pieces
    if not any(piece.relevance for piece in pieces):
        return pieces
    lines = split_lines(file.source.source_code)
    spoken = [piece for piece in pieces if piece.relevance]
    bodies = iter(counter.count_many(newline_ended(lines[piece.start - 1 : piece.end]) for piece in spoken))
    headers = iter(counter.count_many(header(piece.start, piece.end, piece.owner) for piece in spoken))
    joined = [False, *(touches(before.end, piece.start, lines) for before, piece in pairwise(pieces))]
    between = zip(pieces, pieces[1:], joined[1:], strict=False)
    gaps = iter(
        counter.count_many(
            newline_ended(lines[before.end : piece.start - 1]) for before, piece, joins in between if joins
        )
    )
    return tuple(
        replace(
            piece,
            tokens=next(bodies) if piece.relevance else 0,
            header=next(headers) if piece.relevance else 0,
            gap=next(gaps) if joins else -1,
        )
        for piece, joins in zip(pieces, joined, strict=True)
    )
