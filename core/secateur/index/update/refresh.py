"""Bring the index up to what the source holds now: read what changed, keep what did not, put the arrays together.

Everything is keyed by content: an edited file is read again, a branch that was read before is not. Work that was
committed before an interruption stays. The same source gives the same snapshot, whatever was indexed before it and with
however many processes.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from secateur.errors import IndexingError
from secateur.index.facts.degraded import degraded, partly_read
from secateur.index.facts.extract import Record, decode, digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extracted, Extractor
from secateur.index.update.snapshot_files import SnapshotFiles
from secateur.index.update.snapshots import SnapshotManager
from secateur.index.update.staleness import Changes
from secateur.progress import FIRST, Progress, unreported
from secateur.sources.files import path_bytes
from secateur.sources.source import Source, SourceFile

FEW = 20
"""Files that are looked up one by one."""

COMMIT_EVERY = 100
"""Records per transaction: what a power cut can cost."""

SNAPSHOT_VERSION = 9
"""Changes when the same records make other arrays."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Reports what is indexed, how fresh it is, what was left out and why."""

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
    notices: tuple[str, ...]  # what went wrong on the way without stopping it: no git, unreadable history, ...

    @property
    def fresh(self) -> bool:
        """True if nothing had to be read again."""
        return self.read == 0


@dataclass(frozen=True, slots=True)
class RecordedState:
    """One state of a source, all of it recorded: enough to name its snapshot without loading it."""

    name: str  # of the snapshot; equal names mean equal content, history and versions
    present: tuple[tuple[str, bytes], ...]  # (path, content digest)
    read: int  # files read in this run
    version: str = ""  # of the records
    looks: Mapping[str, tuple[str, bytes]] = field(
        default_factory=dict, compare=False, repr=False
    )  # path -> (token, content digest)


def record(
    source: Source,
    store: Store,
    extractor: Extractor,
    progress: Progress | None = None,
    last: RecordedState | None = None,
    only: Collection[str] | None = None,
) -> RecordedState:
    """Read what is new or changed in the source, so that every file of it has a record.

    Phases of `progress`: "listing", then "reading", or FIRST where nothing of the source is known yet; of
    `snapshot_of`: "linking", "saving".

    `last`: the state of the same source that was recorded before, where it is at hand: what looks as it did then is not
    looked up again. `only`: the paths that are read; None: all.

    Raises:
        IndexingError: the index cannot be written.
        KeyboardInterrupt: passed on; what was read so far is kept.
    """
    tell = progress or unreported
    tell("listing", 0, 0)
    entries = [entry for entry in source.entries() if only is None or entry.path in only]
    digests, missing = _plan(entries, store, extractor.version, last)
    if missing:
        # What is not kept is read again each time; what an interruption left to be read is still the first reading.
        first = store.folder is not None and (len(missing) == len(entries) or not SnapshotFiles(store).any())
        digests |= _read(source, store, missing, extractor, tell, FIRST if first else "reading")
    present = tuple((entry.path, digests[entry.path]) for entry in entries if entry.path in digests)
    if missing and only is None:
        store.sweep(((path_bytes(path), digest) for path, digest in present), extractor.version)
    looks = {entry.path: (entry.token, digests[entry.path]) for entry in entries if entry.path in digests}
    return RecordedState(_identity(extractor.version, source, present), present, len(missing), extractor.version, looks)


def unrecorded(source: Source, store: Store, extractor: Extractor) -> list[SourceFile]:
    """The files of a source that have no record yet, or look otherwise than when they were recorded."""
    return _plan(source.entries(), store, extractor.version, None)[1]


def unread(source: Source, store: Store, extractor: Extractor) -> Changes | None:
    """Changes of the source since the state that was indexed last; None where none was. Nothing is read into the
    index."""
    origin, files = origin_of(extractor.version, source), SnapshotFiles(store)
    entries = source.entries()
    digests, missing = _plan(entries, store, extractor.version, None)
    if not missing and files.holds(
        _identity(extractor.version, source, [(entry.path, digests[entry.path]) for entry in entries])
    ):
        return Changes()
    found = files.newest(origin[0])
    if found is None:
        return None
    last, before = found.snapshot, found.snapshot.all_digests
    differing = {path for path in before.keys() | digests.keys() if before.get(path) != digests.get(path)}
    differing |= {entry.path for entry in missing}
    return Changes(tuple(sorted(differing, key=path_bytes)), last.origin[1] != origin[1])


def snapshot_of(
    state: RecordedState,
    source: Source,
    store: Store,
    extractor: Extractor,
    progress: Progress | None = None,
    manager: SnapshotManager | None = None,
) -> Snapshot:
    """The snapshot of a state: in memory or saved as it is, or made of one that differs little, or put together anew.

    `manager`: that of whoever asks again and again, who then lets it save; without, what was made is saved at once.
    """
    own = manager or SnapshotManager(store)
    dimension = extractor.embedder.dimension if extractor.embedder else 0
    origin = origin_of(extractor.version, source)

    def repair(damaged: Mapping[str, bytes]) -> list[tuple[str, bytes, Record]]:
        return _repair(source, store, damaged, extractor)

    snapshot = own.at(state.name, state.present, origin, source, dimension, repair, progress or unreported)
    if manager is None:
        own.save()
    return snapshot


