"""Reads the modules that a Go repository provides and requires from `go.mod`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from secateur.languages.packages import Package, is_never_installed
from secateur.languages.syntax.import_targets import folder_of
from secateur.model import FileFacts

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"/][^\s\"]*)", re.MULTILINE)
_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+v\d", re.MULTILINE)


class GoManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"go\.mod")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Returns the module and its requirements. Never raises."""
        name = _MODULE.search(text)
        return name[1] if name else "", _REQUIREMENT.findall(text)

    def list_packages(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - go.mod is enough
        distributions: Mapping[str, str],
    ) -> Iterator[Package]:
        """Yields the module of each manifest. No other module has its path."""
        for path, name in distributions.items():
            if name and not is_never_installed(folder_of(path)):
                yield Package("go", name, folder_of(path), name, is_plain=True)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields the paths of imported packages."""
        return (statement.module for statement in facts.imports)
