"""Finds a symbol that somebody names, and the calls around it.

symbol = find_symbol(snapshot, "Cart.total", lines)
symbol.id, symbol.at, symbol.text
symbol.callers(depth=2), symbol.callees(depth=1)

Chooses the files of a repository that promise most for a query, before anything is indexed.

The query, the paths and the bytes of the files decide; the clock, the number of processes, and what was indexed before
do not. A file scores by the rare words of the query that stand in it and in its path, and the longer it is, the less. A
file that the query names comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import cbrt, log

import numpy as np
from msgspec import Struct

from secateur.errors import UsageError, shown
from secateur.index.facts.extract import text_of
from secateur.index.facts.lexical import word_terms, words
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, steps
from secateur.index.graph.resolve.edges import How
from secateur.languages.syntax.file_flags import BINARY_HEAD, LOCKFILE, classify
from secateur.progress import Progress, unreported
from secateur.retrieval.query import Query, find_forms, parse_with_kind
from secateur.settings import Relevance
from secateur.sources.files import path_bytes
from secateur.sources.source import Source, SourceFile
from secateur.suggestions import suggestion

# Most listed callers, and callees: of the symbol itself, of each of those, and in total.
MOST_FIRST, MOST_FURTHER, MOST_NEIGHBOURS = 20, 5, 60

NAMES_LISTED = 10  # most symbols in an error about an ambiguous name

_AT_LINE = re.compile(r"(.+):(\d{1,9})(?:-\d{1,9})?")


class CalledSymbol(Struct, frozen=True):
    """A symbol at the other end of a call, whichever calls the other."""

    id: str
    at: str
    how: str  # the rule that resolved the call
    certainty: float
    sites: int
    step: int
    via: str  # id of the symbol that leads to it; "" at the first step


class IndexedSymbol(Struct, frozen=True, eq=False):
    """A symbol of the index, as it was read."""

    snapshot: Snapshot
    node: int
    lines: Callable[[str], list[str]]  # of a file, by path

    @property
    def id(self) -> str:
        """The id, as of a candidate of a search."""
        return self.snapshot.symbol_id(self.node)

    @property
    def at(self) -> str:
        """Its place as `file:line-line`."""
        return _place_of(self.snapshot, self.node)

    @property
    def kind(self) -> str:
        """Its kind of fragment: "method"."""
        return self.snapshot.kind(self.node).value

    @property
    def text(self) -> str:
        """Its source. Raises RepositoryError if the file has changed."""
        snapshot = self.snapshot
        lines = self.lines(snapshot.paths[int(snapshot.file[self.node])])
        return text_of(lines, int(snapshot.line_start[self.node]), int(snapshot.line_end[self.node]))

    def callers(self, depth: int) -> tuple[list[CalledSymbol], int]:
        """Returns the symbols that call it within `depth` steps, and how many were not listed; see `_neighbours`."""
        return _neighbours(self.snapshot, self.node, Direction.CALLED_BY, depth)

    def callees(self, depth: int) -> tuple[list[CalledSymbol], int]:
        """Returns the symbols that it calls; see `callers`."""
        return _neighbours(self.snapshot, self.node, Direction.CALLS, depth)


def find_symbol(
    snapshot: Snapshot, symbol: str, lines: Callable[[str], list[str]], progress: Progress = unreported
) -> IndexedSymbol:
    """Returns the symbol for an id, `file:line`, or a name or its end that only one symbol has. Raises UsageError:
    no symbol fits, or several do; the error names them, or the nearest."""
    node = snapshot.row_of(symbol)
    if node >= 0:
        return IndexedSymbol(snapshot, node, lines)
    if (at := _AT_LINE.fullmatch(symbol)) and at[1] in snapshot.digests:
        file, line = snapshot.paths.index(at[1]), int(at[2])
        first, after = np.searchsorted(snapshot.file, (file, file + 1)).tolist()
        for row in range(first, after):
            if int(snapshot.line_start[row]) <= line <= int(snapshot.line_end[row]):
                return IndexedSymbol(snapshot, row, lines)
        raise UsageError(f"symbol: there is nothing at {shown(at[1])}:{line}", hint="name a line that is not blank")
    progress("looking", 0, 0)
    path, separator, name = symbol.rpartition("::")
    names = snapshot.qualnames
    last = name.rpartition(".")[2]
    for fits in (lambda text: text == name, lambda text: text.endswith("." + name), lambda text: _last(text) == last):
        rows = [row for row, text in enumerate(names) if text and fits(text)]
        if separator:
            rows = [row for row in rows if snapshot.paths[int(snapshot.file[row])].endswith(path)]
        if len(rows) == 1:
            return IndexedSymbol(snapshot, rows[0], lines)
        if rows:
            listed = ", ".join(shown(snapshot.symbol_id(row)) for row in rows[:NAMES_LISTED])
            more = f" and {len(rows) - NAMES_LISTED:,} more" if len(rows) > NAMES_LISTED else ""
            raise UsageError(f"symbol: {len(rows):,} are called {shown(name)}", hint=f"name one: {listed}{more}")
    progress("looking", 0, 0)
    near = suggestion(last, sorted({_last(known) for known in names if known and _last(known)[:1] == last[:1]}))
    hint = f"did you mean {near}?" if near else "give an id of a search, such as path/file.py::Class.method"
    raise UsageError(f"symbol: no symbol is called {shown(symbol)}", hint=hint)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _place_of(snapshot: Snapshot, node: int) -> str:
    path = snapshot.paths[int(snapshot.file[node])]
    return f"{path}:{int(snapshot.line_start[node])}-{int(snapshot.line_end[node])}"


def _neighbours(snapshot: Snapshot, node: int, direction: Direction, depth: int) -> tuple[list[CalledSymbol], int]:
    """Returns the symbols within so many calls in one direction, step by step, the most certain first, and how many
    were not listed at these steps. They include guesses, with their certainty, but only calls that a search follows
    lead further."""
    listed: list[CalledSymbol] = []
    seen, level, more = {node}, [node], 0
    for step in range(1, depth + 1):
        following: list[int] = []
        for start in level:
            calls = steps(snapshot.graph, start, direction)
            fresh = [at for at, end in enumerate(calls.nodes.tolist()) if end not in seen]
            room = min(MOST_FIRST if step == 1 else MOST_FURTHER, MOST_NEIGHBOURS - len(listed))
            more += max(0, len(fresh) - room)
            for at in fresh[:room]:
                end = int(calls.nodes[at])
                seen.add(end)
                following += [end] if calls.followed[at] else []
                listed.append(
                    CalledSymbol(
                        id=snapshot.symbol_id(end),
                        at=_place_of(snapshot, end),
                        how=How(int(calls.how[at])).label,
                        certainty=int(calls.confidence[at]) / 1000,
                        sites=int(calls.sites[at]),
                        step=step,
                        via=snapshot.symbol_id(start) if step > 1 else "",
                    )
                )
        level = following
    return listed, more


PHASE = "choosing"  # phase of progress while texts are looked through

# Most words of the query that are looked for, the heaviest first: pasted code has hundreds, and each costs a pass over
# all text.
MOST_TERMS = 60

# Bytes of the shortest word that is looked for: a shorter one stands in every file, as a part of other words.
SHORTEST_TERM = 3

# Most text that is looked through, which takes a second of the processor; further files score by their paths.
MOST_BYTES = 96 << 20

IN_PATH = 2.0  # a word in the path counts this many times as much as a word in the text

# The share of their score that tests, documents, examples, vendored and generated files keep, unless the query asks for
# them.
ASIDE = 0.3

SHORT_FILE = 5_000  # bytes added to every length, so that tiny files do not come before all others
LOOK_EVERY = 50  # progress is reported once per this many files


class FirstFiles(Struct, frozen=True):
    """Chooses files for one query. It is called with a source, and the most bytes that the chosen files may have."""

    query: str
    rules: Relevance

    def __call__(self, source: Source, most: int, progress: Progress = unreported) -> frozenset[str]:
        """Returns the chosen paths; it chooses nothing if no file has a word of the query."""
        query, _ = parse_with_kind(self.query, lambda _: 1, self.rules.query_kind)
        entries = source.entries()
        forms = frozenset(find_forms([entry.path for entry in entries]) if self.rules.issue_forms else ())
        scores = _score_files(query, source, entries, progress)
        order = sorted(entries, key=lambda entry: (-scores[entry.path], path_bytes(entry.path)))
        chosen, room = [], most
        for entry in order:
            if scores[entry.path] <= 0:
                break
            if entry.size <= room:
                chosen.append(entry.path)
                room -= entry.size
        return frozenset(chosen) | forms if chosen else frozenset()


def _score_files(query: Query, source: Source, entries: Sequence[SourceFile], progress: Progress) -> dict[str, float]:
    kinds = {entry.path: classify(entry.path, b"") for entry in entries}
    in_path = _score_paths(query, entries)
    in_text = _score_texts(query, source, entries, kinds, in_path, progress)
    named = _find_named(query, entries)
    scores = {}
    for entry in entries:
        path, aside = entry.path, kinds[entry.path] - query.asks
        worth = (in_text.get(path, 0.0) + IN_PATH * in_path[path]) / cbrt(entry.size + SHORT_FILE)
        if LOCKFILE in aside:
            worth = 0.0
        scores[path] = round(worth * (ASIDE if aside else 1.0), 9) + (path in named)  # any of them is far below 1
    return scores


def _score_paths(query: Query, entries: Sequence[SourceFile]) -> dict[str, float]:
    terms_of = {entry.path: {term for word in words(entry.path) for term in word_terms(word)} for entry in entries}
    wanted = dict(query.words)
    held = {path: wanted.keys() & terms for path, terms in terms_of.items()}
    files = _count_files(held)
    weights = {term: wanted[term] * log(1 + len(entries) / times) for term, times in files.items()}
    return {path: sum(weights[term] for term in sorted(terms)) for path, terms in held.items()}


def _score_texts(
    query: Query,
    source: Source,
    entries: Sequence[SourceFile],
    kinds: Mapping[str, frozenset[str]],
    in_path: Mapping[str, float],
    progress: Progress,
) -> dict[str, float]:
    """Sums the same weights for the texts of as many files as MOST_BYTES holds: code first, then the files with the
    best paths."""
    heaviest = sorted(query.words, key=lambda item: -item[1])
    looked = [(term, term.encode("utf-8", "surrogatepass"), weight) for term, weight in heaviest]
    looked = [item for item in looked if len(item[1]) >= SHORTEST_TERM][:MOST_TERMS]
    paths = _choose_texts(entries, kinds, in_path) if looked else []
    held: dict[str, list[str]] = {}
    for index, (path, data) in enumerate(source.read(paths)):
        if index % LOOK_EVERY == 0:
            progress(PHASE, index, len(paths))
        if data is not None and b"\0" not in data[:BINARY_HEAD]:
            text = data.lower()
            held[path] = [term for term, sought, _ in looked if sought in text]
    files = _count_files(held)
    weights = {term: weight * log(1 + len(held) / files[term]) for term, _, weight in looked if term in files}
    return {path: sum(weights[term] for term in terms) for path, terms in held.items()}


def _choose_texts(
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


def _count_files(held: Mapping[str, Sequence[str] | set[str]]) -> dict[str, int]:
    files: dict[str, int] = {}
    for terms in held.values():
        for term in terms:
            files[term] = files.get(term, 0) + 1
    return files


def _find_named(query: Query, entries: Sequence[SourceFile]) -> frozenset[str]:
    """Finds the paths that the query names: it writes their end, or the whole path with the folders above the
    repository on another machine."""
    by_name: dict[str, list[str]] = {}
    for entry in entries:
        by_name.setdefault(entry.path.rpartition("/")[2], []).append(entry.path)
    return frozenset(
        path
        for written in query.paths
        for path in by_name.get(written.rpartition("/")[2], ())
        if f"/{path}".endswith(f"/{written}") or ("/" in path and written.endswith(f"/{path}"))
    )
