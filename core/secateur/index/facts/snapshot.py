"""One state of a repository as arrays: fragments, words, vectors, call graph, hotspots. Derived from records, never the
truth.

Fragments are numbered by path (byte order) and line. A snapshot is identified by what it was made of, is built by
`build`, saved and loaded through `arrayfile`, and never changes: a reader keeps the one it has while a writer makes the
next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import Surroundings
from secateur.index.facts.embedding import SemanticSpace
from secateur.index.facts.extract import DIGEST_BYTES, Record, bag_of, signed
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.hotspots import MASS_COMMIT_FILES, FileChanges, HotspotTable, file_changes, ranked
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.names import NameTable
from secateur.index.facts.postings import Postings, SharedWords, WordTotals
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import CallCounts
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.model import BoolArray, FileFacts, Fragment, FragmentKind, Notice
from secateur.render.notices import listed

KINDS = tuple(FragmentKind)
CODE = frozenset({FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS, FragmentKind.REGION})
"""Kinds that can be hotspots: prose and configuration change often and are not complicated."""

INGREDIENTS = 2
"""Columns of `wrapping`: see `render.pack.ingredients`."""

PATH_TERMS_LIMIT = 4096
"""Characters of a path whose words are indexed."""

LINKS_FAILED = "links_failed"
"""Code of the notice that names files whose calls could not be resolved."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Columns over fragments (and a few over files). Row numbers are fragment numbers everywhere in retrieval."""

    arrays: Mapping[str, npt.NDArray[Any]]

    @cached_property
    def paths(self) -> list[str]:
        """Path per file, in byte order."""
        return unpack_strings(self.arrays["file.path"])

    @property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        """The same as each repository has them, by what stands before them here."""
        return {"": self.paths}

    @cached_property
    def digests(self) -> dict[str, bytes]:
        """Content digest per path."""
        return {path: digest.tobytes() for path, digest in zip(self.paths, self.arrays["file.digest"], strict=True)}

    @cached_property
    def unindexed_digests(self) -> dict[str, bytes]:
        """Content digest per path of the files that are only counted."""
        return {
            path: digest.tobytes()
            for (path, _), digest in zip(self.unindexed, self.arrays["unindexed.digest"], strict=True)
        }

    @property
    def all_digests(self) -> dict[str, bytes]:
        """Content digest per path of all files, indexed or only counted."""
        return self.digests | self.unindexed_digests

    @property
    def origin(self) -> list[str]:
        """The versions and inputs it was made with; see `build`."""
        return unpack_strings(self.arrays["origin"])

    @property
    def changes(self) -> FileChanges:
        """The changes of each file in the history."""
        return FileChanges(*(self.arrays[f"hotspots.{column.name}"] for column in fields(FileChanges)))

    @cached_property
    def languages(self) -> list[str]:
        """Language per file."""
        return unpack_strings(self.arrays["file.language"])

    @cached_property
    def flags(self) -> list[frozenset[str]]:
        """Classification per file: "test", "generated", "vendored", ..."""
        return [frozenset(text.split()) for text in unpack_strings(self.arrays["file.flags"])]

    def flagged(self, flag: str) -> BoolArray:
        """Per fragment whether its file is of a kind: "test", "generated", ..."""
        if flag not in self._flagged:
            files = np.array([flag in flags for flags in self.flags], dtype=np.bool_)
            self._flagged[flag] = files[self.file]
        return self._flagged[flag]

    @cached_property
    def _flagged(self) -> dict[str, BoolArray]:
        """What was asked of `flagged`."""
        return {}

    @cached_property
    def problems(self) -> list[str]:
        """Problems per file, separated by blanks: "syntax_errors", "parse_timeout", ...; "" for most."""
        return unpack_strings(self.arrays["file.problems"])

    @cached_property
    def redactions(self) -> dict[str, str]:
        """Places of credentials by path, of the files that hold any, as `redaction.spans.stored_spans` writes them."""
        return {
            path: text
            for path, text in zip(self.paths, unpack_strings(self.arrays["file.redactions"]), strict=True)
            if text
        }

    @cached_property
    def unindexed(self) -> list[tuple[str, str]]:
        """(path, reason) of files that are counted, not indexed."""
        flat = unpack_strings(self.arrays["unindexed"])
        return list(zip(flat[::2], flat[1::2], strict=True))

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about what is missing in it, and why."""
        return tuple(unpack_notices(self.arrays["notices"]))

    @cached_property
    def qualnames(self) -> list[str]:
        """Qualified name per fragment; "" for regions and blocks."""
        return unpack_strings(self.arrays["fragment.qualname"])

    def symbol_id(self, row: int) -> str:
        """`path::qualname`, unique: a second one of a file gets `#2`, nameless ones the line they start at."""
        path, ordinal = self.paths[int(self.file[row])], int(self.arrays["fragment.ordinal"][row])
        return symbol_of(path, self.qualnames[row], int(self.line_start[row]), ordinal)

    def row_of(self, symbol: str) -> int:
        """Row of a symbol id; -1 if nothing here is called that."""
        for file, path in enumerate(self.paths):
            if symbol.startswith(path + "::"):
                first, last = np.searchsorted(self.file, (file, file + 1)).tolist()
                for row in range(first, last):
                    if self.symbol_id(row) == symbol:
                        return row
        return -1

    @property
    def file(self) -> npt.NDArray[np.int32]:
        """File number per fragment."""
        return self.arrays["fragment.file"]

    @property
    def line_start(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_start"]

    @property
    def line_end(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_end"]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Another per-fragment column: kind, sig_start, sig_end, tokens, sig_tokens, wrapping, complexity."""
        return self.arrays[f"fragment.{name}"]

    def kind(self, row: int) -> FragmentKind:
        return KINDS[int(self.arrays["fragment.kind"][row])]

    @cached_property
    def body(self) -> Postings:
        """Words of the fragments' texts."""
        return Postings.from_arrays(self.arrays, "body")

    @cached_property
    def names(self) -> Postings:
        """Words of the qualified names."""
        return Postings.from_arrays(self.arrays, "names")

    @property
    def shared_names(self) -> SharedWords | None:
        """The terms of `names` in all that is searched together; None where that is this snapshot alone."""
        return None

    @cached_property
    def path_words(self) -> Postings:
        """Words of the paths; documents are files."""
        return Postings.from_arrays(self.arrays, "paths")

    @cached_property
    def descriptions(self) -> Postings:
        """Words of leading comments and docstrings."""
        return Postings.from_arrays(self.arrays, "docs")

    @cached_property
    def file_words(self) -> Postings:
        """Words of whole files; documents are files."""
        return Postings.from_arrays(self.arrays, "files")

    @cached_property
    def commit_words(self) -> Postings:
        """Words of commit subjects; documents are commits that touched files of today, newest first."""
        return Postings.from_arrays(self.arrays, "commits")

    @property
    def word_fields(self) -> tuple[Postings, ...]:
        """The words by field."""
        return (self.body, self.names, self.descriptions, self.path_words, self.file_words, self.commit_words)

    @property
    def totals(self) -> WordTotals:
        """See there."""
        return WordTotals(
            np.array([len(self), len(self.paths)], dtype=np.int64),
            np.array([field.documents for field in self.word_fields], dtype=np.int64),
            np.array([field.total for field in self.word_fields], dtype=np.int64),
        )

    @cached_property
    def name_table(self) -> NameTable:
        """Names, to look up what a query wrote."""
        return NameTable(self.qualnames)

    @cached_property
    def heading_tokens(self) -> dict[tuple[str, str, bool], npt.NDArray[np.int64]]:
        """Tokens of each fragment's heading as far as they were counted, by counter, format, and whether files share
        headings; -1: not yet."""
        return {}

    @cached_property
    def graph(self) -> CodeGraph:
        """Calls, imports and inheritance between fragments."""
        return CodeGraph.from_arrays(_group(self.arrays, "graph"))

    @property
    def around(self) -> Surroundings | None:
        """The graph with the rows of others; None where nothing leads from or into anything else that is searched."""
        return None

    @cached_property
    def hotspots(self) -> HotspotTable:
        """Hotspot score and its parts per fragment."""
        return HotspotTable(**_group(self.arrays, "hotspots"))

    @cached_property
    def space(self) -> SemanticSpace:
        """Vectors of all fragments, int8 [fragments, dimension]; dimension 0 without an embedder."""
        return SemanticSpace(self.arrays["vectors"])

    def __len__(self) -> int:
        return len(self.file)


