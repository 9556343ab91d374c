"""The lines of files as they were indexed, with markers in the places of credentials; each file is read once."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from secateur.encodings import as_utf8
from secateur.errors import RepositoryError
from secateur.index.facts.extract import digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.languages.syntax.text import decode, split_lines
from secateur.redaction import CredentialNumbers, with_markers
from secateur.redaction.spans import parse_spans

_Known = dict[tuple[str, str, bytes, bool], list[str]]
"""Lines by repository, path, content digest, and whether they are without credentials of other files too."""


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
        """The lines of a file.

        Args:
            files: the files as they were indexed, `path` among them.
            read: gives its bytes as they are; None where it is gone.
            numbers: of the markers, as `OpenedIndex.lines`.
            repository: whose file it is, where files of several are read.

        Raises:
            RepositoryError: the file changed since.
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
            marked = with_markers(as_utf8(data), spans, numbers or CredentialNumbers())
            if numbers is not None and bare:
                marked = numbers.bare(marked)
            lines = known[key] = split_lines(decode(marked)[0])
        return lines  # not looked up again: another thread may have begun with a new snapshot, and with no texts

    def clear(self) -> None:
        """Forget what was read of earlier states."""
        self._texts = {}
