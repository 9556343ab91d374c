"""Scores the pieces of files against a query by the engine's own relevance, in memory: no model, no index on disk.

Each file is parsed into fragments as in a repository, and scored with `[relevance]` among the other files given. A
fragment longer than a window is cut between statements: its best part keeps its relevance, the others have less,
in proportion to the words of the query in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.extract import Record, decode, digest_of, extract, text_of
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.update.parallel import Extractor
from secateur.kinds.files.sourcecode import SourceCode, SourcePiece
from secateur.languages.syntax.cutting import cut
from secateur.languages.syntax.fragments import split_lines
from secateur.model import QUANTUM, FragmentKind, Notice
from secateur.progress import Progress
from secateur.redaction import Scanning
from secateur.render.notices import listed
from secateur.retrieval.query import TRANSLATED_WEIGHT, Query, parse_query
from secateur.retrieval.query_translation import translated_query
from secateur.retrieval.relevance import Scores, score
from secateur.settings import Embedding, Settings
from secateur.sources.files import path_bytes
from secateur.tokens import get_counter

_UNCOUNTED = "chars4"
"""Counter of the records. Their counts are not used, so the cheapest counter will do."""

FEW_LINES = 4
"""A piece of at most so many lines goes out whole or not at all."""

MOST_MATCHES = 8
"""Most matching lines of a piece; snippets are made around them."""

LONGEST_LINE = 1_000
"""Characters of a line that are searched for words of the query."""

_AS_TEXT = "file.txt"
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def query_of(text: str) -> tuple[Query, tuple[str, ...]]:
    """Parses a query; returns it with the English translation of its Chinese words if a dictionary is installed."""
    query = parse_query(text)
    english = translated_query(text) if query.foreign else None
    return (
        (parse_query(text, tuple((word, TRANSLATED_WEIGHT) for word in english)), tuple(english))
        if english
        else (query, ())
    )


def pieces_of(
    files: Sequence[SourceCode], query: Query, settings: Settings, progress: Progress | None = None
) -> tuple[list[tuple[SourcePiece, ...]], list[Notice]]:
    """Returns the scored pieces of each file, by line and disjoint; together they cover every line that is not blank.
    A binary file has no pieces."""
    embedder = open_embedder(Embedding(), os.environ) if settings.embedding.model != "none" else None
    extractor = Extractor(
        get_counter(_UNCOUNTED), embedder, settings.index.workers, Scanning(on=False)
    )  # the files are redacted already
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
    pieces_by_file: list[list[SourcePiece]] = [[] for _ in files]
    for row in np.argsort(snapshot.line_start, kind="stable").tolist():
        pieces_by_file[numbers[snapshot.paths[int(snapshot.file[row])]]].append(_piece(snapshot, scores, row))
    size = settings.context_prune.sliding_window_size
    cut_up = [
        _split_long(pieces, file.source_code, query, size) for pieces, file in zip(pieces_by_file, files, strict=True)
    ]
    return cut_up, _unread_notices(files, [record for _, _, record in records], [index for _, index in order])


def _piece(snapshot: Snapshot, scores: Scores, row: int) -> SourcePiece:
    name = snapshot.qualnames[row]
    return SourcePiece(
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


def _split_long(pieces: Sequence[SourcePiece], text: str, query: Query, size: int) -> tuple[SourcePiece, ...]:
    """Splits pieces longer than `size` lines, and adds to each piece its lines with words of the query."""
    lines = split_lines(text)
    parts = (part for piece in pieces for part in _split_piece(piece, lines, query, size))
    return tuple(replace(part, matches=_matching_lines(part, lines, query)) for part in parts)


def _matching_lines(piece: SourcePiece, lines: Sequence[str], query: Query) -> tuple[int, ...]:
    """The lines of a piece that hold words of the query, best first."""
    if not piece.relevance or piece.end - piece.start < FEW_LINES:
        return ()
    words = (line[:LONGEST_LINE] for line in lines[piece.start - 1 : piece.end])
    scores = Postings.build(TermBag.of(words)).score(query.terms)
    ranked = sorted((-score, row) for row, score in enumerate(scores.tolist()) if score > 0)
    return tuple(piece.start + row for _, row in ranked[:MOST_MATCHES])


def _split_piece(piece: SourcePiece, lines: Sequence[str], query: Query, size: int) -> Iterator[SourcePiece]:
    rows = cut(lines, piece.start - 1, piece.end - 1, size) if piece.end - piece.start >= size else []
    if len(rows) < 2:
        yield replace(piece, within=(piece.start, piece.end))
        return
    scores = Postings.build(TermBag.of(text_of(lines, first + 1, last + 1) for first, last in rows)).score(query.terms)
    share = scores / scores.max() if scores.max() > 0 else np.ones(len(rows))
    for (first, last), part in zip(rows, share.tolist(), strict=True):
        relevance = round(round(piece.relevance * part / QUANTUM) * QUANTUM, 6)
        within = piece.start, piece.end
        yield replace(piece, start=first + 1, end=last + 1, relevance=relevance, within=within)


def _unread_notices(files: Sequence[SourceCode], records: Sequence[Record], numbers: Sequence[int]) -> list[Notice]:
    names = sorted(
        files[index].module_name for record, index in zip(records, numbers, strict=True) if not record.indexed
    )
    if not names:
        return []
    return [
        Notice(
            "not_read",
            f"{len(names):,} of the files hold no text a reader could follow (one endless line, or binary) and are"
            f" rated 0: {listed(names)}.",
        )
    ]


def best(pieces: Sequence[SourcePiece]) -> float:
    """The relevance of the best piece; 0 if there is no piece."""
    return max((piece.relevance for piece in pieces), default=0.0)
