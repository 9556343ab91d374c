"""Compares a source with its indexed state, by two listings: nothing is parsed or written."""

from collections.abc import Mapping

from msgspec import Struct

from secateur.index.facts.extract import digest_of
from secateur.sources.files import path_bytes
from secateur.sources.open import CommitSource
from secateur.sources.source import Source

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
