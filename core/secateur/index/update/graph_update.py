"""Makes the call graph of an edited repository from the graph before: only files that the edit can affect are resolved
again.

The tables of the resolver stay in memory without call sites, which are read again for the files that need them. An edit
of function bodies affects only the edited files. Any other edit affects the files that contain a changed name
(`resolve.exported_symbols`). The index of words finds these files, because each name in the facts of a file is also a
word of its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from secateur.index.facts.extract import Record
from secateur.index.facts.lexical import hash_of, word_terms, words
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import Links, call_counts
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import Edges
from secateur.index.graph.resolve.exported_symbols import (
    Difference,
    difference,
    follow,
    import_roots,
    importable_folders,
    manifests_lead_to,
    same_exports,
)
from secateur.index.graph.resolve.linking import link
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.store.splices import Splice
from secateur.languages import rules_of
from secateur.model import Call, FileFacts, FragmentKind

MOST_CALLS = 0.5
"""The share of all call sites above which everything is resolved again, which then takes less time."""

FileNumbers = set[int]
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
        self, before: Snapshot, files: Splice, rows: Splice, coming: Sequence[tuple[str, Record]], calls_of: CallsOf
    ) -> Links:
        """Makes the links after an edit, and moves the linker to the state after the edit.

        Args:
            before: the state of the linker.
            files, rows: the edit of the files and of their fragments.
            coming: (path, record) of the new and changed files.
            calls_of: reads the calls of unchanged files.
        """
        old = {self.paths[file_number]: self.facts[file_number] for file_number in files.removed_rows().tolist()}
        new = {path: bare(record.facts) for path, record in coming}
        numbers = dict(zip(new, files.numbers().tolist(), strict=True))
        facts_before = self.facts
        self.paths = files.items(self.paths, list(new))
        self.facts = files.items(self.facts, list(new.values()))
        if old.keys() == new.keys() and all(
            facts is not None and same_exports(facts, new[path]) for path, facts in old.items()
        ):
            for path, file_number in numbers.items():
                self._edit_bodies(file_number, path, new[path])
            affected: FileNumbers | None = set(numbers.values())
        else:
            self._names = None
            affected = self._find_affected(before, files, old, new, numbers, facts_before)
        return self._link(
            before,
            files,
            rows,
            affected,
            {numbers[path]: record.facts.calls for path, record in coming},
            calls_of,
            old,
            new,
        )

    # --- which files an edit concerns ---------------------------------------------------------------------------------

    def _find_affected(
        self,
        before: Snapshot,
        files: Splice,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
        numbers: Mapping[str, int],
        facts_before: Sequence[FileFacts | None],
    ) -> FileNumbers | None:
        """Returns the files whose edges may differ, by their numbers after the edit; None for all files."""
        changed = Difference()
        for path in old.keys() | new.keys():
            then, now = old.get(path), new.get(path)
            if path in old and then is None:
                return None
            own_changes = difference(path, then, now)
            if own_changes is None:
                return None
            changed |= own_changes
        edited_rules = [rules_of(facts.language) for facts in (*old.values(), *new.values()) if facts]
        infers_roots = any(rules.roots_from_imports for rules in edited_rules)
        if infers_roots and import_roots(filter(None, facts_before)) != import_roots(filter(None, self.facts)):
            return None
        if old.keys() != new.keys() and any(rules.folders_are_modules for rules in edited_rules):
            folders = importable_folders(zip(before.paths, facts_before, strict=True)) ^ importable_folders(
                zip(self.paths, self.facts, strict=True)
            )
            changed.modules |= {folder.rpartition("/")[2] for folder in folders}
        if changed.modules and manifests_lead_to(filter(None, self.facts), changed.modules):
            return None
        moved, calls = files.map_rows(), before.arrays["file.calls"][:, 0]
        most = MOST_CALLS * int(calls.sum())
        affected, pending = set(numbers.values()), changed
        while pending:  # a changed name may change the meaning of others: follow them until nothing new is found
            holders = _find_holders(before.file_words, pending.names)
            near = _find_holders(before.file_words, {name for _, name in pending.scoped} | pending.modules)
            importers = _find_holders(before.file_words, {module for module, _ in pending.scoped})
            if holders is None or near is None or importers is None:
                return None
            reached = self._find_reached(before, moved, pending)
            affected |= {file for file in moved[holders].tolist() if file >= 0}
            cost = int(calls[holders].sum())
            further_changes = Difference()
            concerned = {*moved[np.union1d(holders, near)].tolist(), *numbers.values()}
            # importers are followed too, because they may export a module under another name
            for file in concerned.union(moved[importers].tolist()):
                facts = self.facts[file] if file >= 0 else None
                if facts is not None:
                    sees, further = follow(self.paths[file], facts, pending, reached.get(file, frozenset()))
                    further_changes |= further
                    if sees and file in concerned:
                        affected.add(file)
            if cost > most:
                return None
            pending = further_changes - changed
            changed |= pending
        return affected

    def _find_reached(self, before: Snapshot, moved: npt.NDArray[np.int32], pending: Difference) -> dict[int, set[str]]:
        """Finds the changed names that each file contains together with their module."""
        reached: dict[int, set[str]] = {}
        for module, names in _group_by_module(pending.scoped).items():
            near = _find_holders(before.file_words, [module])
            for name in names:
                holders = _find_holders(before.file_words, [name])
                if near is not None and holders is not None:
                    for file in moved[np.intersect1d(near, holders)].tolist():
                        reached.setdefault(file, set()).add(name)
        return reached

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

    # --- edges --------------------------------------------------------------------------------------------------------

    def _link(
        self,
        before: Snapshot,
        files: Splice,
        rows: Splice,
        affected: FileNumbers | None,
        calls: dict[int, Sequence[Call]],
        calls_of: CallsOf,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
    ) -> Links:
        targets = self._targets(before, files, rows, old, new)
        everything = range(len(self.paths))
        kept = None if affected is None else _keep_edges(before, files, affected, targets)
        wanted = everything if kept is None or affected is None else sorted(affected)
        missing = [file for file in wanted if file not in calls]
        if missing:
            calls |= calls_of(missing)
        if self._names is None:
            self._names = Names(
                symbols_of(
                    [(path, facts) for path, facts in zip(self.paths, self.facts, strict=True) if facts is not None]
                )
            )
        edges, counts = link(self._names, {file: calls[file] for file in wanted})
        if edges.failed:
            raise LinksIncompleteError
        statuses = call_counts(counts, len(self.paths))
        if kept is not None:
            merged = files.column(before.arrays["file.calls"], np.zeros((files.coming, 4), dtype=np.int32)).copy()
            merged[wanted] = statuses[wanted]
            statuses, edges = merged, _join(kept, edges)
        return Links(CodeGraph.from_edges(edges, rows.after), statuses)

    def _targets(
        self,
        before: Snapshot,
        files: Splice,
        rows: Splice,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
    ) -> npt.NDArray[np.int32]:
        """Returns the row that an edge to each old row leads to after the edit; -1 if that row is gone. An edge into an
        edited file leads to the definition of the same name."""
        targets = rows.map_rows()
        starts = np.concatenate([[0], np.cumsum(before.arrays["file.fragments"])])
        new_starts = np.concatenate([[0], np.cumsum([len(facts.fragments) for facts in new.values()])]).astype(np.int64)
        row_numbers = rows.numbers()
        first = {path: int(new_starts[position]) for position, path in enumerate(new)}
        for file in files.removed_rows().tolist():
            path = before.paths[file]
            then, now = old[path], new.get(path)
            if then is not None and now is not None:
                for position, new_position in _match_fragments(then, now).items():
                    targets[starts[file] + position] = row_numbers[first[path] + new_position]
        return targets


def _match_fragments(then: FileFacts, now: FileFacts) -> dict[int, int]:
    """Matches the fragments of a file before and after an edit, by kind, name, and count of that name. The fragment
    that stands for the file is matched only with its successor in that role."""
    keys, new_positions = _keys(then), {key: position for position, key in enumerate(_keys(now))}
    matches = {position: new_positions[key] for position, key in enumerate(keys) if key in new_positions}
    representative = _find_representative(then)
    if matches.get(representative) != _find_representative(now):
        matches.pop(representative, None)
    return matches


def _keys(facts: FileFacts) -> list[tuple[FragmentKind, str, int]]:
    counts: dict[tuple[FragmentKind, str], int] = {}
    keys = []
    for fragment in facts.fragments:
        name = fragment.kind, fragment.qualname
        counts[name] = counts.get(name, 0) + 1
        keys.append((*name, counts[name]))
    return keys


def _find_representative(facts: FileFacts) -> int:
    """Returns the fragment that stands for the file: the first region, else the first fragment."""
    return next(
        (position for position, fragment in enumerate(facts.fragments) if fragment.kind is FragmentKind.REGION), 0
    )


def _keep_edges(before: Snapshot, files: Splice, affected: FileNumbers, targets: npt.NDArray[np.int32]) -> Edges | None:
    """Returns the edges of all unaffected files, in new numbers; None if one of them has lost its target."""
    graph, moved = before.graph, files.map_rows()
    is_affected = np.zeros(files.after + 1, dtype=np.bool_)  # the last entry, -1, is that of removed files
    is_affected[[*affected, -1]] = True
    is_kept = ~is_affected[moved]
    source = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.indptr))
    chosen = np.flatnonzero(is_kept[before.file[source]])
    target = targets[graph.indices[chosen]]
    if len(target) and int(target.min()) < 0:
        return None
    return Edges(
        targets[source[chosen]],
        target,
        graph.kind[chosen],
        graph.confidence[chosen],
        graph.how[chosen],
        graph.count[chosen],
    )


def _join(first: Edges, second: Edges) -> Edges:
    def both(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    return Edges(both("source"), both("target"), both("kind"), both("confidence"), both("how"), both("count"))


def _group_by_module(scoped: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for module, name in scoped:
        names.setdefault(module, []).append(name)
    return names


def _find_holders(file_words: Postings, names: Iterable[str]) -> npt.NDArray[np.int64] | None:
    """Returns the files whose text may hold one of the names; None if the index of words cannot tell."""
    holders: list[npt.NDArray[np.int32]] = []
    for name in names:
        parts = [word_terms(word) for word in words(name)]
        if not parts or not all(parts):
            return None
        holders.append(file_words.holders(hash_of(parts[0][0])))
    return np.unique(np.concatenate(holders)).astype(np.int64) if holders else np.zeros(0, dtype=np.int64)
