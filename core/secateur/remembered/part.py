"""The part of a repository that a user asks about (`--only`), remembered until it is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from secateur.remembered.store import RememberedError, RememberedFile
from secateur.sources.parts import RepositoryPart

FILE_NAME = "only.json"


class RememberedPart:
    """The globs of a user for a repository.

    part = RememberedPart(config_dir, root)
    part.globs()                    # () where nothing was remembered
    part.remember(["services/**"])  # () forgets
    """

    def __init__(self, user_dir: Path, root: Path) -> None:
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self.path = self._file.path

    def globs(self) -> tuple[str, ...]:
        """The globs. Raises RememberedError: the file cannot be read."""
        found = self._file.read().get("only", [])
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()

    def remember(self, globs: Sequence[str]) -> None:
        """Keeps globs in place of others; an unchanged file is left as it is.

        Raises:
            UsageError: one is no glob.
            RememberedError: the file cannot be written.
        """
        RepositoryPart(globs)
        try:
            known = self.globs()
        except RememberedError:  # it is set aside
            known = None
        if known != tuple(globs):
            self._file.update(lambda _: {"only": list(globs)})
