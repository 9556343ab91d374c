"""Brings the index up to date: reads the changed files, keeps the records of the others, and makes the snapshot.

Records have the content digest as their key, so an edited file is read again, and a branch that was read before is not.
Records that were committed before an interruption stay. The same source gives the same snapshot, whatever was indexed
before, and with any number of processes.

Compares a source with its indexed state, by two listings: nothing is parsed or written.

Makes a snapshot of some files of a source, for a first answer that does not wait for the rest.

The files are recorded as always, so nothing is read twice. The snapshot itself is never saved: only snapshots of whole
states are.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from msgspec import Struct

from secateur.errors import IndexingError
from secateur.index.facts.extract import Record, decode, digest_of, warn_of_partly_read
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.store.records import Store
from secateur.index.update.edits import read_records, record_of
from secateur.index.update.parallel import Extracted, Extractor
from secateur.index.update.snapshot_files import SnapshotFiles
from secateur.index.update.snapshot_manager import Histories, RepositoryInputs, SnapshotManager
from secateur.languages.syntax.text import UNPARSED_LINES
from secateur.model import Notice
from secateur.progress import FIRST, Progress, unreported
from secateur.sources.files import path_bytes
from secateur.sources.open import CommitSource
from secateur.sources.source import Source, SourceFile

# The most files that are read to see whether only their date is new. Of more files, all count as changed.
MOST_READ = 200


class Changes(Struct, frozen=True):
    """The differences from the indexed state; false if nothing differs."""

    files: tuple[str, ...] = ()  # changed, new or gone, in byte order; text from outside
    commit: bool = False  # another commit is checked out, or the revision names another one now

    def __bool__(self) -> bool:
        return bool(self.files) or self.commit

    def __str__(self) -> str:
        """Returns a sentence for people: "3 files changed", "new commit"; "" without changes."""
        if self.files:
            return f"{len(self.files):,} file{'' if len(self.files) == 1 else 's'} changed"
        return "new commit" if self.commit else ""


def changes(before: Source, now: Source, indexed: Mapping[str, bytes]) -> Changes:
    """Lists the differences between a source and its indexed state.

    Args:
        before: the source that was indexed.
        now: the same source, opened again.
        indexed: path -> content digest of `before`, for files with a new date and the same content.

    Raises:
        RepositoryError: one of them cannot be listed.
    """
    if before is now or (isinstance(now, CommitSource) and before.commit == now.commit):
        return Changes()
    then, present = ({entry.path: entry.token for entry in source.entries()} for source in (before, now))
    new_looks = [
        path for path in sorted(then.keys() | present.keys(), key=path_bytes) if then.get(path) != present.get(path)
    ]
    touched = [path for path in new_looks if path in then and path in present and path in indexed]
    same: set[str] = set()
    if len(touched) <= MOST_READ:
        same = {path for path, data in now.read(touched) if data is not None and digest_of(data) == indexed[path]}
    return Changes(tuple(path for path in new_looks if path not in same), before.commit != now.commit)


FEW = 20  # the most files that are looked up one by one
COMMIT_EVERY = 100  # records in one transaction, which a power cut can lose
SNAPSHOT_VERSION = 11  # raise it when the same records make other arrays


class IndexStatus(Struct, frozen=True):
    """The report on an index: what is indexed, how fresh it is, and what was left out for which reason."""

    source: str  # for people: "orders @ 4f2c91d"
    commit: str
    files: int
    fragments: int
    lines: int
    languages: dict[str, int]  # files per language, most first
    skipped: dict[str, int]  # reason -> files
    skipped_paths: tuple[tuple[str, str], ...]  # (path, reason), by path
    problems: dict[str, int]  # "syntax_errors", "grammar_missing:go", ... -> files
    read: int  # files read and parsed in this run
    reused: int
    edges: int
    call_sites: int
    calls_resolved: int
    calls_external: int
    counter: str
    embedding: str
    snapshot: str
    notices: tuple[str, ...]  # problems that did not stop the indexing: no git, unreadable history, ...

    @property
    def fresh(self) -> bool:
        """True if nothing had to be read again."""
        return self.read == 0


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A state of a source whose files all have records. It names its snapshot without loading it."""

    name: str  # the name of the snapshot; equal names mean equal content, history and versions
    present: tuple[tuple[str, bytes], ...]  # (path, content digest)
    read: int  # files read in this run
    version: str = ""  # the version of the records
    # path -> (`SourceFile.token` when it was read, content digest); the same token: unchanged
    looks: Mapping[str, tuple[str, bytes]] = field(default_factory=dict, compare=False, repr=False)


