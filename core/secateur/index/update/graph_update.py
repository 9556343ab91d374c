"""Makes the call graph of an edited repository from the graph before.

The tables of the resolver stay in memory without call sites, which are read again for the files that need them. An edit
of function bodies affects only the edited files. Any other edit has all files resolved again.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from secateur.index.facts.extract import Record
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import Links, call_counts
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve.edges import Edges
from secateur.index.graph.resolve.exported_symbols import same_exports
from secateur.index.graph.resolve.linking import link
from secateur.index.graph.resolve.members import Members
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.store.arrayfile import Splice
from secateur.model import BoolArray, Call, FileFacts

# Returns the call sites of files, by their numbers after the edit.
CallsOf = Callable[[Sequence[int]], Mapping[int, Sequence[Call]]]


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

    def facts_after(self, files: Splice, coming: Sequence[tuple[str, Record]]) -> list[tuple[str, FileFacts]]:
        """Returns (path, facts) of all files after an edit."""
        paths = files.items(self.paths, [path for path, _ in coming])
        new: list[FileFacts | None] = [record.facts for _, record in coming]
        facts = files.items(self.facts, new)
        return [(path, known) for path, known in zip(paths, facts, strict=True) if known is not None]

    def relink(
        self,
        before: Snapshot,
        files: Splice,
        rows: Splice,
        coming: Sequence[tuple[str, Record]],
        calls_of: CallsOf,
        members: Members | None = None,
        *,
        same_uses: bool = True,
    ) -> Links:
        """Makes the links after an edit, and moves the linker to the state after the edit.

        Args:
            before: the state of the linker.
            files, rows: the edit of the files and of their fragments.
            coming: (path, record) of the new and changed files.
            calls_of: reads the calls of unchanged files.
            members: those of a workspace; `same_uses`: they use the same packages of each other as before.
        """
        old = {self.paths[file]: self.facts[file] for file in files.removed_rows().tolist()}
        new = {path: bare(record.facts) for path, record in coming}
        self.paths = files.items(self.paths, list(new))
        self.facts = files.items(self.facts, list(new.values()))
        numbers = files.numbers().tolist()
        calls: dict[int, Sequence[Call]] = {
            file: record.facts.calls for file, (_, record) in zip(numbers, coming, strict=True)
        }
        only_bodies = (
            same_uses
            and old.keys() == new.keys()
            and all(facts is not None and same_exports(facts, new[path]) for path, facts in old.items())
        )
        moved = rows.map_rows()
        if only_bodies:
            for file, (path, facts) in zip(numbers, new.items(), strict=True):
                self._edit_bodies(file, path, facts)
            moved = np.arange(rows.before, dtype=np.int32)  # fragments keep their numbers
        else:
            self._names = None
            wanted = [*range(len(self.paths))]
            if members is not None and same_uses:  # the members with edited files, and those that reach them
                edited = {path.partition("/")[0] for path in old.keys() | new.keys()}
                concerned = np.any(members.reach[:, [name in edited for name in members.names]], axis=1)
                wanted = np.flatnonzero(concerned[members.of_files(self.paths)]).tolist()
            calls |= calls_of([file for file in wanted if file not in calls])
        if self._names is None:
            known = [(path, facts) for path, facts in zip(self.paths, self.facts, strict=True) if facts is not None]
            self._names = Names(symbols_of(known, of_members=members is not None), members)
        edges, counts = link(self._names, dict(sorted(calls.items())))
        if edges.failed:
            raise LinksIncompleteError
        statuses = call_counts(counts, len(self.paths))
        if len(calls) < len(self.paths):
            merged = files.column(before.arrays["file.calls"], np.zeros((files.coming, 4), dtype=np.int32)).copy()
            merged[[*calls]] = statuses[[*calls]]
            is_linked = np.zeros(files.after + 1, dtype=np.bool_)  # the last entry, -1, is that of removed files
            is_linked[[*calls, -1]] = True
            edges = _replace_edges(before, ~is_linked[files.map_rows()], moved, edges)
            statuses = merged
        return Links(CodeGraph.from_edges(edges, rows.after), statuses)

    def _edit_bodies(self, file_number: int, path: str, facts: FileFacts) -> None:
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


def _replace_edges(before: Snapshot, kept_files: BoolArray, moved: npt.NDArray[np.int32], new: Edges) -> Edges:
    """Adds new edges to those of the files that are kept. `moved`: the new number of each row."""
    graph = before.graph
    source = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.indptr))
    kept = np.flatnonzero(kept_files[before.file[source]])
    return Edges(
        np.concatenate([moved[source[kept]], new.source]),
        np.concatenate([moved[graph.indices[kept]], new.target]),
        np.concatenate([graph.kind[kept], new.kind]),
        np.concatenate([graph.confidence[kept], new.confidence]),
        np.concatenate([graph.how[kept], new.how]),
        np.concatenate([graph.count[kept], new.count]),
    )
