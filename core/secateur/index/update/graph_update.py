"""Makes the call graph of an edited repository from the graph before.

The tables of the resolver stay in memory without call sites, which are read again for the files that need them. An edit
of function bodies affects only the edited files. Any other edit has all files resolved again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from secateur.index.facts.extract import Record
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import Links, call_counts
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import Edges
from secateur.index.graph.resolve.exported_symbols import same_exports
from secateur.index.graph.resolve.linking import link
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.store.splices import Splice
from secateur.model import Call, FileFacts

CallsOf = Callable[[Sequence[int]], Mapping[int, Sequence[Call]]]
"""Returns the call sites of files, by their numbers after the edit."""


def bare(facts: FileFacts) -> FileFacts:
    """Returns the facts of a file that the resolver keeps: without calls and problems."""
    return replace(facts, calls=(), problems=())


class LinksIncompleteError(Exception):
    """The resolver raised an error over a file. Linking the whole repository again tells which file it is."""


class Linker:
    """The tables of the resolver for one state of a repository, which each edit updates."""

    def __init__(self, paths: Sequence[str], facts: Sequence[FileFacts | None]) -> None:
        """`paths`: the files of a snapshot in order; `facts`: those of each file, without calls; None if they are not
        known any more."""
        self.paths = list(paths)
        self.facts = list(facts)
        self._names: Names | None = None

    def relink(
        self, before: Snapshot, files: Splice, rows: int, coming: Sequence[tuple[str, Record]], calls_of: CallsOf
    ) -> Links:
        """Makes the links after an edit, and moves the linker to the state after the edit.

        Args:
            before: the state of the linker.
            files: the edit of the files.
            rows: the number of fragments after the edit.
            coming: (path, record) of the new and changed files.
            calls_of: reads the calls of unchanged files.
        """
        old = {self.paths[file]: self.facts[file] for file in files.removed_rows().tolist()}
        new = {path: bare(record.facts) for path, record in coming}
        self.paths = files.items(self.paths, list(new))
        self.facts = files.items(self.facts, list(new.values()))
        numbers = files.numbers().tolist()
        calls: dict[int, Sequence[Call]] = {
            file: record.facts.calls for file, (_, record) in zip(numbers, coming, strict=True)
        }
        only_bodies = old.keys() == new.keys() and all(
            facts is not None and same_exports(facts, new[path]) for path, facts in old.items()
        )
        if only_bodies:
            for file, (path, facts) in zip(numbers, new.items(), strict=True):
                self._edit_bodies(file, path, facts)
        else:
            self._names = None
            calls |= calls_of([file for file in range(len(self.paths)) if file not in calls])
        if self._names is None:
            known = zip(self.paths, self.facts, strict=True)
            self._names = Names(symbols_of([(path, facts) for path, facts in known if facts is not None]))
        edges, counts = link(self._names, dict(sorted(calls.items())))
        if edges.failed:
            raise LinksIncompleteError
        statuses = call_counts(counts, len(self.paths))
        if only_bodies:  # files and fragments keep their numbers
            merged = before.arrays["file.calls"].copy()
            merged[numbers] = statuses[numbers]
            statuses, edges = merged, _replace_edges(before, numbers, edges)
        return Links(CodeGraph.from_edges(edges, rows), statuses)

    def _edit_bodies(self, file_number: int, path: str, facts: FileFacts) -> None:
        """Updates a file whose local variables and lines alone have changed."""
        if self._names is None:
            return
        symbols = self._names.symbols
        first = symbols.offset[file_number]
        symbols.facts[file_number] = facts
        symbols.fragments[first : first + len(facts.fragments)] = facts.fragments
        alone = symbols_of([(path, facts)])
        for position in range(len(facts.fragments)):
            symbols.locals.pop(first + position, None)
        symbols.locals |= {first + position: types for position, types in alone.locals.items()}


def _replace_edges(before: Snapshot, files: Sequence[int], new: Edges) -> Edges:
    """Replaces the edges of some files by new ones."""
    graph = before.graph
    source = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.indptr))
    kept = np.flatnonzero(~np.isin(before.file[source], files))
    return Edges(
        np.concatenate([source[kept], new.source]),
        np.concatenate([graph.indices[kept], new.target]),
        np.concatenate([graph.kind[kept], new.kind]),
        np.concatenate([graph.confidence[kept], new.confidence]),
        np.concatenate([graph.how[kept], new.how]),
        np.concatenate([graph.count[kept], new.count]),
    )
