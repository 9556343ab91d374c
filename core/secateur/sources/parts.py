"""Describes a part of a repository by globs of its files and folders.

part = RepositoryPart(["services/billing", "libs/*/src/**"])
part.holds("services/billing/tax.py")    # True
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from secateur.errors import UsageError, shown
from secateur.sources.globs import ShellPattern

_MAGIC = re.compile(r"[*?\[]")


class RepositoryPart:
    """Tells which paths belong to a part: paths that a glob matches, and everything below a folder that it matches.
    Raises UsageError: a glob cannot match a path below the repository."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._patterns: list[ShellPattern] = []
        self._literals: set[str] = set()
        self._folders: dict[str, bool] = {"": False}
        for glob in globs:
            clean = "/".join(part for part in glob.split("/") if part not in ("", "."))
            if not clean or glob.startswith("/") or ".." in clean.split("/"):
                raise UsageError(
                    f"--only {shown(glob) or repr(glob)} names no part of the repository",
                    hint="globs start from the opened folder, for example --only 'services/billing/**'",
                )
            if not _MAGIC.search(clean):
                self._literals.add(clean)
                continue
            try:
                self._patterns.append(ShellPattern(clean))
            except ValueError as error:
                hint = "the wildcards are *, ?, [a-z] and ** for any folders"
                raise UsageError(f"--only {shown(glob)} is not a valid pattern: {error}", hint=hint) from error

    def holds(self, path: str) -> bool:
        """Tells whether a path, relative with `/`, is in the part."""
        return self._holds_folder(path.rpartition("/")[0]) or self._matches_glob(path)

    def _holds_folder(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._holds_folder(folder.rpartition("/")[0]) or self._matches_glob(folder)
        return known

    def _matches_glob(self, path: str) -> bool:
        return path in self._literals or any(pattern.matches(path) for pattern in self._patterns)