@dataclass(frozen=True, eq=False)
class Links:
    """The call graph of a state, and per file what became of its call sites: int32 [files, 4] (sites, resolved,
    guessed, external)."""

    graph: CodeGraph
    calls: npt.NDArray[np.int32]


Read = Sequence[tuple[str, bytes, Record]]
"""(path, content digest, record), in byte order of the paths; files that are only counted among them."""


def build(
    read: Read,
    history: CommitHistory,
    now: int,
    dimension: int,
    notices: Sequence[Notice] = (),
    origin: Sequence[str] = (),
) -> Snapshot:
    """Put records together.

    Args:
        read: of all files.
        history: for hotspots and for what commit messages say.
        now: time of the source's commit in seconds; ages are measured from it.
        dimension: of the records' vectors; 0 without.
        notices: what is missing in the records or the history.
        origin: what it was made with and from, for whoever keeps it.
    """
    files, unindexed = divided(read)
    paths = [path for path, _, _ in files]
    from secateur.index.graph.resolve.linking import linked  # takes a while, and most runs link nothing

    edges, calls = linked([(path, record.facts) for path, _, record in files])
    texts, arrays = columns(files, dimension)
    rows = len(arrays["fragment.kind"])
    touched = history.files(paths)
    bags = word_bags(files)
    arrays |= {name: pack_strings(items) for name, items in texts.items()}
    arrays |= unindexed_arrays(unindexed)
    arrays |= {
        name: array for field, bag in bags.items() for name, array in Postings.build(bag).to_arrays(field).items()
    }
    if edges.failed:
        notices = [
            *notices,
            Notice(
                LINKS_FAILED,
                f"Some calls of {listed([paths[number] for number in edges.failed])} could not be followed.",
            ),
        ]
    arrays["notices"] = pack_notices(notices)
    arrays["origin"] = pack_strings(list(origin))
    arrays |= history_arrays(history, touched)
    links = Links(CodeGraph.from_edges(edges, rows), call_counts(calls, len(files)))
    return Snapshot(finished(arrays, links, file_changes(history.times, history.start, touched, now, len(paths))))


