"""Makes the arrays of a snapshot from the records of all files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from secateur.index.facts.extract import DIGEST_BYTES, Record, bag_of, have_declarations
from secateur.index.facts.history import MASS_COMMIT_FILES, CommitHistory, FileChanges, file_changes, rank_hotspots
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import KINDS, PATH_TERMS_LIMIT, Snapshot, number_names, pack_notices
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve.edges import CallCounts
from secateur.index.store.arrayfile import Arrays, pack_strings
from secateur.model import FragmentKind, Notice
from secateur.render.page import listed

if TYPE_CHECKING:
    from secateur.index.graph.resolve.members import Members

# Kinds of fragments that can be hotspots: prose and configuration change often without being complicated.
CODE = frozenset({FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS, FragmentKind.REGION})

INGREDIENTS = 2  # the number of columns of `wrapping`; see `render.pack.ingredients`
LINKS_FAILED = "links_failed"  # code of the notice that names files whose calls could not be resolved


@dataclass(frozen=True, eq=False)
class Links:
    """The call graph of a state, and the counts of call sites of each file: int32 [files, 4] (sites, resolved, guessed,
    external)."""

    graph: CodeGraph
    calls: npt.NDArray[np.int32]


# (path, content digest, record) of each file, indexed or only counted, in byte order of the paths.
Read = Sequence[tuple[str, bytes, Record]]


def build(
    read: Read,
    history: CommitHistory,
    now: int | npt.NDArray[np.int64],
    dimension: int,
    notices: Sequence[Notice] = (),
    origin: Sequence[str] = (),
    members: Members | None = None,
) -> Snapshot:
    """Makes a snapshot from records.

    Args:
        read: the records of all files.
        history: gives hotspots and the words of commit subjects.
        now: the time that ages are measured from, in seconds: that of the source's commit; see `file_changes`.
        dimension: the dimension of the records' vectors; 0 without vectors.
        notices: the warnings about missing records or history.
        origin: the versions and inputs of the snapshot, which name it.
        members: those of a workspace; paths begin with their names.
    """
    files, unindexed = split_unindexed(read)
    paths = [path for path, _, _ in files]
    from secateur.index.graph.resolve.linking import link_repository  # takes a while to load, and few runs need it

    edges, calls = link_repository([(path, record.facts) for path, _, record in files], members)
    texts, arrays = columns(files, dimension)
    rows = len(arrays["fragment.kind"])
    touched = history.files(paths)
    arrays |= {name: pack_strings(items) for name, items in texts.items()}
    arrays |= unindexed_arrays(unindexed)
    for field, bag in word_bags(files).items():
        arrays |= Postings.build(bag).to_arrays(field)
    if edges.failed:
        failed = listed([paths[file] for file in edges.failed])
        notices = [*notices, Notice(LINKS_FAILED, f"Some calls of {failed} could not be followed.")]
    arrays["notices"] = pack_notices(notices)
    arrays["origin"] = pack_strings(list(origin))
    arrays |= history_arrays(history, touched)
    links = Links(CodeGraph.from_edges(edges, rows), call_counts(calls, len(files)))
    return Snapshot(add_links(arrays, links, file_changes(history.times, history.start, touched, now, len(paths))))


def split_unindexed(read: Read) -> tuple[Read, Read]:
    """Separates the indexed files from those that are only counted."""
    return [file for file in read if file[2].indexed], [file for file in read if not file[2].indexed]


def columns(files: Read, dimension: int) -> tuple[dict[str, list[str]], Arrays]:
    """Makes the columns that each file adds its rows to: strings, and arrays."""
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
        "fragment.ordinal": _ints(ordinal for fact in facts for ordinal in number_names(fact.fragments)),
        "fragment.kind": np.array([KINDS.index(fragment.kind) for fragment in fragments], dtype=np.uint8),
        "fragment.line_start": _ints(fragment.line_start for fragment in fragments),
        "fragment.line_end": _ints(fragment.line_end for fragment in fragments),
        "fragment.sig_start": _ints(fragment.sig_start for fragment in fragments),
        "fragment.sig_end": _ints(fragment.sig_end for fragment in fragments),
        "fragment.has_sig": np.array(
            [has for fact in facts for has in have_declarations(fact.fragments)], dtype=np.bool_
        ),
        "fragment.complexity": _ints(fragment.complexity if fragment.kind in CODE else 0 for fragment in fragments),
        "fragment.tokens": _concatenate([record.column("tokens") for record in records]),
        "fragment.sig_tokens": _concatenate([record.column("sig_tokens") for record in records]),
        "fragment.wrapping": _concatenate([np.frombuffer(record.wrapping, dtype="<i4") for record in records]).reshape(
            len(fragments), INGREDIENTS
        ),
        "vectors": np.frombuffer(b"".join(record.vectors for record in records), dtype=np.int8).reshape(
            len(fragments), dimension
        ),
    }
    return texts, arrays


def word_bags(files: Read) -> dict[str, TermBag]:
    """Collects the words by field: of fragments ("body", "names") and of files ("files", "paths")."""
    body = TermBag.concatenate([bag_of(record.body) for _, _, record in files])
    owner = np.repeat(np.arange(len(files), dtype=np.int32), [len(record.facts.fragments) for _, _, record in files])
    return {
        "body": body,
        "names": TermBag.concatenate([bag_of(record.names) for _, _, record in files]),
        "files": body.merge(owner, len(files)),
        "paths": TermBag.of(path[:PATH_TERMS_LIMIT] for path, _, _ in files),
    }


FILE_FIELDS = frozenset({"files", "paths"})  # the fields of `word_bags` whose documents are files


def unindexed_arrays(files: Read) -> Arrays:
    """Makes the arrays of the files that are only counted."""
    return {
        "unindexed": pack_strings([text for path, _, record in files for text in (path, record.flags[0])]),
        "unindexed.digest": digest_column(digest for _, digest, _ in files),
    }


def history_arrays(history: CommitHistory, touched: npt.NDArray[np.int32]) -> Arrays:
    """Makes the arrays of commit subjects and of the existing files that each commit touched. `touched`: see
    `CommitHistory.files`."""
    commits, first, file = history.select_touching(touched, MASS_COMMIT_FILES)
    return Postings.build(history.subjects.select(commits)).to_arrays("commits") | {
        "commits.first": first,
        "commits.file": file,
    }


def call_counts(calls: Mapping[int, CallCounts], files: int) -> npt.NDArray[np.int32]:
    """Makes `Links.calls` from the counts of the files that have calls."""
    table = np.zeros((files, 4), dtype=np.int32)
    for file, counts in calls.items():
        table[file] = counts.sites, counts.resolved, counts.guessed, counts.external
    return table


def add_links(arrays: Arrays, links: Links, changes: FileChanges) -> Arrays:
    """Adds the arrays that depend on several files: the call graph and the hotspots."""
    file = np.repeat(np.arange(len(arrays["file.fragments"]), dtype=np.int32), arrays["file.fragments"])
    hotspots = rank_hotspots(changes, arrays["fragment.complexity"], file)
    totals = links.calls.sum(axis=0, dtype=np.int64)[[0, 1, 3]]  # sites, resolved, external
    return (
        arrays
        | {"fragment.file": file, "file.calls": links.calls, "calls": totals}
        | {f"graph.{name}": array for name, array in links.graph.to_arrays().items()}
        | {f"hotspots.{column.name}": getattr(hotspots, column.name) for column in fields(hotspots)}
    )


def digest_column(digests: Iterable[bytes]) -> npt.NDArray[np.uint8]:
    """Makes a column of digests: uint8 [digests, DIGEST_BYTES]."""
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


def _ints(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def _concatenate(columns: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int32)
