"""The call graph of an edited repository from the one before: only what the edit can have changed is resolved again.

What the resolver knows stays in memory, without call sites; they are read again for the files that need it. An edit of
bodies alone resolves the calls of the files it edits. Any other goes by names (`resolve.exported_symbols`): the files
that write a changed name are found in the index of words, for a name cannot be in what was parsed of a file without
being in its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

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
"""Share of all call sites above which everything is resolved anew: finding out what need not be would cost more."""

Numbers = set[int]
CallsOf = Callable[[Sequence[int]], Mapping[int, Sequence[Call]]]
"""Call sites of files, by their numbers after the edit."""


def bare(facts: FileFacts) -> FileFacts:
    """The facts of a file that the resolver keeps."""
    return replace(facts, calls=(), problems=())


class LinksIncompleteError(Exception):
    """The resolver raised an error over a file; linking the whole repository anew says which."""


class Linker:
    """The names of one state of a repository, brought from edit to edit."""

    def __init__(self, paths: Sequence[str], facts: Sequence[FileFacts | None]) -> None:
        """`facts`: of each path, without calls; None where they are not known any more. Of the files of a snapshot, in
        their order."""
        self.paths = list(paths)
        self.facts = list(facts)
        self._names: Names | None = None

    def relinked(
        self, before: Snapshot, files: Splice, rows: Splice, coming: Sequence[tuple[str, Record]], calls_of: CallsOf
    ) -> Links:
        """The links after an edit; from now on the linker is in that state.

        Args:
            before: the state the linker is in.
            files, rows: the edit, of files and of their fragments.
            coming: path and record of the files that come.
            calls_of: gives the calls of files that stay.
        """
        old = {self.paths[number]: self.facts[number] for number in files.gone().tolist()}
        new = {path: bare(record.facts) for path, record in coming}
        numbers = dict(zip(new, files.numbers().tolist(), strict=True))
        went = self.facts
        self.paths = files.items(self.paths, list(new))
        self.facts = files.items(self.facts, list(new.values()))
        if old.keys() == new.keys() and all(
            facts is not None and same_exports(facts, new[path]) for path, facts in old.items()
        ):
            for path, number in numbers.items():
                self._edit_bodies(number, path, new[path])
            affected: Numbers | None = set(numbers.values())
        else:
            self._names = None
            affected = self._affected(before, files, old, new, numbers, went)
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

    def _affected(
        self,
        before: Snapshot,
        files: Splice,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
        numbers: Mapping[str, int],
        went: Sequence[FileFacts | None],
    ) -> Numbers | None:
        """Numbers, after the edit, of the files whose edges may differ; None for all."""
        changed = Difference()
        for path in old.keys() | new.keys():
            then, now = old.get(path), new.get(path)
            if path in old and then is None:
                return None
            found = difference(path, then, now)
            if found is None:
                return None
            changed |= found
        edited = [rules_of(facts.language) for facts in (*old.values(), *new.values()) if facts]
        infers_roots = any(rules.roots_from_imports for rules in edited)
        if infers_roots and import_roots(filter(None, went)) != import_roots(filter(None, self.facts)):
            return None
        if old.keys() != new.keys() and any(rules.folders_are_modules for rules in edited):
            folders = importable_folders(zip(before.paths, went, strict=True)) ^ importable_folders(
                zip(self.paths, self.facts, strict=True)
            )
            changed.modules |= {folder.rpartition("/")[2] for folder in folders}
        if changed.modules and manifests_lead_to(filter(None, self.facts), changed.modules):
            return None
        moved, calls = files.moved(), before.arrays["file.calls"][:, 0]
        most = MOST_CALLS * int(calls.sum())
        affected, pending = set(numbers.values()), changed
        while pending:
            writers = _writers(before.file_words, pending.names)
            near = _writers(before.file_words, {name for _, name in pending.scoped} | pending.modules)
            importers = _writers(before.file_words, {module for module, _ in pending.scoped})
            if writers is None or near is None or importers is None:
                return None
            reached = self._reached(before, moved, pending)
            affected |= {number for number in moved[writers].tolist() if number >= 0}
            cost = int(calls[writers].sum())
            found = Difference()
            concerned = {*moved[np.union1d(writers, near)].tolist(), *numbers.values()}
            for number in concerned.union(
                moved[importers].tolist()
            ):  # who imports a module may hand it on by another name
                facts = self.facts[number] if number >= 0 else None
                if facts is not None:
                    sees, further = follow(self.paths[number], facts, pending, reached.get(number, frozenset()))
                    found |= further
                    if sees and number in concerned:
                        affected.add(number)
            if cost > most:
                return None
            pending = found - changed
            changed |= pending
        return affected

    def _reached(self, before: Snapshot, moved: npt.NDArray[np.int32], pending: Difference) -> dict[int, set[str]]:
        """Per file the changed names that it writes together with their module."""
        found: dict[int, set[str]] = {}
        for module, names in _by_module(pending.scoped).items():
            near = _writers(before.file_words, [module])
            for name in names:
                writers = _writers(before.file_words, [name])
                if near is not None and writers is not None:
                    for number in moved[np.intersect1d(near, writers)].tolist():
                        found.setdefault(number, set()).add(name)
        return found

    def _edit_bodies(self, number: int, path: str, facts: FileFacts) -> None:
        """Let a file have other locals and lines; everything else of it is as it was."""
        if self._names is None:
            return
        symbols = self._names.symbols
        first = symbols.offset[number]
        symbols.facts[number] = facts
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
        affected: Numbers | None,
        calls: dict[int, Sequence[Call]],
        calls_of: CallsOf,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
    ) -> Links:
        targets = self._targets(before, files, rows, old, new)
        everything = range(len(self.paths))
        kept = None if affected is None else _kept(before, files, affected, targets)
        wanted = everything if kept is None or affected is None else sorted(affected)
        missing = [number for number in wanted if number not in calls]
        if missing:
            calls |= calls_of(missing)
        if self._names is None:
            self._names = Names(
                symbols_of(
                    [(path, facts) for path, facts in zip(self.paths, self.facts, strict=True) if facts is not None]
                )
            )
        edges, counts = link(self._names, {number: calls[number] for number in wanted})
        if edges.failed:
            raise LinksIncompleteError
        statuses = call_counts(counts, len(self.paths))
        if kept is not None:
            stays = files.column(before.arrays["file.calls"], np.zeros((files.coming, 4), dtype=np.int32)).copy()
            stays[wanted] = statuses[wanted]
            statuses, edges = stays, _joined(kept, edges)
        return Links(CodeGraph.from_edges(edges, rows.after), statuses)

    def _targets(
        self,
        before: Snapshot,
        files: Splice,
        rows: Splice,
        old: Mapping[str, FileFacts | None],
        new: Mapping[str, FileFacts],
    ) -> npt.NDArray[np.int32]:
        """New row of each row there was, as something to point at: in an edited file the definition of the same name;
        -1 for none."""
        targets = rows.moved()
        starts = np.concatenate([[0], np.cumsum(before.arrays["file.fragments"])])
        came = np.concatenate([[0], np.cumsum([len(facts.fragments) for facts in new.values()])]).astype(np.int64)
        row_numbers = rows.numbers()
        first = {path: int(came[position]) for position, path in enumerate(new)}
        for number in files.gone().tolist():
            path = before.paths[number]
            then, now = old[path], new.get(path)
            if then is not None and now is not None:
                for position, place in _places(then, now).items():
                    targets[starts[number] + position] = row_numbers[first[path] + place]
        return targets


def _places(then: FileFacts, now: FileFacts) -> dict[int, int]:
    """The places of a file's fragments after an edit: by kind, name, and which of that name. One that stands for the
    file goes where that does."""
    keys, here = _keys(then), {key: position for position, key in enumerate(_keys(now))}
    places = {position: here[key] for position, key in enumerate(keys) if key in here}
    stood, stands = _stands_for_file(then), _stands_for_file(now)
    if places.get(stood) != stands:
        places.pop(stood, None)
    return places


def _keys(facts: FileFacts) -> list[tuple[FragmentKind, str, int]]:
    taken: dict[tuple[FragmentKind, str], int] = {}
    keys = []
    for fragment in facts.fragments:
        name = fragment.kind, fragment.qualname
        taken[name] = taken.get(name, 0) + 1
        keys.append((*name, taken[name]))
    return keys


def _stands_for_file(facts: FileFacts) -> int:
    return next(
        (position for position, fragment in enumerate(facts.fragments) if fragment.kind is FragmentKind.REGION), 0
    )


def _kept(before: Snapshot, files: Splice, affected: Numbers, targets: npt.NDArray[np.int32]) -> Edges | None:
    """The edges of all other files, in new numbers; None where one leads to what is not there any more."""
    graph, moved = before.graph, files.moved()
    again = np.zeros(files.after + 1, dtype=np.bool_)  # one more: -1 is a file that went
    again[[*affected, -1]] = True
    stays = ~again[moved]
    source = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.indptr))
    chosen = np.flatnonzero(stays[before.file[source]])
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


def _joined(one: Edges, other: Edges) -> Edges:
    def both(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(one, name), getattr(other, name)])

    return Edges(both("source"), both("target"), both("kind"), both("confidence"), both("how"), both("count"))


def _by_module(scoped: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for module, name in scoped:
        names.setdefault(module, []).append(name)
    return names


def _writers(file_words: Postings, names: Iterable[str]) -> npt.NDArray[np.int64] | None:
    """Files whose text may hold one of the names; None for all, where the index of words cannot tell."""
    found: list[npt.NDArray[np.int32]] = []
    for name in names:
        parts = [word_terms(word) for word in words(name)]
        if not parts or not all(parts):
            return None
        found.append(file_words.holders(hash_of(parts[0][0])))
    return np.unique(np.concatenate(found)).astype(np.int64) if found else np.zeros(0, dtype=np.int64)
