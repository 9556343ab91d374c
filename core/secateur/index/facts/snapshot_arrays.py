"""Makes the arrays of a snapshot from the records of files: one state of a repository, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from secateur.index.facts.extract import DIGEST_BYTES, Record, bag_of, signed
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.hotspots import MASS_COMMIT_FILES, FileChanges, file_changes, ranked
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import KINDS, PATH_TERMS_LIMIT, Snapshot, numbered, pack_notices
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import CallCounts
from secateur.index.store.arrayfile import Arrays, pack_strings
from secateur.model import FileFacts, FragmentKind, Notice
from secateur.render.notices import listed

CODE = frozenset({FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS, FragmentKind.REGION})
"""Kinds that can be hotspots: prose and configuration change often and are not complicated."""

INGREDIENTS = 2
"""Columns of `wrapping`: see `render.pack.ingredients`."""

LINKS_FAILED = "links_failed"
"""Code of the notice that names files whose calls could not be resolved."""


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


def _ordinals(facts: Sequence[FileFacts]) -> npt.NDArray[np.int32]:
    return np.array([number for fact in facts for number in numbered(fact.fragments)], dtype=np.int32)


def _ints(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def _joined(columns: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int32)
