"""The lines of files as they were indexed, with markers in the place of credentials. Each file is read once."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from secateur.encodings import as_utf8
from secateur.errors import RepositoryError
from secateur.index.facts.extract import digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.languages.syntax.text import read_text, split_lines
from secateur.redaction import CredentialNumbers, insert_markers
from secateur.redaction.spans import parse_spans

_Known = dict[tuple[str, str, bytes, bool], list[str]]
"""Lines by (repository, path, content digest, whether the credentials of other files are removed too)."""


class TextLines:
    """See the module docstring."""

    def __init__(self) -> None:
        self._texts: _Known = {}
        self._numbered: WeakKeyDictionary[CredentialNumbers, _Known] = WeakKeyDictionary()

    def of(
        self,
        files: Snapshot,
        path: str,
        read: Callable[[], bytes | None],
        numbers: CredentialNumbers | None = None,
        repository: str = "",
    ) -> list[str]:
        """Returns the lines of a file.

        Args:
            files: the snapshot that `path` belongs to.
            read: reads the bytes of the file; None if it is gone.
            numbers: the numbers of the markers; see `OpenedIndex.lines`.
            repository: the name of the repository, if files of several are read.

        Raises:
            RepositoryError: the file has changed since it was indexed.
        """
        spans = [span for _, span in parse_spans(files.redactions.get(path, ""))]
        bare = numbers is not None and numbers.complete
        known = self._texts if numbers is None or not (spans or bare) else self._numbered.setdefault(numbers, {})
        key = repository, path, files.digests[path], bare
        lines = known.get(key)
        if lines is None:
            data = read()
            if data is None or digest_of(data) != files.digests[path]:
                raise RepositoryError(
                    f"{path}: {'gone' if data is None else 'changed'} since it was indexed",
                    hint="run the query again",
                    code="CHANGED",
                )
            marked = insert_markers(as_utf8(data), spans, numbers or CredentialNumbers())
            if numbers is not None and bare:
                marked = numbers.bare(marked)
            lines = known[key] = split_lines(read_text(path, marked)[0])
        return lines  # not read from `known` again: another thread may have cleared it for a new snapshot

    def clear(self) -> None:
        """Forgets the lines of earlier states."""
        self._texts = {}
