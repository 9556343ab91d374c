"""Measures files once for all budgets and strategies: their tokens, and which of their pieces answer the query.

    measured = measure_files(files, settings, "where is the refund total rounded?")

Pieces are scored by the engine's own relevance, in memory: no model, no index on disk. Each file is parsed into
fragments as in a repository, and scored with `[relevance]` among the other files given. A fragment longer than a window
is cut between statements: its best part keeps its relevance, the others have less, in proportion to the words of the
query in them.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from secateur.errors import UsageError
from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.extract import Record, decode, digest_of, extract, text_of
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.postings import Postings, WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.update.parallel import Extractor
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.transcripts import Transcript
from secateur.kinds.files import sourcecode
from secateur.kinds.files.line_ranges import check_windows
from secateur.languages.syntax.fragments import split_lines
from secateur.languages.syntax.text import cut
from secateur.model import QUANTUM, FragmentKind, Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Scanning
from secateur.render.page import listed
from secateur.retrieval.query import NO_WORD_HERE, Query, parse_in_english
from secateur.retrieval.relevance import Scores, score
from secateur.settings import ContextPrune, Embedding, Settings
from secateur.sources.files import path_bytes
from secateur.tokens import Counter, get_counter

_UNCOUNTED = "chars4"  # counter of the records. Their counts are not used, so the cheapest counter will do.
FEW_LINES = 4  # a piece of at most so many lines goes out whole or not at all
MOST_MATCHES = 8  # most matching lines of a piece; snippets are made around them
LONGEST_LINE = 1_000  # characters of a line that are searched for words of the query
_AS_TEXT = "file.txt"
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def pieces_of(
    files: Sequence[sourcecode.SourceCode], query: Query, settings: Settings, progress: Progress | None = None
) -> tuple[list[tuple[sourcecode.SourcePiece, ...]], list[Notice]]:
    """Returns the scored pieces of each file, by line and disjoint; together they cover every line that is not blank.
    A binary file has no pieces."""
    embedder = open_embedder(Embedding(), os.environ) if settings.embedding.model != "none" else None
    # the files are redacted already
    extractor = Extractor(get_counter(_UNCOUNTED), embedder, settings.index.workers, Scanning(on=False))
    order = _order_paths([file.module_name for file in files])
    contents = [(path, path_bytes(files[index].source_code)) for path, index in order]
    records: list[tuple[str, bytes, Record]] = []
    for path, data, encoded in extractor.run(contents, sum(len(data) for _, data in contents)):
        record = decode(encoded)
        if not record.indexed:  # a lock file or minified script: it was named, so it is read as text
            record = extract(f"{path}/{_AS_TEXT}", data, extractor.counter, embedder, scanning=extractor.scanning)
        records.append((path, digest_of(data), record))
        if progress is not None:
            progress("reading", len(records), len(contents))
    snapshot = build(records, CommitHistory.of(()), 0, embedder.dimension if embedder else 0)
    scores = score(query, snapshot, embedder, settings.relevance)
    numbers = dict(order)
    pieces_by_file: list[list[sourcecode.SourcePiece]] = [[] for _ in files]
    for row in np.argsort(snapshot.line_start, kind="stable").tolist():
        pieces_by_file[numbers[snapshot.paths[int(snapshot.file[row])]]].append(_piece(snapshot, scores, row))
    size = settings.context_prune.sliding_window_size
    cut_up = []
    for pieces, file in zip(pieces_by_file, files, strict=True):
        lines = split_lines(file.source_code)
        parts = (part for piece in pieces for part in _split_piece(piece, lines, query, size))
        cut_up.append(tuple(replace(part, matches=_matching_lines(part, lines, query)) for part in parts))
    read = zip(records, order, strict=True)
    unread = sorted(files[index].module_name for (_, _, record), (_, index) in read if not record.indexed)
    if not unread:
        return cut_up, []
    message = (
        f"{len(unread):,} of the files hold no text a reader could follow (one endless line, or binary) and are"
        f" rated 0: {listed(unread)}."
    )
    return cut_up, [Notice("not_read", message)]


def _piece(snapshot: Snapshot, scores: Scores, row: int) -> sourcecode.SourcePiece:
    name = snapshot.qualnames[row]
    return sourcecode.SourcePiece(
        start=int(snapshot.line_start[row]),
        end=int(snapshot.line_end[row]),
        name=name,
        relevance=float(scores.relevance[row]),
        owner=name.rpartition(".")[0] if snapshot.kind(row) in _MEMBERS else "",
        parts={part: float(column[row]) for part, column in scores.parts.items() if column[row]},
    )


def _order_paths(names: Sequence[str]) -> list[tuple[str, int]]:
    """Returns (path, index) of each file in byte order of the paths. Names become valid paths; a repeated name gets a
    prefix."""
    index_of_path: dict[str, int] = {}
    for index, given in enumerate(names):
        name = path_bytes(given).decode("utf-8", "replace").replace("\0", " ")
        path, attempt = name, 1
        while path in index_of_path:
            attempt += 1
            path = f"{attempt}/{name}"
        index_of_path[path] = index
    return sorted(index_of_path.items(), key=lambda item: path_bytes(item[0]))


def _matching_lines(piece: sourcecode.SourcePiece, lines: Sequence[str], query: Query) -> tuple[int, ...]:
    if not piece.relevance or piece.end - piece.start < FEW_LINES:
        return ()
    words = (line[:LONGEST_LINE] for line in lines[piece.start - 1 : piece.end])
    scores = WordField(Postings.build(TermBag.of(words))).score(query.terms)
    ranked = sorted((-score, row) for row, score in enumerate(scores.tolist()) if score > 0)
    return tuple(piece.start + row for _, row in ranked[:MOST_MATCHES])


def _split_piece(
    piece: sourcecode.SourcePiece, lines: Sequence[str], query: Query, size: int
) -> Iterator[sourcecode.SourcePiece]:
    rows = cut(lines, piece.start - 1, piece.end - 1, size) if piece.end - piece.start >= size else []
    if len(rows) < 2:
        yield replace(piece, within=(piece.start, piece.end))
        return
    bag = TermBag.of(text_of(lines, first + 1, last + 1) for first, last in rows)
    scores = WordField(Postings.build(bag)).score(query.terms)
    share = scores / scores.max() if scores.max() > 0 else np.ones(len(rows))
    for (first, last), part in zip(rows, share.tolist(), strict=True):
        relevance = round(round(piece.relevance * part / QUANTUM) * QUANTUM, 6)
        within = piece.start, piece.end
        yield replace(piece, start=first + 1, end=last + 1, relevance=relevance, within=within)


COUNTED_AT_ONCE = 200  # files counted between two steps of the progress bar
QUERY_MESSAGES = 3  # the user's last messages, this many, are read as the query
LOW_RELEVANCE = "low_relevance"  # code of the notice that the best match is weak


def measure_files(
    files: Sequence[sourcecode.SourceCode],
    settings: Settings,
    query: str,
    *,
    form: str = sourcecode.PLAIN,
    ahead: bool = True,
    progress: Progress = unreported,
) -> sourcecode.MeasuredFiles:
    """Counts the files, and scores them against the query if there is one: the slow phase.

    Args:
        ahead: score them even if these settings need no scores, for a screen on which settings change.

    Raises:
        UsageError: windows overlap completely; no such form.
    """
    rules = settings.context_prune
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)
    if form not in sourcecode.FORMS:
        raise UsageError(f"there is no form {form!r}", hint="forms: " + ", ".join(sourcecode.FORMS))
    counter = get_counter(settings.tokens.counter)
    counted: list[sourcecode.MeasuredFile] = []
    for start in range(0, len(files), COUNTED_AT_ONCE):
        batch = files[start : start + COUNTED_AT_ONCE]
        for file, tokens in zip(batch, counter.count_many(file.source_code for file in batch), strict=True):
            source = file if file.tokens == tokens else replace(file, tokens=tokens)
            file_cost = (
                tokens
                if form == sourcecode.PLAIN
                else sourcecode.cost(file.module_name, file.source_code, form, counter)
            )
            counted.append(sourcecode.MeasuredFile(source, len(split_lines(file.source_code)), file_cost))
        progress("counting", len(counted), len(files))
    measured = sourcecode.MeasuredFiles(tuple(counted), settings.tokens.counter, form, "")
    if query.strip() and (ahead or needs_scores(measured, rules)):
        return _score_files(measured, settings, query, progress)
    return measured


def needs_scores(measured: sourcecode.MeasuredFiles, rules: ContextPrune) -> bool:
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


def _score_files(
    measured: sourcecode.MeasuredFiles, settings: Settings, text: str, progress: Progress
) -> sourcecode.MeasuredFiles:
    query = parse_in_english(text)
    counter = get_counter(measured.counter)
    pieces_by_file, notices = pieces_of([file.source for file in measured.files], query, settings, progress)
    top = max(map(sourcecode.best, pieces_by_file), default=0.0)
    if query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif query.foreign and not top:
        notices.append(NO_WORD_HERE)
    if 0 < top < settings.relevance.low_threshold and not query.foreign:
        sentence = f"The best match has a score of {sourcecode.SCORES * top:.1f} of {sourcecode.SCORES}"
        notices.append(Notice(LOW_RELEVANCE, f"{sentence}: the query may not be about these files."))
    files = []
    for file, pieces in zip(measured.files, pieces_by_file, strict=True):
        local_score = round(sourcecode.SCORES * sourcecode.best(pieces), 1)
        scored = replace(file, pieces=pieces, score=local_score, local=local_score, judge=sourcecode.LOCAL)
        files.append(replace(scored, pieces=count_pieces(scored, counter)))
    return replace(measured, files=tuple(files), query=text, notices=tuple(notices))


def count_pieces(file: sourcecode.MeasuredFile, counter: Counter) -> tuple[sourcecode.SourcePiece, ...]:
    """Returns the pieces of a file with the tokens of the relevant ones, and with the gap to a piece that they
    touch."""
    pieces = file.pieces
    if not any(piece.relevance for piece in pieces):
        return pieces
    lines = split_lines(file.source.source_code)
    relevant = [piece for piece in pieces if piece.relevance]
    bodies = iter(counter.count_many(sourcecode.end_lines(lines[piece.start - 1 : piece.end]) for piece in relevant))
    headers = iter(counter.count_many(sourcecode.header(piece.start, piece.end, piece.owner) for piece in relevant))
    touching = [False, *(sourcecode.touches(before.end, piece.start, lines) for before, piece in pairwise(pieces))]
    between = zip(pairwise(pieces), touching[1:], strict=True)
    blanks = (lines[before.end : piece.start - 1] for (before, piece), touches_previous in between if touches_previous)
    gaps = iter(counter.count_many(map(sourcecode.end_lines, blanks)))
    counted = []
    for piece, touches_previous in zip(pieces, touching, strict=True):
        tokens, widest = (next(bodies), next(headers)) if piece.relevance else (0, 0)
        counted.append(replace(piece, tokens=tokens, header=widest, gap=next(gaps) if touches_previous else -1))
    return tuple(counted)
