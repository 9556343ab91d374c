"""Makes a snapshot of some files of a source, for a first answer that does not wait for the rest.

The files are recorded as always, so nothing is read twice. The snapshot itself is never saved: only snapshots of whole
states are.
"""

from collections.abc import Callable

from msgspec import Struct

from secateur.index.facts.extract import Record
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.store.records import Store
from secateur.index.update.edits import read_records, record_of
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import list_unrecorded, origin_of, record
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.sources.source import Source

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
    if not most or sum(entry.size for entry in list_unrecorded(source, store, extractor)) <= most:
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