def divided(read: Read) -> tuple[Read, Read]:
    """The files that are indexed, and those that are only counted."""
    return [file for file in read if file[2].indexed], [file for file in read if not file[2].indexed]


def columns(files: Read, dimension: int) -> tuple[dict[str, list[str]], Arrays]:
    """The columns of a snapshot that files fill row by row, file by file: strings, and arrays."""
    records = [record for _, _, record in files]
    facts = [record.facts for record in records]
    fragments = [fragment for fact in facts for fragment in fact.fragments]
    texts = {
        "file.path": [path for path, _, _ in files],
        "file.language": [fact.language for fact in facts],
        "file.flags": [" ".join(record.flags) for record in records],
        "file.problems": [" ".join(fact.problems) for fact in facts],
        "file.redactions": [record.redactions for record in records],
        "fragment.qualname": [fragment.qualname for fragment in fragments],
    }
    arrays: Arrays = {
        "file.digest": digest_column(digest for _, digest, _ in files),
        "file.lines": _ints(record.lines for record in records),
        "file.fragments": _ints(len(fact.fragments) for fact in facts),
        "file.links": digest_column(record.links for record in records),
        "fragment.ordinal": _ordinals(facts),
        "fragment.kind": np.array([KINDS.index(fragment.kind) for fragment in fragments], dtype=np.uint8),
        "fragment.line_start": _ints(fragment.line_start for fragment in fragments),
        "fragment.line_end": _ints(fragment.line_end for fragment in fragments),
        "fragment.sig_start": _ints(fragment.sig_start for fragment in fragments),
        "fragment.sig_end": _ints(fragment.sig_end for fragment in fragments),
        "fragment.has_sig": np.array([has for fact in facts for has in signed(fact.fragments)], dtype=np.bool_),
        "fragment.complexity": _ints(fragment.complexity if fragment.kind in CODE else 0 for fragment in fragments),
        "fragment.tokens": _joined([record.column("tokens") for record in records]),
        "fragment.sig_tokens": _joined([record.column("sig_tokens") for record in records]),
        "fragment.wrapping": _joined([np.frombuffer(record.wrapping, dtype="<i4") for record in records]).reshape(
            len(fragments), INGREDIENTS
        ),
        "vectors": np.frombuffer(b"".join(record.vectors for record in records), dtype=np.int8).reshape(
            len(fragments), dimension
        ),
    }
    return texts, arrays