def record(
    source: Source,
    store: Store,
    extractor: Extractor,
    progress: Progress | None = None,
    last: RecordedState | None = None,
    only: Collection[str] | None = None,
) -> RecordedState:
    """Reads the new and changed files of the source, so that every file has a record.

    The phases of `progress` are "listing", then "reading", or FIRST if nothing of the source is known yet; those of
    `snapshot_of` are "linking" and "saving".

    Args:
        last: the last recorded state of the same source, if it is at hand. Files with the same token are not looked up
            again.
        only: the paths that are read; None: all.

    Raises:
        IndexingError: the index cannot be written.
        KeyboardInterrupt: passed on; what was read so far is kept.
    """
    tell = progress or unreported
    tell("listing", 0, 0)
    entries = [entry for entry in source.entries() if only is None or entry.path in only]
    digests, missing = _plan(entries, store, extractor.version, last)
    if missing:
        # A store in memory reads everything each time, so its reading is never "first". A first reading that was
        # interrupted is "first" again.
        first = store.folder is not None and (len(missing) == len(entries) or not SnapshotFiles(store).any())
        digests |= _read(source, store, missing, extractor, tell, FIRST if first else "reading")
    present = tuple((entry.path, digests[entry.path]) for entry in entries if entry.path in digests)
    if missing and only is None:
        store.sweep(((path_bytes(path), digest) for path, digest in present), extractor.version)
    looks = {entry.path: (entry.token, digests[entry.path]) for entry in entries if entry.path in digests}
    read = sum(entry.path in digests for entry in missing)  # others could not be read, or were deleted
    return RecordedState(_identity(extractor.version, source, present), present, read, extractor.version, looks)


def unread(source: Source, store: Store, extractor: Extractor) -> Changes | None:
    """Lists the changes of the source since the state that was indexed last; None if nothing was indexed. Reads nothing
    into the index."""
    origin, files = origin_of(extractor.version, source), SnapshotFiles(store)
    entries = source.entries()
    digests, missing = _plan(entries, store, extractor.version, None)
    if not missing and files.holds(
        _identity(extractor.version, source, [(entry.path, digests[entry.path]) for entry in entries])
    ):
        return Changes()
    if (newest := files.newest(origin[0])) is None:
        return None
    return Changes(
        unread_files(source, store, extractor, newest.snapshot.all_digests), newest.snapshot.origin[1] != origin[1]
    )


def unread_files(source: Source, store: Store, extractor: Extractor, before: Mapping[str, bytes]) -> tuple[str, ...]:
    """Lists the paths of a source whose contents differ from those with these digests, or are not recorded."""
    digests, missing = _plan(source.entries(), store, extractor.version, None)
    changed = {path for path in before.keys() | digests.keys() if before.get(path) != digests.get(path)}
    return tuple(sorted(changed | {entry.path for entry in missing}, key=path_bytes))


def snapshot_of(
    state: RecordedState,
    source: Source,
    store: Store,
    extractor: Extractor,
    progress: Progress | None = None,
    manager: SnapshotManager | None = None,
    histories: Histories | None = None,
) -> Snapshot:
    """Returns the snapshot of a state: the one in memory or on disk, an edit of one that differs little, or a new one.

    `manager`: keeps the snapshot between calls, and its owner saves it. Without it, a new snapshot is saved at once.
    `histories`: keeps the history between calls.
    """
    own = manager or SnapshotManager(store)
    inputs = RepositoryInputs(source, histories or Histories(store))
    dimension = extractor.embedder.dimension if extractor.embedder else 0
    origin = origin_of(extractor.version, source)

    def repair_records(damaged: Mapping[str, bytes]) -> list[tuple[str, bytes, Record]]:
        return repair(source, store, damaged, extractor)

    snapshot = own.at(state.name, state.present, origin, inputs, dimension, repair_records, progress or unreported)
    if manager is None:
        own.save()
    return snapshot


