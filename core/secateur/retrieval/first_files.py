"""The files of a repository that promise most for a query, chosen before anything of it is indexed.

What decides is the query, the paths and the bytes of the files: no clock, no number of processes, nothing that was
indexed before. A file counts by the rare words of the query that stand in it and in its path, and less the longer it
is; one that the query names comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cbrt, log

from secateur.index.facts.lexical import word_terms, words
from secateur.languages.syntax.file_flags import BINARY_HEAD, LOCKFILE, classify
from secateur.progress import Progress, unreported
from secateur.retrieval.query import Query, form_paths, parsed_query
from secateur.settings import Relevance
from secateur.sources.files import path_bytes
from secateur.sources.source import Source, SourceFile

PHASE = "choosing"
"""Phase of progress while texts are looked through."""

MOST_TERMS = 60
"""Words of the query that are looked for, those of most weight: pasted code has hundreds, each a pass over all text."""

SHORTEST_TERM = 3
"""Bytes below which a word stands in every file, as a part of others."""

MOST_BYTES = 96 << 20
"""Text that is looked through, a second of the processor; files beyond it count by their paths."""

IN_PATH = 2.0
"""Times as much as one in the text that a word in the path counts."""

ASIDE = 0.3
"""The share that counts of tests, documents, examples, vendored and generated files, unless the query asks for them."""

SHORT_FILE = 5_000
"""Bytes added to every length, so that tiny files do not come before all others."""

LOOK_EVERY = 50
"""Files between two reports of progress."""


@dataclass(frozen=True, slots=True)
class FirstFiles:
    """Chooses for one query; called with a source and the most bytes its choice may have."""

    query: str
    rules: Relevance

    def __call__(self, source: Source, most: int, progress: Progress = unreported) -> frozenset[str]:
        """The chosen paths; none where no file has anything of the query."""
        query, _ = parsed_query(self.query, lambda _: 1, self.rules.query_kind)
        entries = source.entries()
        forms = frozenset(form_paths([entry.path for entry in entries]) if self.rules.issue_forms else ())
        scores = _scores(query, source, entries, progress)
        order = sorted(entries, key=lambda entry: (-scores[entry.path], path_bytes(entry.path)))
        chosen, room = [], most
        for entry in order:
            if scores[entry.path] <= 0:
                break
            if entry.size <= room:
                chosen.append(entry.path)
                room -= entry.size
        return frozenset(chosen) | forms if chosen else frozenset()


def _scores(query: Query, source: Source, entries: Sequence[SourceFile], progress: Progress) -> dict[str, float]:
    kinds = {entry.path: classify(entry.path, b"") for entry in entries}
    in_path = _path_scores(query, entries)
    in_text = _text_scores(query, source, entries, kinds, in_path, progress)
    named = _named(query, entries)
    scores = {}
    for entry in entries:
        path, aside = entry.path, kinds[entry.path] - query.asks
        worth = (in_text.get(path, 0.0) + IN_PATH * in_path[path]) / cbrt(entry.size + SHORT_FILE)
        if LOCKFILE in aside:
            worth = 0.0
        scores[path] = round(worth * (ASIDE if aside else 1.0), 9) + (path in named)  # any of them is far below 1
    return scores


def _path_scores(query: Query, entries: Sequence[SourceFile]) -> dict[str, float]:
    """Per path the weights of the query's words in it, rare ones more."""
    terms = {entry.path: {term for word in words(entry.path) for term in word_terms(word)} for entry in entries}
    wanted = dict(query.words)
    held = {path: wanted.keys() & found for path, found in terms.items()}
    files = _tally(held)
    return {
        path: sum(wanted[term] * log(1 + len(entries) / files[term]) for term in sorted(found))
        for path, found in held.items()
    }


def _text_scores(
    query: Query,
    source: Source,
    entries: Sequence[SourceFile],
    kinds: Mapping[str, frozenset[str]],
    in_path: Mapping[str, float],
    progress: Progress,
) -> dict[str, float]:
    """The same of the texts, of as many files as MOST_BYTES hold: code before the rest, then those whose paths say
    most."""
    heaviest = sorted(query.words, key=lambda item: -item[1])
    looked = [(term, term.encode("utf-8", "surrogatepass"), weight) for term, weight in heaviest]
    looked = [item for item in looked if len(item[1]) >= SHORTEST_TERM][:MOST_TERMS]
    paths = _looked_through(entries, kinds, in_path) if looked else []
    held: dict[str, list[str]] = {}
    for number, (path, data) in enumerate(source.read(paths)):
        if number % LOOK_EVERY == 0:
            progress(PHASE, number, len(paths))
        if data is not None and b"\0" not in data[:BINARY_HEAD]:
            text = data.lower()
            held[path] = [term for term, sought, _ in looked if sought in text]
    files = _tally(held)
    weights = {term: weight * log(1 + len(held) / files[term]) for term, _, weight in looked if term in files}
    return {path: sum(weights[term] for term in found) for path, found in held.items()}


def _looked_through(
    entries: Sequence[SourceFile], kinds: Mapping[str, frozenset[str]], in_path: Mapping[str, float]
) -> list[str]:
    order = sorted(entries, key=lambda entry: (bool(kinds[entry.path]), -in_path[entry.path], path_bytes(entry.path)))
    paths, room = [], MOST_BYTES
    for entry in order:
        room -= entry.size
        if room < 0:
            break
        if LOCKFILE not in kinds[entry.path]:
            paths.append(entry.path)
    return sorted(paths, key=path_bytes)


def _tally(held: Mapping[str, Sequence[str] | set[str]]) -> dict[str, int]:
    """The number of files that hold each term."""
    files: dict[str, int] = {}
    for found in held.values():
        for term in found:
            files[term] = files.get(term, 0) + 1
    return files


def _named(query: Query, entries: Sequence[SourceFile]) -> frozenset[str]:
    """The paths that the query writes: their end, or with what stands before the repository elsewhere."""
    by_name: dict[str, list[str]] = {}
    for entry in entries:
        by_name.setdefault(entry.path.rpartition("/")[2], []).append(entry.path)
    return frozenset(
        path
        for written in query.paths
        for path in by_name.get(written.rpartition("/")[2], ())
        if f"/{path}".endswith(f"/{written}") or ("/" in path and written.endswith(f"/{path}"))
    )
