"""Reads which modules a Go repository provides and requires: `go.mod`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from secateur.languages.packages import Package, is_aside
from secateur.languages.syntax.import_targets import folder_of
from secateur.model import FileFacts

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"/][^\s\"]*)", re.MULTILINE)
_REQUIRED = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+v\d", re.MULTILINE)


class GoManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"go\.mod")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Never raises."""
        name = _MODULE.search(text)
        return name[1] if name else "", _REQUIRED.findall(text)

    def provided(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - manifests say it all
        said: Mapping[str, str],
    ) -> Iterator[Package]:
        """The module of each manifest; its path belongs to nobody else."""
        for path, name in said.items():
            if name and not is_aside(folder_of(path)):
                yield Package("go", name, folder_of(path), name, is_plain=True)

    def imports(self, facts: FileFacts) -> Iterator[str]:
        """The paths of packages."""
        return (statement.module for statement in facts.imports)
