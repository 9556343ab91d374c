"""The call graph of a snapshot with the calls that an `index.scip` knows in place of those that were resolved.

The snapshot itself is made without the index, so that edits bring it from state to state as ever; this lays the index
over it. The index decides a call where it names what is called; what it does not know (an untyped receiver, a variable)
stays as it was resolved. Files that changed since the index was made are left as they are, and counted. The result is a
pure function of the snapshot and the index.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice

import msgspec
import numpy as np

from secateur.index.facts.extract import decode_facts, digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import CONFIDENCE, COUNT_CAP, EdgeKind, Edges, How
from secateur.index.graph.resolve.calls import IMPLEMENTATIONS
from secateur.index.graph.scip import MAX_INDEX_BYTES, Meaning, ScipDamaged, ScipIndex, documents
from secateur.index.store.arrayfile import pack_strings
from secateur.index.store.records import Store
from secateur.index.update.refresh import RecordedState
from secateur.languages import languages, rules_of
from secateur.languages.syntax.fragments import decode, split_lines
from secateur.model import FileFacts, Kind, Notice
from secateur.sources.files import Folder, path_bytes
from secateur.sources.source import Source
from secateur.sources.worktree import WorktreeSource

KEPT = 2
"""Call graphs with an index overlaid that are kept on disk."""

_DEFINITIONS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.CLASS})
_CONSTRUCTORS = frozenset(name for t in languages().values() if t.rules for name in t.rules.constructors)
_STORED = ("source", "target", "kind", "confidence", "how", "count")


@dataclass(frozen=True, slots=True)
class _Site:
    """A call that the index decides."""

    position: int  # of the calling fragment in its file
    name: str  # as called
    meaning: Meaning


class ScipCalls:
    """The index of one source, read again when it changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._looked: tuple[str, int, int, int] | None = None  # what the file looked like when it was read
        self._data = b""
        self._digest = ""
        self._index: ScipIndex | None = None
        self._problem = ""
        self._sites: dict[
            str, tuple[bytes, list[_Site] | None]
        ] = {}  # path -> content digest, decided calls; None for a stale file
        self._laid: tuple[Snapshot, str, Snapshot] | None = None

    def named(self, state: RecordedState, source: Source, path: str) -> RecordedState:
        """The state under a name that tells its index as well; the same without one. `path`: setting `index.scip`."""
        self._look(source, path)
        return (
            replace(state, name=blake2b(f"{state.name} {self._digest}".encode(), digest_size=16).hexdigest())
            if self._digest
            else state
        )

    def overlay(self, snapshot: Snapshot, state: RecordedState, source: Source) -> Snapshot:
        """The snapshot with the index that `named` found; itself without one. `state`: as named."""
        if not self._digest:
            return snapshot
        if self._laid is None or self._laid[0] is not snapshot or self._laid[1] != state.name:
            self._laid = snapshot, state.name, self._lay(snapshot, state, source)
        return self._laid[2]

    # --- reading ------------------------------------------------------------------------------------------------------

    def _look(self, source: Source, path: str) -> None:
        root = source.root if isinstance(source, WorktreeSource) and path else None
        if root is None:
            self._forget(None)
            return
        with suppress(OSError, ValueError):
            found = (root / path).lstat()
            looks = path, found.st_mtime_ns, found.st_size, found.st_ino
            if looks != self._looked:
                self._forget(looks)
                with Folder(root) as folder:
                    data = folder.read(path, MAX_INDEX_BYTES) if found.st_size <= MAX_INDEX_BYTES else None
                self._data = data or b""
                self._digest = blake2b(data, digest_size=16).hexdigest() if data is not None else "unread"
                self._problem = (
                    ""
                    if data is not None
                    else f"it is no regular file of the folder, or larger than {MAX_INDEX_BYTES >> 20} MB"
                )
            return
        self._forget(None)

    def _forget(self, looks: tuple[str, int, int, int] | None) -> None:
        self._looked, self._data, self._digest, self._index, self._problem, self._sites = looks, b"", "", None, "", {}

    def _read(self) -> ScipIndex | None:
        if self._index is None and not self._problem:
            try:
                self._index = ScipIndex(documents(self._data))
            except ScipDamaged as error:
                self._problem = str(error)
            self._data = b""
        return self._index

    # --- laying over --------------------------------------------------------------------------------------------------

    def _lay(self, snapshot: Snapshot, state: RecordedState, source: Source) -> Snapshot:
        stored = self._store.get_blob("scip", state.name)
        if stored is not None:
            with suppress(msgspec.DecodeError, ValueError, KeyError):
                columns, notice = msgspec.msgpack.decode(stored, type=tuple[dict[str, bytes], str])
                source_, target, kind, confidence, how, count = (
                    np.frombuffer(columns[name], dtype=_type(name)) for name in _STORED
                )
                return _with(snapshot, Edges(source_, target, kind, confidence, how, count), notice)
        index = self._read()
        if index is None:
            return _noticed(
                snapshot,
                Notice(
                    "scip_damaged",
                    f"{self._name()}: not a SCIP index that can be read ({self._problem}); calls are resolved"
                    " without it",
                ),
            )
        known = [path for path in snapshot.paths if path in index.documents]
        self._decide(index, known, snapshot, state, source)
        stale = [path for path in known if self._sites[path][1] is None]
        notice = (
            f"{self._name()}: {len(stale)} of {len(known)} files changed since it was made; their calls are resolved"
            " without it"
            if stale
            else ""
        )
        edges = self._edges(snapshot, [path for path in known if self._sites[path][1] is not None])
        columns = {name: np.ascontiguousarray(getattr(edges, name), dtype=_type(name)).tobytes() for name in _STORED}
        with self._store.writing():
            self._store.put_blobs("scip", {state.name: msgspec.msgpack.encode((columns, notice))}, most=KEPT)
        return _with(snapshot, edges, notice)

    def _name(self) -> str:
        return self._looked[0] if self._looked else ""

    def _decide(
        self, index: ScipIndex, paths: Sequence[str], snapshot: Snapshot, state: RecordedState, source: Source
    ) -> None:
        """Bring the decided calls of files up to their contents."""
        digests = snapshot.digests
        wanted = [path for path in paths if self._sites.get(path, (b"", None))[0] != digests[path]]
        keys = [(path_bytes(path), digests[path]) for path in wanted]
        for (path, data), record in zip(source.read(wanted), self._store.records(keys, state.version), strict=True):
            sites = None
            if data is not None and record is not None and digest_of(data) == digests[path]:
                lines = split_lines(decode(data)[0])
                if index.agrees(path, lines):
                    sites = _sites(decode_facts(record), index.references(path, lines))
            self._sites[path] = digests[path], sites

    def _edges(self, snapshot: Snapshot, paths: Sequence[str]) -> Edges:
        """All edges: those of the index, and of the snapshot those that it does not decide otherwise."""
        places = _Places(snapshot, paths)
        counts: dict[tuple[int, int], int] = {}
        confidence: dict[tuple[int, int], int] = {}
        decided: set[tuple[int, str]] = set()
        for path in paths:
            first = places.first[path]
            for site in self._sites[path][1] or ():
                row = first + site.position
                found = places.called(site.name, site.meaning)
                if found is None:
                    continue
                decided.add((row, site.name))
                for target, worth in found.items():
                    if target != row:
                        counts[row, target] = counts.get((row, target), 0) + 1
                        confidence[row, target] = max(worth, confidence.get((row, target), 0))
        graph = snapshot.graph
        source = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.indptr))
        callers = np.zeros(graph.node_count, dtype=np.bool_)
        callers[[row for row, _ in decided]] = True
        kept = np.ones(graph.edge_count, dtype=np.bool_)
        for edge in np.flatnonzero(callers[source] & (graph.kind == EdgeKind.CALLS)).tolist():
            row, target = int(source[edge]), int(graph.indices[edge])
            kept[edge] = (row, places.name(target)) not in decided and (row, target) not in counts
        pairs = sorted(counts)
        ours = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
        return Edges(
            source=np.concatenate([source[kept], ours[:, 0]]),
            target=np.concatenate([graph.indices[kept], ours[:, 1]]),
            kind=np.concatenate([graph.kind[kept], np.full(len(pairs), EdgeKind.CALLS, dtype=np.uint8)]),
            confidence=np.concatenate(
                [graph.confidence[kept], np.array([confidence[pair] for pair in pairs], dtype=np.uint16)]
            ),
            how=np.concatenate([graph.how[kept], np.full(len(pairs), How.SCIP, dtype=np.uint8)]),
            count=np.concatenate(
                [graph.count[kept], np.array([min(counts[pair], COUNT_CAP) for pair in pairs], dtype=np.uint8)]
            ),
        )