def status_of(state: RecordedState, snapshot: Snapshot, source: Source, extractor: Extractor) -> IndexStatus:
    """Reports what is indexed and what is not, for people."""
    skipped = [(skip.path, skip.reason) for skip in source.skipped()]
    skipped += snapshot.unindexed
    skipped.sort(key=lambda item: path_bytes(item[0]))
    problems = Tally(problem for text in snapshot.problems for problem in text.split())
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
                notice.message for notice in (*source.notices(), *snapshot.notices, *degraded(partly_read(snapshot)))
            )
        ),
    )


def _plan(
    entries: Sequence[SourceFile], store: Store, version: str, last: RecordedState | None
) -> tuple[dict[str, bytes], list[SourceFile]]:
    """Content digests of files that look as they did and are recorded, and the entries that must be read."""
    if last is not None and last.version == version:
        looks, unlike = last.looks, ("", b"")
        new = [entry for entry in entries if looks.get(entry.path, unlike)[0] != entry.token]
        if len(new) <= FEW:
            changed = {entry.path for entry in new}
            return {entry.path: looks[entry.path][1] for entry in entries if entry.path not in changed}, new
    seen, known = store.seen(), store.known(version)
    digests: dict[str, bytes] = {}
    missing = []
    for entry in entries:
        key = path_bytes(entry.path)
        digest = seen.get((key, entry.token))
        if digest is not None and (key, digest) in known:
            digests[entry.path] = digest
        else:
            missing.append(entry)
    return digests, missing


def _read(
    source: Source, store: Store, missing: list[SourceFile], extractor: Extractor, tell: Progress, phase: str
) -> dict[str, bytes]:
    """Read what is missing and extract what has no record yet; a file with only a new date is not parsed again."""
    version, generation = extractor.version, store.generation()
    known = store.known(version) if len(missing) > FEW else None

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
    noted: set[str] = set()
    batch: list[Extracted] = []

    def keep() -> None:
        with store.writing():
            for path, _, encoded in batch:
                store.put(path_bytes(path), digests[path], version, encoded, generation)
            store.remember(looks(path for path, _, _ in batch), generation)
        noted.update(path for path, _, _ in batch)
        batch.clear()

    try:
        for item in extracted:
            batch.append(item)
            done += 1
            report()
            if len(batch) >= COMMIT_EVERY:
                keep()
    finally:  # an interruption costs nothing that was extracted
        keep()
    rest = [path for path in digests if path not in noted]
    if rest:
        with store.writing():
            store.remember(looks(rest), generation)
    tell(phase, len(missing), len(missing))
    return digests


def _repair(
    source: Source, store: Store, damaged: Mapping[str, bytes], extractor: Extractor
) -> list[tuple[str, bytes, Record]]:
    """Read files again whose records are missing or damaged on disk. `damaged`: path -> digest of the content they had
    when they were listed.

    Raises:
        IndexingError: a file has another content by now; the next run reads it anew.
    """
    generation = store.generation()
    contents = [(path, data) for path, data in source.read(list(damaged)) if data is not None]
    found = {path: digest_of(data) for path, data in contents}
    changed = [path for path, digest in damaged.items() if found.get(path) != digest]
    if changed:  # what is there now must not be saved under the name of a state it is no part of
        with store.writing():
            store.overlook(map(path_bytes, changed))
        raise IndexingError(f"{changed[0]}: changed while it was indexed", hint="run again", code="CHANGED")
    repaired = []
    with store.writing():
        for path, _, encoded in extractor.run(contents, sum(len(data) for _, data in contents)):
            store.put(path_bytes(path), found[path], extractor.version, encoded, generation)
            repaired.append((path, found[path], decode(encoded)))
    return repaired


def origin_of(version: str, source: Source) -> tuple[str, str, str]:
    """The origin of a snapshot besides files: versions, history, and the time ages are measured from."""
    return arrays_version(version), source.history_id, str(source.time if source.commit else 0)


def arrays_version(version: str) -> str:
    """The version of a snapshot that is made of records of a version."""
    return f"{SNAPSHOT_VERSION}|{version}"


def state_of(snapshot: Snapshot) -> str:
    """The name of the state that a snapshot is of, worked out from what it holds."""
    return _named(snapshot.origin, sorted(snapshot.all_digests.items(), key=lambda file: path_bytes(file[0])))


def _identity(version: str, source: Source, present: Sequence[tuple[str, bytes]]) -> str:
    return _named(origin_of(version, source), present)


def _named(origin: Sequence[str], present: Sequence[tuple[str, bytes]]) -> str:
    parts = [b"\0".join((path_bytes(path), digest)) for path, digest in present]
    return blake2b("\0".join(origin).encode() + b"\0\0" + b"\0".join(parts), digest_size=16).hexdigest()
