"""Reads which packages a Java repository provides and requires: `pom.xml` and `build.gradle` name what is published and
what is needed; the packages are those that the files declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from secateur.languages.packages import Package, is_aside
from secateur.languages.syntax.import_targets import folder_of, folders_above
from secateur.model import FileFacts

_ARTIFACT = re.compile(r"<artifactId>\s*([\w.${}-]{1,200})\s*</artifactId>")
_NESTED = re.compile(r"<(parent|dependencies|dependencyManagement|build|profiles|reporting)>|</(\w+)>")
_GRADLE = re.compile(r"[\"']([\w.-]{1,200}):([\w.-]{1,200})(?::[^\"'\n]{0,200})?[\"']")


class JavaManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"pom\.xml|build\.gradle(?:\.kts)?")
    separator = "."

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:
        """Never raises."""
        if not path.endswith("pom.xml"):
            return folder_of(path).rpartition("/")[2], [artifact for _, artifact in _GRADLE.findall(text)]
        own = _ARTIFACT.search(_outermost(text))
        return own[1] if own else "", _ARTIFACT.findall(text)

    def provided(self, files: Sequence[tuple[str, FileFacts]], said: Mapping[str, str]) -> Iterator[Package]:
        """The packages that files outside tests declare, below a folder that holds a manifest."""
        folders = {folder_of(path): name for path, name in said.items()}
        for path, facts in files:
            if facts.language != "java" or not facts.package or is_aside(folder_of(path)):
                continue
            owner = next((above for above in folders_above(folder_of(path)) if above in folders), None)
            if owner is not None:
                yield Package("java", facts.package, "", folders[owner], is_plain=True)

    def imports(self, facts: FileFacts) -> Iterator[str]:
        """Packages, with the class that is taken from them; a static import names a class in its module."""
        for statement in facts.imports:
            yield f"{statement.module}.{statement.symbol}" if statement.symbol not in ("", "*") else statement.module


def _outermost(text: str) -> str:
    """A project's own lines: those in no list of others."""
    kept, inside, at = [], "", 0
    for found in _NESTED.finditer(text):
        if not inside and found[1]:
            kept.append(text[at : found.start()])
            inside = found[1]
        elif inside and found[2] == inside:
            inside, at = "", found.end()
    return "".join([*kept, text[at:] if not inside else ""])