class _Places:
    """Finds the fragments that stand where the index says that something is defined, in files that are as they were."""

    def __init__(self, snapshot: Snapshot, paths: Iterable[str]) -> None:
        numbers = {path: number for number, path in enumerate(snapshot.paths)}
        starts = np.concatenate([[0], np.cumsum(snapshot.arrays["file.fragments"])]).tolist()
        self.first = {path: int(starts[numbers[path]]) for path in paths}
        self._last = {path: int(starts[numbers[path] + 1]) for path in paths}
        self._snapshot = snapshot
        self._lines = [snapshot.column(name).tolist() for name in ("line_start", "line_end", "sig_start", "sig_end")]
        self._indexed = numbers.keys()
        self._found: dict[tuple[str, int], int | None] = {}
        self._names: dict[str, dict[str, list[int]]] = {}

    def called(self, name: str, meaning: Meaning) -> dict[int, int] | None:
        """What a call reaches, each with per mille; None where the index cannot be followed."""
        rows = [self._row(*place) for place in meaning.places]
        if meaning.variable:
            rows = [
                row
                for row in rows
                if row is not None and row >= 0 and self._snapshot.qualnames[row].rpartition(".")[2] == name
            ]
            if not rows:
                return None
        if None in rows:
            return None  # defined in a file that changed
        worth = CONFIDENCE[How.SCIP]
        found = {row: worth for row in rows if row is not None and row >= 0}
        for row in list(found):
            found |= dict.fromkeys(self._constructors(row), worth)
        implementing = (row for row in (self._row(*place) for place in meaning.below) if row is not None and row >= 0)
        below = set(islice(implementing, IMPLEMENTATIONS))
        declared_only = len(below) == 1 and all(self._snapshot.kind(row) is Kind.CLASS for row in found)
        for row in sorted(below):
            found.setdefault(row, CONFIDENCE[How.IMPLEMENTATION if declared_only else How.OVERRIDE])
        return found

    def name(self, row: int) -> str:
        """The name a fragment is called by: of a constructor that of its class."""
        head, _, last = self._snapshot.qualnames[row].rpartition(".")
        return head.rpartition(".")[2] if last in _CONSTRUCTORS and head else last

    def _row(self, path: str, line: int) -> int | None:
        """The definition whose signature stands on a line, else the class that declares what stands there; -1 for
        neither, None where lines moved."""
        if path not in self.first:
            return None if path in self._indexed else -1
        key = path, line
        if key not in self._found:
            self._found[key] = self._definition(*key)
        return self._found[key]

    def _definition(self, path: str, line: int) -> int:
        start, end, sig_start, sig_end = self._lines
        row = (
            bisect_right(start, line, self.first[path], self._last[path]) - 1
        )  # fragments of a file are in order and share no line
        if row < self.first[path] or line > end[row]:
            return -1
        kind = self._snapshot.kind(row)
        if kind not in _DEFINITIONS:
            return -1
        return row if kind is Kind.CLASS or sig_start[row] <= line <= sig_end[row] else -1

    def _constructors(self, row: int) -> list[int]:
        """Of a class that is called, what it runs."""
        if self._snapshot.kind(row) is not Kind.CLASS:
            return []
        number = int(self._snapshot.file[row])
        path, language = self._snapshot.paths[number], self._snapshot.languages[number]
        whole = self._snapshot.qualnames[row]
        return sorted(
            other for name in rules_of(language).constructors for other in self._named(path).get(f"{whole}.{name}", ())
        )

    def _named(self, path: str) -> dict[str, list[int]]:
        """The rows of a file by qualified name."""
        if path not in self._names:
            names: dict[str, list[int]] = {}
            for row in range(self.first[path], self._last[path]):
                names.setdefault(self._snapshot.qualnames[row], []).append(row)
            self._names[path] = names
        return self._names[path]


def _sites(facts: FileFacts, references: Mapping[tuple[int, str], Meaning]) -> list[_Site]:
    found = []
    for call in facts.calls:
        written = "super" if call.receiver == "super" and call.name == "constructor" else call.name
        meaning = references.get((call.line, written))
        if meaning is not None:
            found.append(_Site(call.fragment, call.name, meaning))
    return found


def _type(name: str) -> str:
    return {"source": "<i4", "target": "<i4", "confidence": "<u2"}.get(name, "u1")


def _with(snapshot: Snapshot, edges: Edges, notice: str) -> Snapshot:
    graph = CodeGraph.from_edges(edges, len(snapshot))
    laid = Snapshot(snapshot.arrays | {f"graph.{name}": array for name, array in graph.to_arrays().items()})
    return _noticed(laid, Notice("scip_stale", notice)) if notice else laid


def _noticed(snapshot: Snapshot, notice: Notice) -> Snapshot:
    texts = [text for each in (*snapshot.notices, notice) for text in (each.code, each.message)]
    return Snapshot(snapshot.arrays | {"notices": pack_strings(texts)})
