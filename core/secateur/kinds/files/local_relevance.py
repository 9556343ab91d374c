"""Scores the pieces of files against a query by the engine's own relevance: no model, no index on disk, files in
memory.

Each file is parsed into fragments as a repository's are, and scored with `[relevance]` against the others given with
it. A fragment longer than a window is cut where its statements allow it: its best part has its relevance, the others
less by the words they hold.
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
"""Counter of the records: their counts are not used, and this one costs nothing."""

FEW_LINES = 4
"""Lines of a piece that leaves whole or not at all."""

MOST_MATCHES = 8
"""Matching lines of a piece around which lines can leave."""

LONGEST_LINE = 1_000
"""Characters of a line that are looked at for words of the query."""

_AS_TEXT = "file.txt"
_MEMBERS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def query_of(text: str) -> tuple[Query, tuple[str, ...]]:
    """The query in a text, and English words for what of it is Chinese, where a dictionary is installed."""
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
    """Per file its pieces by line, disjoint; together they hold every line that is not blank. Files that are no text
    have none."""
    embedder = open_embedder(Embedding(), os.environ) if settings.embedding.model != "none" else None
    extractor = Extractor(
        get_counter(_UNCOUNTED), embedder, settings.index.workers, Scanning(on=False)
    )  # they were read without
    order = _ordered([file.module_name for file in files])
    contents = [(path, path_bytes(files[number].source_code)) for path, number in order]
    records: list[tuple[str, bytes, Record]] = []
    for path, data, encoded in extractor.run(contents, sum(len(data) for _, data in contents)):
        record = decode(encoded)
        if not record.indexed:  # a lock file, or a script nobody typed: whoever gives it by name wants it read
            record = extract(f"{path}/{_AS_TEXT}", data, extractor.counter, embedder, scanning=extractor.scanning)
        records.append((path, digest_of(data), record))
        if progress is not None:
            progress("reading", len(records), len(contents))
    snapshot = build(records, CommitHistory.of(()), 0, embedder.dimension if embedder else 0)
    scores = score(query, snapshot, embedder, settings.relevance)
    numbers = dict(order)
    found: list[list[SourcePiece]] = [[] for _ in files]
    for row in np.argsort(snapshot.line_start, kind="stable").tolist():
        found[numbers[snapshot.paths[int(snapshot.file[row])]]].append(_piece(snapshot, scores, row))
    size = settings.context_prune.sliding_window_size
    cut_up = [_cut_up(pieces, file.source_code, query, size) for pieces, file in zip(found, files, strict=True)]
    return cut_up, _unread(files, [record for _, _, record in records], [number for _, number in order])


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


def _ordered(names: Sequence[str]) -> list[tuple[str, int]]:
    """(path, number) of each file in byte order of the paths; a name that is no text gets one, and one that was there
    before another."""
    taken: dict[str, int] = {}
    for number, given in enumerate(names):
        name = path_bytes(given).decode("utf-8", "replace").replace("\0", " ")
        path, again = name, 1
        while path in taken:
            again += 1
            path = f"{again}/{name}"
        taken[path] = number
    return sorted(taken.items(), key=lambda item: path_bytes(item[0]))


def _cut_up(pieces: Sequence[SourcePiece], text: str, query: Query, size: int) -> tuple[SourcePiece, ...]:
    """The pieces with those longer than `size` lines in parts, each with its lines that hold words of the query."""
    lines = split_lines(text)
    parts = (part for piece in pieces for part in _parts(piece, lines, query, size))
    return tuple(replace(part, matches=_matches(part, lines, query)) for part in parts)


def _matches(piece: SourcePiece, lines: Sequence[str], query: Query) -> tuple[int, ...]:
    """The lines of a piece with words of the query, best first."""
    if not piece.relevance or piece.end - piece.start < FEW_LINES:
        return ()
    words = (line[:LONGEST_LINE] for line in lines[piece.start - 1 : piece.end])
    held = Postings.build(TermBag.of(words)).score(query.terms)
    found = sorted((-score, row) for row, score in enumerate(held.tolist()) if score > 0)
    return tuple(piece.start + row for _, row in found[:MOST_MATCHES])


def _parts(piece: SourcePiece, lines: Sequence[str], query: Query, size: int) -> Iterator[SourcePiece]:
    rows = cut(lines, piece.start - 1, piece.end - 1, size) if piece.end - piece.start >= size else []
    if len(rows) < 2:
        yield replace(piece, within=(piece.start, piece.end))
        return
    held = Postings.build(TermBag.of(text_of(lines, first + 1, last + 1) for first, last in rows)).score(query.terms)
    share = held / held.max() if held.max() > 0 else np.ones(len(rows))
    for (first, last), part in zip(rows, share.tolist(), strict=True):
        relevance = round(round(piece.relevance * part / QUANTUM) * QUANTUM, 6)
        within = piece.start, piece.end
        yield replace(piece, start=first + 1, end=last + 1, relevance=relevance, within=within)


def _unread(files: Sequence[SourceCode], records: Sequence[Record], numbers: Sequence[int]) -> list[Notice]:
    names = sorted(
        files[number].module_name for record, number in zip(records, numbers, strict=True) if not record.indexed
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
    """The relevance of the best piece; 0 of none."""
    return max((piece.relevance for piece in pieces), default=0.0)