def word_bags(files: Read) -> dict[str, TermBag]:
    """Words by field: of fragments ("body", "docs", "names") and of files ("files", "paths")."""
    body = TermBag.concatenate([bag_of(record.body) for _, _, record in files])
    owner = np.repeat(np.arange(len(files), dtype=np.int32), [len(record.facts.fragments) for _, _, record in files])
    return {
        "body": body,
        "docs": TermBag.concatenate([bag_of(record.docs) for _, _, record in files]),
        "names": TermBag.concatenate([bag_of(record.names) for _, _, record in files]),
        "files": body.merged(owner, len(files)),
        "paths": TermBag.of(path[:PATH_TERMS_LIMIT] for path, _, _ in files),
    }


FILE_FIELDS = frozenset({"files", "paths"})
"""Of `word_bags`, those whose documents are files."""


def unindexed_arrays(files: Read) -> Arrays:
    """The files that are only counted."""
    return {
        "unindexed": pack_strings([text for path, _, record in files for text in (path, record.flags[0])]),
        "unindexed.digest": digest_column(digest for _, digest, _ in files),
    }


def history_arrays(history: CommitHistory, touched: npt.NDArray[np.int32]) -> Arrays:
    """The arrays of commit messages and of the files of today that each commit touched; `touched` as `History.files`
    gives it."""
    commits, first, file = history.told(touched, MASS_COMMIT_FILES)
    return Postings.build(history.subjects.taken(commits)).to_arrays("commits") | {
        "commits.first": first,
        "commits.file": file,
    }


def call_counts(calls: Mapping[int, CallCounts], files: int) -> npt.NDArray[np.int32]:
    """`Links.calls` of all files; those without calls have none."""
    out = np.zeros((files, 4), dtype=np.int32)
    for number, counts in calls.items():
        out[number] = counts.sites, counts.resolved, counts.guessed, counts.external
    return out


def call_totals(calls: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Call sites of all files, with those that are resolved and those that are external; `calls` as of `Links`."""
    total: npt.NDArray[np.int64] = calls.sum(axis=0, dtype=np.int64)
    return total[[0, 1, 3]]


def finished(arrays: Arrays, links: Links, changes: FileChanges) -> Arrays:
    """The arrays with what follows from several files at once."""
    file = np.repeat(np.arange(len(arrays["file.fragments"]), dtype=np.int32), arrays["file.fragments"])
    hotspots = ranked(changes, arrays["fragment.complexity"], file)
    return (
        arrays
        | {"fragment.file": file, "file.calls": links.calls, "calls": call_totals(links.calls)}
        | {f"graph.{name}": array for name, array in links.graph.to_arrays().items()}
        | {f"hotspots.{column.name}": getattr(hotspots, column.name) for column in fields(hotspots)}
    )


def digest_column(digests: Iterable[bytes]) -> npt.NDArray[np.uint8]:
    """Digests as rows: uint8 [digests, DIGEST_BYTES]."""
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


def pack_notices(notices: Sequence[Notice]) -> npt.NDArray[np.uint8]:
    """Notices as one array; `unpack_notices` is the inverse."""
    return pack_strings([text for notice in notices for text in (notice.code, notice.message)])


def unpack_notices(array: npt.NDArray[np.uint8]) -> list[Notice]:
    flat = unpack_strings(array)
    return [Notice(code, message) for code, message in zip(flat[::2], flat[1::2], strict=True)]


def symbol_ids(path: str, fragments: Sequence[Fragment]) -> list[str]:
    """The ids of the fragments of one file, as a snapshot that holds the file gives them."""
    names = zip(fragments, _numbered(fragments), strict=True)
    return [symbol_of(path, one.qualname, one.line_start, ordinal) for one, ordinal in names]


def symbol_of(path: str, qualname: str, line: int, ordinal: int) -> str:
    """The id of a fragment; see `Snapshot.symbol_id`."""
    symbol = f"{path}::{qualname or f'L{line}'}"
    return symbol if ordinal == 1 else f"{symbol}#{ordinal}"


def _numbered(fragments: Sequence[Fragment]) -> Iterator[int]:
    """1 for the first fragment of its name in its file, 2 for the second, ..."""
    taken: dict[str, int] = {}
    for fragment in fragments:
        if fragment.qualname:
            taken[fragment.qualname] = taken.get(fragment.qualname, 0) + 1
        yield taken.get(fragment.qualname, 1)


def _ordinals(facts: Sequence[FileFacts]) -> npt.NDArray[np.int32]:
    return np.array([number for fact in facts for number in _numbered(fact.fragments)], dtype=np.int32)


def _group(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix + "."): arrays[name] for name in arrays if name.startswith(prefix + ".")}


def _ints(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def _joined(columns: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int32)