def status_of(state: RecordedState, snapshot: Snapshot, source: Source, extractor: Extractor) -> IndexStatus:
    """Makes the report on what is indexed and what is not."""
    skipped = [(skip.path, skip.reason) for skip in source.skips()]
    skipped += snapshot.unindexed
    skipped.sort(key=lambda item: path_bytes(item[0]))
    problems = Tally(
        problem for text in snapshot.problems for problem in text.split() if not problem.startswith(UNPARSED_LINES)
    )
    languages = Tally(snapshot.languages)
    sites, resolved, external = (int(value) for value in snapshot.arrays["calls"])
    return IndexStatus(
        source=source.describe(),
        commit=source.commit,
        files=len(snapshot.paths),
        fragments=len(snapshot),
        lines=int(snapshot.arrays["file.lines"].sum()),
        languages=dict(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
        skipped=dict(sorted(Tally(reason for _, reason in skipped).items())),
        skipped_paths=tuple(skipped),
        problems=dict(sorted(problems.items())),
        read=state.read,
        reused=len(state.present) - state.read,
        edges=snapshot.graph.edge_count,
        call_sites=sites,
        calls_resolved=resolved,
        calls_external=external,
        counter=extractor.counter.name,
        embedding=extractor.embedder.id if extractor.embedder else "none",
        snapshot=state.name,
        notices=tuple(
            dict.fromkeys(
                notice.message for notice in (*source.notices(), *snapshot.notices, *warn_of_partly_read(snapshot))
            )
        ),
    )


def _plan(
    entries: Sequence[SourceFile], store: Store, version: str, last: RecordedState | None
) -> tuple[dict[str, bytes], list[SourceFile]]:
    """Returns the content digests of recorded files whose look is the same, and the entries that must be read."""
    if last is not None and last.version == version:
        looks, no_look = last.looks, ("", b"")
        new = [entry for entry in entries if looks.get(entry.path, no_look)[0] != entry.token]
        if len(new) <= FEW:
            changed = {entry.path for entry in new}
            return {entry.path: looks[entry.path][1] for entry in entries if entry.path not in changed}, new
    seen, known = store.load_looks(), store.list_known(version)
    digests: dict[str, bytes] = {}
    missing = []
    for entry in entries:
        key = path_bytes(entry.path)
        if (digest := seen.get((key, entry.token))) is not None and (key, digest) in known:
            digests[entry.path] = digest
        else:
            missing.append(entry)
    return digests, missing


def _read(
    source: Source, store: Store, missing: list[SourceFile], extractor: Extractor, tell: Progress, phase: str
) -> dict[str, bytes]:
    version, generation = extractor.version, store.generation()
    known = store.list_known(version) if len(missing) > FEW else None

    def is_recorded(key: tuple[bytes, bytes]) -> bool:
        return key in known if known is not None else next(store.records([key], version)) is not None

    tokens = {entry.path: entry.token for entry in missing}
    digests: dict[str, bytes] = {}

    def unknown() -> Iterator[tuple[str, bytes]]:
        for path, data in source.read([entry.path for entry in missing]):
            if data is None:
                continue
            digests[path] = digest_of(data)
            if not is_recorded((path_bytes(path), digests[path])):
                yield path, data

    def looks(paths: Iterable[str]) -> list[tuple[bytes, str, bytes]]:
        return [(path_bytes(path), tokens[path], digests[path]) for path in paths]

    done = 0

    def report() -> None:
        tell(phase, done, len(missing))

    report()
    extracted = extractor.run(unknown(), sum(entry.size for entry in missing), waiting=report)
    stored: set[str] = set()
    batch: list[Extracted] = []

    def keep() -> None:
        with store.writing():
            for path, _, encoded in batch:
                store.put(path_bytes(path), digests[path], version, encoded, generation)
            store.remember(looks(path for path, _, _ in batch), generation)
        stored.update(path for path, _, _ in batch)
        batch.clear()

    try:
        for item in extracted:
            batch.append(item)
            done += 1
            report()
            if len(batch) >= COMMIT_EVERY:
                keep()
    finally:  # after an interruption, everything that was extracted is kept
        keep()
    if rest := [path for path in digests if path not in stored]:
        with store.writing():
            store.remember(looks(rest), generation)
    tell(phase, len(missing), len(missing))
    return digests


def repair(
    source: Source, store: Store, damaged: Mapping[str, bytes], extractor: Extractor
) -> list[tuple[str, bytes, Record]]:
    """Reads files again whose records are missing or damaged on disk. `damaged`: path -> digest of the content when the
    file was listed. Raises IndexingError: a file has another content by now; the next run reads it again."""
    generation = store.generation()
    contents = [(path, data) for path, data in source.read(list(damaged)) if data is not None]
    digests = {path: digest_of(data) for path, data in contents}
    changed = [path for path, digest in damaged.items() if digests.get(path) != digest]
    if changed:  # the name of the state stands for the old content, so the new one must not be saved under it
        with store.writing():
            store.overlook(map(path_bytes, changed))
        raise IndexingError(f"{changed[0]}: changed while it was indexed", hint="run again", code="CHANGED")
    repaired = []
    with store.writing():
        for path, _, encoded in extractor.run(contents, sum(len(data) for _, data in contents)):
            store.put(path_bytes(path), digests[path], extractor.version, encoded, generation)
            repaired.append((path, digests[path], decode(encoded)))
    return repaired


def origin_of(version: str, source: Source) -> tuple[str, str, str]:
    """Returns what a snapshot depends on besides its files: versions, history, and the time ages are measured from."""
    return arrays_version(version), source.history_id, str(source.time if source.commit else 0)


def arrays_version(version: str) -> str:
    """Returns the version of a snapshot that is made of records of this version."""
    return f"{SNAPSHOT_VERSION}|{version}"


def _identity(version: str, source: Source, present: Sequence[tuple[str, bytes]]) -> str:
    origin = "\0".join(origin_of(version, source)).encode()
    parts = [b"\0".join((path_bytes(path), digest)) for path, digest in present]
    return blake2b(origin + b"\0\0" + b"\0".join(parts), digest_size=16).hexdigest()


PARTIAL = "partial"  # the code of the notice that an answer was made from a part of the files

# The most commits that are read: the whole history of a large repository takes as long as the answer may.
MOST_COMMITS = 2_000

# Chooses paths of a source with at most so many bytes; an empty set if no file is worth beginning with.
Choice = Callable[[Source, int, Progress], frozenset[str]]


class PartialSnapshot(Struct, frozen=True):
    """The snapshot of some files of a source, and their share of the whole source."""

    snapshot: Snapshot
    name: str  # the name of the state
    files: int
    of: int
    bytes: int
    of_bytes: int

    def to_dict(self) -> dict[str, int]:
        """Returns `{"files", "of", "bytes", "of_bytes"}`."""
        return {"files": self.files, "of": self.of, "bytes": self.bytes, "of_bytes": self.of_bytes}

    @property
    def notice(self) -> Notice:
        """The warning for an answer that is made from this snapshot."""
        percent = 100 * self.bytes / self.of_bytes if self.of_bytes else 100.0
        share = f"{percent:.0f} %" if percent >= 1 else "less than 1 %"
        return Notice(
            PARTIAL,
            f"A partial answer, made from {self.files:,} of {self.of:,} files ({share} of the bytes), those whose words"
            " and paths are most like the query. The rest is not indexed yet.",
        )


def part_of(
    source: Source, store: Store, extractor: Extractor, choose: Choice, most: int, progress: Progress | None = None
) -> PartialSnapshot | None:
    """Records the files that `choose` names, of at most `most` bytes, and makes their snapshot.

    Returns None if no more than `most` bytes are left to read at all, or if nothing is chosen: then the whole answer is
    as near.

    Raises:
        IndexingError: the index cannot be written.
        KeyboardInterrupt: passed on; what was read so far is kept.
    """
    tell = progress or unreported
    tell("listing", 0, 0)
    if not most or sum(entry.size for entry in _plan(source.entries(), store, extractor.version, None)[1]) <= most:
        return None
    if not (chosen := choose(source, most, tell)):
        return None
    state = record(source, store, extractor, progress, only=chosen)
    files: list[tuple[str, bytes, Record]] = []
    stored = read_records(store, state.present, origin_of(extractor.version, source)[0])
    for (path, digest), data in zip(state.present, stored, strict=True):
        if (decoded := record_of(data)) is not None:
            files.append((path, digest, decoded))
    if not any(decoded.indexed for _, _, decoded in files):
        return None
    dimension = extractor.embedder.dimension if extractor.embedder else 0
    snapshot = build(files, CommitHistory.of(list(source.history(MOST_COMMITS))), source.time, dimension)
    entries, read = source.entries(), {path for path, _, _ in files}
    return PartialSnapshot(
        snapshot,
        state.name,
        len(read),
        len(entries),
        sum(entry.size for entry in entries if entry.path in read),
        sum(entry.size for entry in entries),
    )
